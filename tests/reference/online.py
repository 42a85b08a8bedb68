"""One pass over a stream as docs/streams.md states it: whole matrices, slopes by bisection, row after row."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from lineal.objective import Log, ModifiedHuber, Squared, SquaredHinge

# What a row of a class can add to the metric at most; 1 for all other losses.
UNITS = {Log: 0.25, SquaredHinge: 2.0, ModifiedHuber: 2.0}
PARTS = np.arange(257) / 256


def root(f, low, high):
    """Where a rising function changes its sign: bisection, 256 parts at a time, to the last bit."""
    for _ in range(8):
        grid = low + (high - low) * PARTS
        at = min(max(np.count_nonzero(f(grid) <= 0), 1), 256)
        low, high = grid[at - 1], grid[at]
    return 0.5 * (low + high)


def slope(loss, y, z, q):
    """u = loss'(y, z - q u), which lies between 0 and loss'(y, z)."""
    here = float(loss.derivative(y, z))
    return root(lambda u: u - loss.derivative(y, z - q * u), min(here, 0.0), max(here, 0.0)) if here else 0.0


def softmax_share(z, own, q, t):
    """p with ln p + q p = z + q own - t, a row for each t: where it sums to 1, softmax(z - q (p - own))."""
    return wrightomega(np.log(q) + z + q * own - np.reshape(t, (-1, 1))) / q


def nearest_share(z, own, q, t):
    """max(0, c - t), c = (z + 1 - own) / q + own: where it sums to 1, the simplex's nearest point to c."""
    return np.maximum((z + 1.0 - own) / q + own - np.reshape(t, (-1, 1)), 0.0)


def joint_slopes(joint, z, own, q):
    """u = p - own, where ``own`` is 1 for the row's class and p lies on the simplex."""
    if joint == "softmax":
        share, low, high = softmax_share, z.max() - q - 1.0, z.max() + q + np.log(len(z))
    elif (z + 1.0 - own).max() > z @ own:
        share, high = nearest_share, ((z + 1.0 - own) / q + own).max()
        low = high - 1.0
    else:
        return np.zeros(len(z))
    return share(z, own, q, root(lambda t: 1.0 - share(z, own, q, t).sum(axis=1), low, high))[0] - own


