"""Both sides of the margin, in float64 with every rounding accounted for.

A sum of k products is off by at most k 2^-53 of the sum of their sizes, in any order (Higham 2002). All
bounds below take twice that and a few terms more, for the rounding of the bounds themselves, and 2^-1074
a term for products that underflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.objective.losses import FloatArray

_UNIT = 2.0**-52  # twice the largest relative error of one operation
_TINY = 2.0**-1074
# Shares are rounded themselves, and so is the solver that found them: a mean of a column that is this much
# smaller than the column's largest number is 0 but for rounding.
_ZERO = 2.0**-46


@dataclass(frozen=True)
class Differences:
    """The vectors a_i = y_i (x_i, constant), or phi(x_i, y_i) - phi(x_i, k) for more than two classes.

    Attributes
    ----------
    X : array or CSR array
        float64.
    codes : array
        (n,): the class of each row.
    n_classes : int
    constant : float
        What stands beside each row for the intercept: 1, or 0 where there is none.
    """

    X: Any
    codes: NDArray[np.int32]
    n_classes: int
    constant: float

    @property
    def n_scores(self) -> int:
        """One score for two classes, else one a class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def _sizes(self) -> Any:
        return abs(self.X)

    def _terms(self) -> FloatArray:
        """(n, 1): how many products a score sums, and some more."""
        stored = np.diff(self.X.indptr) if sp.issparse(self.X) else np.full(self.X.shape[0], self.X.shape[1])
        return (stored[:, None] + 8).astype(np.float64)

    def radius(self) -> float:
        """The largest |a|, rounded up."""
        squares = self.X.multiply(self.X).sum(axis=1) if sp.issparse(self.X) else (self.X**2).sum(axis=1)
        longest = float(np.asarray(squares).max()) + self.constant**2
        pairs = 1.0 if self.n_scores == 1 else 2.0
        return float(np.sqrt(pairs * longest) * (1.0 + (self.X.shape[1] + 8) * _UNIT))

    def margin_of(self, coef: FloatArray, intercept: FloatArray) -> float:
        """The smallest a . v / |v| for v = (coef, intercept), rounded down; not positive says nothing."""
        return float(self.margins_of(coef, intercept).min())

    def margins_of(self, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        """The same for each row, its worst rival where there are several."""
        size = max(float(np.abs(coef).max(initial=0.0)), float(np.abs(intercept).max(initial=0.0)))
        if not 0.0 < size < np.inf:
            return np.zeros(self.X.shape[0])
        W, b = coef.T / size, intercept / size
        b = b if self.constant else np.zeros_like(b)
        Z = np.asarray(self.X @ W) + self.constant * b
        room = np.asarray(self._sizes() @ np.abs(W)) + self.constant * np.abs(b)
        room = self._terms() * (_UNIT * room + _TINY)
        if self.n_scores == 1:
            least = np.where(self.codes == 1, 1.0, -1.0) * Z[:, 0] - room[:, 0]
        else:
            every = np.arange(len(Z))
            gold = Z[every, self.codes] - room[every, self.codes]
            rivals = Z + room
            rivals[every, self.codes] = -np.inf
            least = gold - rivals.max(axis=1)
            least -= np.abs(least) * _UNIT
        norm = float(np.sqrt((W**2).sum() + (b**2).sum())) * (1.0 + (W.size + 8) * _UNIT)
        return np.asarray(least / norm * (1.0 - 4.0 * _UNIT))

    def combination(self, shares: FloatArray) -> tuple[float, bool]:
        """|sum alpha a| / sum alpha, rounded up, and whether it is 0 but for rounding."""
        B = self._signed(shares)
        V = np.asarray(self.X.T @ B)
        sizes = np.asarray(self._sizes().T @ np.abs(B))
        if self.constant:
            V = np.vstack([V, self.constant * B.sum(axis=0)])
            sizes = np.vstack([sizes, self.constant * np.abs(B).sum(axis=0)])
        total = float(shares.sum())
        if not total > 0:
            return np.inf, False
        largest = self._largest()
        is_zero = bool(np.all(np.abs(V) <= _ZERO * total * largest[:, None]))
        terms = 2.0 * np.count_nonzero(shares) + 8
        most = np.sqrt((V**2).sum()) + np.sqrt(((terms * (_UNIT * sizes + _TINY)) ** 2).sum())
        return float(most / total * (1.0 + (V.size + terms) * _UNIT)), is_zero

    def _largest(self) -> FloatArray:
        """The largest size in each column, that of the constant included."""
        sizes = self._sizes().max(axis=0)
        sizes = np.asarray(sizes.toarray() if sp.issparse(sizes) else sizes).ravel()
        return np.r_[sizes, self.constant] if self.constant else sizes

    def _signed(self, shares: FloatArray) -> FloatArray:
        """(n, 1) or (n, K): what multiplies x_i in each score's block of the sum."""
        if self.n_scores == 1:
            return (np.where(self.codes == 1, 1.0, -1.0) * shares)[:, None]
        B = -shares
        B[np.arange(len(B)), self.codes] += shares.sum(axis=1)
        return np.asarray(B)

    def alone(self) -> FloatArray:
        """Shares that are all the first a's."""
        if self.n_scores == 1:
            return np.eye(1, len(self.codes))[0]
        shares = np.zeros((len(self.codes), self.n_classes))
        shares[0, int(self.codes[0] == 0)] = 1.0
        return shares

    def take(self, rows: NDArray[np.intp]) -> Differences:
        """Those rows alone."""
        return Differences(self.X[rows], self.codes[rows], self.n_classes, self.constant)

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The row and the wrong class of each a."""
        wrong = np.arange(self.n_classes) != self.codes[:, None]
        row, rival = np.nonzero(wrong)
        return row, rival

    def stacked(self) -> sp.csr_array:
        """All a as rows; a block of columns for each score, of which the constant's is the last."""
        X = sp.csr_array(self.X)
        if self.constant:
            X = sp.csr_array(sp.hstack([X, np.full((X.shape[0], 1), self.constant)]))
        if self.n_scores == 1:
            return sp.csr_array(sp.diags_array(np.where(self.codes == 1, 1.0, -1.0)) @ X)
        row, rival = self.pairs()
        copies, width = sp.coo_array(X[row]), X.shape[1]
        i, j = copies.coords
        columns = np.concatenate([j + width * self.codes[row][i].astype(np.int64), j + width * rival[i]])
        entries = (np.concatenate([copies.data, -copies.data]), (np.tile(i, 2), columns))
        return sp.csr_array(sp.coo_array(entries, shape=(len(row), width * self.n_classes)))
