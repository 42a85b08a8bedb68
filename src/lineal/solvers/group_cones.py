"""Interior-point steps for groups of weights: the norm of a group is a second-order cone.

With t_g >= |w_g| in place of the norms, (t_g, w_g) is in a cone and costs r_g t_g, and its multiplier
(r_g, v_g) is in the same cone. So the conditions of ``epoch/interior_point.h`` become, with A the rows and a
constant and S their weights,

    c + q u - z - alpha + beta = 0,    alpha (u - l) = 0,    beta (h - u) = 0,
    A'S u = v,    t_g r_g + v_g.w_g = 0.

In Nesterov and Todd's scaling, M_g (t_g, w_g) = (r_g, v_g), a change of v_g is one of w_g times a matrix that
is diagonal but for one rank, which joins A'S theta A. Outputs share groups, so that all have one system.

Joint losses do not see weights of all classes move by the same, and norms are least where these sum to 0: the
steps know such weights alone, by K - 1 coordinates, w = x Q'.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import State

# How far towards an end a step goes; at how many typical residuals multipliers begin, of one output and of
# joint ones (as in the core).
_CLOSE, _START, _JOINT_START = 0.995, 5.0, 30.0
# Of a bound and a multiplier in their units: so small a one is 0.
_TINY = 1e-6
# How often a direction is corrected by what is left of its equations.
_MOST_ROUNDS = 5
# So many steps that gain nothing are enough, once so small a share of the residues of the start is left.
_PATIENCE, _MET = 6, 1e-3
# The largest damping of a matrix that rounding made indefinite, beside its diagonal.
_DAMPING = 1e-8


@dataclass
class _Point:
    """Coordinates of weights, those of a constant last, heights of cones, dual variables, multipliers.

    Of variables there are (parts, K, n): two parts with a tube, one that pulls up and one that pulls down.
    """

    w: FloatArray
    height: FloatArray
    v: FloatArray
    u: FloatArray
    above: FloatArray
    below: FloatArray
    alpha: FloatArray
    beta: FloatArray
    t: FloatArray


@dataclass(frozen=True)
class _Scaling:
    """Nesterov and Todd's: M maps (height, w) to (edge, v), with M = scale^2 (2 p p' - J)."""

    scale: FloatArray
    p0: FloatArray
    p: FloatArray
    seen0: FloatArray
    seen: FloatArray  # the point that both become


class GroupSteps:
    """A run of predictor-corrector steps on all outputs of a problem with groups."""

    def __init__(self, problem: Problem, kept: State | None = None) -> None:
        rows, X = problem.losses.rows, problem.X.native_rows
        assert rows is not None
        assert X is not None
        self._X, self._d, self._K = X, X.n_columns, problem.n_outputs
        self._has_constant = problem.intercept is not Intercept.NONE
        self._is_joint = not rows.is_by_score
        self._Q = _sums_of_zero(self._K) if self._is_joint else np.eye(self._K)
        self._used = np.flatnonzero(rows.s > 0)
        self._n_rows, self._s = X.n_rows, rows.s[self._used]
        self._read_groups(problem)
        self._read_losses(rows)
        self._weights = np.broadcast_to(self._s, self.low.shape)
        self._count = float((self._weights * (1.0 * self._is_low + self._is_high)).sum())
        self._count += self._share * len(self._edge)
        self.point: _Point
        self._least: tuple[float, _Point]
        if kept is None:
            self.point = self._begin()
            self._least, self._n_idle, self._unmet = (np.inf, self.point), 0, 1.0
            self._measure()
            self._keep()
            return
        self.point = _Point(**{name: value.copy() for name, value in kept["point"].items()})
        self._least = kept["least_gap"], _Point(**kept["least"])
        self._n_idle, self._unmet, self._length = kept["n_idle"], kept["unmet"], kept["length"]
        self._measure()

    def _keep(self) -> None:
        """Remembers this point if its gap is the least so far."""
        gap = self.gap
        if gap < self._least[0]:
            self._least, self._n_idle = (gap, self.point), 0
        elif self._unmet < _MET:  # a gap that grows before the equations are met is no reason to give up
            self._n_idle += 1

    def go_back(self) -> None:
        """To the point with the least gap."""
        self.point = self._least[1]
        self._measure()

    def _read_groups(self, problem: Problem) -> None:
        grouping, m = problem.penalty.grouping(self._d), self._d + self._has_constant
        codes, edge = np.full(m, -1), problem.penalty.slopes_at_0(self._d)
        codes[: self._d] = grouping.codes
        if problem.intercept is Intercept.PENALIZED:
            codes[self._d] = len(edge)
            edge = np.append(edge, problem.constants_penalty.slopes_at_0(self._K))
        # Cones weigh as much together as the data, whatever the weights of rows are counted in.
        self._share = float(self._s.sum()) / len(edge)
        self._edge = edge / self._share
        flat = np.repeat(codes, self._Q.shape[1])
        self._places: NDArray[np.intp] = np.flatnonzero(flat >= 0)
        self._codes = flat[self._places]

    def _read_losses(self, rows: Any) -> None:
        K, n = self._K, len(self._used)
        if self._is_joint:
            form = rows.quadratic_conjugate(0, self._used)
            low, high, place = (each.reshape(1, K, n) for each in (form.low, form.high, form.place))
        else:
            forms = [rows.quadratic_conjugate(k, self._used) for k in range(K)]
            form = forms[0]
            low, high, place = (
                np.stack([np.broadcast_to(getattr(each, name), n) for each in forms])[None]
                for name in ("low", "high", "place")
            )
            if form.tube > 0:
                nothing = np.zeros_like(low)
                low, high = np.concatenate([nothing, low]), np.concatenate([high, nothing])
                place = np.concatenate([place + form.tube, place - form.tube])
        self._is_low, self._is_high = np.isfinite(low), np.isfinite(high)
        self.low, self.high = np.where(self._is_low, low, 0.0), np.where(self._is_high, high, 0.0)
        self._place, self._bend = place, form.bend

    # ---- maps -------------------------------------------------------------------------------------

    def _scores(self, w: FloatArray) -> FloatArray:
        """(1, K, n): A w."""
        w = w @ self._Q.T
        Z = self._X.dot(np.ascontiguousarray(w[: self._d]))[self._used]
        return np.ascontiguousarray((Z + w[self._d] if self._has_constant else Z).T)[None]

    def _back(self, g: FloatArray) -> FloatArray:
        """(m, K): A'S g."""
        every = np.zeros((self._n_rows, self._K))
        every[self._used] = (self._s * g.sum(axis=0)).T
        out = self._X.adjoint(every)
        out = np.vstack([out, every.sum(axis=0)]) if self._has_constant else out
        return out @ self._Q

    def _sums(self, x: FloatArray) -> FloatArray:
        """Sums over the weights of each cone."""
        return np.bincount(self._codes, weights=x, minlength=len(self._edge)).astype(np.float64, copy=False)

    def _inside(self, w: FloatArray) -> FloatArray:
        """The weights that are in cones, one after another."""
        return w.ravel()[self._places]

    def _respond(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Changes of dual variables for those of scores; joint ones keep their sum, which moves t."""
        if not self._is_joint:
            return theta * x, np.zeros(1)
        # In differences from the largest theta nothing is lost.
        top = theta.argmax(axis=1)[:, None]
        first = np.take_along_axis(x, top, axis=1)
        off = x - first
        mean = (theta * off).sum(axis=1, keepdims=True) / theta.sum(axis=1, keepdims=True)
        moved = theta * (off - mean)
        np.put_along_axis(moved, top, 0.0, axis=1)
        np.put_along_axis(moved, top, -moved.sum(axis=1, keepdims=True), axis=1)
        return moved, (first + mean)[0, 0]

    # ---- systems ----------------------------------------------------------------------------------

    def _matrix(self, theta: FloatArray) -> FloatArray:
        """A'S theta A, in the flat coordinates."""
        K, m = self._K, self._d + self._has_constant
        h = theta.sum(axis=0)  # (K, n)
        G = np.zeros((m, K, m, K))
        if not self._is_joint:
            for k, each in enumerate(self._grams(h)):
                G[:, k, :, k] = each
            return G.reshape(m * K, m * K)
        total = h.sum(axis=0)
        for k in range(1, K):
            edges = self._grams(h[k] * h[:k] / total)
            G[:, k, :, k] += edges.sum(axis=0)
            for l, each in enumerate(edges):
                G[:, l, :, l] += each
                G[:, k, :, l] = G[:, l, :, k] = -each
        size = m * (K - 1)
        return np.einsum("ka,ikjl,lb->iajb", self._Q, G, self._Q, optimize=True).reshape(size, size)

    def _grams(self, h: FloatArray) -> FloatArray:
        H = np.zeros((self._n_rows, len(h)))
        H[self._used] = (self._s * h).T
        return self._X.grams(H, self._has_constant)

    def _begin(self) -> _Point:
        """Weights that fit the places of the kinks by least squares; u in the middle of its interval."""
        centre = self._place.mean(axis=0, keepdims=True)
        once = np.ones((1, self._K, len(self._used)))
        G = self._matrix(once)
        squares = np.diagonal(G)[self._places].copy()
        at = np.diag_indices_from(G)
        G[at[0][self._places], at[1][self._places]] += 1e-6 * np.where(squares > 0, squares, 1.0)
        right = self._back(self._respond(once, centre)[0]).ravel()
        w = _factor(G)(right).reshape(-1, self._Q.shape[1])
        off = self._scores(w) - self._place
        size = float(np.average(np.abs(off - self._middle(off)), weights=self._weights))
        mean = np.average(centre, weights=self._weights[:1])
        spread = float(np.average(np.abs(centre - mean), weights=self._weights[:1]))
        size = max(size, 1e-3 * spread) or 1.0
        u, t = self._middle_of_intervals(off, size)
        above, below = np.where(self._is_low, u - self.low, 1.0), np.where(self._is_high, self.high - u, 1.0)
        nearest = np.where(self._is_low | self._is_high, np.minimum(above, below), 0.0)
        product = size * float(np.average(nearest, weights=self._weights)) or size
        slope = self._bend * u - off + t
        add = 0.0 if self._is_joint else _START * size
        alpha = np.where(self._is_low, np.maximum(slope, 0.0) + add, 0.0)
        beta = np.where(self._is_high, np.maximum(-slope, 0.0) + add, 0.0)
        height = np.sqrt(self._sums(np.square(self._inside(w)))) + _START * product / self._edge
        v = np.zeros(len(self._places))
        # A typical length of the weights of a group.
        typical = self._sums(squares) / np.bincount(self._codes) / float(self._s.sum())
        self._length = size / np.sqrt(np.where(typical > 0, typical, 1.0))
        return _Point(w, height, v, u, above, below, alpha, beta, t)

    def _middle(self, x: FloatArray) -> FloatArray:
        return x.mean(axis=1, keepdims=True) if self._is_joint else np.zeros(1)

    def _middle_of_intervals(self, off: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
        """u and, of joint rows, the t that leaves all multipliers positive and all products the same."""
        if self._is_joint:
            t = off.max(axis=(0, 1)) + _JOINT_START * size
            inverse = 1 / (t - off)
            return self.low + inverse / inverse.sum(axis=1, keepdims=True), t
        both, bend = self._is_low & self._is_high, self._bend
        u = np.where(both, (self.low + self.high) / 2, 0.0)
        if bend > 0:
            u = np.where(self._is_low & ~both, self.low + np.maximum(off + size, size) / bend, u)
            u = np.where(self._is_high & ~both, self.high + np.minimum(off - size, -size) / bend, u)
            u = np.where(self._is_low | self._is_high, u, off / bend)
        return u, np.zeros(len(self._used))

    # ---- a step -----------------------------------------------------------------------------------

    def _measure(self) -> None:
        """The residues of the conditions at the present point."""
        at = self.point
        self._off = self._place + self._bend * at.u - self._scores(at.w) - at.alpha + at.beta
        if self._is_joint:
            self._off = self._off + at.t
        pulled = self._back(at.u)
        self._pulled = self._inside(pulled)
        left = pulled.ravel()
        left[self._places] -= self._share * at.v
        self._left = left

    def _products(self, at: _Point) -> float:
        rows = float((self._weights * (at.alpha * at.above + at.beta * at.below)).sum())
        return rows + self._share * float(at.height @ self._edge + at.v @ self._inside(at.w))

    @property
    def value(self) -> float:
        """About P."""
        at = self.point
        dual = -float((self._weights * (self._place * at.u + self._bend / 2 * np.square(at.u))).sum())
        return dual + self._products(at)

    @property
    def gap(self) -> float:
        """About P - D: the products, and what the residues are worth."""
        at = self.point
        near = np.abs(at.u) + np.minimum(at.above, at.below)
        off = float((self._weights * np.abs(self._off) * near).sum())
        off += float(np.abs(at.w.ravel() * self._left).sum())
        beyond = np.sqrt(self._sums(np.square(self._pulled))) / (self._share * self._edge)
        excess = max(float(beyond.max()) - 1.0, 0.0)
        return self._products(at) + off + excess / (1.0 + excess) * abs(self.value)

    def step(self) -> bool:
        """One step; false where rounding leaves none."""
        at = self.point
        theta = 1 / (self._bend + at.alpha / at.above + at.beta / at.below)
        scaling = self._scaling()
        G = self._matrix(theta)
        self._add_cones(G, scaling)
        solve = _factor(G)
        low, high = at.alpha * at.above, at.beta * at.below
        seen0, seen = scaling.seen0, scaling.seen
        first = self._aim(solve, theta, scaling, -low, -high, (-seen0, -seen))
        if first is None:
            return False
        mu = self._products(at) / self._count
        reached = max(self._products(self._ahead(first, self._length_of(first, scaling, 1.0))), 0.0)
        target = mu * (reached / (self._count * mu)) ** 3
        move, (dz0, dz, ds0, ds) = first
        on_low = np.where(self._is_low, target - low - move.alpha * move.u, 0.0)
        on_high = np.where(self._is_high, target - high + move.beta * move.u, 0.0)
        wanted0 = target - (seen0**2 + self._sums(seen * seen)) - (dz0 * ds0 + self._sums(dz * ds))
        at_code = self._codes
        wanted = -2 * seen0[at_code] * seen - (dz0[at_code] * ds + ds0[at_code] * dz)
        best = self._aim(solve, theta, scaling, on_low, on_high, self._divided(scaling, wanted0, wanted))
        if best is None:
            return False
        t = self._length_of(best, scaling, _CLOSE)
        self.point, self._unmet = self._ahead(best, t), self._unmet * (1 - t)
        self._measure()
        self._keep()
        return t > _TINY and self._n_idle < _PATIENCE

    def _scaling(self) -> _Scaling:
        at, code = self.point, self._codes
        w = self._inside(at.w)
        root_s, root_z = (
            np.sqrt(_determinant(edge, np.sqrt(self._sums(x * x))))
            for edge, x in ((self._edge, at.v), (at.height, w))
        )
        s0, s = self._edge / root_s, at.v / root_s[code]
        z0, z = at.height / root_z, w / root_z[code]
        half = np.sqrt((1 + s0 * z0 + self._sums(s * z)) / 2)
        p0, p = (s0 + z0) / (2 * half), (s - z) / (2 * half)[code]
        scale = np.sqrt(root_s / root_z)
        seen0, seen = self._scaled(scale, p0, p, at.height, w)
        return _Scaling(scale, p0, p, seen0, seen)

    def _scaled(
        self, scale: FloatArray, p0: FloatArray, p: FloatArray, x0: FloatArray, x: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The root of M times x; with 1 / scale and -p its inverse."""
        inner, code = self._sums(p * x), self._codes
        out = x + p * (x0 + inner / (1 + p0))[code]
        return scale * (p0 * x0 + inner), scale[code] * out

    def _divided(self, by: _Scaling, x0: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The y with seen o y = x, in the algebra of the cone."""
        code, det = self._codes, _determinant(by.seen0, np.sqrt(self._sums(by.seen * by.seen)))
        y0 = (by.seen0 * x0 - self._sums(by.seen * x)) / det
        return y0, (x - by.seen * y0[code]) / by.seen0[code]

    def _add_cones(self, G: FloatArray, by: _Scaling) -> None:
        """Adds what dv is of -dw, share scale^2 (I - 2 p p' / (p0^2 + |p|^2))."""
        bends, code, places = self._share * np.square(by.scale), self._codes, self._places
        total = np.square(by.p0) + self._sums(by.p * by.p)
        G[places, places] += bends[code]
        pull = by.p * np.sqrt(2 * bends / total)[code]
        for g in range(len(bends)):
            mine = np.flatnonzero(code == g)
            G[np.ix_(places[mine], places[mine])] -= np.outer(pull[mine], pull[mine])

    def _aim(
        self,
        solve: Any,
        theta: FloatArray,
        by: _Scaling,
        on_low: FloatArray,
        on_high: FloatArray,
        on_cone: tuple[FloatArray, FloatArray],
    ) -> tuple[_Point, tuple[FloatArray, FloatArray, FloatArray, FloatArray]] | None:
        """A direction that changes products by so much and residues to 0, and what the cones see of it."""
        at, code = self.point, self._codes
        x = on_low / at.above - on_high / at.below - self._off
        # The root of M times what is asked of the cones; dv = f - (M - m m' / m0) dw, as ds0 = 0.
        wanted0, wanted = self._scaled(by.scale, by.p0, by.p, *on_cone)
        bends = np.square(by.scale)
        m0, m = bends * (2 * np.square(by.p0) - 1), 2 * (bends * by.p0)[code] * by.p
        total = np.square(by.p0) + self._sums(by.p * by.p)
        du, t = self._respond(theta, x)
        dv = wanted - m * (wanted0 / m0)[code]
        dw, left = np.zeros(at.w.shape), np.inf
        # Thetas of rows on a kink grow without end: what rounding leaves of their du is solved for again.
        for _ in range(_MOST_ROUNDS):
            right = -self._left - self._back(du).ravel()
            right[self._places] += self._share * dv
            more = solve(right)
            if not np.isfinite(more).all():
                return None
            now = float(right @ more)  # in units that no column has a say in
            if not now < left / 4:
                break
            more, left = more.reshape(at.w.shape), now
            moved = self._inside(more)
            by_more, t_more = self._respond(theta, self._scores(more))
            dw, du, t = dw + more, du + by_more, t + t_more
            dv -= bends[code] * (moved - 2 * by.p * (self._sums(by.p * moved) / total)[code])
        moved = self._inside(dw)
        dheight = (wanted0 - self._sums(m * moved)) / m0
        dt = t if self._is_joint else np.zeros_like(at.t)
        da = np.where(self._is_low, (on_low - at.alpha * du) / at.above, 0.0)
        db = np.where(self._is_high, (on_high + at.beta * du) / at.below, 0.0)
        seen = self._scaled(by.scale, by.p0, by.p, dheight, moved)
        of_dual = self._scaled(1 / by.scale, by.p0, -by.p, np.zeros_like(dheight), dv)
        return _Point(dw, dheight, dv, du, du, -du, da, db, dt), (*seen, *of_dual)

    def _length_of(self, direction: Any, by: _Scaling, share: float) -> float:
        move, (dz0, dz, ds0, ds) = direction
        at, most = self.point, np.inf
        for distance, towards, has_end in (
            (at.above, move.above, self._is_low),
            (at.below, move.below, self._is_high),
            (at.alpha, move.alpha, self._is_low),
            (at.beta, move.beta, self._is_high),
        ):
            falling = has_end & (towards < 0)
            most = min(most, float(np.min(-distance[falling] / towards[falling], initial=np.inf)))
        c = _determinant(by.seen0, np.sqrt(self._sums(by.seen * by.seen)))
        for x0, x in ((dz0, dz), (ds0, ds)):
            # The least positive root of a t^2 + 2 b t + c, the determinant of seen + t x.
            a, b = x0**2 - self._sums(x * x), by.seen0 * x0 - self._sums(by.seen * x)
            below = np.sqrt(np.maximum(b * b - a * c, 0.0)) - b
            has_root = (below > 0) & (b * b >= a * c)
            most = min(most, float(np.min(c[has_root] / below[has_root], initial=np.inf)))
        return min(1.0, share * most)

    def _ahead(self, direction: Any, t: float) -> _Point:
        move, at = direction[0], self.point
        parts = {each.name: getattr(at, each.name) + t * getattr(move, each.name) for each in fields(_Point)}
        new = _Point(**parts)
        new.above, new.below = np.where(self._is_low, new.above, 1.0), np.where(self._is_high, new.below, 1.0)
        # u by its nearer end: a difference of numbers near h would lose what is left of it.
        is_low = self._is_low & (~self._is_high | (new.above <= new.below))
        new.u = np.where(is_low, self.low + new.above, np.where(self._is_high, self.high - new.below, new.u))
        return new

    # ---- results ----------------------------------------------------------------------------------

    def state(self) -> State:
        """What a run begins again from."""
        gap, least = self._least
        numbers = {"n_idle": self._n_idle, "unmet": self._unmet, "length": self._length}
        return {**numbers, "least_gap": gap, "point": dict(vars(self.point)), "least": dict(vars(least))}

    def read(self, is_decided: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """W, b and U; decided, groups whose height is nearly 0, and v inside its ball, are 0."""
        at = self.point
        w = at.w.copy()
        if is_decided:
            inside = 1 - np.sqrt(self._sums(at.v * at.v)) / self._edge
            height = at.height / self._length
            is_out = (height < _TINY) & (height < inside)
            w.ravel()[self._places[is_out[self._codes]]] = 0.0
        w = w @ self._Q.T
        U = np.zeros((self._n_rows, self._K))
        U[self._used] = at.u.sum(axis=0).T
        return w[: self._d], w[self._d] if self._has_constant else np.zeros(self._K), U


def _determinant(x0: FloatArray, norm: FloatArray) -> FloatArray:
    """x0^2 - |x|^2, positive also where rounding says otherwise."""
    return np.maximum((x0 - norm) * (x0 + norm), np.finfo(np.float64).tiny + 1e-30 * x0 * x0)


def _sums_of_zero(K: int) -> FloatArray:
    """(K, K - 1): an orthonormal basis of what sums to 0."""
    Q = np.zeros((K, K - 1))
    for k in range(1, K):
        Q[:k, k - 1], Q[k, k - 1] = 1.0, -k
    return Q / np.sqrt(np.square(Q).sum(axis=0))


def _factor(G: FloatArray) -> Any:
    """Solves by a triangular factor of G, damped where rounding made it indefinite."""
    scale = 1 / np.sqrt(np.maximum(np.diagonal(G), np.finfo(np.float64).tiny))
    even = G * scale * scale[:, None]
    factor, damping = None, 0.0
    while factor is None and damping <= _DAMPING and np.isfinite(even).all():
        try:
            factor = linalg.cho_factor(even + damping * np.eye(len(G)), lower=True)
        except np.linalg.LinAlgError:
            damping = max(1e-15, 10 * damping)
    if factor is None:
        return lambda right: np.full(len(G), np.nan)
    return lambda right: scale * linalg.cho_solve(factor, scale * right)