class Stream:
    """Weights W of one score, or of several, after every row that it met.

    Rows are dense; the last column is the constant 1 unless ``intercept`` is "none". Targets are +1 and -1
    for ``classes``, else numbers. ``rate`` 0 means steps of each column's own. ``n_before`` rows were met by
    a fit, which counted the penalty and left W.
    """

    def __init__(self, loss, W, *, classes, joint="", rate=0.0, power=0.0, is_averaged=False,
                 strengths=(0.0, 0.0), growths=(0.0, 0.0), intercept="free", n_before=0.0):  # fmt: skip
        self.loss, self.classes, self.joint, self.n_before = loss, classes, joint, n_before
        self.rate, self.power, self.is_averaged = rate, power, is_averaged
        self.strengths, self.growths = np.array(strengths), np.array(growths)
        self.is_pulled = strengths[0] > 0 or max(growths) > 0
        self.W = np.array(W, dtype=float)
        self.total, self.pulls = np.zeros_like(self.W), np.zeros_like(self.W)
        n_scores, d = self.W.shape
        self.G = np.zeros((1 if joint else n_scores, d, d))  # what rows have shown: whole,
        self.D = np.zeros((1 if joint else n_scores, d))  # and the diagonal alone
        self.is_column = np.arange(d) < d - (intercept != "none")
        self.is_penalized = self.is_column | (intercept == "penalized")
        self.is_met = np.zeros(d, dtype=bool)
        self.rows = self.weight = self.slopes = self.distances = 0.0

    @property
    def kept(self):
        """The weights that are predicted with: the mean of those after every row, if they are averaged."""
        return self.total / self.rows if self.is_averaged and self.rows else self.W

    def part(self, n_scores):
        """A third label parts the one score of two; every later one starts at 0."""
        metrics = () if self.joint else ("G", "D")
        if len(self.W) == 1:
            half, l1 = 0.5 if self.joint else 1.0, self.penalty()[0]
            self.pulls += (1.0 / half - 1.0) * np.clip(self.pulls, -l1, l1)  # what is cut off stays whole
            for name in ("W", "total", "pulls"):
                M = half * getattr(self, name)
                setattr(self, name, np.concatenate([M, -M]))
            for name in metrics:
                setattr(self, name, np.repeat(getattr(self, name), 2, axis=0))
        for name in ("W", "total", "pulls", *metrics):
            M = getattr(self, name)
            setattr(self, name, np.concatenate([M, np.zeros((n_scores - len(M), *M.shape[1:]))]))

    def meet(self, x, y, s=1.0):
        """y: the target of every score."""
        z = self.W @ x
        unit = self.unit(self.kept @ x, y, s)
        self.is_met |= x != 0
        is_whole = not self.is_pulled and np.count_nonzero(self.is_met & self.is_column) <= 64
        is_counted = self.strengths[1] * self.is_penalized > 0
        prior = self.n_before + np.where(is_counted, 0.0, 0.01 if is_whole else 4.0)
        start = (self.D == 0) * prior * unit * x**2
        self.D += start
        self.G += start[..., None] * np.eye(len(x))
        along, q = self.directions(x, is_whole)
        u, bend, whole_bend = self.slopes_and_bends(y, z, s * q, unit)
        if self.is_pulled:
            self.pulls -= s * u[:, None] * x
            self.follow()
            self.pulls += s * bend[:, None] * x**2 * self.W
        else:
            self.W -= s * u[:, None] * along
        self.D += s * bend[:, None] * x**2
        self.G += s * whole_bend[:, None, None] * np.outer(x, x)
        self.rows, self.weight = self.rows + 1, self.weight + s
        if self.is_pulled:
            self.follow()
        self.total += self.W

    def unit(self, z, y, s):
        """The most that a row can add to the metric; of numbers the mean slope over the mean distance."""
        if self.classes:
            return UNITS.get(type(self.loss), 1.0)
        self.slopes += s * np.abs(self.loss.derivative(y, z)).sum()
        self.distances += s * np.abs(z - y).sum()
        return self.slopes / self.distances if self.slopes > 0 else float(isinstance(self.loss, Squared))

    def penalty(self):
        """l1 and l2 of every column by now."""
        return (self.strengths + self.growths * self.weight)[:, None] * self.is_penalized

    def directions(self, x, is_whole):
        """A^-1 x of every metric, and q = x'A^-1 x."""
        eye = np.eye(len(x))
        shown = self.G if is_whole else self.D[..., None] * eye
        if self.rate:
            shown = eye[None] * (self.rows + 1) ** self.power / self.rate
        A = shown + np.diag(self.penalty()[1])
        A += eye * (A == 0)  # where nothing was met there is nothing to say, and x is 0
        along = np.linalg.solve(A, np.broadcast_to(x[:, None], (len(A), len(x), 1)))[..., 0]
        return along, along @ x

    def slopes_and_bends(self, y, z, q, unit):
        """The slope of every score, and what the metrics gain along the diagonal and where they are whole."""
        if self.joint and len(z) > 1:
            own = (y > 0).astype(float)
            u = joint_slopes(self.joint, z, own, q[0])
            p, own_p = u + own, (u + own) @ own
            is_log, is_moved = self.joint == "softmax", float(u.any())
            diagonal, whole = (own_p * (1.0 - own_p), 1.0 - p @ p) if is_log else (is_moved, is_moved)
            return u, np.array([diagonal]), np.array([2.0 / len(z) * whole])
        u = np.array([slope(self.loss, *each) for each in zip(y, z, np.resize(q, len(z)), strict=True)])
        is_moved = (u != 0) | isinstance(self.loss, Squared)  # whose loss'' is 1 all over
        bend = np.abs(u) * (1.0 - np.abs(u)) if isinstance(self.loss, Log) else unit * is_moved
        return u, bend, bend

    def follow(self):
        """The weights that the pulls lead to."""
        l1, l2 = self.penalty()
        metric = np.where(self.D + l2 > 0, self.D + l2, 1.0)
        self.W = np.sign(self.pulls) * np.maximum(np.abs(self.pulls) - l1, 0.0) / metric
