"""What a dual point says of all columns, without a pass over all of them.

A fit asks for V = X'G at dual points G that lie near each other, above all along a path. Where V is known at
some of them, it is nearly known at their combinations::

    | x_j.G - sum_k c_k x_j.G_k |  <=  |x_j| |G - sum_k c_k G_k|

and a column whose |v_j| stays below its l1 whatever it is within this radius needs no product: the dual ball
holds it, its weight is 0 and no proof depends on it. The others are met, from copies that are one run each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# A pass over all columns takes no longer than meeting this share of them one by one.
_MANY = 0.3
# So many numbers in so many columns make it worth while to ask: each answer takes sums over rows.
_LEAST_NUMBERS, _LEAST_COLUMNS = 1_000_000, 1000
# Combinations are rounded by so much of their terms.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class _Priced:
    """A dual point and its V, to within ``slack`` of each column."""

    G: FloatArray
    V: FloatArray
    slack: FloatArray


class PricedColumns:
    """What is known of all columns of dense rows, which keep some, at the latest dual points of one score."""

    def __init__(self, rows: NativeRows) -> None:
        self._exact: list[_Priced] = []
        self._latest: list[_Priced] = []
        self._lengths = np.sqrt(rows.squared_adjoint(np.ones((rows.n_rows, 1)))[:, 0])

    def price(
        self,
        rows: NativeRows,
        G: FloatArray,
        limit: FloatArray,
        in_play: NDArray[np.bool_],
        known: tuple[NDArray[np.int64], FloatArray] | None = None,
    ) -> FloatArray:
        """(d, 1): V, exact where a column is in play or may lie above its limit, and below it elsewhere.

        ``known`` are some columns and their V.
        """
        assert rows.kept is not None
        assert rows.dense is not None
        V, slack = self._nearly(G)
        if known is not None:
            V[known[0]], slack[known[0]] = known[1], 0.0
        columns = np.flatnonzero((slack > 0) & (in_play | (np.abs(V) + slack > limit)))
        if len(columns) > _MANY * len(V):
            V, slack = rows.adjoint(G)[:, 0], np.zeros(len(V))
            self._exact = [*self._exact[-1:], _Priced(G, V, slack)]
        elif len(columns):
            V[columns], slack[columns] = rows.kept.products(rows.dense, columns, G[:, 0]), 0.0
        self._latest = [*self._latest[-1:], _Priced(G, V, slack)]
        return V[:, None].copy()

    def _nearly(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """V and its slack, by the points whose V is exact or by the latest ones, column by column."""
        d = len(self._lengths)
        if not self._exact:
            return np.zeros(d), np.full(d, np.inf)
        V, slack = self._by(self._exact, G[:, 0])
        there, off = self._by(self._latest, G[:, 0])
        is_nearer = off < slack
        return np.where(is_nearer, there, V), np.where(is_nearer, off, slack)

    def _by(self, points: list[_Priced], g: FloatArray) -> tuple[FloatArray, FloatArray]:
        near = np.stack([point.G[:, 0] for point in points])
        c = np.linalg.lstsq(near @ near.T, near @ g, rcond=None)[0]
        radius = float(np.linalg.norm(g - c @ near))
        size = float(np.abs(c) @ np.linalg.norm(near, axis=1))
        V, slack = np.zeros(len(self._lengths)), (radius + _ROUNDING * size) * self._lengths
        for part, point in zip(c, points, strict=True):
            V += part * point.V
            slack += abs(part) * point.slack
        return V, slack


def priced_columns(rows: NativeRows | None, n_outputs: int) -> PricedColumns | None:
    """Those of rows that keep columns, where it pays to ask them."""
    if rows is None or rows.kept is None or rows.dense is None or n_outputs > 1:
        return None
    if rows.n_stored < _LEAST_NUMBERS or rows.n_columns < _LEAST_COLUMNS:
        return None
    if rows.kept.priced is None:
        rows.kept.priced = PricedColumns(rows)
    found = rows.kept.priced
    assert isinstance(found, PricedColumns)
    return found
