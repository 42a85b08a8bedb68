"""One side of the measurement, in a process of its own: ``worker.py ours`` or ``worker.py peers``.

The two sides have different environments, and a native fit that takes too long can only be stopped
by ending its process; both are reasons to measure over a pipe. A request is one line of JSON, the
answer another; weights travel by file. The clock runs here, around the fit alone.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import data
import numpy as np
import scipy.sparse as sp
from task import Task

_WARM_ROWS, _WARM_COLUMNS = 400, 20_000
# A fit that takes less than this is made twice in a row and the faster one counts: while the other side had
# its turn the caches forgot this one, and the cores of a virtual machine fell asleep.
_AGAIN_SECONDS = 2.0


@lru_cache(maxsize=2)
def _matrix(name: str, origin: str, fraction: float) -> tuple[sp.csr_matrix, np.ndarray]:
    return data.load(name, origin, fraction)


def measure(side: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Fit once and say how long it took; the weights go to ``request["output"]``."""
    task = Task(**request["task"])
    X, y = _matrix(task.data, task.origin, task.fraction)
    build, setting = side.CONTENDERS[request["contender"]], dict(request["setting"])
    blas_threads = setting.pop("blas_threads", None)
    if request["warm"]:
        build(*_warm_up(X, y, whole=request["contender"] in side.COMPILED), task, setting).run()
    contender = build(X, y, task, setting)
    with _blas_limit(blas_threads):
        seconds, extra, fitted = _timed(contender.run)
        if seconds < _AGAIN_SECONDS:
            again, _, refitted = _timed(contender.run)
            seconds, fitted = (again, refitted) if again < seconds else (seconds, fitted)
    weights = contender.read(fitted)
    np.savez(request["output"], coef=weights.coef, intercept=weights.intercept)
    return {"seconds": seconds, "extra_bytes": extra, "facts": weights.facts}


def _warm_up(X: sp.csr_matrix, y: np.ndarray, *, whole: bool) -> tuple[sp.csr_matrix, np.ndarray]:
    """A corner of the data for a first fit, which pays for imports and just-in-time compilation."""
    if whole:
        return X, y
    rows = np.linspace(0, X.shape[0] - 1, min(_WARM_ROWS, X.shape[0])).astype(int)
    return X[rows][:, :_WARM_COLUMNS], y[rows]


def _blas_limit(count: int | None) -> AbstractContextManager[Any]:
    if count is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits  # comes with scikit-learn, whose solvers alone ask for it

    limits: AbstractContextManager[Any] = threadpool_limits(count, user_api="blas")
    return limits


def _timed(run: Callable[[], Any]) -> tuple[float, int | None, Any]:
    before = _resident(reset=True)
    start = time.perf_counter()
    fitted = run()
    seconds = time.perf_counter() - start
    after = _resident()
    extra = after["VmHWM"] - before["VmRSS"] if before and after else None
    return seconds, extra, fitted


def _resident(*, reset: bool = False) -> dict[str, int]:
    """Resident bytes now and at the peak since the last reset; empty where the system has no /proc."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as control:
                control.write("5")
        with open("/proc/self/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return {key: int(fields[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")}
    except (OSError, KeyError):
        return {}


def describe(side: Any) -> dict[str, Any]:
    """The versions behind the figures."""
    versions: dict[str, str | None] = {}
    for package in side.PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {"python": platform.python_version(), "versions": versions}


def _without_paths(text: str) -> str:
    """Results are published: they name no folder of the machine they were measured on."""
    return re.sub(r"/[^\s'\"]*/", "", text)


def serve(side: Any) -> None:
    """Answer requests until the input ends; whatever a library prints goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = describe(side) if request["do"] == "describe" else measure(side, request)
        except Exception as error:  # one contender's failure is a line in the table, not the end
            reply = {"error": _without_paths(f"{type(error).__name__}: {error}")}
        replies.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # a peer stopped early by its budget says so on every run
    serve(importlib.import_module(sys.argv[1]))
