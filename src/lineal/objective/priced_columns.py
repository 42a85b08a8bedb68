"""What a dual point says of all columns, without a pass over all of them.

A fit asks for V = X'G at dual points G that lie near each other, above all along a path. Where V is known at
some of them, it is nearly known at their combinations::

    | x_j.G - sum_k c_k x_j.G_k |  <=  |x_j| |G - sum_k c_k G_k|

and a column whose |v_j| stays below its l1 whatever it is within this radius needs no product: the dual ball
holds it, its weight is 0 and no proof depends on it. The others are met, from copies that lie in one run each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.objective.linear_maps import KeptColumns, NativeRows
from lineal.objective.losses import FloatArray

# A pass over all columns takes no longer than meeting this share of them one by one.
_MANY = 0.3
# So many numbers make it worth while to ask.
_LEAST_NUMBERS = 1_000_000
# Combinations are rounded by so much of their terms.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class _Priced:
    """A dual point and its V, to within ``slack`` of each column."""

    G: FloatArray
    V: FloatArray
    slack: FloatArray


@dataclass
class PricedColumns:
    """Columns of dense rows with one score, and what is known of them at the latest dual points."""

    rows: NativeRows
    exact: list[_Priced] = field(default_factory=list)
    latest: list[_Priced] = field(default_factory=list)
    copies: KeptColumns | None = None

    @classmethod
    def of(cls, rows: NativeRows | None, n_outputs: int) -> PricedColumns | None:
        """Those of rows that keep columns, where asking pays."""
        if rows is None or rows.kept is None or rows.dense is None or n_outputs > 1:
            return None
        if rows.n_stored < _LEAST_NUMBERS:
            return None
        if rows.kept.priced is None:
            rows.kept.priced = cls(rows)
        found: Any = rows.kept.priced
        assert isinstance(found, cls)
        return found

    def price(
        self,
        G: FloatArray,
        limit: FloatArray | float,
        in_play: NDArray[np.bool_],
        known: tuple[NDArray[np.int64], FloatArray] | None = None,
    ) -> FloatArray:
        """(d, 1): V, exact where a column is in play or may lie above its limit, and below it elsewhere.

        ``known`` are some columns and their V.
        """
        V, slack = self._nearly(G)
        if known is not None:
            V[known[0]], slack[known[0]] = known[1], 0.0
        wanted = (slack > 0) & (in_play | (np.abs(V) + slack > limit))
        n_wanted = int(np.count_nonzero(wanted))
        if n_wanted > _MANY * len(V):
            V = self.rows.adjoint(G)[:, 0]
            slack = np.zeros(len(V))
            self.exact = [*self.exact[-1:], _Priced(G, V, slack)]
        elif n_wanted:
            assert self.rows.dense is not None
            columns = np.flatnonzero(wanted)
            if self.copies is None:
                self.copies = KeptColumns(self.rows.n_rows, self.rows.n_columns)
            V[columns] = self.copies.products(self.rows.dense, columns, G[:, 0])
            slack[columns] = 0.0
        self.latest = [*self.latest[-1:], _Priced(G, V, slack)]
        return V[:, None].copy()

    def _nearly(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """V and its slack, by the points whose V is exact or by the latest ones, column by column."""
        d, g = self.rows.n_columns, G[:, 0]
        if not self.exact:
            return np.zeros(d), np.full(d, np.inf)
        V, slack = self._by(self.exact, g)
        there, off = self._by(self.latest, g)
        is_nearer = off < slack
        return np.where(is_nearer, there, V), np.where(is_nearer, off, slack)

    def _by(self, points: list[_Priced], g: FloatArray) -> tuple[FloatArray, FloatArray]:
        near = np.stack([point.G[:, 0] for point in points])
        c = np.linalg.lstsq(near @ near.T, near @ g, rcond=None)[0]
        radius = float(np.linalg.norm(g - c @ near))
        size = float(np.abs(c) @ np.linalg.norm(near, axis=1))
        V, slack = c[0] * points[0].V, (radius + _ROUNDING * size) * self._lengths
        for part, point in zip(c, points, strict=True):
            slack += abs(part) * point.slack
        for part, point in zip(c[1:], points[1:], strict=True):
            V += part * point.V
        return V, slack

    @cached_property
    def _lengths(self) -> FloatArray:
        return np.sqrt(self.rows.squared_adjoint(np.ones((self.rows.n_rows, 1)))[:, 0])
