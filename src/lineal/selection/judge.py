"""How good a set of columns is: what a learner that sees no others makes of rows that were held out."""

from __future__ import annotations

import copy
import numbers
import reprlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from lineal.data.dealing import dealer, require_groups
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.evaluation.inputs import takes_arguments, takes_weights
from lineal.evaluation.metrics import METRICS, Metric
from lineal.evaluation.predictions import predictions_of, task_of
from lineal.learners.accuracy import ClassifierMixin, accuracy
from lineal.learners.model import LinearModel
from lineal.learners.targets import classes_and_codes
from lineal.learners.weighting import weight_argument
from lineal.objective.losses import FloatArray
from lineal.protocol import ClassifierMixin as TheirMixin
from lineal.protocol import clone

Columns = NDArray[np.intp]
Criterion = Callable[[Any, Any, Any], float]

_OWN = tuple(name for name, metric in METRICS.items() if metric.greater_is_better is not None)
_USUAL = ("accuracy", "f1_macro", "roc_auc", "neg_log_loss", "r2", "neg_mean_absolute_error")


@dataclass(frozen=True)
class Examples:
    """Rows with their targets and weights; X is an array or a CSC matrix."""

    X: Any
    y: NDArray[Any]
    s: FloatArray | None

    def rows(self, places: NDArray[Any]) -> Examples:
        """Some rows alone."""
        X = self.X.tocsr()[places].tocsc() if sp.issparse(self.X) else self.X[places]
        return Examples(X, self.y[places], None if self.s is None else self.s[places])

    def columns(self, wanted: Columns) -> Any:
        """X with some columns alone, for a learner."""
        some = self.X[:, wanted]
        return some.tocsr() if sp.issparse(some) else some


@dataclass(frozen=True)
class Verdict:
    """What was found about a set of columns, and the learners that were fitted to it, one for each fold."""

    columns: Columns
    fold_scores: FloatArray
    models: tuple[Any, ...]

    @property
    def score(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.fold_scores))


class Trainer:
    """Fits a learner to some columns, from the weights of a fit to others where it can start warm."""

    def __init__(self, learner: Any, *, warm_start: bool) -> None:
        can_start = isinstance(learner, LinearModel) and "warm_start" in learner.get_params()
        self._is_warm = warm_start and can_start
        self._weights = weight_argument(learner)
        self._template = clone(learner)
        if self._is_warm:
            self._template.set_params(warm_start=True)

    def fitted(self, examples: Examples, columns: Columns, before: tuple[Columns, Any] | None = None) -> Any:
        """A learner of the same options that has seen these columns alone."""
        is_warm = self._is_warm and before is not None
        model = _moved(*before, columns) if is_warm and before else clone(self._template)
        weights = {} if examples.s is None or self._weights is None else {self._weights: examples.s}
        return model.fit(examples.columns(columns), examples.y, **weights)


def _moved(before: Columns, model: Any, columns: Columns) -> Any:
    """A copy of a fitted learner to go on from with other columns; new ones start at 0."""
    known = np.atleast_2d(model.coef_)
    place = {int(column): i for i, column in enumerate(before)}
    found = [(i, place[int(column)]) for i, column in enumerate(columns) if int(column) in place]
    coef = np.zeros((len(known), len(columns)))
    if found:
        here, there = (list(places) for places in zip(*found, strict=True))
        coef[:, here] = known[:, there]
    moved = copy.copy(model)
    moved.coef_ = coef if model.coef_.ndim == 2 else coef[0]
    return moved


class Scorer:
    """The score of a fitted learner on rows, with their weights; scikit-learn's, or a criterion."""

    def __init__(self, learner: Any, scoring: Any, criterion: Criterion | None = None) -> None:
        self._criterion = criterion
        self._scorer = checked_scorer(learner, scoring, "scoring") if criterion is None else None
        self._is_accuracy = is_accuracy(learner, scoring)
        self._takes_weights = takes_weights(scoring)

    def __call__(self, model: Any, test: Examples, columns: Columns) -> float:
        """A number, the larger the better."""
        score = self._score(model, test.columns(columns), test)
        if np.isnan(score):
            raise InputError(
                f"the score of a {type(model).__name__} is NaN on {len(test.y)} rows, so columns cannot be "
                "compared. Use fewer folds, which hold more rows, or another scoring."
            )
        return score

    def _score(self, model: Any, X: Any, test: Examples) -> float:
        if self._scorer is None:
            assert self._criterion is not None
            return float(self._criterion(model, X, test.y))
        if self._is_accuracy:
            return accuracy(model.predict(X), test.y, test.s)
        weights = {} if test.s is None or not self._takes_weights else {"sample_weight": test.s}
        try:
            return float(self._scorer(model, X, test.y, **weights))
        except ValueError as error:
            raise InputError(
                f"a {type(model).__name__} cannot be scored on a fold of {len(test.y)} rows: {error} Use "
                "fewer folds, which hold more rows of each class, or another scoring."
            ) from error


