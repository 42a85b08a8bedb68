"""Rows whose scores share one direction: z_ik = w . x_i + b_k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray
from lineal.objective.rows import Curvature, NativeRows, NumpyRows


@dataclass(frozen=True)
class SharedRows:
    """One column of weights gives every row the same score K times; intercepts alone tell the K apart.

    With K - 1 thresholds it is the problem of n (K - 1) rows (x, -e_k) of an ordinal model, and X is held and
    walked over once: what is n (K - 1) large are scores, targets and dual variables.
    """

    inner: NativeRows | NumpyRows
    n_scores: int

    @property
    def n_rows(self) -> int:
        """How many rows of data."""
        return self.inner.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.inner.n_columns

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.inner.is_sparse

    @property
    def n_threads(self) -> int:
        """Changes the time, never the bits."""
        return self.inner.n_threads if isinstance(self.inner, NativeRows) else 1

    def dot(self, W: FloatArray) -> FloatArray:
        """(n, K) with equal columns, for W of shape (d, 1); a view, not to be written to."""
        return np.broadcast_to(self.inner.dot(W), (self.n_rows, self.n_scores))

    def adjoint(self, U: FloatArray) -> FloatArray:
        """X'(sum_k u_k), (d, 1)."""
        return self.inner.adjoint(self._summed(U))

    def adjoint_summary(self, U: FloatArray, W: FloatArray, strength: float) -> tuple[float, float]:
        """|V|^2 and the largest |V + strength W|."""
        return self.inner.adjoint_summary(self._summed(U), W, strength)

    def squared_adjoint(self, H: FloatArray) -> FloatArray:
        """sum_ik h_ik x_i^2, (d, 1); one column of H stands for all scores."""
        return self.inner.squared_adjoint(self._summed(H))

    def gram(self, h: FloatArray, with_constant: bool) -> FloatArray:
        """The same weight for all scores of a row: the scores do not meet."""
        return self.joint_gram(lambda l: np.outer(h, np.eye(self.n_scores)[l]), self.n_scores, with_constant)

    def joint_gram(self, H: Curvature, n_outputs: int, with_constant: bool) -> FloatArray:
        """One Gram matrix of X, whatever K is, bordered by K columns for the constants."""
        K = self.n_scores
        edges, corner = np.zeros((self.n_rows, K)), np.empty((K, K))
        for l in range(K):
            h = H(l)
            edges[:, l] = h.sum(axis=1)
            corner[l] = h.sum(axis=0)
        G = self.inner.gram(np.ascontiguousarray(edges.sum(axis=1)), False)
        if not with_constant:
            return G
        side = self.inner.adjoint(edges)
        return np.block([[G, side], [side.T, corner]])

    def take_columns(self, wanted: NDArray[np.int64]) -> SharedRows:
        """Those columns alone."""
        return SharedRows(self.inner.take_columns(wanted), self.n_scores)

    def _summed(self, U: FloatArray) -> FloatArray:
        return np.broadcast_to(U, (self.n_rows, self.n_scores)).sum(axis=1, keepdims=True)
