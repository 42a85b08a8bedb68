"""Mehrotra's predictor-corrector steps for a quadratic programme over intervals, with dense matrices.

    min  sum_i s_i (c_i u_i + q_i u_i^2 / 2) + |A'S u|^2 / 2 in the metric 1 / L,    l <= u <= h

as in ``epoch/interior_point.h``: the same start, the same steps and correctors, in NumPy. Of K joint outputs
the u of a row sum to 0; their rows lie output by output, row i of output k at k n + i.
The variables of unit rows may lie in balls |u_g| <= r instead, a norm r |z_g| of their scores: with
m >= |x_g| and x_g = z_g at the optimum, (m, x_g) and (r, -u_g) lie in second-order cones, and steps are
scaled to where both are the same point (Nesterov and Todd 1997). x is where beta - alpha is of an interval.
"""

import numpy as np

CLOSE = 0.995
START, JOINT_START = 5.0, 30.0
LONG_ENOUGH, LONGER, GAINED = 0.9, 0.3, 0.1


def _weighted_mean(x, s):
    return s @ x / s.sum()


def _longest(distance, move):
    falling = move < 0
    return np.min(-distance[falling] / move[falling], initial=np.inf)


def _back_inside(product, target):
    return np.where(
        product < target / 10,
        target / 10 - product,
        np.where(product > 10 * target, np.maximum(10 * target - product, -10 * target), 0.0),
    )


class Cone:
    """The scaling W of a pair x, y inside the second-order cone: W y = x / W = lam."""

    def __init__(self, x, y):
        J = np.diag(np.append(1.0, -np.ones(len(x) - 1)))
        size = [np.sqrt(v @ J @ v) for v in (x, y)]
        x, y = x / size[0], y / size[1]
        middle = (x + J @ y) / np.sqrt(2 * (1 + x @ y))
        v = middle + np.append(1.0, np.zeros(len(x) - 1))
        v /= np.sqrt(2 * v[0])
        self.W = np.sqrt(size[0] / size[1]) * (2 * np.outer(v, v) - J)
        self.inverse = np.sqrt(size[1] / size[0]) * (2 * J @ np.outer(v, v) @ J - J)
        self.lam = self.W @ (y * size[1])

    @staticmethod
    def product(x, y):
        """x o y of the cone's algebra."""
        return np.append(x @ y, x[0] * y[1:] + y[0] * x[1:])

    def moved(self, d):
        """dx where lam o (W dy + dx / W) = d and y stays."""
        arrow = self.lam[0] * np.eye(len(d))
        arrow[0], arrow[:, 0] = self.lam, self.lam
        return self.W @ np.linalg.solve(arrow, d)

    @staticmethod
    def longest(x, dx):
        """The t > 0 with x + t dx on the boundary."""
        a, b, c = (v[0] * w[0] - v[1:] @ w[1:] for v, w in ((dx, dx), (x, dx), (x, x)))
        roots = np.roots([a, 2 * b, c]) if a != 0 else np.array([-c / (2 * b)] if b != 0 else [])
        roots = roots[np.isreal(roots)].real
        return min(np.min(roots[roots > 0], initial=np.inf), -x[0] / dx[0] if dx[0] < 0 else np.inf)


