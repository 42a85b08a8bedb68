"""How many threads work at the same time."""

from __future__ import annotations

import os

import numpy as np

from lineal.errors import ParameterError


def thread_count(n_threads: int | None) -> int:
    """How many threads: the argument, else ``LINEAL_NUM_THREADS``, else the cores this process may use."""
    if n_threads is None:
        asked = os.environ.get("LINEAL_NUM_THREADS")
        if asked is None:
            affinity = getattr(os, "sched_getaffinity", None)
            return len(affinity(0)) if affinity else os.cpu_count() or 1
        if not (asked.isascii() and asked.strip().isdigit()) or int(asked) < 1:
            raise ParameterError(f"LINEAL_NUM_THREADS must be a positive whole number, got {asked!r}.")
        return int(asked)
    if not isinstance(n_threads, (int, np.integer)) or n_threads < 1:
        raise ParameterError(f"n_threads must be a positive whole number or None, got {n_threads!r}.")
    return int(n_threads)
