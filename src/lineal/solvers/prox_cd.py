"""Proximal Newton with coordinate descent on a working set: the solver for L1 and elastic net."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import is_over
from lineal.objective.bounds import Bound
from lineal.objective.dual_points import joint_hessian, newton_point, repaired, scaled
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Part, Penalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import LOSS_A_ROW, OWN_WEIGHTS, ROWS, Iterate, Need, Start, zeros
from lineal.solvers.primal import SmoothSolver

# A working set has at least so many columns, and otherwise at most twice the support; a problem with up to
# twice as many columns is its own working set.
_SMALLEST_SET = 250
# A larger working set takes no columns whose |v| is below this share of l1.
_NEAR = 0.9
# A round ends when its working set's violation is this share of the worst one before it, and a model is
# solved to a share of that: solving is cheap beside the passes, and the dual point is as good as the model.
_ROUND, _SOLVED = 0.05, 0.03
# The quadratic model has an explicit Gram matrix up to so many columns: 128 megabytes, and where rows hold on
# average so many of them at most, a matrix is made in the time of the sweeps over columns that it saves.
_GRAM_LIMIT, _GRAM_FILL = 4000, 1500
# Proximal Newton steps on one working set, and how many of them may share one model; none may when a row
# bends so many times more than its model says.
_STEPS, _REUSE, _BENT = 8, 4, 8.0
# Sweeps of coordinate descent on a Gram matrix before the active set takes over, and its events per column.
_SWEEPS, _EVENTS = 50, 10
# A step that gains almost all that its slope promised met no curvature: longer ones are tried.
_STRAIGHT, _STRIDE = 0.9, 4.0
# Changes of the objective below this share are lost in its sums.
_INVISIBLE = 1e-13
# What is added to the diagonal of a softmax model, relative to it.
_SHIFT = 1e-8
# Scores are updated step by step; after so many rounds they are computed afresh.
_REFRESH = 20

_NEEDS = (
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Need(
        "a loss of one score, or a joint one without kinks",
        "loss",
        lambda p: p.losses.is_by_score or p.losses.is_smooth,
    ),
    Need("L1 or ElasticNet", "penalty", lambda p: p.penalty.has_corners),
)


class ProxCD(SmoothSolver):
    """Working sets by gradient, proximal Newton on each, coordinate descent or an active set inside.

    Notes
    -----
    Needs L1 or ElasticNet; losses with kinks are smoothed in stages. Guarantees: the objective falls at
    every step; columns outside the working set are checked against the full gradient in every round. A
    round costs a pass over X that proves a bound as well, a copy of the working set's columns and a Gram
    matrix or two. Softmax takes all classes in one model while that is small (columns times classes), else,
    like every other loss, one output after another. Published: Yuan, Ho and Lin 2012; Massias et
    al. 2018; for the active set Osborne, Presnell and Turlach 2000.
    """

    name = "prox_cd"

    @property
    def needs(self) -> tuple[Need, ...]:
        """An L1 part in the penalty."""
        return _NEEDS

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per round of working sets."""
        state = _begin(problem, start)
        n_rounds = 0
        while True:
            price = _price(problem, state)
            yield _iterate(problem, state, price)
            if price.worst == 0.0:
                return
            n_rounds += 1
            if n_rounds % _REFRESH == 0:
                state.Z = problem.scores(state.W, state.b)
            _round(problem, state, price)


@dataclass
class _State:
    """Weights, their scores, and a dual point: the one that the last steps foresaw, or the slopes."""

    W: FloatArray
    b: FloatArray
    Z: FloatArray
    U: FloatArray
    is_foreseen: bool = False


@dataclass(frozen=True)
class _Price:
    """What a dual point says about all columns: V, the bound, the relative gap, the worst violation."""

    V: FloatArray
    bound: Bound
    gap: float
    worst: float


def _begin(problem: Problem, start: Start | None) -> _State:
    W, b = zeros(problem) if start is None else (start.W.copy(), start.b.copy())
    Z = np.zeros((problem.X.n_rows, problem.n_outputs)) if start is None else problem.scores(W, b)
    losses = problem.losses
    if problem.intercept is Intercept.FREE:
        shift = losses.refit(Z).shift
        if losses.value(Z + shift) <= losses.value(Z):
            b, Z = b + shift, Z + shift
    return _State(W, b, Z, losses.slopes(Z))


