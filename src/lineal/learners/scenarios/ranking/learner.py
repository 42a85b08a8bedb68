"""RankSVM: the learner of rankings."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.deferred import sparse as sp
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.learners.matrix import MatrixModel
from lineal.learners.scenarios.ranking.queries import queries_of_rows, weights_of_queries
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.heads import Head, NumbersHead
from lineal.model.linear import LinearScores, Scores
from lineal.objective import L2, Intercept, Penalty, Problem
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray, Hinge, Log, Loss, SquaredHinge
from lineal.objective.pair_losses import NumpyPairLosses, PairLosses, PairSlopes
from lineal.objective.ranking_pairs import Pairs
from lineal.protocol import RegressorMixin, check_is_fitted
from lineal.solvers import Budget, Plan, Solution, Start, minimise, plan
from lineal.solvers.driver import Callback

_WEIGHTINGS = ("pairs", "queries")


class RankSVM(RegressorMixin, MatrixModel):
    r"""A linear ranking machine: rows of one query are put in the order of their grades (Joachims 2002).

    Minimises, over all pairs of rows of one query in which row i has the higher grade::

        sum over queries q of c_q sum over pairs (i, j) of s_i s_j loss(z_i - z_j) + |w|^2 / (2 C),    z = X w

    It is the machine of :class:`LinearSVC` on all differences x_i - x_j, without an intercept and without the
    differences: pairs are never listed.

    Parameters
    ----------
    C : float
        1 / strength: how much pairs weigh against |w|^2 / 2.
    loss : Hinge(), SquaredHinge() or Log()
        Of the difference of two scores. The hinges cost O(n log n) for n rows of a query; ``Log`` visits
        every pair, O(pairs) time, without storing them.
    penalty : Penalty, optional
        In place of |w|^2 / (2 C): ``L1(strength)``, ``ElasticNet(l1, l2)`` ... C then plays no part.
    weighting : "pairs" or "queries"
        c_q is 1, so that every pair counts the same; or one over the query's pairs (by weight), so that every
        query does.
    tol : float
        The certified relative duality gap to reach.
    max_seconds, max_epochs : number, optional
        When to stop short of it; an epoch is a Newton step.
    n_threads : int, optional
        Changes the time, never a bit.
    warm_start : bool
        Whether ``fit`` begins at the weights of the last one.
    callbacks : sequence of functions of a ``Progress``
        Called after every epoch; True stops.

    Attributes
    ----------
    coef_ : (n_columns,) weights
    intercept_ : 0.0, since a ranking knows no origin
    certificate_ : Certificate
    trace_ : tuple of Progress
    n_iter_ : int, Newton steps
    n_pairs_ : int, pairs of the training data, whatever they weigh
    plan_ : which solver, and why
    dual_scores_, dual_width_, dual_factor_ : (n_rows,) array and floats
        The dual point of the proof: the slopes of the losses (a hinge rounded over that width) at those
        scores, times the factor. :func:`lineal.verify` recomputes it pair by pair.

    Notes
    -----
    A row of weight 2 is the row twice. Rows of one grade, or of different queries, are never compared; where
    there is nothing to compare, ``fit`` refuses.

    References
    ----------
    Joachims, Optimizing search engines using clickthrough data, 2002. Joachims, Training linear SVMs in
    linear time, 2006. Lee and Lin, Large-scale linear RankSVM, 2014.

    Examples
    --------
    >>> from lineal import RankSVM
    >>> X = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0]]
    >>> model = RankSVM(C=10.0).fit(X, [2, 1, 0, 1, 0], groups=["a", "a", "a", "b", "b"])
    >>> model.predict([[0.9, 0.1], [0.1, 0.9]]).argmax(), model.certificate_.converged
    (np.int64(0), True)
    """

    _orders_rows = True  # so it is judged by the order, not by the numbers

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Loss = Hinge(),
        penalty: Penalty | None = None,
        weighting: str = "pairs",
        tol: float = 1e-4,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.C = C
        self.loss = loss
        self.penalty = penalty
        self.weighting = weighting
        self.tol = tol
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.callbacks = callbacks

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        query_weight: Mapping[Any, float] | None = None,
    ) -> Self:
        """Learns the order of rows within queries.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : (n_rows,) numbers
            Grades: the higher, the better. Only their order within a query matters.
        groups : (n_rows,) labels, optional
            The query of each row, of any type, in any order; without, all rows are one query.
        sample_weight : (n_rows,) numbers >= 0, optional
            A pair weighs the product of its rows: a weight of 2 is the row twice.
        query_weight : dict of query to number >= 0, optional
            Queries that are not named weigh 1.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        rows = self._rows(X, reset=True)
        pairs = self._pairs(y, groups, sample_weight, query_weight, rows.n_rows)
        return self._fit(rows, pairs)

    @all_or_nothing
    def fit_pairs(self, better: Any, worse: Any, pair_weight: ArrayLike | None = None) -> Self:
        """Learns from explicit pairs: row k of ``better`` is to stand above row k of ``worse``.

        Parameters
        ----------
        better, worse : arrays, sparse matrices or data frames of one shape (n_pairs, n_columns)
            Differences are pairs, too: give them as ``better``, and a matrix of zeros as ``worse``.
        pair_weight : (n_pairs,) numbers >= 0, optional

        Returns
        -------
        self
        """
        self._check_options()
        first, second = self._read(better, reset=True), self._read(worse, reset=False)
        if first.shape != second.shape:
            raise InputError(
                f"better and worse need the same shape, one row for each pair, got {first.shape} and "
                f"{second.shape}."
            )
        n = first.shape[0]
        is_sparse = sp.issparse(first) or sp.issparse(second)
        stacked = sp.vstack([first, second], format="csr") if is_sparse else np.vstack([first, second])
        grades = np.repeat([1.0, 0.0], n)
        pairs = Pairs.of(
            grades,
            np.tile(np.arange(n, dtype=np.int32), 2),
            np.ones(2 * n),
            weights_of_rows(pair_weight, n),
            is_by_query=False,
        )
        return self._fit(self._built(stacked, reset=False), pairs)

    def _fit(self, rows: LinearMap, pairs: Pairs) -> Self:
        problem = self._posed(rows, self._losses(PairLosses, pairs))
        self.plan_: Plan = plan(problem)
        budget = Budget(self.max_seconds, self.max_epochs, self.callbacks)
        start = self._start(rows)
        self._learn(minimise(problem, self.plan_.solvers, tol=float(self.tol), budget=budget, start=start))
        self.n_pairs_ = pairs.n_pairs
        if not self.certificate_.converged:
            message = f"{type(self).__name__} is {self.certificate_}."
            warnings.warn(message, NotCertifiedWarning, stacklevel=4)
        return self

    def _learn(self, solution: Solution) -> None:
        self.coef_ = solution.W[:, 0]
        self.intercept_ = 0.0
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.n_iter_ = max(1, solution.certificate.epochs)
        self.dual_scores_, self.dual_width_ = solution.U.z, solution.U.width
        self.dual_factor_ = solution.U.factor

    def _start(self, rows: LinearMap) -> Start | None:
        before = getattr(self, "coef_", None) if self.warm_start else None
        if before is None or before.shape != (rows.n_columns,):
            return None
        return Start(np.array(before, dtype=np.float64)[:, None], np.zeros(1))

    def _posed(self, rows: LinearMap, losses: PairLosses) -> Problem:
        penalty = L2(1.0 / float(self.C)) if self.penalty is None else self.penalty
        return Problem(rows, losses, penalty, Intercept.NONE)

    def _losses(self, kind: type[PairLosses], pairs: Pairs) -> PairLosses:
        if not pairs.weight > 0:
            raise InputError(
                f"there is no pair to rank: no query among {pairs.n_rows} sample"
                f"{'s' * (pairs.n_rows > 1)} has two rows with weight and different grades. "
                "Check y and groups."
            )
        return kind(pairs, self.loss, n_threads=thread_count(self.n_threads))

    def _pairs(
        self,
        y: ArrayLike,
        groups: ArrayLike | None,
        sample_weight: ArrayLike | None,
        query_weight: Mapping[Any, float] | None,
        n_rows: int,
    ) -> Pairs:
        grades = numbers_of_rows(y, n_rows, type(self).__name__)
        if grades.ndim != 1:
            raise InputError(f"y must be one grade for each row, got an array of shape {grades.shape}.")
        queries, codes = queries_of_rows(groups, n_rows)
        weights = weights_of_queries(query_weight, queries)
        s = weights_of_rows(sample_weight, n_rows)
        return Pairs.of(grades, codes, s, weights, is_by_query=self.weighting == "queries")

    # ---- options ------------------------------------------------------------------------------

    @property
    def _tolerance(self) -> float:
        return float(self.tol)

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        _ = thread_count(self.n_threads)
        for name, most in (("C", np.inf), ("tol", np.inf)):
            value = getattr(self, name)
            if not (_is_number(value) and 0 < value < most):
                raise ParameterError(f"{name} must be a number > 0, and finite, got {value!r}.")
        if not isinstance(self.loss, (Hinge, SquaredHinge, Log)):
            raise ParameterError(f"loss must be Hinge(), SquaredHinge() or Log(), got {self.loss!r}.")
        if self.penalty is not None and not isinstance(self.penalty, Penalty):
            raise ParameterError(f"penalty must be a Penalty such as L1(1.0), or None, got {self.penalty!r}.")
        if self.penalty is not None and self.penalty.is_zero:
            raise ParameterError(
                "RankSVM needs a penalty: pairs that can all be put in order have no minimum without one."
            )
        if self.weighting not in _WEIGHTINGS:
            raise ParameterError(f"weighting must be 'pairs' or 'queries', got {self.weighting!r}.")
        if self.max_seconds is not None and not (_is_number(self.max_seconds) and self.max_seconds > 0):
            raise ParameterError(f"max_seconds must be a number > 0 or None, got {self.max_seconds!r}.")
        limit = self.max_epochs
        if limit is not None and not (isinstance(limit, numbers.Integral) and limit >= 1):
            raise ParameterError(f"max_epochs must be a whole number >= 1 or None, got {limit!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")

    # ---- what was learned ---------------------------------------------------------------------

    def predict(self, X: Any) -> FloatArray:
        """(n,) scores X w: sort the rows of a query by them, the highest first."""
        return self._scores(X)[:, 0]

    def rank(self, X: Any, groups: ArrayLike | None = None) -> NDArray[np.int64]:
        """(n,) places within queries, 1 for the highest score; equal scores keep the order of the rows."""
        scores = self.predict(X)
        _, codes = queries_of_rows(groups, len(scores))
        order = np.lexsort((-scores, codes))
        firsts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0])
        places = np.empty(len(scores), dtype=np.int64)
        places[order] = np.arange(len(scores)) - np.repeat(firsts, np.diff(np.r_[firsts, len(scores)])) + 1
        return places

    def score(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The share of pairs in the right order, ties as a half; without ties, (Kendall's tau + 1) / 2.

        ``weighting`` says whether pairs or queries count the same.
        """
        check_is_fitted(self)
        scores = self.predict(X)
        pairs = self._pairs(y, groups, sample_weight, None, len(scores))
        if not pairs.weight > 0:
            raise InputError(
                "there is no pair to judge: no query has two rows with weight and different grades."
            )
        wrong, tied = pairs.disorder(scores, thread_count(self.n_threads))
        return 1.0 - float(np.sum(wrong + 0.5 * tied)) / pairs.weight

    # ---- what verify asks ---------------------------------------------------------------------

    def _numpy_problem(
        self, X: Any, y: Any, sample_weight: Any, *, groups: Any = None, query_weight: Any = None
    ) -> Problem:
        """The problem that was solved, from every pair, over NumPy and SciPy alone."""
        rows = self._numpy_rows(X)
        pairs = self._pairs(y, groups, sample_weight, query_weight, rows.n_rows)
        return self._posed(rows, self._losses(NumpyPairLosses, pairs))

    def _problem_weights(self) -> tuple[FloatArray, FloatArray]:
        return self.coef_[:, None].astype(np.float64), np.zeros(1)

    @property
    def _dual_point(self) -> PairSlopes:
        return PairSlopes(self.dual_scores_, self.dual_width_, self.dual_factor_)

    def _frozen_head(self, head_of: Callable[[Any], Head]) -> Head:
        """What a model file answers with."""
        W = np.ascontiguousarray(self.coef_[:, None], dtype=np.float64)
        return NumbersHead(Scores(LinearScores(W, np.zeros(1)), "dot"), True)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
