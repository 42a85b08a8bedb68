"""Scores that are linear in the row: x . w + b."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from lineal import _core
from lineal.model.answers import FloatArray
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows

# Of so many weights those that are 0 may be left out of a file: memory that nothing was written to costs
# nothing.
MOST_SPREAD = 1 << 27


class Dotted(Protocol):
    """Rows that weights can be multiplied with."""

    def dot(self, W: FloatArray) -> FloatArray:
        """X W."""


@dataclass(frozen=True, eq=False)
class LinearScores:
    """a_k(x) = x . w_k + b_k, or -inf where class k cannot give x.

    Maximum likelihood estimates probabilities of exactly 0, whose logarithms are infinite, and 0 * -inf, a
    thing that cannot happen and did not, must be 0. So infinite weights stand apart as a barrier: class k is
    impossible where x . B_k + c_k > 0, a sum of numbers of one sign or of whole numbers, which rounds to 0
    only if it is 0.

    Attributes
    ----------
    W : (n_columns, K) finite
    b : (K,) below +inf
    barrier : (B, c) of the shapes of W and b, or None
    """

    W: FloatArray
    b: FloatArray
    barrier: tuple[FloatArray, FloatArray] | None = None

    def __call__(self, rows: Dotted) -> FloatArray:
        """(n_rows, K) scores."""
        A = rows.dot(self.W)
        A += self.b
        if self.barrier is not None:
            B, c = self.barrier
            A[rows.dot(B) + c > 0] = -np.inf
        return A

    def from_ones(self) -> LinearScores:
        """The same scores of rows that are given by what they lack: of x = 1 + r, as scores of r."""
        barrier = None
        if self.barrier is not None:
            B, c = self.barrier
            barrier = (B, c + B.sum(axis=0))
        return LinearScores(self.W, self.b + self.W.sum(axis=0), barrier)


@dataclass(frozen=True, eq=False)
class Scores:
    """How a stored model takes scores from rows.

    Attributes
    ----------
    linear : LinearScores
    way : "dot", "online" or "capped"
        The order in which products are summed, which their last bits depend on: as fits sum them, as streams
        do, from the intercept on, or as fits with scores that overflow held to the largest number.
    threshold : float or None
        If given, numbers become 1 above it and 0 elsewhere first.
    """

    linear: LinearScores
    way: str = "dot"
    threshold: float | None = None

    @property
    def n_columns(self) -> int:
        """How many columns rows have."""
        return int(self.linear.W.shape[0])

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return int(self.linear.W.shape[1])

    def __call__(self, rows: MatrixRows) -> FloatArray:
        """(n_rows, n_scores)."""
        if self.threshold is not None:
            return self._of_zeros_and_ones(rows, self.threshold)
        if self.way == "online":
            Z = np.empty((rows.n_rows, self.n_scores))
            settings, arrays = self._stream
            _core.online_scores(rows.given, settings, arrays, Z)
            return Z
        Z = self.linear(rows)
        # Huge counts overflow together.
        return np.minimum(Z, np.finfo(np.float64).max) if self.way == "capped" else Z

    def _of_zeros_and_ones(self, rows: MatrixRows, threshold: float) -> FloatArray:
        if rows.dense is not None:
            there = (rows.dense > threshold).astype(np.float64)
            return self.linear(MatrixRows(_core.Matrix.from_dense(there, there), rows.n_threads, there))
        there = (rows.stored(in_order=False)[2] > threshold).astype(np.float64)
        if threshold < 0:  # zeros that are not stored are there: say what is taken away from a row of ones
            return self.linear.from_ones()(rows.with_values(there - 1.0))
        return self.linear(rows.with_values(there))

    @cached_property
    def _stream(self) -> tuple[Any, Any]:
        """The weights as the core's streams hold them: a record of weights for each column."""
        n = self.n_scores
        settings = _core.OnlineSettings(
            room=n, is_shared=False, is_averaged=False, is_pulled=False, has_intercept=True,
            is_intercept_penalized=False, rate=1.0, power=0.0, l1=0.0, l2=0.0, l1_growth=0.0, l2_growth=0.0,
            prior=0.0, intercept_prior=0.0, whole_prior=0.0, whole_intercept_prior=0.0,
        )  # fmt: skip
        tally = np.zeros(9)
        tally[7] = n
        # The core wants arrays that it could learn with, which those of a file are not: they are copied once.
        return settings, _core.OnlineArrays(
            np.require(self.linear.W, np.float64, ("C", "W")),
            np.require(self.linear.b, np.float64, ("C", "W")),
            np.zeros(_core.WHOLE_COLUMNS, dtype=np.int32),
            np.zeros((0, _core.WHOLE_FACTOR)),
            tally,
        )

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps the weights; where those of most columns are 0, the others and their places."""
        W = self.linear.W
        rows = np.flatnonzero(W.any(axis=1)) if W.size <= MOST_SPREAD else np.arange(len(W))
        if len(rows) * 4 < len(W):
            draft.put(place, "places", rows.astype(np.int64))
            W = W[rows]
        draft.put(place, "W", np.array(W, order="C"))
        draft.put(place, "b", np.array(self.linear.b, dtype=np.float64))
        if self.linear.barrier is not None:
            B, c = self.linear.barrier
            draft.put(place, "B", np.array(B, dtype=np.float64, order="C"))
            draft.put(place, "c", np.array(c, dtype=np.float64))
        return {"way": self.way, "threshold": self.threshold}

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> Scores:
        """Weights that ``put`` kept, of so many columns."""
        W = _read_weights(spec, n_columns)
        b = spec.tensor("b", (np.float64,), (W.shape[1],))
        if np.isnan(b).any():
            spec.refuse("b", "numbers", "not")
        barrier = None
        if spec.has_tensor("B"):
            barrier = (spec.tensor("B", (np.float64,), W.shape), spec.tensor("c", (np.float64,), b.shape))
        way = spec.text("way", ("dot", "online", "capped"))
        threshold = spec.number("threshold") if spec.has("threshold") else None
        if way == "online" and (barrier is not None or threshold is not None or W.dtype != np.float64):
            spec.refuse("way", "'dot' for weights like these", way)
        return cls(LinearScores(W, b, barrier), way, threshold)


def _read_weights(spec: Spec, n_columns: int) -> Any:
    """(n_columns, n_scores) weights; those that are spread out cost memory where they are not 0 alone."""
    is_spread = spec.has_tensor("places")
    W = spec.tensor("W", (np.float64, np.float32), (None if is_spread else n_columns, None))
    if W.shape[1] < 1:
        spec.refuse("W", "weights of a score at least", f"an array of shape {W.shape}")
    if not np.isfinite(W).all():
        spec.refuse("W", "finite numbers", "some that are not")
    if not is_spread:
        return W
    places = spec.tensor("places", (np.int64,), (len(W),))
    if n_columns * W.shape[1] > MOST_SPREAD:
        spec.refuse("places", f"weights of at most {MOST_SPREAD} columns and scores", n_columns * W.shape[1])
    if len(places) and (places[0] < 0 or places[-1] >= n_columns or (np.diff(places) <= 0).any()):
        spec.refuse("places", f"columns that rise from 0 to {n_columns - 1} at most", "others")
    spread = np.zeros((n_columns, W.shape[1]), dtype=W.dtype)
    spread[places] = W
    return spread