def _price(problem: Problem, state: _State) -> _Price:
    U = repaired(problem, state.U)
    V = problem.pull(U)
    bound = scaled(problem, U, V, state.W, state.b)
    gap = problem.relative_gap(problem.primal(state.W, state.b, state.Z), bound.dual)
    worst = float(problem.penalty.violations(state.W, V).max(initial=0.0))
    if problem.intercept is not Intercept.NONE:
        # Balanced, the sums of a free intercept would always be 0.
        sums = problem.losses.sums(state.U if problem.intercept is Intercept.FREE else U)
        worst = max(worst, float(problem.constants_penalty.violations(state.b, sums).max()))
    if not problem.losses.is_by_score and not state.is_foreseen:
        # The certificate will take a Newton point, whose gap is of second order.
        gap = min(gap, (worst / float(np.max(problem.penalty.l1))) ** 2)
    return _Price(V, bound, gap, worst)


def _iterate(problem: Problem, state: _State, price: _Price) -> Iterate:
    W, b, Z = state.W, state.b, state.Z
    if not problem.losses.is_by_score and not state.is_foreseen:
        return Iterate(lambda: (W.copy(), b.copy()), lambda: newton_point(problem, W, b, Z), price.gap)
    return Iterate(lambda: (W.copy(), b.copy()), lambda: price.bound.U, price.gap, bound=price.bound)


def _round(problem: Problem, state: _State, price: _Price) -> None:
    """Descends on working sets, in place: one for all classes of a small softmax, else one per output."""
    K, losses = problem.n_outputs, problem.losses
    sets = [_working_set(state.W[:, k], price.V[:, k], problem.penalty.l1) for k in range(K)]
    if not losses.is_by_score:
        together = np.unique(np.concatenate(sets))
        if K * (len(together) + 1) <= _GRAM_LIMIT:
            foreseen = _descend(problem, together, slice(0, K), state, _ROUND * price.worst)
            state.is_foreseen = foreseen is not None
            state.U = losses.slopes(state.Z) if foreseen is None else foreseen
            return
    parts = [_descend(problem, sets[k], slice(k, k + 1), state, _ROUND * price.worst) for k in range(K)]
    state.U = losses.slopes(state.Z)
    if losses.is_by_score:  # the outputs of a joint loss move each other's slopes
        for k, foreseen in enumerate(parts):
            if foreseen is not None:
                state.U[:, k] = foreseen[:, 0]


def _working_set(w: FloatArray, v: FloatArray, l1: Part) -> NDArray[np.int64]:
    """The support and the columns whose gradient is largest beside their l1."""
    if len(w) <= 2 * _SMALLEST_SET:
        return np.arange(len(w))
    support = np.flatnonzero(w)
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.abs(v) / l1
    strength[support] = np.inf
    near = np.flatnonzero(strength >= _NEAR)
    size = max(_SMALLEST_SET, min(2 * len(support), len(near)))
    among = near if len(near) >= size else np.arange(len(w))
    return np.sort(among[np.argpartition(-strength[among], size - 1)[:size]])


@dataclass
class _Model:
    """The quadratic model on a working set: its Gram matrix, or the columns themselves.

    ``h`` are its curvatures, score by score; ``Z`` the scores it was made at.
    """

    h: FloatArray
    Z: FloatArray
    G: FloatArray | None
    columns: NativeRows | None
    age: int = 0


