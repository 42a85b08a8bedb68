"""How many threads work at the same time."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import numpy as np

from lineal.errors import ParameterError

# The quota of a container can be changed while it runs; to look takes some 50 microseconds, as long as all
# else that a small fit does before its first step.
_LOOK_AGAIN = 10.0  # seconds

_seen: tuple[float, int | None] | None = None  # when it was looked at, and what was found


def thread_count(n_threads: int | None) -> int:
    """How many threads: the argument, else ``LINEAL_NUM_THREADS``, else the cores this process may use.

    Those are the cores that it may run on, and no more than the CPU time that its control groups grant it.
    """
    if n_threads is None:
        asked = os.environ.get("LINEAL_NUM_THREADS")
        if asked is None:
            return _usable_cores()
        if not (asked.isascii() and asked.strip().isdigit()) or int(asked) < 1:
            raise ParameterError(f"LINEAL_NUM_THREADS must be a positive whole number, got {asked!r}.")
        return int(asked)
    if not isinstance(n_threads, (int, np.integer)) or n_threads < 1:
        raise ParameterError(f"n_threads must be a positive whole number or None, got {n_threads!r}.")
    return int(n_threads)


def _usable_cores() -> int:
    global _seen
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    if cores == 1:
        return 1
    now = time.monotonic()
    if _seen is None or now - _seen[0] > _LOOK_AGAIN:
        _seen = now, quota()
    return cores if _seen[1] is None else min(cores, _seen[1])


def quota(root: Path = Path("/")) -> int | None:
    """How many cores' time the control groups of this process grant it, rounded; None where no limit is set.

    Groups lie within each other, and the tightest holds. Both versions of control groups are read, where the
    system has mounted them; inside a container the mount mostly begins with the container's own group, while
    its name is told from the host's root on.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:  # not Linux, or no /proc
        return None
    limits: list[float] = []
    for line in groups:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for origin, place in _mounted(mounts, is_v2=not controllers):
            folder, mounted = _below(group, origin), root / place.lstrip("/")
            levels = (mounted / level for level in (folder, *folder.parents))
            limits.extend(_limit(level, is_v2=not controllers) for level in levels)
    return max(1, int(min(limits) + 0.5)) if min(limits, default=math.inf) < math.inf else None


def _mounted(mounts: list[str], *, is_v2: bool) -> list[tuple[str, str]]:
    """Which group each mount of the CPU controller shows as its root, and where."""
    found = []
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        is_wanted = kind[0] == "cgroup2" if is_v2 else kind[0] == "cgroup" and "cpu" in kind[-1].split(",")
        if is_wanted:
            found.append((fields[3], fields[4]))
    return found


def _below(group: str, origin: str) -> Path:
    """Where a group lies below the one that is mounted: there itself, if it is told in another's names."""
    if origin in ("/", group):
        return Path(group.lstrip("/") if origin == "/" else "")
    return Path(group[len(origin) :].lstrip("/") if group.startswith(origin + "/") else "")


def _limit(folder: Path, *, is_v2: bool) -> float:
    """The cores' time that one group grants."""
    try:
        if is_v2:
            granted, period = (folder / "cpu.max").read_text().split()
        else:
            granted = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        is_limited = granted != "max" and int(granted) > 0 and int(period) > 0
        return int(granted) / int(period) if is_limited else math.inf
    except (OSError, ValueError):  # no such file: the root of all groups has none
        return math.inf
