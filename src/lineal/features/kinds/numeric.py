"""Columns of numbers and of booleans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lineal.data.columns import Column
from lineal.data.rows import Arrays, empty_rows, from_dense
from lineal.errors import ParameterError
from lineal.features.kinds.base import Kind, one_of
from lineal.features.kinds.bins import Bins, FloatArray
from lineal.features.scaling import ColumnScaler
from lineal.model.encodings.base import Encoding
from lineal.model.encodings.numeric import (
    CELLS,
    Affine,
    BooleansEncoding,
    NumberMatrix,
    NumbersEncoding,
    read_booleans,
    read_numbers,
)
from lineal.model.record import Draft
from lineal.protocol import clone


@dataclass(frozen=True)
class Numbers(Kind):
    """A column of numbers: as they are, scaled, or in bins. Durations are seconds, booleans 0 and 1.

    Parameters
    ----------
    scale : a transformer of one column, optional
        For example ``ColumnScaler("variance", shift=True)``.
    bins : Quantiles, EqualWidths, EachValue or None
        One-hot bins instead of the number.
    missing : "mean", "median", a number or "refuse"
        What stands in for a missing value, before it is scaled or binned. If the training data had some, a
        column ``name is missing`` of zeros and ones is added.
    """

    word: ClassVar[str] = "number"

    scale: Any = None
    bins: Bins | None = None
    missing: str | float = "mean"

    def __post_init__(self) -> None:
        if self.scale is not None and self.bins is not None:
            raise ParameterError("bins are ones and zeros, which need no scale: choose one of the two.")
        if not isinstance(self.missing, Real):
            one_of("missing", self.missing, ("mean", "median", "refuse"))
        elif not np.isfinite(self.missing):
            raise ParameterError(f"missing must be a finite number, got {self.missing!r}.")

    def read(self, column: Column) -> Column:
        return read_numbers(column)

    def learn(self, column: Column) -> Encoding:
        if self.scale is None or type(self.scale) is ColumnScaler:
            (learned,) = self.learn_many([column])
            assert learned is not None
            return learned
        (fill,) = self._fills(column.present[None, :])
        filled = np.where(column.missing, fill, column.values)
        transformer = clone(self.scale).fit(filled[:, None])
        return _TransformedNumbers(*self._usual(column), float(fill), None, None, transformer)

    def learn_many(self, columns: Sequence[Column], y: Any = None) -> Sequence[Encoding | None]:
        """Learns from columns as one matrix, in steps that fit a cache: a call of NumPy for many of them."""
        if self.scale is not None and type(self.scale) is not ColumnScaler:
            return super().learn_many(columns, y)
        step = max(1, CELLS // max(len(columns[0]), 1))
        return [
            encoding
            for first in range(0, len(columns), step)
            for encoding in self._learned(columns[first : first + step])
        ]

    def _learned(self, columns: Sequence[Column]) -> list[Encoding | None]:
        refuses = self._refuses_missing
        read = NumberMatrix.of(columns, np.full(len(columns), refuses))
        values, missing = read.rows(0, len(columns[0]))
        n_present = np.count_nonzero(~missing, axis=1)
        fills = np.zeros(len(columns))
        borders: dict[int, FloatArray] = {}
        # Columns with equally many values are the rows of a matrix without gaps.
        for n in np.unique(n_present[n_present > 0]):
            rows = np.flatnonzero(n_present == n)
            present = values[rows][~missing[rows]].reshape(len(rows), n)
            fills[rows] = self._fills(present)
            if self.bins is not None:
                borders.update(zip(rows.tolist(), self.bins.inner_borders(present), strict=True))
        used = np.flatnonzero(n_present)
        scales: dict[int, Affine] = {}
        if self.scale is not None and len(used):
            filled = np.where(missing[used], fills[used, None], values[used])
            names = [columns[k].name for k in used.tolist()]
            scales = dict(zip(used.tolist(), self.scale.of_columns(filled, names), strict=True))
        has_gaps, found = n_present < len(columns[0]), fills.tolist()
        return [
            NumbersEncoding(column.name, gaps, refuses, found[k], borders.get(k), scales.get(k))
            if n
            else None
            for k, (column, n, gaps) in enumerate(
                zip(columns, n_present.tolist(), has_gaps.tolist(), strict=True)
            )
        ]

    def _fills(self, rows: FloatArray) -> FloatArray:
        """What stands in for missing values of each row."""
        if self.missing == "mean":
            unit = np.abs(rows).max(axis=1)
            unit[unit == 0] = 1.0
            means: FloatArray = np.mean(rows / unit[:, None], axis=1) * unit  # a huge sum would overflow
            return means
        if self.missing == "median":
            return np.asarray(2 * np.median(rows / 2, axis=1))
        return np.full(len(rows), 0.0 if self.missing == "refuse" else float(self.missing))


@dataclass(frozen=True, eq=False)
class _TransformedNumbers(NumbersEncoding):
    """Numbers in the hands of a transformer, of which nothing is known but that it transforms."""

    transformer: Any = None

    def block(self, column: Column, n_threads: int) -> Arrays:
        filled = np.where(column.missing, self.fill, column.values)
        if not len(filled):
            return empty_rows(0)
        made = self.transformer.transform(filled[:, None])
        return from_dense(np.asarray(made.toarray() if hasattr(made, "toarray") else made))

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Any]) -> dict[str, Any]:
        own = next(own for own in encodings if isinstance(own, cls))
        raise ParameterError(
            f"column {own.column!r} is scaled by {type(own.transformer).__name__}, which a model file does "
            f"not "
            "hold. Scale with lineal.ColumnScaler, or keep the model with pickle."
        )


@dataclass(frozen=True)
class Booleans(Kind):
    """A column of booleans, as 0 and 1.

    Asked for by name, it reads 0 and 1, "true" and "false", "yes" and "no" too.

    Parameters
    ----------
    missing : "indicate" or "refuse"
        A missing value is 0. If the training data had some, a column ``name is missing`` is added.
    """

    word: ClassVar[str] = "boolean"

    missing: str = "indicate"

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        return read_booleans(column)

    def learn(self, column: Column) -> Encoding:
        return BooleansEncoding(*self._usual(column))
