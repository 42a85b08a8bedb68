"""Polynomials that are orthonormal on the data: a basis in which curves of any degree are well conditioned.

Powers of x are nearly collinear from degree 10 on. Polynomials q_0, q_1, ... with
sum_i s_i q_j(x_i) q_k(x_i) = [j = k] are not, at any degree that the data can carry (Forsythe 1957). They are
built by multiplying the last one by x and taking out all before it, twice, and evaluated elsewhere by the
same recurrence (Brubeck, Nakatsukasa and Trefethen 2021). A degree costs a pass for each degree below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from lineal.objective.losses import FloatArray

# What is left of u q_k, beside it, when the data have no further different number.
_NOTHING = 1e-11


@dataclass(frozen=True)
class Basis:
    """q_0 .. q_M for one column of numbers.

    Attributes
    ----------
    centre, half : float
        u = (x - centre) / half is in [-1, 1] on the data.
    first : float
        The constant q_0.
    steps : (M + 1, M) array
        u q_k = sum_i steps[i, k] q_i, for i up to k + 1.
    """

    centre: float
    half: float
    first: float
    steps: FloatArray

    @property
    def degree(self) -> int:
        """M: the degree asked for, or the number of different x less one."""
        return self.steps.shape[1]

    @classmethod
    def of(cls, x: FloatArray, s: FloatArray, degree: int) -> Basis:
        """The basis for numbers with positive weights."""
        centre, half = _frame(x)
        u, root = (x - centre) / half, np.sqrt(s)
        Q = np.empty((len(x), degree + 1))  # q_k times the roots of the weights
        Q[:, 0] = root / np.linalg.norm(root)
        steps = np.zeros((degree + 1, degree))
        for k in range(degree):
            v = u * Q[:, k]
            size = float(np.linalg.norm(v))
            for _ in range(2):
                along = Q[:, : k + 1].T @ v
                v -= Q[:, : k + 1] @ along
                steps[: k + 1, k] += along
            length = float(np.linalg.norm(v))
            if length <= _NOTHING * size:
                steps = steps[: k + 1, :k]
                break
            steps[k + 1, k] = length
            Q[:, k + 1] = v / length
        return cls(centre, half, float(1 / np.linalg.norm(root)), steps)

    def at(self, x: FloatArray) -> FloatArray:
        """(n, M + 1) values at any numbers; beyond those of the data they grow as polynomials do."""
        u = (x - self.centre) / self.half
        Q = np.empty((len(x), self.degree + 1))
        Q[:, 0] = self.first
        for k in range(self.degree):
            Q[:, k + 1] = (u * Q[:, k] - Q[:, : k + 1] @ self.steps[: k + 1, k]) / self.steps[k + 1, k]
        return Q

    def powers(self, *, of_scaled: bool) -> FloatArray:
        """(M + 1, M + 1): column k has the coefficients of q_k in the powers of u, or of x itself."""
        M = self.degree
        P = np.zeros((M + 1, M + 1))
        P[0, 0] = self.first
        for k in range(M):
            raised = np.concatenate([[0.0], P[:-1, k]])
            P[:, k + 1] = (raised - P[:, : k + 1] @ self.steps[: k + 1, k]) / self.steps[k + 1, k]
        if of_scaled:
            return P
        return _moved(M, self.centre, self.half) @ P


@dataclass(frozen=True)
class Powers:
    """1, u .. u^M with u = (x - centre) / half: what a penalty on coefficients is about.

    With a penalty that is not tiny these are as good a basis as any, and a strong one is exact in no other.
    """

    centre: float
    half: float
    degree: int

    @classmethod
    def of(cls, x: FloatArray, degree: int, *, scaled: bool) -> Powers:
        """Powers of the numbers, or of the numbers brought to [-1, 1]."""
        return cls(*_frame(x), degree) if scaled else cls(0.0, 1.0, degree)

    def at(self, x: FloatArray) -> FloatArray:
        """(n, M + 1) values at any numbers."""
        return np.vander((x - self.centre) / self.half, self.degree + 1, increasing=True)

    def powers(self, *, of_scaled: bool) -> FloatArray:
        """(M + 1, M + 1): column k has the coefficients of u^k in the powers of u, or of x itself."""
        return np.eye(self.degree + 1) if of_scaled else _moved(self.degree, self.centre, self.half)


def _frame(x: FloatArray) -> tuple[float, float]:
    """The middle and half the range, which is 1 for a constant."""
    low, high = float(x.min()), float(x.max())
    half = high / 2 - low / 2
    return low / 2 + high / 2, half if half > 0 else 1.0


def _moved(degree: int, centre: float, half: float) -> FloatArray:
    """Column m has the powers of x in ((x - centre) / half)^m."""
    shift = np.zeros((degree + 1, degree + 1))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # who asks looks at what comes out
        moves, sizes = np.float64(-centre / half), 1 / np.float64(half)
        for m in range(degree + 1):
            for i in range(m + 1):
                shift[i, m] = comb(m, i) * moves ** (m - i) * sizes**i
    return shift
