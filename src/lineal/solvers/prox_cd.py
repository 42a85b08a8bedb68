"""Proximal Newton with coordinate descent on a working set: the solver for L1, elastic net and groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import is_over
from lineal.objective.bounds import Bound
from lineal.objective.dual_points import DIRECT_LIMIT, newton_point, repaired, scaled
from lineal.objective.grouping import Grouping
from lineal.objective.linear_maps import DenseColumns, NativeRows
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Part as PenaltyPart
from lineal.objective.priced_columns import priced_columns
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import (
    CHEAP,
    EXACT,
    LOSS_A_ROW,
    OWN_WEIGHTS,
    ROWS,
    Iterate,
    Need,
    Start,
    State,
    state_of,
    zeros,
)
from lineal.solvers.costs import Cost, factor, gram, losses, passes
from lineal.solvers.primal import SmoothSolver
from lineal.solvers.quadratic_models import GRAM_LIMIT, ElasticPart, GroupPart, Model, Part

# A working set has at least so many columns, and otherwise at most twice the support; a problem with up to
# twice as many columns is its own working set.
_SMALLEST_SET, _SMALLEST_DENSE = 250, 20
# The same where columns come in groups, and how many times the support they may be: sweeps over groups cost
# less than another round.
_SMALLEST_GROUPS, _GROUP_GROWTH = 50, 4
# A larger working set takes no columns whose |v| is below this share of l1; dense ones cost more than a round
# does.
_NEAR, _NEAR_DENSE = 0.9, 0.98
# A round ends when its working set's violation is this share of the worst one before it, and a model is
# solved to a share of that: solving is cheap beside the passes, and the dual point is as good as the model.
_ROUND, _SOLVED = 0.05, 0.03
# The same share where a round on a small table is run to all digits: fewer rounds, each a little longer.
_LONG_ROUND = 1e-3
# Where a pass meets so many numbers a round ends, whatever the violations, when the gap on its working set
# is this share of what may be left, and a model is solved to as much; where passes cost nothing, digits are
# free.
_LARGE, _SHARE = 1_000_000, 0.5
# The share of P in what may be left from which on a model may be rounded to float32.
_COARSE = 1e-6
# Proximal Newton steps on one working set, and how many of them may share one model; none may when a row
# bends so many times more than its model says.
_STEPS, _REUSE, _BENT = 8, 4, 8.0
# A step that gains almost all that its slope promised met no curvature: longer ones are tried.
_STRAIGHT, _STRIDE = 0.9, 4.0
# Changes of the objective, and of a gradient, below this share are lost in their sums.
_INVISIBLE, _ROUNDED = 1e-13, 1e-12
# Rounds that are usual, for smooth losses and through the stages that round kinks; Gram matrices of a round.
_USUAL_ROUNDS, _USUAL_ROUNDS_OF_STAGES, _MODELS = 6, 20, 3
# Around kinks rows bend in turn: on dense columns active sets creep through so many times the work of a
# round.
_CREEPING = 20
# Seconds of a round that sweeps over groups, beside that, and its Newton steps on the groups in play.
_ROUND_OF_GROUPS, _STEPS_ON_FACES = 1e-3, 30
# The least l1, as a share of the steepest slope at the start, at which V may be told of products.
_VISIBLE = 1e-3
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
    Need("L1, ElasticNet or GroupL2", "penalty", lambda p: p.penalty.has_corners or p.penalty.has_groups),
)


class ProxCD(SmoothSolver):
    """Working sets by gradient, proximal Newton on each, coordinate descent or an active set inside.

    Notes
    -----
    Needs L1, ElasticNet or GroupL2; losses with kinks are smoothed in stages. Guarantees: the objective
    falls at every step; columns outside the working set are checked against the full gradient in every
    round. A round costs a pass over X that proves a bound as well, a copy of the working set's columns and a
    Gram matrix or two. Softmax takes all classes in one model while that is small (columns times classes),
    else, like every other loss, one output after another; groups of columns hold all outputs together.
    Published: Yuan, Ho and Lin 2012; Massias et al. 2018; for the active set Osborne, Presnell and Turlach
    2000; for groups Yang and Hastie 2024.
    """

    name = "prox_cd"

    @property
    def needs(self) -> tuple[Need, ...]:
        """An L1 part in the penalty, or groups."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """A round: passes over X, and Gram matrices of a working set of a usual size."""
        share = min(1.0, 2 * _SMALLEST_SET / max(problem.X.n_columns, 1))
        matrices = _MODELS * problem.n_outputs * share**2 * gram(problem)
        epoch = passes(problem, 3) + losses(problem, 2 * _STEPS) + matrices
        if problem.penalty.has_groups:
            n_in_play = min(problem.X.n_columns * problem.n_outputs, DIRECT_LIMIT)
            epoch += _ROUND_OF_GROUPS + _STEPS_ON_FACES * factor(n_in_play)
        if problem.losses.is_smooth:
            return Cost.of_epochs(epoch, _USUAL_ROUNDS)
        return Cost.of_epochs(epoch * (1 if problem.X.is_sparse else _CREEPING), _USUAL_ROUNDS_OF_STAGES)

    def aim(self, problem: Problem, tol: float) -> float:
        """A round of Newton steps on a small table doubles the digits, once the support is known."""
        return min(tol, EXACT) if self._is_exact(problem) else tol

    def _is_exact(self, problem: Problem) -> bool:
        losses = problem.losses
        return losses.is_smooth and not losses.is_rounded and self.cost(problem).epoch <= CHEAP

    def smooth_iterates(
        self, problem: Problem, start: Start | None, tol: float, seed: int
    ) -> Iterator[Iterate]:
        """One iterate per round of working sets."""
        kept = state_of(start)
        state = _begin(problem, start) if kept is None else _begin_again(problem, kept)
        n_rounds = 0 if kept is None else kept["n_rounds"]
        share = _LONG_ROUND if self._is_exact(problem) else _ROUND
        V: FloatArray | None = None
        if start is None and _is_its_own_set(problem):
            n_rounds = 1
            V = _first_round(problem, state, is_last=problem.losses.is_quadratic and self._is_exact(problem))
        while True:
            price, V = _price(problem, state, V), None
            yield _iterate(problem, state, price, n_rounds)
            if price.worst == 0.0:
                return
            n_rounds += 1
            if n_rounds % _REFRESH == 0:
                state.Z = problem.scores(state.W, state.b)
            may_end_sooner = problem.X.n_stored >= _LARGE and not problem.losses.is_rounded
            enough = _SHARE * tol * problem.yardstick(price.primal) if may_end_sooner else 0.0
            _round(problem, state, price, share * price.worst, enough)


@dataclass
class _State:
    """Weights, their scores, and a dual point: the one that the last steps foresaw, or the slopes."""

    W: FloatArray
    b: FloatArray
    Z: FloatArray
    U: FloatArray
    is_foreseen: bool = False
    V: FloatArray | None = None  # of U, where it is known
    known: tuple[NDArray[np.int64], FloatArray] | None = None  # of a feasible U, some columns and their V
    part: Part | None = None  # under groups, the latest working set
    columns: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def kept(self) -> State:
        """What ``_begin_again`` makes the same of."""
        columns = None if self.part is None else self.columns
        numbers = {"W": self.W, "b": self.b, "Z": self.Z, "U": self.U}
        return {**numbers, "is_foreseen": self.is_foreseen, "columns": columns}


@dataclass(frozen=True)
class _Price:
    """What a dual point says about all columns: V, the bound, the relative gap, the worst violation."""

    V: FloatArray
    bound: Bound | None  # None where V is only near the truth
    primal: float
    gap: float
    worst: float


def _begin(problem: Problem, start: Start | None) -> _State:
    W, b = zeros(problem) if start is None else (start.W.copy(), start.b.copy())
    losses = problem.losses
    if start is None:
        Z = np.zeros((problem.X.n_rows, problem.n_outputs))
    else:
        Z = problem.scores(W, b) if start.Z is None else start.Z.copy()
    is_told = start is not None and start.V is not None and not losses.is_rounded
    if problem.intercept is Intercept.FREE:
        refit = losses.refit(Z)
        moved = Z + refit.shift
        before = losses.value(Z) if refit.before is None else refit.before
        after = losses.value(moved) if refit.after is None else refit.after
        if after <= before:
            b, Z = b + refit.shift, moved
    if is_told:
        assert start is not None
        return _State(W, b, Z, start.U, V=start.V)
    return _State(W, b, Z, losses.slopes(Z))


def _begin_again(problem: Problem, kept: State) -> _State:
    state = _State(kept["W"], kept["b"], kept["Z"], kept["U"], kept["is_foreseen"])
    if kept["columns"] is not None:
        _part(problem, kept["columns"], slice(0, problem.n_outputs), state)
    return state


def _price(problem: Problem, state: _State, own: FloatArray | None = None) -> _Price:
    """``own`` is V of the slopes where that is known, and their sums need no repair."""
    penalty, U, V = problem.penalty, state.U, state.V
    rows, is_free = problem.X.native_rows, penalty.has_free_columns
    priced = None if is_free or penalty.has_groups else priced_columns(rows, problem.n_outputs)
    primal, bound, gap = problem.primal(state.W, state.b, state.Z), None, np.inf
    # V as told of priced columns may be no more than near the truth: that is enough for a working set.
    if priced is None or V is None:
        if is_free or (V is None and (priced is None or state.known is None)):
            U = repaired(problem, U)  # of what is known it is so already
        if priced is not None:
            assert rows is not None
            limits, in_play = penalty.slopes_at_0(len(state.W)), state.W[:, 0] != 0
            V = priced.price(rows, problem.losses.pull(U), limits, in_play, state.known)
        elif is_free or V is None:
            V = problem.pull(U) if own is None else own
        bound = scaled(problem, U, V, state.W, state.b)
        gap = problem.relative_gap(primal, bound.dual)
    assert V is not None
    # Repaired, what belongs to free columns and to a free intercept would always be 0.
    at = problem.pull(state.U) if problem.penalty.has_free_columns else V
    worst = float(problem.penalty.violations(state.W, at).max(initial=0.0))
    if problem.intercept is not Intercept.NONE:
        sums = problem.losses.sums(state.U if problem.intercept is Intercept.FREE else U)
        worst = max(worst, float(problem.constants_penalty.violations(state.b, sums).max()))
    if not problem.losses.is_by_score and not state.is_foreseen:
        # The certificate will take a Newton point, whose gap is of second order.
        steepest = float(problem.penalty.slopes_at_0(len(V)).max())
        gap = min(gap, (worst / steepest) ** 2)
    return _Price(V, bound, primal, gap, worst)


def _iterate(problem: Problem, state: _State, price: _Price, n_rounds: int) -> Iterate:
    W, b, Z = state.W, state.b, state.Z

    def kept() -> State:
        return state.kept() | {"n_rounds": n_rounds}

    if price.bound is None:
        return Iterate(lambda: (W.copy(), b.copy()), lambda: state.U, price.gap, state=kept, scores=Z.copy)
    bound = price.bound
    primal = None if problem.losses.is_rounded else price.primal
    if not problem.losses.is_by_score and not state.is_foreseen:
        return Iterate(
            lambda: (W.copy(), b.copy()),
            lambda: newton_point(problem, W, b, Z),
            price.gap,
            state=kept,
            scores=Z.copy,
        )
    return Iterate(
        lambda: (W.copy(), b.copy()),
        lambda: bound.U,
        price.gap,
        primal=primal,
        bound=bound,
        # A round moves the intercept with the weights.
        has_own_intercept=n_rounds > 0,
        state=kept,
        scores=Z.copy,
    )


def _round(problem: Problem, state: _State, price: _Price, tol: float, enough: float) -> None:
    """Descends on working sets, in place, until their violation is below ``tol`` or their gap is ``enough``.

    There is one for all classes of a small softmax, else one per output.
    """
    K, losses = problem.n_outputs, problem.losses
    state.V = state.known = None
    if problem.penalty.has_groups:
        return _round_of_groups(problem, state, price, tol, enough)
    least = _smallest_set(problem)
    near = _nearness(problem)
    sets = [_working_set(state.W[:, k], price.V[:, k], problem.penalty.l1, least, near) for k in range(K)]
    if not losses.is_by_score:
        together = np.unique(np.concatenate(sets))
        if K * (len(together) + 1) <= GRAM_LIMIT:
            foreseen = _descend(problem, together, slice(0, K), state, tol, enough)
            state.is_foreseen = foreseen is not None
            state.U = losses.slopes(state.Z) if foreseen is None else foreseen
            return
    parts = [_descend(problem, sets[k], slice(k, k + 1), state, tol, enough) for k in range(K)]
    state.U = losses.slopes(state.Z)
    if losses.is_by_score:  # the outputs of a joint loss move each other's slopes
        for k, foreseen in enumerate(parts):
            if foreseen is not None:
                state.U[:, k] = foreseen[:, 0]


def _is_its_own_set(problem: Problem) -> bool:
    """Whether the working set of an output is all columns, whatever their gradients."""
    is_plain = problem.losses.is_by_score and not problem.penalty.has_groups
    return is_plain and problem.X.n_columns <= 2 * _smallest_set(problem)


def _first_round(problem: Problem, state: _State, *, is_last: bool) -> FloatArray | None:
    """A round of such outputs from nothing: no price says more than their own gradients.

    The model of a squared loss is the loss: where that costs nothing it is solved to rounding at once. Where
    0 is best V of the slopes is returned, for their price; and where the model's own gradient is that of the
    dual point it foresaw, to rounding, so is that.
    """
    V = problem.pull(state.U)
    rounding = _ROUNDED * float(np.abs(V).max())
    if float(problem.penalty.violations(state.W, V).max(initial=0.0)) <= rounding:
        return V if _is_feasible(problem, state.U) else None
    tol = rounding if is_last else np.inf
    columns = np.arange(problem.X.n_columns)
    parts = [
        _descend(problem, columns, slice(k, k + 1), state, tol, 0.0, V, is_whole=is_last)
        for k in range(problem.n_outputs)
    ]
    state.U = problem.losses.slopes(state.Z)
    for k, foreseen in enumerate(parts):
        if foreseen is not None:
            state.U[:, k] = foreseen[:, 0]
    told, state.known = state.known, None
    if not is_last or told is None or parts[0] is None or problem.n_outputs > 1:
        return None
    # What the model's products round away is a share of the first V: it must be nothing beside l1.
    steepest = float(problem.penalty.slopes_at_0(len(V)).min())
    is_near = steepest >= _VISIBLE * float(np.abs(V).max(initial=0.0))
    return told[1][:, None] if is_near and _is_feasible(problem, state.U) else None


def _is_feasible(problem: Problem, U: FloatArray) -> bool:
    """Whether slopes need no repair but for last digits: their sums are 0 to rounding where they must be."""
    if problem.penalty.has_free_columns or problem.intercept is not Intercept.FREE:
        return problem.intercept is Intercept.NONE and not problem.penalty.has_free_columns
    weighted = problem.losses.weighted(U)
    return bool(np.all(np.abs(weighted.sum(axis=0)) <= _ROUNDED * np.abs(weighted).sum(axis=0)))


def _round_of_groups(problem: Problem, state: _State, price: _Price, tol: float, enough: float) -> None:
    """The same for groups, which hold all outputs together: one working set, in as few parts as fit."""
    losses, every = problem.losses, slice(0, problem.n_outputs)
    grouping = problem.penalty.grouping(len(state.W))
    # The gradient of a group at 0, in units of the one that would move it.
    strength = grouping.norms(price.V) / problem.penalty.slopes_at_0(len(state.W))
    strength[grouping.norms(state.W) > 0] = np.inf
    if state.part is not None:
        # A copy of the columns costs as much as many sweeps: it serves until a group outside has to move.
        is_inside = np.zeros(grouping.n_groups, dtype=bool)
        is_inside[grouping.codes[state.columns]] = True
        if np.all(is_inside[strength > 1]):
            foreseen = _descend(problem, state.columns, every, state, tol, enough)
            state.is_foreseen = foreseen is not None
            state.U = losses.slopes(state.Z) if foreseen is None else foreseen
            return
    groups = _working_groups(grouping, strength, _nearness(problem))
    # The outputs of a joint loss meet in a Gram matrix; others may do without.
    limit = len(state.W) if losses.is_by_score else GRAM_LIMIT // problem.n_outputs - 1
    part = np.full(grouping.n_groups, -1)
    part[groups] = _in_parts(grouping.sizes[groups], limit)
    foreseen, n_parts = None, int(part.max()) + 1
    for each in range(n_parts):
        columns = np.flatnonzero(part[grouping.codes] == each)
        foreseen = _descend(problem, columns, every, state, tol, enough)
    if n_parts > 1:  # a part that has moved has moved the slopes of those before it
        foreseen, state.part, state.known = None, None, None
    state.is_foreseen = foreseen is not None
    state.U = losses.slopes(state.Z) if foreseen is None else foreseen


def _nearness(problem: Problem) -> float:
    return _NEAR if problem.X.is_sparse else _NEAR_DENSE


def _working_groups(grouping: Grouping, strength: FloatArray, near: float) -> NDArray[np.int64]:
    """The groups in play, whose strength is infinite, and the strongest of the others."""
    if grouping.n_columns <= 2 * _SMALLEST_GROUPS:
        return np.arange(grouping.n_groups)
    n_near, in_play = (int(grouping.sizes[strength >= least].sum()) for least in (near, np.inf))
    size = max(_SMALLEST_GROUPS, min(_GROUP_GROWTH * in_play, n_near))
    groups = np.argsort(-strength, kind="stable")
    return np.sort(groups[: 1 + int(np.searchsorted(np.cumsum(grouping.sizes[groups]), size))])


def _in_parts(sizes: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The part that each group is in, 0, 1, ...: no more columns in one than a limit, where groups allow."""
    if sizes.sum() <= limit:
        return np.zeros(len(sizes), dtype=np.int64)
    parts, part, filled = np.empty(len(sizes), dtype=np.int64), 0, 0
    for g, size in enumerate(sizes.tolist()):
        if filled and filled + size > limit:
            part, filled = part + 1, 0
        parts[g] = part
        filled += size
    return parts


