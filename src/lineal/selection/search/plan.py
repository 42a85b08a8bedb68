"""What a search is to do, checked before it does anything."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv

from lineal.cancellation import nothing_done
from lineal.data import thread_count
from lineal.data.dealing import dealer
from lineal.errors import InputError, ParameterError
from lineal.evaluation.inputs import takes_weights
from lineal.learners.accuracy import accuracy
from lineal.protocol import is_classifier
from lineal.selection.judge import MetricScorer, checked_scorer, is_accuracy
from lineal.selection.search.bench import Bench, Fold, Stop
from lineal.selection.search.data import Data
from lineal.selection.search.halving import halved
from lineal.selection.search.progress import FitBar
from lineal.selection.search.proposing import distributions, proposed
from lineal.selection.search.record import Setting, Trial
from lineal.selection.search.space import (
    Space,
    checked_space,
    is_distribution,
    settings_of,
    strengths,
    with_setting,
)
from lineal.selection.search.stages import Stages

METHODS = ("grid", "random", "halving", "optuna")
_PROPOSALS = 32  # of optuna, unless max_trials says how many


@dataclass(frozen=True)
class Plan:
    """A search without its data; ``outer`` are the outer folds, ``left_out`` what of a grid is not tried."""

    template: Any
    method: str
    cv: Any
    scorer: Any
    metric_name: str
    is_general: bool
    takes_weights: bool
    is_accuracy: bool
    space: list[Space]
    settings: list[Setting]
    proposals: dict[str, Any]
    n_proposals: int
    left_out: str
    outer: list[Fold]
    seconds_each: float | None
    seed: int
    n_threads: int

    @classmethod
    def of(
        cls, model: Any, data: Data, space: Any, *, method: str, cv: Any, metric: Any, outer: Any,
        max_trials: Any, max_seconds: Any, seed: Any, n_threads: int | None,
    ) -> Plan:  # fmt: skip
        """Refuses what cannot be: names, values, settings, folds, budgets."""
        if method not in METHODS:
            raise ParameterError(f"method must be one of {METHODS}, got {method!r}.")
        _check_numbers(max_trials, max_seconds, seed)
        parts = checked_space(strengths(model, n_rows=len(data)) if space is None else space, method)
        proposals = distributions(parts) if method == "optuna" else {}
        settings, left_out = ([], "") if proposals else settings_of(parts, method, max_trials, seed)
        for setting in settings or _each_value(parts):
            Stages.of(with_setting(model, setting)).check()
        cv = list(cv) if _are_rows(cv) else cv  # which may be a generator
        if outer is not None and _are_rows(cv):
            raise ParameterError(
                "outer folds need cv as a number or a splitter: a list of rows fits one search."
            )
        # Not the folds of the search again, should there be as many.
        outer_folds = [] if outer is None else splits(model, outer, data, (int(seed) + 1) % 2**32, "outer")
        splits(model, cv, data, seed)  # which refuses folds that cannot be
        scorer = checked_scorer(model, metric, "metric")
        seconds = None if max_seconds is None else float(max_seconds) / (1 + len(outer_folds))
        return cls(
            model, method, cv, scorer, _name(model, metric, scorer),
            _is_general(metric), takes_weights(metric), is_accuracy(model, metric) and data.codes is not None,
            parts, settings, proposals, max_trials or _PROPOSALS, left_out, outer_folds, seconds, int(seed),
            thread_count(n_threads),
        )  # fmt: skip

    def model(self, setting: Setting) -> Any:
        """The model with a setting, not fitted."""
        return with_setting(self.template, setting)

    def trials(self, data: Data, stop: Stop, bar: FitBar, title: str) -> tuple[list[Trial], int]:
        """The search on some data, and how many folds it has."""
        folds = splits(self.template, self.cv, data, self.seed)
        bench = Bench(
            self.template, data.X, data.y, data.s, folds, self.score,
            is_general=self.is_general, is_probable=self._is_probable, stop=stop, n_threads=self.n_threads,
            report=bar,
        )  # fmt: skip
        n_settings = self.n_proposals if self.method == "optuna" else len(self.settings)
        bar.begin(title, None if self.method == "halving" else n_settings * len(folds))
        if self.method == "halving":
            return halved(bench, self.settings, data.codes, self.seed), len(folds)
        if self.method == "optuna":
            found = proposed(bench, self.space, self.proposals, self.n_proposals, self.seed)
            return found, len(folds)
        return list(bench.run(self.settings).values()), len(folds)

    @property
    def _is_probable(self) -> bool:
        """Whether the metric asks for probabilities, or may."""
        asked = getattr(self.scorer, "_response_method", None)
        return self.is_general or asked == "predict_proba"

    def score(self, model: Any, X: Any, y: Any, s: Any) -> float:
        """What is to be large; a score that is no number is an error."""
        if self.is_accuracy:
            return accuracy(model.predict(X), y, s)
        weights = {} if s is None or not self.takes_weights else {"sample_weight": s}
        value = float(self.scorer(model, X, y, **weights))
        if not np.isfinite(value):
            raise InputError(f"{self.metric_name} is {value} on held-out rows.")
        return value

    def refuse(self, trials: Sequence[Trial], where: str = "") -> NoReturn:
        """There is no best setting."""
        if not trials:
            raise nothing_done()
        raise InputError(
            f"all {len(trials)} settings failed{where}; the first, {trials[0].params}, with {trials[0].error}"
        )

    def tell_failures(self, trials: Sequence[Trial]) -> None:
        """Warns of settings that failed."""
        failed = [trial for trial in trials if trial.error]
        if failed:
            message = (
                f"{len(failed)} of {len(trials)} settings failed and were not considered; the first, "
                f"{failed[0].params}, with {failed[0].error}"
            )
            warnings.warn(message, FitFailedWarning, stacklevel=3)


def splits(model: Any, cv: Any, data: Data, seed: int, option: str = "cv") -> list[Fold]:
    """Pairs of train and test rows."""
    splitter = cv
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError(f"{option} must be at least 2 folds, got {cv!r}.")
        splitter = dealer(
            int(cv), seed, are_classes=data.codes is not None, has_groups=data.groups is not None
        )
    elif isinstance(cv, type) or not (hasattr(cv, "split") or _are_rows(cv)):
        hint = f" Write {cv.__name__}()." if isinstance(cv, type) else ""
        raise ParameterError(
            f"{option} must be a number of folds, a splitter or a list of splits, got {cv!r}.{hint}"
        )
    y = data.y if data.codes is None else data.codes
    try:
        made = list(check_cv(splitter, y, classifier=is_classifier(model)).split(data.X, y, data.groups))
    except ValueError as error:
        raise InputError(f"the rows cannot be split: {error}") from error
    if not made:
        raise ParameterError(f"{option} gives no folds: {cv!r}.")
    return [(np.asarray(train), np.asarray(test)) for train, test in made]


def _are_rows(cv: Any) -> bool:
    return isinstance(cv, Iterable) and not hasattr(cv, "split") and not isinstance(cv, str)


def _check_numbers(max_trials: Any, max_seconds: Any, seed: Any) -> None:
    if max_trials is not None and not (_is_whole(max_trials) and max_trials >= 1):
        raise ParameterError(f"max_trials must be a whole number >= 1 or None, got {max_trials!r}.")
    if max_seconds is not None and not (isinstance(max_seconds, numbers.Real) and float(max_seconds) > 0):
        raise ParameterError(f"max_seconds must be a number > 0 or None, got {max_seconds!r}.")
    if not (_is_whole(seed) and 0 <= seed < 2**32):
        raise ParameterError(f"random_state must be a whole number >= 0, got {seed!r}.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _each_value(parts: list[Space]) -> list[Setting]:
    """Settings that have every value of every list between them, to see whether a model can."""
    return [
        {name: values[min(k, len(values) - 1)] for name, values in listed.items()}
        for listed in ({n: v for n, v in part.items() if not is_distribution(v)} for part in parts)
        for k in range(max((len(values) for values in listed.values()), default=0))
    ]


def _name(model: Any, metric: Any, scorer: Any) -> str:
    if metric is None:
        return "accuracy" if is_classifier(model) else "R²"
    if isinstance(scorer, MetricScorer):
        return scorer.name
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "score")


def _is_general(metric: Any) -> bool:
    """Whether a metric may look at more of a model than its predictions."""
    return metric is not None and not isinstance(metric, str) and not hasattr(metric, "_score_func")