def checked_scorer(learner: Any, scoring: Any, option: str) -> Any:
    """A scorer for a name, a function or None; ``option`` is what it was asked for by.

    Names are scikit-learn's, or those of ``lineal.evaluation.METRICS``, of which those that are to be small
    are negated.
    """
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer_names

        known = get_scorer_names()
        if scoring in _OWN and scoring not in known:
            return MetricScorer.of(learner, scoring, option)
        if scoring not in known:
            near = get_close_matches(scoring, [*known, *_OWN], n=3) or _USUAL
            raise ParameterError(
                f"{option}={scoring!r} cannot be used: there is no such scorer. There are {', '.join(near)}, "
                "and others: sklearn.metrics.get_scorer_names() and lineal.evaluation.METRICS."
            )
    elif callable(scoring) and not takes_arguments(scoring, 3):
        raise ParameterError(
            f"{option} must be a function of (model, X, y), which {scoring!r} is not. Of (y_true, y_pred) "
            "sklearn.metrics.make_scorer makes one."
        )
    elif isinstance(scoring, (list, tuple, set, dict)):
        raise ParameterError(f"{option} must be one score, since one is to be large; got {scoring!r}.")
    try:
        return check_scoring(learner, scoring=scoring)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{option}={scoring!r} cannot be used: {error}") from error


@dataclass(frozen=True)
class MetricScorer:
    """A metric of ``lineal.evaluation`` as a scorer: of a fitted model on rows, the larger the better."""

    metric: Metric

    @classmethod
    def of(cls, learner: Any, name: str, option: str) -> MetricScorer:
        """The metric of a name, if it is one of what the learner does."""
        metric, task = METRICS[name], task_of(learner, None)
        if task is not None and metric.task != task:
            raise ParameterError(
                f"{option}={name!r} is for {metric.task}, but {type(learner).__name__} does {task}."
            )
        return cls(metric)

    @property
    def name(self) -> str:
        """As scikit-learn would call it."""
        return self.metric.name if self.metric.greater_is_better else f"neg_{self.metric.name}"

    @property
    def _response_method(self) -> str:
        return "predict" if self.metric.needs == "predictions" else "predict_proba"

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The metric, negated where it is to be small."""
        found = predictions_of(model, X, y, sample_weight=sample_weight, task=self.metric.task)
        if (reason := self.metric.missing(found)) is not None:
            raise InputError(f"{self.metric.name} is not defined on these rows: {reason}.")
        return self.metric.value(found) * (1 if self.metric.greater_is_better else -1)


def is_accuracy(learner: Any, scoring: Any) -> bool:
    """Whether a score is the share of labels that are right, by its name or as a classifier's own.

    scikit-learn's looks at labels for longer than a small fit takes, and refuses some.
    """
    if scoring is None:
        own = getattr(type(learner), "score", None)
        return own in (ClassifierMixin.score, TheirMixin.score)
    return isinstance(scoring, str) and scoring == "accuracy"


class Judge:
    """Scores sets of columns: of each pair of examples a learner is fitted to one and scored on the other."""

    def __init__(self, parts: Sequence[tuple[Examples, Examples]], trainer: Trainer, scorer: Scorer) -> None:
        self._parts, self._trainer, self._scorer = parts, trainer, scorer

    def verdict(self, columns: Columns, start: Verdict | None = None) -> Verdict:
        """Fits and scores; ``start`` is a verdict on nearly the same columns."""
        scores, models = [], []
        for place, (train, test) in enumerate(self._parts):
            before = None if start is None else (start.columns, start.models[place])
            model = self._trainer.fitted(train, columns, before)
            scores.append(self._scorer(model, test, columns))
            models.append(model)
        return Verdict(columns, np.array(scores), tuple(models))


def folds_of(
    cv: Any, examples: Examples, *, are_classes: bool, seed: int, groups: NDArray[Any] | None = None
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Rows to train on and rows to score; a number makes folds of shuffled rows, with classes in proportion.

    Groups, where there are some, stay whole. Rows of weight 0 are in no fold. Of a class with fewer rows than
    folds, not every fold has one; there are no more folds than rows of the largest class.
    """
    s = np.ones(len(examples.y)) if examples.s is None else examples.s
    targets = classes_and_codes(examples.y)[1] if are_classes else examples.y  # labels of any type
    if not isinstance(cv, numbers.Integral):
        try:
            splitter = check_cv(cv, targets, classifier=are_classes)
            pairs = list(splitter.split(np.zeros((len(s), 1)), targets, groups))
            return [(train[s[train] > 0], test[s[test] > 0]) for train, test in pairs]
        except (ValueError, IndexError) as error:
            raise InputError(f"cv={reprlib.repr(cv)} cannot split {len(s)} rows: {error}") from error
    rows = np.flatnonzero(s > 0)
    n, y, n_folds = len(rows), targets[rows], int(cv)
    if are_classes:
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() < 2:
            raise InputError(
                f"held-out folds need at least 2 rows of every class, but one has 1 of n_samples = {n}. Give "
                "more rows, drop the class, or pass a splitter of your own as cv, or a criterion; if y are "
                "numbers rather than classes, pass a regressor."
            )
        n_folds = min(n_folds, int(counts.max()))
    elif n < n_folds:
        raise InputError(f"{cv} folds need as many rows, got n_samples = {n}. Use a smaller cv.")
    own = None if groups is None else groups[rows]
    require_groups(n_folds, own)
    splitter = dealer(n_folds, seed, are_classes=are_classes, has_groups=own is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        return [(rows[train], rows[test]) for train, test in splitter.split(np.zeros((n, 1)), y, own)]
