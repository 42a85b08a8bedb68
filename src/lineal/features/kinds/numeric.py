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
from lineal.model.encodings.numeric import BooleansEncoding, NumbersEncoding, read_booleans, read_numbers
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
        usual, fill = self._usual(column), self._fill(column.present)
        if self.bins is not None:
            return NumbersEncoding(*usual, fill, self.bins.inner_borders(column.present))
        if self.scale is None:
            return NumbersEncoding(*usual, fill)
        filled = np.where(column.missing, fill, column.values)
        if type(self.scale) is ColumnScaler:
            return NumbersEncoding(*usual, fill, None, self.scale.of_numbers(filled))
        return _TransformedNumbers(*usual, fill, None, None, clone(self.scale).fit(filled[:, None]))

    def _fill(self, present: FloatArray) -> float:
        if self.missing == "mean":
            unit = float(np.abs(present).max()) or 1.0
            return float(np.mean(present / unit) * unit)  # a sum of huge numbers would overflow
        if self.missing == "median":
            return float(2 * np.median(present / 2))
        return 0.0 if self.missing == "refuse" else float(self.missing)


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
