"""Classes that have an order: one direction, and thresholds along it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import DisorderedThresholdsWarning, InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.scenarios.certified import CertifiedLearner
from lineal.learners.scenarios.ordinal_labels import check_order, ordered_labels, ranks_of
from lineal.learners.targets import codes_among, labels_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, expit, logs_of, probabilities, softmax
from lineal.objective import L2, Intercept, Log, Loss, Penalty, Problem
from lineal.objective.linear_maps import LinearMap, NativeRows, NumpyRows, SharedRows
from lineal.objective.losses import FloatArray
from lineal.objective.masked import Masked
from lineal.protocol import available_if, check_is_fitted
from lineal.solvers import LBFGS, Newton, Plan, Solution, Solver, plan
from lineal.solvers.driver import Callback
from lineal.solvers.newton import is_direct
from lineal.solvers.threshold_smo import ThresholdSMO

# So many dual variables of hinges take the dual longer than a small Hessian takes.
_MANY = 50_000


class OrdinalClassifier(ClassifierMixin, CertifiedLearner):
    r"""A linear model of classes from low to high: one direction w and K - 1 thresholds on its scores.

    With the score z = w . x and thresholds t_1, ..., t_{K-1} between neighbouring classes, a row is on the
    right side of threshold k if z > t_k where its class lies above it, z < t_k where it lies below. A loss of
    that side is summed over thresholds; they are not penalised::

        sum_i s_i sum_k loss(y_ik, z_i - t_k) + R(w),      y_ik = +1 if row i lies above threshold k, else -1

    ``thresholds="all"`` sums over all k, so a mistake costs more the further off it is; the thresholds come
    out in order by themselves. ``"immediate"`` sums over the two thresholds next to the row's own class. With
    two classes both are ``LinearClassifier``.

    Parameters
    ----------
    thresholds : "all" or "immediate"
        Which thresholds a row is held to.
    loss : Loss
        Any loss of one score: ``Log()``, ``Hinge()``, ``SquaredHinge()`` ..., or your own.
    penalty : Penalty
        ``L2(strength)``, ``L1(strength)``, ``ElasticNet(l1, l2)``, ``Lp(strength, p)``, ``NoPenalty()``.
    order : sequence of labels, optional
        From the lowest to the highest. Not needed for numbers and dates, an ordered categorical of pandas, an
        ``Enum`` of polars, or two labels. It may name labels that y lacks.
    solver : "auto", a solver's name, or a Solver
        Changes the time, never the answer; ``plan_`` says which was taken and why.
    tol : float, optional
        The relative duality gap to certify; 1e-3 if not given.
    max_seconds, max_epochs, n_threads, random_state, progress, callbacks
        As in ``LinearClassifier``.

    Attributes
    ----------
    coef_ : (1, d)
    intercept_ : (1,)
        Added to scores so that the middle threshold is 0, as that of two classes is.
    thresholds_ : (K - 1,), where the score passes from a class to the next
    is_ordered_ : whether the thresholds are in order
    classes_ : the K labels that have rows, from the lowest to the highest
    order_ : all labels, those without rows too
    certificate_ : Certificate
    trace_, plan_, dual_, n_iter_ : as in ``LinearClassifier``

    Notes
    -----
    The problem is the binary one of n (K - 1) rows (x, -e_k). X is held and walked over once all the same;
    scores, targets and dual variables are n (K - 1) numbers each. A step costs a binary step and n (K - 1)
    losses. The certificate is the binary one with a sum that must vanish for each threshold.

    A class without rows, or without weight, takes no part: it is in ``order_`` and is never predicted.

    Published: Shashua and Levin 2003; Rennie and Srebro 2005; Chu and Keerthi 2007.

    Examples
    --------
    >>> from lineal import OrdinalClassifier
    >>> from lineal.objective import L2
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "middle", "middle", "high", "high"]
    >>> model = OrdinalClassifier(penalty=L2(0.01), order=["low", "middle", "high"]).fit(X, y)
    >>> model.predict([[0.2], [2.4], [9.0]]).tolist()
    ['low', 'middle', 'high']
    >>> model.is_ordered_, model.certificate_.converged
    (True, True)
    """

    classes_: NDArray[Any]
    order_: NDArray[Any]
    thresholds_: FloatArray
    plan_: Plan

    def __init__(
        self,
        thresholds: Literal["all", "immediate"] = "all",
        loss: Loss = Log(),
        penalty: Penalty = L2(1.0),
        *,
        order: Sequence[Any] | None = None,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.thresholds = thresholds
        self.loss = loss
        self.penalty = penalty
        self.order = order
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits direction and thresholds and proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels
            Numbers, names with ``order=``, an ordered categorical.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        array = self._read(X, reset=True)
        order, ranks = ordered_labels(y, self.order, array.shape[0])
        rows = self._built(array, reset=True)
        s = weights_of_rows(sample_weight, rows.n_rows)
        present = np.flatnonzero(np.bincount(ranks, weights=s, minlength=len(order)))
        if len(present) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has only one class "
                f"with weight: {order.tolist()[present[0]]!r}. Check the labels or the split."
            )
        self.order_, self.classes_ = order, order[present]
        problem = self._pose(rows, np.searchsorted(present, ranks), s)
        self.plan_ = self._plan(problem)
        self._learn(self._minimised(problem, self.plan_.solvers))
        self._warn_unless_certified()
        if not self.is_ordered_:
            warnings.warn(
                f"thresholds {np.array2string(self.thresholds_, precision=4)} are not in order, which "
                "thresholds='immediate' does not promise: classes between them are never predicted. "
                "thresholds='all' promises it.",
                DisorderedThresholdsWarning,
                stacklevel=3,
            )
        return self

    def _check_options(self) -> None:
        super()._check_options()
        if self.thresholds not in ("all", "immediate"):
            raise ParameterError(f"thresholds must be 'all' or 'immediate', got {self.thresholds!r}.")
        check_order(self.order)
        # Whether loss, penalty and solver go together does not depend on the data: one row tells.
        rows, ones = SharedRows(NumpyRows(np.zeros((1, 1))), 2), np.ones((1, 2))
        plan(
            Problem.of_rows(rows, ones, ones[0, :1], self.loss, self.penalty, Intercept.FREE, 2), self.solver
        )

    def _plan(self, problem: Problem) -> Plan:
        """The planner's choice; for hinges under L2 the dual, unless rows are many and columns few."""
        if self.solver != "auto" or ThresholdSMO().refusal(problem) is not None:
            return plan(problem, self.solver)
        n, d, K = problem.X.n_rows, problem.X.n_columns, problem.n_outputs
        size = f"{n:,} rows, {d:,} columns, {K} thresholds"
        if is_direct(problem) and n * K > _MANY:
            reason = f"few columns and many rows ({size}): a small Hessian, the kinks smoothed in stages"
            return Plan((Newton(), ThresholdSMO()), reason)
        return Plan((ThresholdSMO(), LBFGS()), f"hinges of this size ({size}) are solved by their dual")

    def _pose(self, rows: LinearMap, codes: NDArray[np.intp], s: FloatArray) -> Problem:
        """Above or below each threshold; those that a row is not held to have target 0."""
        n_thresholds = len(self.classes_) - 1
        place = np.arange(n_thresholds)
        y = np.where(codes[:, None] > place, 1.0, -1.0)
        if n_thresholds == 1:
            return Problem.of_rows(rows, y, s, self.loss, self.penalty, Intercept.FREE, 1)
        loss = self.loss
        if self.thresholds == "immediate":
            y[(codes[:, None] != place) & (codes[:, None] != place + 1)] = 0.0
            loss = Masked(loss)
        assert isinstance(rows, (NativeRows, NumpyRows))
        shared = SharedRows(rows, n_thresholds)
        return Problem.of_rows(shared, y, s, loss, self.penalty, Intercept.FREE, n_thresholds)

    def _learn(self, solution: Solution) -> None:
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.n_iter_ = max(1, solution.certificate.epochs)
        self.dual_ = solution.U
        self.__dict__.pop("separation_", None)
        if solution.separation is not None:
            self.separation_ = solution.separation
        self.coef_ = solution.W.T
        b = solution.b
        middle = (len(b) - 1) // 2
        self.intercept_ = b[middle : middle + 1].copy()
        self.thresholds_ = b[middle] - b
        self.is_ordered_ = bool(np.all(np.diff(self.thresholds_) >= 0))

    def _numpy_problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        rows = self._numpy_rows(X)
        ranks = ranks_of(self.order_, y, rows.n_rows)
        present = codes_among(self.order_, self.classes_)
        return self._pose(rows, np.searchsorted(present, ranks), weights_of_rows(sample_weight, rows.n_rows))

    def _problem_weights(self) -> tuple[FloatArray, FloatArray]:
        return self.coef_.T.astype(np.float64), self.intercept_[0] - self.thresholds_

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """(n,) scores on the axis of ``thresholds_``: the higher, the higher the class."""
        check_is_fitted(self)
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class whose thresholds the score lies between; at a threshold, the higher one.

        Thresholds that are not in order are pooled with their neighbours until they are: the label is then
        that of the largest sum of z - t_j over the thresholds j below it.
        """
        places = self._places(self.decision_function(X))
        return np.asarray(self.classes_[places])

    def _places(self, z: FloatArray) -> NDArray[np.intp]:
        return np.searchsorted(pooled(self.thresholds_), z, side="right")

    @available_if(lambda self: isinstance(self.loss, Log))
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities of the classes, for ``Log()``.

        ``"all"``: each threshold is a logistic model of lying above it, P(class > k) = sigma(z - t_k), which
        is the model of proportional odds; classes have the differences. The predicted label is their median,
        which expects the least absolute error; it need not be the likeliest, ``argmax``.

        ``"immediate"``: each threshold is a logistic model of two neighbours, P(k + 1) / P(k) =
        exp(z - t_k), which is the model of adjacent categories; the predicted label is the likeliest.
        """
        z = self.decision_function(X)
        if len(self.thresholds_) == 1:
            return crowned(probabilities(z[:, None], 1.0), self._places(z))
        if self.thresholds == "immediate":
            odds = np.cumsum(z[:, None] - self.thresholds_, axis=1)
            return crowned(softmax(np.column_stack([np.zeros(len(z)), odds])), self._places(z))
        above = z[:, None] - pooled(self.thresholds_)
        # sigma(a) - sigma(b) = sigma(a) sigma(-b) (1 - exp(b - a)), which keeps the digits of small ones.
        between = expit(above[:, :-1]) * expit(-above[:, 1:]) * -np.expm1(above[:, 1:] - above[:, :-1])
        return np.column_stack([expit(-above[:, :1]), between, expit(above[:, -1:])])

    @available_if(lambda self: isinstance(self.loss, Log))
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``."""
        return logs_of(self.predict_proba(X))

    def mean_absolute_error(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """By how many classes predictions are off on average, counted in ``order_``."""
        predicted = self.predict(X)
        ranks = ranks_of(self.order_, labels_of_rows(y, len(predicted)), len(predicted))
        distance = np.abs(codes_among(self.order_, predicted) - ranks)
        return float(np.average(distance, weights=weights_of_rows(sample_weight, len(predicted))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks' classes lie around each other, not in a row: no direction puts them in order.
        tags.classifier_tags.poor_score = True
        return tags


def pooled(thresholds: FloatArray) -> FloatArray:
    """The nearest thresholds that are in order: those that are not take the mean of their neighbourhood."""
    means: list[float] = []
    counts: list[int] = []
    for threshold in thresholds.tolist():
        mean, count = threshold, 1
        while means and means[-1] > mean:
            total = count + counts.pop()
            mean += (means.pop() - mean) * (total - count) / total
            count = total
        means.append(mean)
        counts.append(count)
    return np.repeat(means, counts)
