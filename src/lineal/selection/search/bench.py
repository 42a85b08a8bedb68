"""Settings on folds: features once for a fold, strengths of a penalty along one path."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from lineal.cancellation import CancellationToken, cancellable
from lineal.errors import CancelledError, NotCertifiedWarning
from lineal.objective.losses import FloatArray
from lineal.selection.search.record import Setting, Trial
from lineal.selection.search.space import with_setting
from lineal.selection.search.stages import Part, Stages, fitted, mark, own_rows, scaled_up

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
Parts = Callable[[int], NDArray[np.intp]]


class Stop:
    """Why a search ends early: its token is over, or its budget is."""

    def __init__(self, max_seconds: float | None, token: CancellationToken) -> None:
        self.max_seconds, self.token = max_seconds, token
        self._began = time.perf_counter()

    @classmethod
    @contextmanager
    def after(cls, max_seconds: float | None) -> Iterator[Stop]:
        """The first Ctrl-C ends the search, the second raises."""
        with cancellable() as token:
            yield cls(max_seconds, token)

    @property
    def requested(self) -> bool:
        """Whether somebody wants the search to end at once."""
        return self.token.is_over

    def restart(self) -> None:
        """The seconds are counted from now on."""
        self._began = time.perf_counter()

    @property
    def reason(self) -> str:
        """Why to stop, or ""."""
        if self.requested:
            return "stopped by Ctrl-C" if self.token.n_interrupts else "cancelled"
        is_late = self.max_seconds is not None and time.perf_counter() - self._began >= self.max_seconds
        return f"stopped after {self.max_seconds:g} seconds" if is_late else ""

    @contextmanager
    def broken_off_once(self) -> Iterator[None]:
        """A fit that the first Ctrl-C ended without a result is let go of; the second one raises."""
        try:
            yield
        except (KeyboardInterrupt, CancelledError):
            if not self.requested or self.token.n_interrupts > 1:
                raise


@dataclass
class _Tally:
    """What is known of one setting so far."""

    setting: Setting
    stages: Stages
    scores: list[float] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""

    def trial(self, share: float, is_warm: bool) -> Trial:
        return Trial(self.setting, tuple(self.scores), share, is_warm, self.seconds, self.error)


@dataclass
class _Learned:
    """A fold's features: fitted, and the rows they were made of."""

    features: Any
    train: Any
    test: Any


_KEPT = 4  # settings of features whose matrices are kept where any of them may be asked for again


