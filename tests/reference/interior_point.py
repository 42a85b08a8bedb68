"""Mehrotra's predictor-corrector steps for a quadratic programme over intervals, with dense matrices.

    min  sum_i s_i (c_i u_i + q_i u_i^2 / 2) + |A'S u|^2 / 2 in the metric 1 / L,    l <= u <= h

as in ``epoch/interior_point.h``: the same start, the same steps, in NumPy.
"""

import numpy as np

CLOSE = 0.995
START = 5.0


def _weighted_mean(x, s):
    return s @ x / s.sum()


def _longest(distance, move):
    falling = move < 0
    return np.min(-distance[falling] / move[falling], initial=np.inf)


class Steps:
    """A run of ``step``; ``w`` are the weights, ``u`` the dual variables.

    The first ``n_rows`` rows of A are data, once or (``n_parts`` = 2) twice, the others unit rows whose
    columns have these mean squares.
    """

    def __init__(self, A, low, high, place, bend, weight, l2, *, n_rows, n_parts=1, squares=()):
        self.A, self.c, self.q, self.s, self.L = A, place, bend, weight, np.asarray(l2)
        self.is_low, self.is_high = np.isfinite(low), np.isfinite(high)
        self.low, self.high = np.where(self.is_low, low, 0.0), np.where(self.is_high, high, 0.0)
        data = slice(0, n_rows * n_parts)
        one = slice(0, n_rows)
        centre = place[one] if n_parts == 1 else (place[one] + place[n_rows : 2 * n_rows]) / 2
        squares = np.asarray(squares, dtype=float)
        share = np.append(np.ones(n_rows * n_parts), np.where(squares > 0, 1e-6 * squares, 1.0))
        target = np.append(np.tile(centre, n_parts), np.zeros(len(squares)))
        self.w = np.linalg.solve(
            A.T @ (A * (weight * share)[:, None]) + np.diag(self.L), A.T @ (weight * target)
        )
        z, s = A @ self.w, weight[one]
        spread = _weighted_mean(np.abs(centre - _weighted_mean(centre, s)), s)
        size = max(_weighted_mean(np.abs(place - z)[data], weight[data]), 1e-3 * spread) or 1.0
        both = self.is_low & self.is_high
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = np.maximum(z - place + size, size) / bend, np.minimum(z - place - size, -size) / bend
            free = (z - place) / bend
        self.u = np.where(both, (self.low + self.high) / 2, np.where(bend > 0, free, 0.0))
        self.u = np.where(self.is_low & ~self.is_high & (bend > 0), self.low + up, self.u)
        self.u = np.where(~self.is_low & self.is_high & (bend > 0), self.high + down, self.u)
        self.above = np.where(self.is_low, self.u - self.low, 1.0)
        self.below = np.where(self.is_high, self.high - self.u, 1.0)
        slope = place + bend * self.u - z
        nearest = np.where(self.is_low | self.is_high, np.minimum(self.above, self.below), 0.0)
        product = size * _weighted_mean(nearest[data], weight[data]) or size
        add = np.full(len(place), size)
        add[data.stop :] = 2 * product / (self.above + self.below)[data.stop :]
        self.alpha = np.where(self.is_low, np.maximum(slope, 0.0) + START * add, 0.0)
        self.beta = np.where(self.is_high, np.maximum(-slope, 0.0) + START * add, 0.0)
        self.count = weight @ self.is_low + weight @ self.is_high
        self.is_linear = not bend.any() and not self.L.any()

    def _aim(self, on_low, on_high):
        theta = 1 / (self.q + self.alpha / self.above + self.beta / self.below)
        off = self.c + self.q * self.u - self.A @ self.w - self.alpha + self.beta
        g = on_low / self.above - on_high / self.below - off
        right = -(self.A.T @ (self.s * self.u) + self.L * self.w) - self.A.T @ (self.s * theta * g)
        dw = np.linalg.solve(self.A.T @ (self.A * (self.s * theta)[:, None]) + np.diag(self.L), right)
        du = theta * (self.A @ dw + g)
        da = np.where(self.is_low, (on_low - self.alpha * du) / self.above, 0.0)
        db = np.where(self.is_high, (on_high + self.beta * du) / self.below, 0.0)
        return dw, du, da, db

    def _lengths(self, move, close):
        _, du, da, db = move
        t_u = min(_longest(self.above, du * self.is_low), _longest(self.below, -du * self.is_high))
        t_m = min(_longest(self.alpha, da), _longest(self.beta, db))
        t_u, t_m = min(1.0, close * t_u), min(1.0, close * t_m)
        return (t_u, t_m) if self.is_linear else (min(t_u, t_m),) * 2

    def _ahead(self, move, t_u, t_m):
        dw, du, da, db = move
        return (
            self.w + t_m * dw,
            self.u + t_u * du,
            self.above + t_u * du * self.is_low,
            self.below - t_u * du * self.is_high,
            self.alpha + t_m * da,
            self.beta + t_m * db,
        )

    def _products(self, above, below, alpha, beta):
        return self.s @ (alpha * above + beta * below)

    def step(self):
        """The predictor says how far the products can fall, the corrector goes there."""
        low, high = self.alpha * self.above, self.beta * self.below
        first = self._aim(-low, -high)
        mu = self.s @ (low + high) / self.count
        moved = self._products(*self._ahead(first, *self._lengths(first, 1.0))[2:]) / self.count
        target, (_, du, da, db) = mu * (moved / mu) ** 3, first
        second = self._aim(
            np.where(self.is_low, target - low - da * du, 0.0),
            np.where(self.is_high, target - high + db * du, 0.0),
        )
        ahead = self._ahead(second, *self._lengths(second, CLOSE))
        self.w, self.u, self.above, self.below, self.alpha, self.beta = ahead
