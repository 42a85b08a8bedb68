"""Ends long work early: from another thread, at a deadline, or by Ctrl-C.

A token is *in force* on a thread while a scope with it is open there. Native loops of that thread look at it
by themselves, without Python's lock; drivers look between iterates. What was cancelled returns its best model
with an honest certificate.

Below the outermost public call nobody touches signals: ``cancellable`` alone ties Ctrl-C to a token. Threads
that are started for a fit enter the token of the thread that starts them (``CancellationToken.apply``).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import TypeVar

from lineal import _core
from lineal._core import BrokenOff
from lineal.errors import CancelledError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

__all__ = [
    "BrokenOff",
    "CancellationToken",
    "break_off_if_over",
    "cancellable",
    "current_token",
    "following",
    "is_outermost",
    "is_over",
    "nothing_done",
    "raise_if_over",
    "shielded",
    "unless_over",
    "whole_or_nothing",
]


class CancellationToken:
    """Cancels fits from another thread, or after some seconds.

    Fits of the thread that entered it end when the token is over, with the best model so far, which its
    certificate describes; work that has no result yet by then raises :class:`lineal.errors.CancelledError`.
    A token that is over stays so.

    Parameters
    ----------
    seconds : float, optional
        The token is over after so many seconds from now.
    parent : CancellationToken, optional
        The token is over as soon as its parent is.

    Notes
    -----
    Loops of the native core end within 0.1 seconds; a kernel machine goes back to before its last block, and
    tells what is sure of that without another kernel value. A single call of BLAS or LAPACK and Python code
    of others are awaited. Whoever brings a token decides about Ctrl-C as well: with a token in force it
    raises ``KeyboardInterrupt`` as usual.

    Examples
    --------
    >>> import numpy as np, threading
    >>> from lineal import CancellationToken, LogisticRegression
    >>> X, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
    >>> token = CancellationToken()
    >>> clock = threading.Timer(60, token.cancel)  # any thread may call it
    >>> with token:
    ...     model = LogisticRegression().fit(X, y)
    >>> model.certificate_.converged, token.is_cancelled
    (True, False)
    """

    def __init__(self, *, seconds: float | None = None, parent: CancellationToken | None = None) -> None:
        self._native: _core.Token = _core.Token(
            None if seconds is None else float(seconds), None if parent is None else parent._native
        )
        self._parent = parent
        self._n_interrupts = 0

    def cancel(self) -> None:
        """Ends what runs under this token; any thread may call it, any number of times."""
        self._native.cancel()

    @property
    def is_cancelled(self) -> bool:
        """Whether this token, or one above it, was cancelled; deadlines do not count."""
        return self._native.is_cancelled

    @property
    def is_over(self) -> bool:
        """Whether this token, or one above it, was cancelled or is past its deadline."""
        return self._native.is_over

    @property
    def seconds_left(self) -> float | None:
        """To the earliest deadline, below 0 after it; None: there is none."""
        return self._native.seconds_left

    @property
    def n_interrupts(self) -> int:
        """How often Ctrl-C was pressed since it was tied to this token or one above it."""
        return self._n_interrupts if self._parent is None else self._parent.n_interrupts

    def apply(self, function: Callable[[], _Result]) -> _Result:
        """Calls a function with this token in force: what a thread of a pool is given."""
        with _Scope(self):
            return function()

    def __enter__(self) -> CancellationToken:
        scope = _Scope(self)
        scope.__enter__()
        _here.entered.append(scope)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.entered.pop().__exit__(kind, value, trace)

    def __repr__(self) -> str:
        state = "cancelled" if self.is_cancelled else "over" if self.is_over else "in time"
        return f"<CancellationToken: {state}>"


class _Here(threading.local):
    """What is in force on one thread."""

    def __init__(self) -> None:
        self.scope: _Scope | None = None
        self.entered: list[_Scope] = []  # by ``with token``
        self.is_in_solver = False  # Ctrl-C may raise BrokenOff


_here = _Here()


class _Scope:
    """While open, a token, or none, is in force on this thread."""

    __slots__ = ("_before", "_is_breakable", "_token")

    def __init__(self, token: CancellationToken | None, *, is_breakable: bool = False) -> None:
        self._token, self._is_breakable = token, is_breakable
        self._before: _Scope | None = None

    def __enter__(self) -> None:
        self._before = _here.scope
        self._install()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is None:
            _here.scope = None
            _core.set_current_token(None, False)
        else:
            self._before._install()

    def _install(self) -> None:
        _here.scope = self
        _core.set_current_token(None if self._token is None else self._token._native, self._is_breakable)


def current_token() -> CancellationToken | None:
    """The token in force on this thread."""
    return None if _here.scope is None else _here.scope._token


def is_outermost() -> bool:
    """Whether no call of the library around this one is cancellable; a token of the caller's may be."""
    scope = _here.scope
    return scope is None or (bool(_here.entered) and _here.entered[-1] is scope)


