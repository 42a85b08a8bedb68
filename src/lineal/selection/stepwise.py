"""Columns added and removed one step at a time, as held-out scores say."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.cancellation import CancellationToken, cancellable, nothing_done
from lineal.errors import ParameterError
from lineal.learners.presets.classification import LogisticRegression
from lineal.learners.presets.regression import Ridge
from lineal.learners.whole_fits import all_or_nothing
from lineal.selection.history import History, Step
from lineal.selection.judge import Columns, Judge, Scorer, Trainer, Verdict
from lineal.selection.progress import SearchLine
from lineal.selection.wrappers import LearnerSelector, Lesson, require_count

_PARAMETERS = """
    Parameters
    ----------
    learner : estimator, optional
        What judges columns; ``LogisticRegression()`` for classes and ``Ridge()`` for numbers if not given.
    n_columns : int, optional
        How many columns to end with. Without it the search ends by the rules below.
    tolerance : float
        More columns must raise the score by more than this; fewer must not lower it by more than this.
    good_enough : float, optional
        A score at which the search ends.
    step : int
        How many columns come or go at a time, those that are best by themselves.
    cv : int, splitter or list of (train, test)
        Where the score comes from: the mean over held-out folds. A number makes shuffled ones.
    scoring : str or function of (learner, X, y), optional
        As in scikit-learn, or a name in ``lineal.evaluation.METRICS``; the learner's own score if not given.
        Of functions, those with an argument ``sample_weight`` are given the weights of rows.
    criterion : function of (fitted learner, X, y), optional
        A score on all rows instead of held-out ones, the larger the better: minus Akaike's criterion, say.
    candidates : int, optional
        Only the best so many columns by ``measure`` are tried. Each step fits a learner for every column and
        fold, so that with many thousands of columns there is no other way.
    measure : str
        A measure of :func:`lineal.rank_features`.
    warm_start : bool
        Whether fits start from the weights of the step before, where the learner can: the linear learners of
        this library. The scores change by what the learner's ``tol`` leaves open.
    random_state : int, optional
        The seed of the folds.
    progress : bool
        Whether a terminal shows how far the search has come.

    Attributes
    ----------
    support_ : (n_columns,) bool
    columns_ : the chosen columns, in the order in which they came
    score_ : float
        Of the chosen columns, by the rows that chose them: too good the more was tried, and the more so with
        ``candidates``. For an honest one, cross-validate a pipeline that has the search in it.
    history_ : History
        What was added and removed when, with its score; ``print`` shows it.
    stopped_ : str
        Why the search ended.
    candidates_ : the columns that were tried
    learner_ : the learner, fitted to the chosen columns of all rows
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Of equal scores the lower column is taken, and the higher one removed. Ctrl-C ends the search with the
    best columns so far; before the first step is done, and at the second Ctrl-C, ``KeyboardInterrupt`` is
    raised.
"""


class _BrokenOffError(Exception):
    """Ctrl-C came while columns were tried."""


class BaseStepwise(LearnerSelector):
    """What forward, backward and floating search share."""

    _moves: ClassVar[tuple[str, ...]]  # of one round
    _starts_full: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """One text about the parameters for all."""
        super().__init_subclass__(**options)
        cls.__doc__ = (cls.__doc__ or "").replace("    PARAMETERS\n", _PARAMETERS)

    def __init__(
        self,
        learner: Any = None,
        *,
        n_columns: int | None = None,
        tolerance: float = 0.0,
        good_enough: float | None = None,
        step: int = 1,
        cv: Any = 5,
        scoring: Any = None,
        criterion: Callable[[Any, Any, Any], float] | None = None,
        candidates: int | None = None,
        measure: str = "mutual_information",
        warm_start: bool = True,
        random_state: int | None = None,
        progress: bool = False,
    ) -> None:
        self.learner = learner
        self.n_columns = n_columns
        self.tolerance = tolerance
        self.good_enough = good_enough
        self.step = step
        self.cv = cv
        self.scoring = scoring
        self.criterion = criterion
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
        """Searches.

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
        scorer = Scorer(lesson.learner, self.scoring, self.criterion)
        examples = lesson.examples
        parts = [(examples, examples)]
        if self.criterion is None:
            parts = [(examples.rows(train), examples.rows(test)) for train, test in self._folds(lesson)]
        judge = Judge(parts, trainer, scorer)
        with cancellable() as token:
            search = _Search(self, lesson, judge, token)
            try:
                self.stopped_ = search.run()
            finally:
                search.line.close()
        if search.answer is None:
            raise nothing_done()
        self._learn(lesson, search, search.answer)
        return self

    def _learn(self, lesson: Lesson, search: _Search, answer: Verdict) -> None:
        self.columns_ = answer.columns
        self.score_ = answer.score
        self.history_ = History(tuple(search.steps), lesson.names)
        self.candidates_ = lesson.pool
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[answer.columns] = True
        self.learner_ = lesson.fitted(np.flatnonzero(self.support_))

    def _default_learner(self, *, are_classes: bool) -> Any:
        return LogisticRegression() if are_classes else Ridge()

    def _check_options(self) -> None:
        super()._check_options()
        require_count("step", self.step, "left out")
        if not isinstance(self.tolerance, numbers.Real) or not 0 <= float(self.tolerance) < np.inf:
            raise ParameterError(f"tolerance must be a number >= 0, got {self.tolerance!r}.")
        if self.good_enough is not None and not isinstance(self.good_enough, numbers.Real):
            raise ParameterError(f"good_enough must be a score or None, got {self.good_enough!r}.")
        if self.criterion is not None and not callable(self.criterion):
            raise ParameterError(f"criterion must be a function of (learner, X, y), got {self.criterion!r}.")