def _smallest_set(problem: Problem) -> int:
    """How many columns a working set has at least: dense ones, whose products take as long as a pass."""
    if problem.X.is_sparse:
        return _SMALLEST_SET
    return min(_SMALLEST_SET, max(_SMALLEST_DENSE, int(2 * np.sqrt(problem.X.n_columns))))


def _working_set(
    w: FloatArray, v: FloatArray, l1: PenaltyPart, least: int, nearness: float
) -> NDArray[np.int64]:
    """The support and the columns whose gradient is largest beside their l1."""
    if len(w) <= 2 * least:
        return np.arange(len(w))
    support = np.flatnonzero(w)
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.abs(v) / l1
    strength[support] = np.inf
    near = np.flatnonzero(strength >= nearness)
    size = max(least, min(2 * len(support), len(near)))
    among = near if len(near) >= size else np.arange(len(w))
    return np.sort(among[np.argpartition(-strength[among], size - 1)[:size]])


def _descend(
    problem: Problem,
    columns: NDArray[np.int64],
    outputs: slice,
    state: _State,
    tol: float,
    enough: float,
    V: FloatArray | None = None,
    *,
    is_whole: bool = False,
) -> FloatArray | None:
    """Proximal Newton steps on a working set of some outputs, until its violation is below ``tol``; in place.

    Returns these outputs' dual point where a model foresaw it: the slopes at the end of the last step. They
    meet the conditions of the working set as closely as the model was solved, and are away from the true
    slopes by the square of the step only, so the bound is tight long before the slopes themselves are.
    Ends sooner where the gap on the working set is ``enough``; what V is there is then in ``state.known``.
    ``V`` is told of the slopes at the start, where it is known. ``is_whole``: the model is the problem, and
    whoever asks prices what its minimiser is worth.
    """
    rows = problem.X.native_rows
    assert rows is not None
    is_priced = priced_columns(rows, problem.n_outputs) is not None
    if rows.kept is not None and rows.dense is not None and not problem.penalty.has_groups:
        columns = rows.kept.with_others(rows.dense, columns)
    part = _part(problem, columns, outputs, state)
    W, b, Z = state.W, state.b, state.Z
    w = part.flat(W[columns, outputs], b[outputs])
    value = problem.losses.value(Z) + part.penalty(w)
    model: Model | None = None
    is_stuck, is_free, state.known = False, problem.penalty.has_free_columns, None
    foreseen: FloatArray | None = None
    for step in range(_STEPS):
        if is_over():
            break
        if step == 0 and V is not None:
            u = np.ascontiguousarray(state.U[:, outputs])
            gradient = part.flat(V[columns, outputs], problem.losses.weighted(u).sum(axis=0))
        else:
            u = np.ascontiguousarray(problem.losses.slopes(Z)[:, outputs])
            gradient = part.gradient(u)
        worst = part.worst(w, gradient)
        if step == 0:
            # The price is one of slopes with balanced sums: in large units of the columns it may hide what
            # the intercept still has to move.
            tol = min(tol, _ROUND * worst)
        if worst <= tol:
            break
        h = part.curvatures(Z)
        if model is None or model.age >= _REUSE or np.any(h > _BENT * model.h):
            is_narrow = not is_stuck and enough > _COARSE * abs(value)
            model = part.model(h, Z, is_fresh=model is not None or is_stuck, is_narrow=is_narrow)
        model.age += 1
        solved = max(_SOLVED * tol, min(_harmless(part, w, enough), _ROUND * worst))
        move = part.minimise(model, w, gradient, u, solved) - w
        promised = float(gradient @ move) + part.penalty(w + move) - part.penalty(w)
        moved = part.scores(move)
        t, there = _search(part, Z, moved, w, move, value, promised)
        if t == 0.0:
            if model.age == 1:
                # Too small a gain for the objective to show is still one for the dual point.
                is_tiny = promised >= -_INVISIBLE * abs(value)
                foreseen = u + part.bent(model, moved) if is_tiny else None
                break
            model, is_stuck = None, True
            continue
        foreseen = u + part.bent(model, moved) if t == 1.0 else None
        if is_whole and t == 1.0:
            w, value = w + move, there
            if model.G is not None and model.scale == 1.0:
                state.known = columns, part.split(gradient + model.G @ move)[0][:, 0]
            break
        is_straight = t == 1.0 and there - value <= _STRAIGHT * promised
        w, value = w + t * move, there
        if is_straight:
            longer, value = _stride(part, Z, w, move, value)
            foreseen, w = (foreseen, w) if longer is None else (None, longer)
        if foreseen is not None and enough > 0 and part.width == problem.n_outputs and not is_free:
            foreseen = repaired(problem, foreseen)
            if 2 * len(columns) >= rows.n_columns and not is_priced:
                break  # a pass over all columns says more, and costs hardly more
            inner, _ = part.split(part.gradient(foreseen))
            known = columns, inner[:, 0]
            if _is_enough(part, value, foreseen, inner, enough):
                state.known = known
                break
        if t < 1.0:
            model.age = _REUSE  # the model was poor: build a new one
    size = len(columns) * part.width
    W[columns, outputs] = w[:size].reshape(-1, part.width)
    if part.has_constant:
        b[outputs] = w[size:]
    return foreseen