@dataclass(frozen=True)
class _Part:
    """Some outputs of a problem on some columns.

    The weights are one flat vector: the columns' weights, row by row, then the intercepts if there are any.
    """

    problem: Problem
    X: NativeRows
    own: Penalty  # of these columns
    outputs: slice

    @property
    def width(self) -> int:
        return self.outputs.stop - self.outputs.start

    @property
    def has_constant(self) -> bool:
        return self.problem.intercept is not Intercept.NONE

    @property
    def n_free(self) -> int:
        return self.width if self.problem.intercept is Intercept.FREE else 0

    def penalty(self, w: FloatArray) -> float:
        inner, constants = self.split(w)
        value = self.own.value(inner)
        return value if self.n_free else value + self.problem.constants_penalty.value(constants)

    def split(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = self.X.n_columns * self.width
        return w[:size].reshape(-1, self.width), w[size:]

    def parts(self) -> tuple[FloatArray, FloatArray]:
        """l1 and l2 of every weight, those of a free intercept 0."""
        penalties = ((self.own, self.X.n_columns), (self.problem.constants_penalty, int(self.has_constant)))
        l1, l2 = (
            np.concatenate(
                [np.repeat(np.broadcast_to(getattr(each, name), n), self.width) for each, n in penalties]
            )
            for name in ("l1", "l2")
        )
        return l1, l2

    def flat(self, inner: FloatArray, constants: FloatArray) -> FloatArray:
        return np.append(inner.ravel(), constants) if self.has_constant else inner.ravel()

    def gradient(self, u: FloatArray) -> FloatArray:
        su = self.problem.losses.weighted(u)
        return self.flat(self.X.adjoint(su), su.sum(axis=0))

    def scores(self, w: FloatArray) -> FloatArray:
        inner, constants = self.split(w)
        Z = self.X.dot(inner)
        return Z + constants if self.has_constant else Z

    def worst(self, w: FloatArray, gradient: FloatArray) -> float:
        (inner, constants), (v, sums) = self.split(w), self.split(gradient)
        worst = float(self.own.violations(inner, v).max(initial=0.0))
        own = self.problem.constants_penalty
        return max(worst, float(own.violations(constants, sums).max())) if self.has_constant else worst

    def curvatures(self, Z: FloatArray) -> FloatArray:
        """Those of the model; between classes that share one there is more, which ``bent`` knows."""
        losses = self.problem.losses
        H = losses.floored_curvatures(Z) if self.width == 1 else losses.curvatures(Z)
        return H[:, self.outputs]

    def bent(self, model: _Model, moved: FloatArray) -> FloatArray:
        """How the model's slopes change when the scores move."""
        if self.width == 1:
            return model.h * moved
        return self.problem.losses.curvature_product(model.Z, moved)

    def model(self, h: FloatArray, Z: FloatArray) -> _Model:
        if self.width > 1:
            return _Model(h, Z.copy(), self._joint_gram(Z), None)
        fill = self.X.n_stored / max(self.X.n_rows, 1)
        if self.X.n_columns <= _GRAM_LIMIT and fill <= _GRAM_FILL:
            weights = self.problem.losses.weighted(h)[:, 0]
            return _Model(h, Z, self.X.gram(weights, self.has_constant), None)
        return _Model(h, Z, None, self.X.transposed())

    def _joint_gram(self, Z: FloatArray) -> FloatArray:
        """Softmax, all classes together."""
        G = joint_hessian(self.problem, self.X, Z, self.has_constant)
        # A shift of all classes changes no probability: without a little more the model is singular.
        G.ravel()[:: len(G) + 1] *= 1 + _SHIFT
        return G

    def minimise(
        self, model: _Model, w: FloatArray, gradient: FloatArray, u: FloatArray, tol: float
    ) -> FloatArray:
        """The weights that minimise the model and the penalty, up to violations of ``tol``."""
        l1, l2 = self.parts()
        w = w.copy()
        if model.G is not None:
            gradient = gradient.copy()
            _, violation = _core.gram_cd(model.G, l1, l2, gradient, w, tol, _SWEEPS)
            if violation > tol:
                exact = w.copy()
                _core.gram_active_set(model.G, l1, l2, gradient, exact, tol, _EVENTS * len(w))
                # A model without curvature somewhere has no exact answer.
                w = exact if np.isfinite(exact).all() else w
            return w
        assert model.columns is not None
        d, weighted = self.X.n_columns, self.problem.losses.weighted
        sh, su = weighted(model.h), weighted(u)
        inner, curvature = w[:d].copy(), self.X.squared_adjoint(sh)[:, 0]
        b, _, _ = _core.column_cd(
            model.columns.matrix, sh[:, 0], self.has_constant, l1, l2, curvature, su[:, 0],
            inner, float(w[d]) if self.has_constant else 0.0, tol, 100,
        )  # fmt: skip
        return np.append(inner, b) if self.has_constant else inner


def _descend(
    problem: Problem, columns: NDArray[np.int64], outputs: slice, state: _State, tol: float
) -> FloatArray | None:
    """Proximal Newton steps on a working set of some outputs, until its violation is below ``tol``; in place.

    Returns these outputs' dual point where a model foresaw it: the slopes at the end of the last step. They
    meet the conditions of the working set as closely as the model was solved, and are away from the true
    slopes by the square of the step only, so the bound is tight long before the slopes themselves are.
    """
    X = problem.X.native_rows
    assert X is not None
    own = problem.penalty
    if len(columns) < X.n_columns:
        X, own = X.take_columns(columns), own.take(columns)
    part = _Part(problem, X, own, outputs)
    W, b, Z = state.W, state.b, state.Z
    w = part.flat(W[columns, outputs], b[outputs])
    value = problem.losses.value(Z) + part.penalty(w)
    model: _Model | None = None
    foreseen: FloatArray | None = None
    for _ in range(_STEPS):
        if is_over():
            break
        u = np.ascontiguousarray(problem.losses.slopes(Z)[:, outputs])
        gradient = part.gradient(u)
        if part.worst(w, gradient) <= tol:
            break
        h = part.curvatures(Z)
        if model is None or model.age >= _REUSE or np.any(h > _BENT * model.h):
            model = part.model(h, Z)
        model.age += 1
        move = part.minimise(model, w, gradient, u, _SOLVED * tol) - w
        promised = float(gradient @ move) + part.penalty(w + move) - part.penalty(w)
        moved = part.scores(move)
        t, there = _search(part, Z, moved, w, move, value, promised)
        if t == 0.0:
            if model.age == 1:
                # Too small a gain for the objective to show is still one for the dual point.
                is_tiny = promised >= -_INVISIBLE * abs(value)
                foreseen = u + part.bent(model, moved) if is_tiny else None
                break
            model = None
            continue
        foreseen = u + part.bent(model, moved) if t == 1.0 else None
        is_straight = t == 1.0 and there - value <= _STRAIGHT * promised
        w, value = w + t * move, there
        if is_straight:
            longer, value = _stride(part, Z, w, move, value)
            foreseen, w = (foreseen, w) if longer is None else (None, longer)
        if t < 1.0:
            model.age = _REUSE  # the model was poor: build a new one
    size = len(columns) * part.width
    W[columns, outputs] = w[:size].reshape(-1, part.width)
    if part.has_constant:
        b[outputs] = w[size:]
    return foreseen


def _search(
    part: _Part,
    Z: FloatArray,
    moved: FloatArray,
    w: FloatArray,
    move: FloatArray,
    value: float,
    promised: float,
) -> tuple[float, float]:
    """The first of 1, 1/2, 1/4 ... that gains enough, and the objective there; 0 if none does. Moves Z."""
    if not promised < 0:
        return 0.0, value
    before, t = Z[:, part.outputs].copy(), 1.0
    while t >= 1e-8:
        Z[:, part.outputs] = before + t * moved
        there = part.problem.losses.value(Z) + part.penalty(w + t * move)
        if there - value <= 0.01 * t * promised + 1e-15 * abs(value):
            return t, there
        t /= 2
    Z[:, part.outputs] = before
    return 0.0, value


def _stride(
    part: _Part, Z: FloatArray, w: FloatArray, move: FloatArray, value: float
) -> tuple[FloatArray | None, float]:
    """Goes on along a step as long as that pays; weights stop at 0. Moves Z.

    Where losses are flat the model's curvature is a floor and not the truth, and its steps are too short.
    """
    longer: FloatArray | None = None
    n_penalised, length, origin = len(w) - part.n_free, _STRIDE, w
    while True:
        end = origin + (length - 1.0) * move
        end[:n_penalised][end[:n_penalised] * origin[:n_penalised] <= 0] = 0.0
        before = Z[:, part.outputs].copy()
        Z[:, part.outputs] += part.scores(end - w)
        there = part.problem.losses.value(Z) + part.penalty(end)
        if not there < value:
            Z[:, part.outputs] = before
            return longer, value
        longer = w = end
        value, length = there, length * _STRIDE