class ForwardSelection(BaseStepwise):
    """Starts with no columns and adds the one that raises the score most, again and again.

    The search ends when no column raises the score by more than ``tolerance``, when the score is
    ``good_enough``, or at ``n_columns``.
    PARAMETERS
    Examples
    --------
    >>> import numpy as np
    >>> from lineal import ForwardSelection, LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> search = ForwardSelection(LinearRegression(), tolerance=0.01).fit(X, 3 * X[:, 4] - 2 * X[:, 1])
    >>> search.columns_, search.stopped_
    (array([4, 1]), 'no column raises the score by more than 0.01')
    """

    _moves = ("add",)


class BackwardElimination(BaseStepwise):
    """Starts with all columns and removes the one that is missed least, again and again.

    The search ends when every removal lowers the score by more than ``tolerance``, when the score is
    ``good_enough``, or at ``n_columns``.
    PARAMETERS
    Examples
    --------
    >>> import numpy as np
    >>> from lineal import BackwardElimination, LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> search = BackwardElimination(LinearRegression(), tolerance=0.01).fit(X, 3 * X[:, 4] - 2 * X[:, 1])
    >>> search.get_support(indices=True)
    array([1, 4])
    """

    _moves = ("remove",)
    _starts_full = True


class FloatingSelection(BaseStepwise):
    """Two steps forward, one step back: adds two columns and removes the one that is missed least.

    What looked best alone can leave again once better company has come. The answer is the best set that was
    met, of ``n_columns`` where those are given. The search ends when a round meets none that is better by
    ``tolerance``, when the score is ``good_enough``, or at ``n_columns``.
    PARAMETERS
    Examples
    --------
    >>> import numpy as np
    >>> from lineal import FloatingSelection, LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> search = FloatingSelection(LinearRegression(), tolerance=0.01).fit(X, 3 * X[:, 4] - 2 * X[:, 1])
    >>> search.get_support(indices=True)
    array([1, 4])
    """

    _moves = ("add", "add", "remove")


