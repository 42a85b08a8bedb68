"""Columns dropped by their weights, the smallest first (Guyon et al. 2002)."""

from __future__ import annotations

import numbers
import time
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import CancellationToken, cancellable, nothing_done
from lineal.errors import InputError, ParameterError
from lineal.learners.presets.classification import LinearSVC
from lineal.learners.presets.regression import Ridge
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.selection.history import History, Step
from lineal.selection.judge import Columns, Examples, Scorer, Trainer
from lineal.selection.progress import SearchLine
from lineal.selection.wrappers import LearnerSelector, Lesson


class RecursiveElimination(LearnerSelector):
    """Fits a linear learner, drops the columns with the smallest weights, and goes on with the rest.

    The squared weight of a column, summed over the classes, is what it is kept for. Every column gets a rank:
    1 for the one that was left in the end, and the last for the one that went first.

    Parameters
    ----------
    learner : estimator with ``coef_`` after its fit, optional
        ``LinearSVC()`` for classes and ``Ridge()`` for numbers if not given.
    n_columns : int, optional
        How many columns to keep. Without it, the number with the best held-out score: each fold eliminates
        by itself, and rows that are scored have no part in it.
    step : int, or float in (0, 1)
        How many columns go at a time, or which share of those that are left.
    cv : int, splitter or list of (train, test)
        The folds that choose ``n_columns``.
    scoring : str or function of (learner, X, y), optional
        As in scikit-learn, or a name in ``lineal.evaluation.METRICS``; the learner's own score if not given.
        Of functions, those with an argument ``sample_weight`` are given the weights of rows.
    candidates : int, optional
        Only the best so many columns by ``measure`` are looked at; the others rank behind them. Each fold
        has candidates of its own, by the rows it learns from.
    measure : str
        A measure of :func:`lineal.rank_features`.
    warm_start : bool
        Whether a fit starts from the weights of the one before, where the learner can.
    random_state : int, optional
        The seed of the folds.
    progress : bool
        Whether a terminal shows how far the elimination has come.

    Attributes
    ----------
    ranking_ : (n_columns,) int
        1 is the best; each rank occurs once. Columns that were no candidates share the last.
    support_ : (n_columns,) bool
    columns_ : the chosen columns, the best first
    history_ : History
        What was removed when, with the held-out score of what was left where folds chose ``n_columns``.
    score_ : float
        The held-out score of ``n_columns``; NaN where they were given.
    stopped_ : str
        How the elimination ended.
    candidates_ : the columns that were looked at
    learner_ : the learner, fitted to the chosen columns of all rows
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Of equal weights the higher column goes first. Weights speak for columns in the same units: scale them
    first, with :class:`lineal.ColumnScaler`, where units differ. Ctrl-C ends the elimination; the columns
    that are left are then ranked by their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import RecursiveElimination
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> RecursiveElimination(n_columns=2).fit(X, X[:, 3] - 2 * X[:, 1] > 0).ranking_.tolist()
    [3, 1, 5, 2, 4]
    """

    def __init__(
        self,
        learner: Any = None,
        *,
        n_columns: int | None = None,
        step: float = 1,
        cv: Any = 5,
        scoring: Any = None,
        candidates: int | None = None,
        measure: str = "mutual_information",
        warm_start: bool = True,
        random_state: int | None = None,
        progress: bool = False,
    ) -> None:
        self.learner = learner
        self.n_columns = n_columns
        self.step = step
        self.cv = cv
        self.scoring = scoring
        self.candidates = candidates
        self.measure = measure
        self.warm_start = warm_start
        self.random_state = random_state
        self.progress = progress

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Eliminates.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels or numbers
        sample_weight : sequence of n_rows numbers >= 0, optional
            Given to the learner and to the scores.
        groups : sequence of n_rows names, optional
            Rows of one group are held out together; a splitter of your own is given them.

        Returns
        -------
        self
        """
        lesson = self._lesson(X, y, sample_weight, groups)
        trainer = Trainer(lesson.learner, warm_start=bool(self.warm_start))
        line = SearchLine(is_wanted=bool(self.progress))
        try:
            with cancellable() as token:
                elimination = _Elimination(self, lesson, trainer, token, line)
                scores = {} if self.n_columns is not None else elimination.scores_of_sizes()
                wanted = self.n_columns or _best_size(scores)
                order, steps = elimination.whole(wanted, scores)
                self.stopped_ = elimination.reason()
        finally:
            line.close()
        self._learn(lesson, order, wanted, steps)
        self.score_ = float(np.mean(scores[wanted])) if wanted in scores else np.nan
        return self

    def _learn(self, lesson: Lesson, order: Columns, wanted: int, steps: list[Step]) -> None:
        self.ranking_ = np.full(self.n_features_in_, len(order) + 1)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= wanted
        self.columns_ = order[:wanted]
        self.candidates_ = lesson.pool
        self.history_ = History(tuple(steps), lesson.names)
        self.learner_ = lesson.fitted(np.flatnonzero(self.support_))

    def _default_learner(self, *, are_classes: bool) -> Any:
        return LinearSVC() if are_classes else Ridge()

    def _check_options(self) -> None:
        super()._check_options()
        is_count = isinstance(self.step, numbers.Integral) and not isinstance(self.step, bool)
        is_share = isinstance(self.step, numbers.Real) and not is_count and 0 < float(self.step) < 1
        if not (is_share or (is_count and self.step >= 1)):
            raise ParameterError(
                f"step must be a whole number >= 1 or a share between 0 and 1, got {self.step!r}."
            )


class _Elimination:
    """The run of an elimination on all rows, and before it on each fold."""

    def __init__(
        self,
        owner: RecursiveElimination,
        lesson: Lesson,
        trainer: Trainer,
        token: CancellationToken,
        line: SearchLine,
    ) -> None:
        self._owner, self._lesson, self._trainer = owner, lesson, trainer
        self._token, self._line = token, line
        self._stop_at = owner.n_columns
        self._score = Scorer(lesson.learner, owner.scoring)

    def scores_of_sizes(self) -> dict[int, list[float]]:
        """Held-out scores of every number of columns that is met, one for each fold."""
        scores: dict[int, list[float]] = {}
        examples = self._lesson.examples
        for train, test in self._owner._folds(self._lesson):
            held_out, known = examples.rows(test), examples.rows(train)
            pool = self._owner._pool(known, are_classes=self._lesson.are_classes)
            for columns, model, _ in self._models(known, pool):
                if self._token.is_over:
                    raise nothing_done()  # without all folds there is no number of columns to keep
                scores.setdefault(len(columns), []).append(self._score(model, held_out, columns))
        return scores

    def whole(self, wanted: int, scores: dict[int, list[float]]) -> tuple[Columns, list[Step]]:
        """All columns from the best to the worst, and the steps."""
        self._stop_at = wanted
        began = time.perf_counter()
        order: list[int] = []  # the worst first
        steps: list[Step] = []
        left = self._lesson.pool
        for columns, model, gone in self._models(self._lesson.examples, left):
            if gone:
                found = np.array(scores.get(len(columns), [np.nan]))
                seconds = time.perf_counter() - began
                steps.append(Step("remove", gone, len(columns), float(found.mean()), found, seconds))
            order += gone
            left = columns[_smallest_first(columns, model)]
            if self._token.is_over:
                break
        return np.array([*order, *left.tolist()], dtype=np.intp)[::-1], steps

    def reason(self) -> str:
        """How it ended."""
        if self._token.is_over:
            return "interrupted: the columns that were left are ranked by their weights"
        return "every column is ranked"

    def _models(self, examples: Examples, columns: Columns) -> Iterator[tuple[Columns, Any, tuple[int, ...]]]:
        """Fits to ever fewer columns, each with what went before it, the smallest weight first."""
        before: tuple[Columns, Any] | None = None
        gone: tuple[int, ...] = ()
        while True:
            self._line.show("eliminating", len(columns), 1, 1, None)
            model = self._trainer.fitted(examples, columns, before)
            yield columns, model, gone
            if len(columns) == 1:
                return
            n_out = self._n_out(len(columns))
            order = _smallest_first(columns, model)
            gone = tuple(columns[order[:n_out]].tolist())
            before = (columns, model)
            columns = np.sort(columns[order[n_out:]])

    def _n_out(self, n: int) -> int:
        """How many go of n; the number to keep, where it is known, is not stepped over."""
        step = self._owner.step
        n_out = int(step) if isinstance(step, numbers.Integral) else max(1, int(float(step) * n))
        if self._stop_at is not None and n > self._stop_at:
            return min(n_out, n - self._stop_at)
        return min(n_out, n - 1)


def _smallest_first(columns: Columns, model: Any) -> NDArray[np.intp]:
    """Places of columns by their squared weights; of equal ones the higher column first."""
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise InputError(
            f"RecursiveElimination needs a learner with coef_ after its fit; {type(model).__name__} has "
            "none. Use a linear learner, or BackwardElimination."
        )
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    squares: FloatArray = (np.atleast_2d(coef) ** 2).sum(axis=0)
    return np.lexsort((-columns, squares))


def _best_size(scores: dict[int, list[float]]) -> int:
    """The number of columns with the best mean score; the smaller one of equals."""
    means = {size: float(np.mean(found)) for size, found in scores.items()}
    return max(sorted(means), key=lambda size: means[size])
