"""Whether data can be separated, with a proof either way, and how many mistakes a perceptron can then make.

Write a_i = y_i (x_i, 1) for two classes, without the 1 where there is no intercept. More classes have one a
for each row i and wrong class k, phi(x_i, y_i) - phi(x_i, k), with a block of (x, 1) for each class or a phi
of your own. For any
weights v and any shares alpha >= 0 that add up to 1,

    min_i a_i . v / |v|   <=   gamma   <=   | sum_i alpha_i a_i |,

gamma being the largest margin there is: v is a witness that it is at least the left side, alpha that it is
at most the right one (Gordan 1873; they meet at the hard-margin support vector machine). Nothing is believed
because a solver said so. The left side is computed again in float64, less all that rounding can have added,
so that ``separable=True`` is a theorem about the numbers in X. ``separable=False`` needs a sum that is 0 but
for the rounding of its own terms: no margin above that rounding exists.

With R the largest |a|, the perceptron makes at most (R / gamma)^2 mistakes (Novikoff 1962).

Cost: small data take least squares over their shares, milliseconds. Larger ones take a support vector
machine and least squares of the rows that it leans on. What that leaves open is decided, where columns
(times classes) are few, by ten to forty interior-point steps, each a weighted Gram matrix and its factor;
else by machines of falling strength, some hundred passes over the data each, and a linear programme with a
constraint for each row (and wrong class) and a variable for each column (of each class), which HiGHS solves
in memory in proportion to the stored numbers. ``max_seconds`` bounds all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable, unless_over
from lineal.errors import InputError, NotSeparableError
from lineal.features.joint import JointMap
from lineal.learners.joint.differences import differences
from lineal.learners.joint.perceptron import JointPerceptron
from lineal.learners.perceptron.classifier import Perceptron
from lineal.learners.perceptron.margins import Differences
from lineal.learners.perceptron.options import require_positive
from lineal.learners.perceptron.programme import Candidates, nearest, solved
from lineal.objective import L2, Hinge, Intercept, Problem
from lineal.objective.linear_maps import NativeRows, native_csr
from lineal.objective.losses import FloatArray
from lineal.solvers import Budget, DualCD, Start
from lineal.solvers.hard_margin import free_likelihood, widest_margin
from lineal.solvers.separation import decide, work

# Strengths relative to R^2, from soft to all but hard margins; and the epochs after which both
# sides of the margin are looked at.
_STRENGTHS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_EPOCHS = (10, 20, 40, 80, 160, 320)
# The margin is known well enough when both sides are this close; with few columns, as near as this.
_CLOSE, _SAME = 1e-3, 1e-7
# Small data have at most so many a, and so many numbers in them; a programme has at most so many.
_FEW, _SMALL, _LARGEST = 3_000, 400_000, 20_000_000
# Of other data with few columns, so many rows are taken at first, and the worst of the others in each round.
_WORKING, _ADDED, _ROUNDS = 300, 50, 40
# Where that leaves it open, a step towards a separation may take so many multiplications; and the gap then.
_MOST_WORK, _EXACT = 2e9, 1e-8


@dataclass(frozen=True, eq=False)
class SeparatingWeights:
    """Weights of norm 1 under which every training row is on its side: the proof that data are separable."""

    coef: FloatArray
    intercept: FloatArray


@dataclass(frozen=True, eq=False)
class ConvexCombination:
    """Shares >= 0 that add up to 1 and under which the a cancel: the proof that nothing separates the data.

    ``shares`` is (n,) for two classes, and (n, K), with 0 for a row's own class, for more.
    """

    shares: FloatArray


@dataclass(frozen=True, eq=False)
class MistakeBound:
    """Whether data can be separated, by how much, and how many mistakes a perceptron makes at most.

    Attributes
    ----------
    separable : bool or None
        None where neither proof was found.
    margin : float
        A margin that was proved to be there; 0 where none was.
    margin_at_most : float
        No weights have a larger one.
    radius : float
        The largest norm, the constant feature included.
    bound : float
        (radius / margin)^2; infinite where no margin was proved, or where float64 does not hold it.
    witness : SeparatingWeights, ConvexCombination or None
        The proof.
    seconds : float
    """

    separable: bool | None
    margin: float
    margin_at_most: float
    radius: float
    bound: float
    witness: SeparatingWeights | ConvexCombination | None
    seconds: float

    def __str__(self) -> str:
        if self.separable:
            most = f"at most {int(self.bound):,}" if np.isfinite(self.bound) else "finitely many"
            return (
                f"separable with margin {self.margin:.6g} (at most {self.margin_at_most:.6g}) inside radius "
                f"{self.radius:.6g}: a perceptron makes {most} mistakes"
            )
        if self.separable is False:
            n_rows = int(np.count_nonzero(np.atleast_2d(self.witness.shares.T).any(axis=0)))  # type: ignore[union-attr]
            return (
                f"not separable: a convex combination of {n_rows} rows cancels, so that no margin above "
                f"{self.margin_at_most:.2g} exists inside radius {self.radius:.6g}"
            )
        return (
            f"undecided after {self.seconds:.1f} s: the largest margin is at most {self.margin_at_most:.6g} "
            f"inside radius {self.radius:.6g}, and no separating weights were found; give more max_seconds"
        )


def mistake_bound(
    X: Any,
    y: ArrayLike,
    *,
    phi: JointMap | None = None,
    labels: Iterable[Any] | None = None,
    fit_intercept: bool = True,
    max_seconds: float | None = 60.0,
) -> MistakeBound:
    """Proves that data can or cannot be separated, and bounds the mistakes of a perceptron on them.

    Parameters
    ----------
    X, y
        The training data, as for ``Perceptron.fit``; any number of classes. With ``phi`` as for
        ``JointPerceptron.fit``.
    phi, labels : optional
        As in ``JointPerceptron``, of whose mistakes it then speaks. There is an a for each x and wrong label,
        in their order: phi(x, y) - phi(x, k), rounded to float64 where phi is. Weights that prove something
        are in the order of its ``feature_names_``.
    fit_intercept : bool
        As in ``Perceptron``: whether a constant feature 1 stands beside the others, in margin and radius too.
        It plays no part with ``phi``, where it is a feature.
    max_seconds : float, optional
        After which to say "undecided"; one minute if not given, None for no limit.

    Returns
    -------
    MistakeBound

    Examples
    --------
    >>> from lineal import mistake_bound
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(mistake_bound(X, ["no", "no", "no", "yes"]))
    separable with margin 0.2425... inside radius 1.73205: a perceptron makes at most 51 mistakes
    >>> print(mistake_bound(X, ["no", "yes", "yes", "no"]))
    not separable: a convex combination of 4 rows cancels, so that no margin above ... exists ...
    """
    if max_seconds is not None:
        require_positive("max_seconds", max_seconds)
    if phi is None:
        reader = Perceptron(fit_intercept=fit_intercept)
        rows, codes, _ = reader._training(X, y)
        n_classes, constant = len(reader.classes_), float(bool(fit_intercept))
    else:
        rows, codes = _joint_differences(JointPerceptron(phi, labels=labels), X, y)
        n_classes, constant = 2, 0.0  # each a is to be above 0, as are the rows of a second class
    array = rows.dense if rows.dense is not None else rows.csr()
    largest = float(abs(array).max()) if array.size else 0.0
    if largest > 1e140 or 0 < largest < 1e-140:
        raise InputError(
            f"mistake_bound needs numbers whose squares float64 holds; the largest in X is {largest:.3g}. "
            "Scale the columns first."
        )
    search = _Search(rows, Differences(array.astype(np.float64), codes, n_classes, constant), max_seconds)
    search.run()
    return search.result()


def _joint_differences(reader: JointPerceptron, X: Any, y: ArrayLike) -> tuple[NativeRows, NDArray[np.int32]]:
    """phi(x, y) - phi(x, k) for each x and wrong label, as rows of one class."""
    rows, codes = reader._training(X, y)
    made = differences(rows.csr(), codes, len(reader.classes_))
    return native_csr(made, 1), np.ones(made.shape[0], dtype=np.int32)


class _Search:
    """The best proof of either side so far."""

    def __init__(self, rows: NativeRows, differences: Differences, max_seconds: float | None) -> None:
        self._rows = rows
        self._differences = differences
        self._max_seconds = max_seconds
        self._began = time.perf_counter()
        self._radius = differences.radius()
        self._margin = 0.0
        self._most = self._radius
        self._weights: SeparatingWeights | None = None
        self._shares: ConvexCombination | None = None
        self._start: Start | None = None
        self._support: NDArray[np.intp] = np.zeros(0, dtype=np.intp)  # rows that the last machine leans on
        self._leaning = np.zeros(0)  # and how much

    def run(self) -> None:
        """Exact ways where they are cheap; machines of falling strength; the programme for what is left."""
        if self._radius == 0.0:  # every a is 0, and so is any of them alone
            self._look_at_shares(self._differences.alone())
            return
        if self._is_small():
            self._look_at(nearest(self._differences))
            if not self._is_decided():
                self._look_at(solved(self._differences, self._seconds_left()))
            if self._shares is not None or self._is_close():
                return
        for place, strength in enumerate(_STRENGTHS):
            self._try_machine(strength * self._radius**2)
            if place == 0:
                self._try_working_rows()
                if self._shares is None and not self._is_close(_SAME) and self._seconds_left() != 0.0:
                    self._try_exactly()
            if not self._is_open():
                return
        if not self._is_decided() and not self._is_small() and self._size() <= _LARGEST:
            self._try_programme()

    def result(self) -> MistakeBound:
        """What was proved."""
        separable = True if self._weights is not None else False if self._shares is not None else None
        ratio = self._radius / self._margin if self._weights is not None else np.inf
        return MistakeBound(
            separable,
            self._margin,
            self._most,
            self._radius,
            float(ratio * ratio * (1.0 + 2.0**-50)),  # unlike a power of Python's floats, infinite at worst
            self._weights if self._weights is not None else self._shares,
            time.perf_counter() - self._began,
        )

    def _is_decided(self) -> bool:
        return self._weights is not None or self._shares is not None

    def _is_close(self, enough: float = _CLOSE) -> bool:
        return self._weights is not None and self._most <= (1.0 + enough) * self._margin

    def _is_open(self) -> bool:
        """Whether there is something to find yet, and time for it."""
        return self._shares is None and not self._is_close() and self._seconds_left() != 0.0

    def _is_small(self) -> bool:
        n_scores = self._differences.n_scores
        n = self._rows.n_rows * max(1, n_scores - 1)
        return n <= _FEW and n * (self._rows.n_columns + 1) * n_scores <= _SMALL

    def _size(self) -> int:
        """Stored numbers of the programme."""
        per_row = self._rows.n_stored + self._rows.n_rows
        return per_row * max(1, 2 * (self._differences.n_scores - 1))

    def _seconds_left(self) -> float | None:
        if self._max_seconds is None:
            return None
        return max(0.0, self._max_seconds - (time.perf_counter() - self._began))

    def _problem(self, strength: float) -> Problem:
        """A soft margin; the constant is a feature like any other."""
        D = self._differences
        intercept = Intercept.PENALIZED if D.constant else Intercept.NONE
        ones = np.ones(self._rows.n_rows)
        if D.n_scores == 1:
            y = np.where(D.codes == 1, 1.0, -1.0)[:, None]
            return Problem.of_rows(self._rows, y, ones, Hinge(), L2(strength), intercept, 1)
        joint = Hinge().joint
        assert joint is not None
        return Problem.of_rows(self._rows, D.codes, ones, joint(), L2(strength), intercept, D.n_scores)

    def _try_machine(self, strength: float) -> None:
        """Soft margins: the weaker the penalty, the nearer to the largest hard one, where there is any."""
        problem = self._problem(strength)
        epoch = 0
        for iterate in DualCD().iterates(problem.in_core(), self._start, 1e-9, 0):
            epoch += 1
            is_over = self._seconds_left() == 0.0 or epoch == _EPOCHS[-1]
            if not is_over and epoch not in _EPOCHS:
                continue
            W, b = iterate.weights()
            assert iterate.dual is not None
            U = iterate.dual()
            self._look_at_machine(W.astype(np.float64), b.astype(np.float64), U)
            if is_over or self._is_close():
                self._start = Start(W.astype(np.float64), b.astype(np.float64), U.copy())
                return

    def _look_at_machine(self, W: FloatArray, b: FloatArray, U: FloatArray) -> None:
        D = self._differences
        self._look_at_weights(W.T, b)
        shares = np.abs(U[:, 0]) if D.n_scores == 1 else np.maximum(U, 0.0)
        if D.n_scores > 1:
            shares[np.arange(len(shares)), D.codes] = 0.0
        by_row = shares if D.n_scores == 1 else shares.sum(axis=1)
        self._support = np.flatnonzero(by_row)
        self._leaning = by_row[self._support]
        self._look_at_shares(shares)

    def _try_working_rows(self) -> None:
        """The nearest point of some rows' hull, then with the rows it serves worst, until it serves all."""
        D = self._differences
        pairs_per_row = max(1, D.n_scores - 1)
        widest = _SMALL // ((self._rows.n_columns + 1) * D.n_scores * pairs_per_row)
        rows = self._support[np.argsort(-self._leaning, kind="stable")[:_WORKING]]
        for _ in range(_ROUNDS):
            if len(rows) > min(widest, _FEW // pairs_per_row) or self._seconds_left() == 0.0:
                return
            found = nearest(D.take(rows))
            self._look_at_part(rows, found)
            if found.coef is None or found.intercept is None or self._shares is not None:
                return
            margins = D.margins_of(found.coef, found.intercept)
            self._look_at_weights(found.coef, found.intercept)
            if self._is_close():
                return
            rows = np.union1d(rows, np.argsort(margins, kind="stable")[:_ADDED])

    def _try_exactly(self) -> None:
        """The hard margin, or the shares that stand against it, where a system of all columns is small."""
        problem = self._problem(1.0)
        if work(free_likelihood(problem)) > _MOST_WORK:
            return
        with cancellable(self._seconds_left()) as token:
            try:
                found = unless_over(
                    lambda: widest_margin(problem, tol=_EXACT, budget=Budget(self._seconds_left()))[0], token
                )
                if found is not None:
                    self._look_at_machine(found.W, found.b, found.U)
            except NotSeparableError:
                decided = unless_over(lambda: decide(free_likelihood(problem)), token)
                if decided is not None and decided.shares is not None:
                    shares = decided.shares
                    self._look_at_shares(shares[:, 0] if self._differences.n_scores == 1 else shares)

    def _look_at_part(self, rows: NDArray[np.intp], found: Candidates) -> None:
        """Shares of some rows are shares of all, the others having none."""
        if found.shares is not None:
            shares = np.zeros((self._rows.n_rows, *found.shares.shape[1:]))
            shares[rows] = found.shares
            self._look_at_shares(shares)

    def _try_programme(self) -> None:
        """First on the rows that the machine leans on, which usually are enough; then on all."""
        if 0 < len(self._support) < self._rows.n_rows:
            self._look_at_part(
                self._support, solved(self._differences.take(self._support), self._seconds_left())
            )
            if self._shares is not None:
                return
        self._look_at(solved(self._differences, self._seconds_left()))

    def _look_at(self, found: Candidates) -> None:
        if found.coef is not None and found.intercept is not None:
            self._look_at_weights(found.coef, found.intercept)
        if found.shares is not None:
            self._look_at_shares(found.shares)

    def _look_at_weights(self, coef: FloatArray, intercept: FloatArray) -> None:
        size = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
        if not 0.0 < size < np.inf:
            return
        coef, intercept = coef / size, intercept / size
        norm = float(np.sqrt((coef**2).sum() + (intercept**2).sum()))
        coef, intercept = coef / norm, intercept / norm  # rounded before the proof, which is about these
        margin = self._differences.margin_of(coef, intercept)
        if margin > self._margin:
            self._margin, self._weights = margin, SeparatingWeights(coef, intercept)

    def _look_at_shares(self, shares: FloatArray) -> None:
        most, is_zero = self._differences.combination(shares)
        self._most = min(self._most, most)
        if is_zero and self._weights is None:
            self._shares = ConvexCombination(shares / shares.sum())