class _Search:
    """One search: the columns at hand, the best that were met, and the steps so far."""

    def __init__(self, owner: BaseStepwise, lesson: Lesson, judge: Judge, token: CancellationToken) -> None:
        self._owner, self._judge, self._pool = owner, judge, lesson.pool
        self._token = token
        self._began = time.perf_counter()
        self.line = SearchLine(is_wanted=bool(owner.progress))
        self.steps: list[Step] = []
        self.now: Verdict | None = None
        self.answer: Verdict | None = None

    def run(self) -> str:
        """Rounds until a rule ends them; returns which."""
        try:
            if self._owner._starts_full:
                self._arrive("add", self._verdict(self._pool, None), self._pool)
            while (reason := self._why_stop()) is None:
                before = self.answer
                for move in self._owner._moves:
                    if (moved := self._moved(move)) is None:
                        continue
                    self._arrive(move, *moved)
                    if self._is_good_enough():
                        return self._good_enough()
                if self._owner.n_columns is None and self.answer is before:
                    return self._no_gain()
        except _BrokenOffError:
            return "interrupted: these are the best columns so far"
        return reason

    # ---- rules --------------------------------------------------------------------------------

    def _why_stop(self) -> str | None:
        n_now, wanted = 0 if self.now is None else len(self.now.columns), self._owner.n_columns
        if self._is_good_enough():
            return self._good_enough()
        if self._owner._starts_full:
            if wanted is not None and n_now <= wanted:
                return f"{wanted} columns are left"
            return "one column is left" if n_now == 1 else None
        if wanted is not None and n_now >= wanted:
            return f"{wanted} columns are chosen"
        # A round that ends with one column less was over when none was left to add.
        all_met = any(step.n_columns == len(self._pool) for step in self.steps)
        return "no column is left to add" if all_met else None

    def _is_good_enough(self) -> bool:
        enough = self._owner.good_enough
        return enough is not None and self.answer is not None and self.answer.score >= enough

    def _good_enough(self) -> str:
        return f"the score is good enough: at least {self._owner.good_enough:g}"

    def _no_gain(self) -> str:
        if self._owner._starts_full:
            return f"every removal lowers the score by more than {self._owner.tolerance:g}"
        return f"no column raises the score by more than {self._owner.tolerance:g}"

    def _arrive(self, action: str, verdict: Verdict, changed: Columns) -> None:
        """Records a step, and takes it for the answer where it is better."""
        self.now = verdict
        self.steps.append(
            Step(
                action,
                tuple(changed.tolist()),
                len(verdict.columns),
                verdict.score,
                verdict.fold_scores,
                time.perf_counter() - self._began,
            )
        )
        if self._is_better(verdict):
            self.answer = verdict

    def _is_better(self, verdict: Verdict) -> bool:
        if self.answer is None:
            return True
        wanted, tolerance = self._owner.n_columns, float(self._owner.tolerance)
        n, n_best = len(verdict.columns), len(self.answer.columns)
        if wanted is not None and abs(n - wanted) != abs(n_best - wanted):
            return abs(n - wanted) < abs(n_best - wanted)
        gain = verdict.score - self.answer.score
        if n == n_best:
            return gain > 0
        return gain > tolerance if n > n_best else gain >= -tolerance

    # ---- moves --------------------------------------------------------------------------------

    def _moved(self, move: str) -> tuple[Verdict, Columns] | None:
        """The best way to add or to remove a step's columns; None where there is none."""
        here = np.array([], dtype=np.intp) if self.now is None else self.now.columns
        wanted = self._owner.n_columns
        if move == "add":
            free = np.setdiff1d(self._pool, here)
            room = len(free)
            if wanted is not None:  # no more than a step back can undo
                back = int(self._owner.step) if "remove" in self._owner._moves else 0
                room = min(room, wanted + back - len(here))
        else:
            free, room = np.sort(here)[::-1], len(here) - 1
            if wanted is not None and len(here) > wanted:  # which is not stepped over
                room = len(here) - wanted
        n_step = min(int(self._owner.step), room)
        if n_step < 1:
            return None
        trials: list[Verdict] = []
        for place, column in enumerate(free):
            best_score = None if self.answer is None else self.answer.score
            self.line.show(move, len(here), place + 1, len(free), best_score)
            trial = self._verdict(_changed(here, move, np.array([column])), self.now)
            trials = _kept(trials, trial, n_step)
        return self._joined(here, move, trials)

    def _joined(self, here: Columns, move: str, trials: list[Verdict]) -> tuple[Verdict, Columns]:
        """The columns of the best trials, all at once."""
        columns = np.concatenate([np.setxor1d(trial.columns, here) for trial in trials])
        if len(trials) == 1:
            return trials[0], columns
        return self._verdict(_changed(here, move, columns), trials[0]), columns

    def _verdict(self, columns: Columns, start: Verdict | None) -> Verdict:
        if self._token.is_over:
            raise _BrokenOffError
        found = self._judge.verdict(columns, start)
        if self._token.is_over:  # fits that were broken off say little
            raise _BrokenOffError
        return found


def _changed(here: Columns, move: str, columns: Columns) -> Columns:
    """In the order in which they came."""
    return np.concatenate([here, columns]) if move == "add" else here[~np.isin(here, columns)]


def _kept(trials: list[Verdict], trial: Verdict, n: int) -> list[Verdict]:
    """The n best, the earlier first among equals."""
    ordered = sorted([*trials, trial], key=lambda one: -one.score)
    return ordered[:n]