def _part(problem: Problem, columns: NDArray[np.int64], outputs: slice, state: _State) -> Part:
    """Some outputs on some columns; under groups the latest one is kept."""
    if state.part is not None and columns is state.columns:
        return state.part
    rows = problem.X.native_rows
    assert rows is not None
    X: NativeRows | DenseColumns = rows
    own = problem.penalty
    if len(columns) < rows.n_columns or rows.kept is not None:
        X, own = rows.take_columns(columns), own.take(columns)
    if not own.has_groups:
        return ElasticPart(problem, X, own, outputs)
    state.part, state.columns = GroupPart(problem, X, own, outputs), columns
    return state.part


def _harmless(part: Part, w: FloatArray, enough: float) -> float:
    """The violation whose share in the gap is about half of ``enough``, by which a dual point is scaled."""
    size = part.penalty(w) if enough > 0 else 0.0
    steepest = float(part.own.slopes_at_0(part.X.n_columns).max(initial=0.0))
    return 0.5 * enough * steepest / size if size > 0 else 0.0


def _is_enough(part: Part, value: float, U: FloatArray, V: FloatArray, enough: float) -> bool:
    """Whether the gap on a working set is small enough, at a feasible dual point U and its V."""
    losses, own = part.problem.losses, part.own
    factor = own.scaling(V)
    dual = -losses.conjugate(losses.shrink(U, factor)) - own.conjugate_total(-V * factor)
    return value - dual <= enough


def _search(
    part: Part,
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
    part: Part, Z: FloatArray, w: FloatArray, move: FloatArray, value: float
) -> tuple[FloatArray | None, float]:
    """Goes on along a step as long as that pays; weights stop at 0. Moves Z.

    Where losses are flat the model's curvature is a floor and not the truth, and its steps are too short.
    """
    longer: FloatArray | None = None
    length, origin = _STRIDE, w
    while True:
        end = part.held(origin, origin + (length - 1.0) * move)
        before = Z[:, part.outputs].copy()
        Z[:, part.outputs] += part.scores(end - w)
        there = part.problem.losses.value(Z) + part.penalty(end)
        if not there < value:
            Z[:, part.outputs] = before
            return longer, value
        longer = w = end
        value, length = there, length * _STRIDE