class Steps:
    """A run of ``step``; ``w`` are the weights, ``u`` the dual variables.

    The first ``n_rows`` rows of A are data, once or (``n_parts`` = 2, or ``n_joint`` outputs) more often, the
    others unit rows whose columns have these mean squares. ``balls`` are (variables, radius) of unit rows.
    """

    def __init__(
        self,
        A,
        low,
        high,
        place,
        bend,
        weight,
        l2,
        *,
        n_rows,
        n_parts=1,
        squares=(),
        n_joint=1,
        balls=(),
        at_zero=0.0,
    ):
        self.balls = balls
        self.A, self.c, self.q, self.s, self.L = A, place, bend, weight, np.asarray(l2)
        self.n_rows, self.n_joint = n_rows, n_joint
        self.t = np.zeros(n_rows)
        self.is_low, self.is_high = np.isfinite(low), np.isfinite(high)
        self.low, self.high = np.where(self.is_low, low, 0.0), np.where(self.is_high, high, 0.0)
        data = slice(0, n_rows * n_parts)
        one = slice(0, n_rows * n_joint)
        has_tube = n_parts > n_joint
        centre = (place[one] + place[n_rows : 2 * n_rows]) / 2 if has_tube else place[one]
        squares = np.asarray(squares, dtype=float)
        share = np.append(np.ones(n_rows * n_parts), np.where(squares > 0, 1e-6 * squares, 1.0))
        target = np.append(np.tile(centre, n_parts // n_joint), np.zeros(len(squares)))
        M = self._response(share)
        self.w = self._solve(
            A.T @ (weight[:, None] * (M @ A)) + np.diag(self.L), A.T @ (weight * (M @ target))
        )
        cost = sum(weight[unit[0]] * radius * np.linalg.norm((A @ self.w)[unit]) for unit, radius in balls)
        self.w *= at_zero / cost if cost > at_zero else 1.0
        z, s = A @ self.w, weight[one]
        spread = _weighted_mean(np.abs(centre - _weighted_mean(centre, s)), s)
        off = z - place
        around = self._at_rows((z - place)[data].reshape(n_parts, -1).mean(axis=0)) if n_joint > 1 else 0.0
        size = max(_weighted_mean(np.abs(off - around)[data], weight[data]), 1e-3 * spread) or 1.0
        both = self.is_low & self.is_high
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = np.maximum(z - place + size, size) / bend, np.minimum(z - place - size, -size) / bend
            free = (z - place) / bend
        self.u = np.where(both, (self.low + self.high) / 2, np.where(bend > 0, free, 0.0))
        self.u = np.where(self.is_low & ~self.is_high & (bend > 0), self.low + up, self.u)
        self.u = np.where(~self.is_low & self.is_high & (bend > 0), self.high + down, self.u)
        if n_joint > 1:
            self.t = off[data].reshape(n_joint, -1).max(axis=0) + JOINT_START * size
            inverse = 1 / (self.t - off[data].reshape(n_joint, -1))
            self.u[data] = self.low[data] + (inverse / inverse.sum(axis=0)).ravel()
        self.above = np.where(self.is_low, self.u - self.low, 1.0)
        self.below = np.where(self.is_high, self.high - self.u, 1.0)
        slope = place + bend * self.u - z + self._at_rows(self.t)
        nearest = np.where(self.is_low | self.is_high, np.minimum(self.above, self.below), 0.0)
        product = size * _weighted_mean(nearest[data], weight[data]) or size
        add = np.full(len(place), START * size if n_joint == 1 else 0.0)
        add[data.stop :] = START * 2 * product / (self.above + self.below)[data.stop :]
        self.alpha = np.where(self.is_low, np.maximum(slope, 0.0) + add, 0.0)
        self.beta = np.where(self.is_high, np.maximum(-slope, 0.0) + add, 0.0)
        self.m = np.zeros(len(balls))
        for g, (unit, radius) in enumerate(balls):
            self.beta[unit] = z[unit]
            self.m[g] = 2 * np.linalg.norm(z[unit]) + START * product / radius
        self.of_ball = np.array([weight[unit[0]] for unit, _ in balls])
        self.count = weight @ self.is_low + weight @ self.is_high + self.of_ball.sum()
        self.is_linear = not bend.any() and not self.L.any() and n_joint == 1 and not balls

    def _at_rows(self, of_each_row):
        """A number of each joint row at each of its variables, 0 at all others."""
        out = np.zeros(len(self.c))
        if self.n_joint > 1:
            out[: self.n_rows * self.n_joint] = np.tile(of_each_row, self.n_joint)
        return out

    def _response(self, theta):
        """M with du = M dz: diag(theta), less what keeps the sum of each joint row."""
        M = np.diag(theta)
        if self.n_joint > 1:
            for i in range(self.n_rows):
                row = i + self.n_rows * np.arange(self.n_joint)
                M[np.ix_(row, row)] -= np.outer(theta[row], theta[row]) / theta[row].sum()
        return M

    def _solve(self, G, right):
        """Joint scores may all move by the same: of those solutions that without such a move."""
        return np.linalg.solve(G, right) if self.n_joint == 1 else np.linalg.pinv(G, hermitian=True) @ right

    def _pairs(self):
        """(m, x) and (r, -u) of each ball."""
        for m, (unit, radius) in zip(self.m, self.balls, strict=True):
            yield np.append(m, self.beta[unit]), np.append(radius, -self.u[unit])

    def _aim(self, on_low, on_high, on_ball):
        cones = [Cone(*pair) for pair in self._pairs()]
        moved = [cone.moved(on) for cone, on in zip(cones, on_ball, strict=True)]
        with np.errstate(divide="ignore"):
            theta = 1 / (self.q + self.alpha / self.above + self.beta / self.below)
        off = self.c + self.q * self.u - self.A @ self.w - self.alpha + self.beta + self._at_rows(self.t)
        g = on_low / self.above - on_high / self.below - off
        for x, (unit, _) in zip(moved, self.balls, strict=True):
            g[unit] -= x[1:]
            theta[unit] = 0.0
        M = self._response(theta)
        for cone, (unit, _) in zip(cones, self.balls, strict=True):
            M[np.ix_(unit, unit)] = np.linalg.inv((cone.W @ cone.W)[1:, 1:])
        right = -(self.A.T @ (self.s * self.u) + self.L * self.w) - self.A.T @ (self.s * (M @ g))
        dw = self._solve(self.A.T @ (self.s[:, None] * (M @ self.A)) + np.diag(self.L), right)
        dz = self.A @ dw + g
        du = M @ dz
        da = np.where(self.is_low, (on_low - self.alpha * du) / self.above, 0.0)
        db = np.where(self.is_high, (on_high + self.beta * du) / self.below, 0.0)
        rows = slice(0, self.n_rows * self.n_joint)
        parts = (x[rows].reshape(self.n_joint, -1) for x in (theta * dz, theta))
        dt = np.divide(*(part.sum(axis=0) for part in parts))
        dm = np.zeros(len(cones))
        for g, (cone, (unit, _)) in enumerate(zip(cones, self.balls, strict=True)):
            x = moved[g] + cone.W @ cone.W @ np.append(0.0, du[unit])
            dm[g], db[unit] = x[0], x[1:]
        return dw, du, da, db, dt, dm

    def _lengths(self, move, close):
        _, du, da, db, _, dm = move
        t_u = min(_longest(self.above, du * self.is_low), _longest(self.below, -du * self.is_high))
        t_m = min(_longest(self.alpha, da * self.is_low), _longest(self.beta, db * self.is_high))
        for (x, y), dx0, (unit, _) in zip(self._pairs(), dm, self.balls, strict=True):
            t_u = min(t_u, Cone.longest(y, np.append(0.0, -du[unit])))
            t_m = min(t_m, Cone.longest(x, np.append(dx0, db[unit])))
        t_u, t_m = min(1.0, close * t_u), min(1.0, close * t_m)
        return (t_u, t_m) if self.is_linear else (min(t_u, t_m),) * 2

    def _ahead(self, move, t_u, t_m):
        dw, du, da, db, dt, dm = move
        return (
            self.w + t_m * dw,
            self.u + t_u * du,
            self.above + t_u * du * self.is_low,
            self.below - t_u * du * self.is_high,
            self.alpha + t_m * da,
            self.beta + t_m * db,
            self.t + t_m * dt,
            self.m + t_m * dm,
        )

    def _products(self, u, above, below, alpha, beta, m):
        """The sum, and that of each ball."""
        of_intervals = self.s @ (self.is_low * alpha * above + self.is_high * beta * below)
        of_balls = np.array(
            [each * radius - beta[unit] @ u[unit] for each, (unit, radius) in zip(m, self.balls, strict=True)]
        )
        return of_intervals + self.of_ball @ of_balls, of_balls

    def step(self):
        """The predictor says how far products can fall, the corrector goes there, others make it longer."""
        low, high = self.is_low * self.alpha * self.above, self.is_high * self.beta * self.below
        cones = [Cone(*pair) for pair in self._pairs()]
        none = [-cone.product(cone.lam, cone.lam) for cone in cones]
        first = self._aim(-low, -high, none)
        mu = self._products(self.u, self.above, self.below, self.alpha, self.beta, self.m)[0] / self.count
        _, u, above, below, alpha, beta, _, m = self._ahead(first, *self._lengths(first, 1.0))
        moved = self._products(u, above, below, alpha, beta, m)[0] / self.count
        target, (_, du, da, db, _, dm) = mu * (moved / mu) ** 3, first
        on_low = np.where(self.is_low, target - low - da * du, 0.0)
        on_high = np.where(self.is_high, target - high + db * du, 0.0)
        on_ball = []
        for cone, on, dx0, (unit, _) in zip(cones, none, dm, self.balls, strict=True):
            dx, dy = np.append(dx0, db[unit]), np.append(0.0, -du[unit])
            on_ball.append(on - cone.product(cone.inverse @ dx, cone.W @ dy))
            on_ball[-1][0] += target
        best = self._aim(on_low, on_high, on_ball)
        lengths = self._lengths(best, CLOSE)
        for _ in range(1 if self.n_joint == 1 else 2):
            if min(lengths) >= LONG_ENOUGH:
                break
            reach = min(1.0, min(lengths) + LONGER)
            _, u, above, below, alpha, beta, _, m = self._ahead(best, reach, reach)
            of_balls = self._products(u, above, below, alpha, beta, m)[1]
            on_low = on_low + self.is_low * _back_inside(alpha * above, target)
            on_high = on_high + self.is_high * _back_inside(beta * below, target)
            on_ball = [
                on + np.append(_back_inside(each, target), np.zeros(len(on) - 1))
                for on, each in zip(on_ball, of_balls, strict=True)
            ]
            other = self._aim(on_low, on_high, on_ball)
            if min(self._lengths(other, CLOSE)) < min(lengths) + GAINED * LONGER:
                break
            best, lengths = other, self._lengths(other, CLOSE)
        ahead = self._ahead(best, *lengths)
        self.w, self.u, self.above, self.below, self.alpha, self.beta, self.t, self.m = ahead