def nothing_done() -> BaseException:
    """What to raise where work ended early and there is no result to return."""
    token = current_token()
    if token is None or token.n_interrupts:  # without a token nothing but Ctrl-C ends work
        return KeyboardInterrupt()
    return CancelledError("cancelled before there was a result: start again, and cancel later if at all.")


def shielded() -> _Scope:
    """A scope in which no token is in force: what was cancelled is still certified."""
    return _Scope(None)


class _Call:
    """The scope of a public call; what ``cancellable`` gives."""

    __slots__ = ("_is_tied", "_scope", "_seconds", "_token")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds

    def __enter__(self) -> CancellationToken:
        parent = current_token()
        self._token = token = CancellationToken(seconds=self._seconds, parent=parent)
        self._scope = _Scope(token)
        self._is_tied = (
            parent is None
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._is_tied:
            signal.signal(signal.SIGINT, self._ask)
        self._scope.__enter__()
        return token

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._scope.__exit__(kind, value, trace)
        finally:
            if self._is_tied:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        token = self._token
        token._n_interrupts += 1
        if token._n_interrupts > 1:
            raise KeyboardInterrupt
        token.cancel()
        if _here.is_in_solver:
            raise BrokenOff


def cancellable(seconds: float | None = None) -> AbstractContextManager[CancellationToken]:
    """The scope of a public call: gives the token to look at, which is in force inside.

    Below a token that is in force it is a child of that one. Where none is, on the main thread and if nobody
    else handles SIGINT, Ctrl-C is tied to it: the first one cancels, the second raises KeyboardInterrupt.
    ``seconds`` are a deadline.
    """
    return _Call(seconds)


def following(stream: Iterator[_Item], token: CancellationToken) -> _Item | None:
    """What a solver yields next; None at the end of the stream, or when it was broken off.

    The token is in force in the solver alone. Ctrl-C breaks it off wherever it is; otherwise it is left by
    passes of the core and by ``break_off_if_over``. A native epoch that is cut short is an iterate still.
    """
    return unless_over(lambda: next(stream, None), token)


def unless_over(work: Callable[[], _Result], token: CancellationToken) -> _Result | None:
    """What some work gives; None where the token is over, or ended it: what it leaves behind then must do.

    The token is in force in the work alone, which is broken off as a solver is.
    """
    if token.is_over:
        return None
    with _Scope(token, is_breakable=True):
        before = _here.is_in_solver  # a solver may run another driver
        try:
            _here.is_in_solver = True
            result = work()
            _here.is_in_solver = before
            return result
        except BrokenOff:
            return None
        finally:
            _here.is_in_solver = before


def whole_or_nothing(work: Callable[[], _Result]) -> _Result:
    """What some work gives without which nothing can begin; raises if the token in force ends it."""
    token = current_token()
    if token is None or (_here.scope is not None and _here.scope._is_breakable):
        return work()
    result = unless_over(work, token)
    if result is None:
        raise nothing_done()
    return result


def is_over() -> bool:
    """Whether the token in force on this thread is over."""
    token = current_token()
    return token is not None and token.is_over


def break_off_if_over() -> None:
    """Leaves a solver whose token is over; between two long calls that nobody can end, of LAPACK say.

    Outside of a driver's ``following``, where nobody would catch it, this does nothing.
    """
    if _here.scope is not None and _here.scope._is_breakable and is_over():
        raise BrokenOff


def raise_if_over() -> None:
    """Leaves work that has no result to return before its end; a solver is left to its driver."""
    break_off_if_over()
    if is_over():
        raise nothing_done()
