"""Columns of categories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from lineal.data.columns import Column
from lineal.errors import ParameterError
from lineal.features.kinds.base import Kind, one_of
from lineal.model.encodings.base import Encoding
from lineal.model.encodings.categories import UNSEEN, CategoriesEncoding, read_levels


@dataclass(frozen=True)
class Categories(Kind):
    """A column of categories: a column of zeros and ones for each level, ``name=level``.

    Levels are told apart by their text, so 3, 3.0 and "3" are one level. They are sorted: as numbers if all
    are numbers, else as text.

    Parameters
    ----------
    min_count : int
        Levels with fewer training rows share one column, ``name is rare``.
    max_levels : int, optional
        The most frequent levels that keep a column of their own; the others are rare too.
    unseen : "rare", "zero" or "refuse"
        A level that the training data did not have is rare if there is such a column, else it has no 1
        anywhere; with "zero" it never has one; "refuse" stops with its row.
    missing : "indicate" or "refuse"
        A missing value has no 1 among the levels. If the training data had some, a column ``name is missing``
        is added.
    """

    word: ClassVar[str] = "category"

    min_count: int = 1
    max_levels: int | None = None
    unseen: str = "rare"
    missing: str = "indicate"

    def __post_init__(self) -> None:
        for option, value in (("min_count", self.min_count), ("max_levels", self.max_levels)):
            if value is not None and (not isinstance(value, Integral) or value < 1):
                raise ParameterError(f"{option} must be a whole number >= 1, got {value!r}.")
        one_of("unseen", self.unseen, UNSEEN)
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        return read_levels(column)

    def learn(self, column: Column) -> Encoding:
        counts = Counter(column.present.tolist())
        levels = sorted(level for level in counts if counts[level] >= self.min_count)
        if self.max_levels is not None:  # a stable sort: of equally frequent levels the first stay
            levels = sorted(sorted(levels, key=lambda level: -counts[level])[: self.max_levels])
        rare = frozenset(counts) - set(levels)
        return CategoriesEncoding(*self._usual(column), tuple(_in_order(levels)), rare, self.unseen)


def _in_order(levels: list[str]) -> list[str]:
    """As numbers if all are, else as they are; equal numbers, such as 1 and 1.0 in text, by their text."""
    try:
        sizes = {level: float(level) for level in levels}
    except ValueError:
        return levels
    return (
        sorted(levels, key=lambda level: (sizes[level], level))
        if np.isfinite([*sizes.values()]).all()
        else levels
    )