class Bench:
    """Data in folds, on which settings are tried.

    ``score(model, X, y, s)`` is what is to be large; ``is_general`` says that it must be given the whole
    model and the rows as they came, ``is_probable`` that it asks for probabilities. ``report(n)`` is told
    that so many fits are done.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: NDArray[Any],
        s: FloatArray | None,
        folds: Sequence[Fold],
        score: Callable[[Any, Any, Any, Any], float],
        *,
        is_general: bool,
        is_probable: bool = False,
        stop: Stop,
        n_threads: int,
        report: Callable[[int], None],
    ) -> None:
        self._model, self._X, self._y, self._s = model, X, y, s
        self.folds = list(folds)
        self._score, self._is_general, self._is_probable = score, is_general, is_probable
        self.stop = stop
        self._n_threads = n_threads
        self._report = report
        self._n_kept = 1
        self._kept: dict[str, dict[int, _Learned]] = {}

    def run(
        self,
        settings: Sequence[Setting],
        share: float = 1.0,
        parts: Parts | None = None,
        *,
        keep: bool = False,
    ) -> dict[int, Trial]:
        """From places of settings to trials, in order, for those that met a fold before the stop.

        ``parts(k)`` are the training rows of fold k to learn from, all if not given, and ``share`` how many
        that is; ``keep`` says that more settings with the same features may follow.
        """
        self._n_kept = _KEPT if keep else 1
        models = [with_setting(self._model, setting) for setting in settings]
        tallies = [
            _Tally(setting, Stages.of(model, is_probable=self._is_probable))
            for setting, model in zip(settings, models, strict=True)
        ]
        done: dict[int, Trial] = {}
        with warnings.catch_warnings():
            # A trial that stops early is judged by what it predicts.
            warnings.simplefilter("ignore", NotCertifiedWarning)
            for key, families in _grouped(tallies).items():
                for places in families:
                    members = [tallies[k] for k in places]
                    self._folds_of(f"{key} {share}", members, parts, is_shared=keep or len(families) > 1)
                    trials = [each.trial(share, len(places) > 1) for each in members]
                    done |= {k: t for k, t in zip(places, trials, strict=True) if t.scores or t.error}
                    if self.stop.reason:
                        return dict(sorted(done.items()))
        return dict(sorted(done.items()))

    def _folds_of(self, key: str, members: Sequence[_Tally], parts: Parts | None, *, is_shared: bool) -> None:
        """One family on all folds, or on as many as the stop allows: at least on one."""
        if key not in self._kept:
            self._kept[key] = {}
            for old in list(self._kept)[: -self._n_kept]:
                del self._kept[old]

        def one(k: int) -> tuple[list[float | Exception], float]:
            began = time.perf_counter()
            return self._scores(key, members, k, parts, is_shared), time.perf_counter() - began

        step = min(self._n_threads, len(self.folds))
        for first in range(0, len(self.folds), step):
            if self.stop.requested or (self.stop.reason and first):
                return
            chunk = range(first, min(first + step, len(self.folds)))
            found: list[tuple[list[float | Exception], float]] = []
            with self.stop.broken_off_once():
                if step == 1:
                    found = [one(k) for k in chunk]
                else:
                    with ThreadPoolExecutor(step) as pool:
                        found = list(pool.map(lambda k: self.stop.token.apply(lambda: one(k)), chunk))
            if self.stop.requested:
                return  # fits may have been broken off
            for scores, seconds in found:
                self._report(len(members))
                for tally, score in zip(members, scores, strict=True):
                    tally.seconds += seconds / len(members)
                    if isinstance(score, Exception):
                        tally.error = tally.error or f"{type(score).__name__}: {score}"
                    else:
                        tally.scores.append(score)

    def _scores(
        self, key: str, members: Sequence[_Tally], k: int, parts: Parts | None, is_shared: bool
    ) -> list[float | Exception]:
        """One family on one fold."""
        train, test = self.folds[k]
        some = train if parts is None else parts(k)
        stages = members[0].stages
        try:
            learned = self._learned(key, stages, k, some, test, is_shared)
        except Exception as error:  # a setting of anybody's model may fail in any way
            return [error] * len(members)
        s = scaled_up(stages, self._s, train, some)
        is_kept = k in self._kept.get(key, {})
        own = own_rows(stages.learner, learned.train) if is_kept else learned.train
        part = Part(own, self._y[some], s)
        return [self._judged(model, learned, test) for model in fitted([m.stages for m in members], part)]

    def _learned(
        self,
        key: str,
        stages: Stages,
        k: int,
        some: NDArray[np.intp],
        test: NDArray[np.intp],
        is_shared: bool,
    ) -> _Learned:
        """Features of a fold, made once for all learners that share them."""
        kept = self._kept[key]
        if k in kept:
            return kept[k]
        X, X_test = _safe_indexing(self._X, some), _safe_indexing(self._X, test)
        if stages.features is None:
            return _Learned(None, X, X_test)
        features = copy.deepcopy(stages.features)
        made = _Learned(features, features.fit_transform(X, self._y[some]), features.transform(X_test))
        if is_shared:
            kept[k] = made
        return made

    def _judged(self, model: Any, learned: _Learned, test: NDArray[np.intp]) -> float | Exception:
        if isinstance(model, Exception):
            return model
        s = None if self._s is None else self._s[test]
        X: Any = learned.test
        if self._is_general and learned.features is not None:
            model = learned.features.before(model)
            X = _safe_indexing(self._X, test)
        try:
            return self._score(model, X, self._y[test], s)
        except Exception as error:  # a setting of anybody's model may fail in any way
            return error


def _grouped(tallies: Sequence[_Tally]) -> dict[str, list[list[int]]]:
    """Places of settings by their features, and in each group by the paths that they are on."""
    groups: dict[str, dict[str, list[int]]] = {}
    for k, tally in enumerate(tallies):
        features = tally.stages.features
        key = "" if features is None else mark(features)
        try:
            family = tally.stages.family() or f"alone {k}"
        except Exception:  # fitted alone it says what is wrong with it
            family = f"alone {k}"
        groups.setdefault(key, {}).setdefault(family, []).append(k)
    return {key: list(families.values()) for key, families in groups.items()}
