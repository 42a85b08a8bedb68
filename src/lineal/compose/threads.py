"""Work on several learners at the same time.

The native core lets other threads run while it computes, so threads are enough. Each learner is given the
same data and its own seed whichever thread takes it: any number of threads gives the same bits. Where data
are small threads begin only once calls have turned out to be long: a fit of a millisecond is mostly Python,
for whose lock threads wait.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lineal.cancellation import cancellable, is_outermost, nothing_done

Result = TypeVar("Result")

# Numbers that a learner is done with in milliseconds, mostly; and seconds of a call that is worth a thread.
_SMALL, _LONG = 20_000, 2e-3


def are_few(X: Any) -> bool:
    """Whether X is so small that fits to it may be over before threads have begun."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return len(shape) == 2 and shape[0] * shape[1] <= _SMALL


def in_threads(
    calls: Sequence[Callable[[], Result]], n_threads: int, *, are_short: bool = False
) -> list[Result]:
    """What the calls return, in their order; those that may be short are tried without threads.

    Warnings of one category from several calls become one warning. The first call that fails, in their order,
    says why; calls that have not begun by then are dropped, as they are at Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        return _run(calls, n_threads, are_short)
    # Filters of warnings belong to the process: threads that set and restore them at the same time may leave
    # them changed. The outermost restore is this one.
    with warnings.catch_warnings(record=True) as met:
        results = _run(calls, n_threads, are_short)
    _tell(met, len(calls))
    return results


def _run(calls: Sequence[Callable[[], Result]], n_threads: int, are_short: bool) -> list[Result]:
    """A cancel, for a single fit the wish for its best model so far, leaves the others unfitted."""
    is_alone = is_outermost()
    with cancellable() as token:

        def finished(result: Result) -> Result:
            if is_alone and token.is_over and len(calls) > 1:
                raise nothing_done()
            return result

        if n_threads == 1 or len(calls) <= 1:
            return [finished(call()) for call in calls]
        done: list[Result] = []
        began = time.perf_counter()
        while are_short and len(done) < len(calls):
            done.append(finished(calls[len(done)]()))
            are_short = time.perf_counter() - began <= _LONG * len(done)
        if len(done) == len(calls):
            return done
        pool = ThreadPoolExecutor(min(n_threads, len(calls) - len(done)))
        try:
            futures = [pool.submit(token.apply, call) for call in calls[len(done) :]]
            return done + [finished(future.result()) for future in futures]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _tell(met: Sequence[warnings.WarningMessage], n_calls: int) -> None:
    kinds: dict[Any, list[str]] = {}
    for warning in met:
        kinds.setdefault(warning.category, []).append(str(warning.message))
    for category, messages in kinds.items():
        more = f" ({len(messages)} warnings like this from {n_calls} parts.)" if len(messages) > 1 else ""
        warnings.warn(f"{messages[0]}{more}", category, stacklevel=4)


def alone(learner: Any) -> Any:
    """The same learner, in place, taking one thread where it would have taken all of them."""
    asked = {
        name: 1
        for name, value in learner.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "n_threads"
    }
    return learner.set_params(**asked) if asked else learner
