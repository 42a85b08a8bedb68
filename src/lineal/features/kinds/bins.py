"""Where numbers are cut into bins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Bins(ABC):
    """A number becomes a 1 in the column of its bin; the two end bins go on beyond the training range."""

    n_bins: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.n_bins, (int, np.integer)) or self.n_bins < 2:
            raise ParameterError(f"n_bins must be a whole number >= 2, got {self.n_bins!r}.")

    @abstractmethod
    def borders(self, values: FloatArray) -> FloatArray:
        """From the least value to the greatest, not yet without repetitions."""

    def inner_borders(self, rows: FloatArray) -> list[FloatArray]:
        """Between the bins of each row, increasing; a border belongs to the bin above it."""
        return [np.unique(self.borders(row))[1:-1] for row in rows]


@dataclass(frozen=True)
class Quantiles(Bins):
    """Bins with about equally many training values each; borders that fall together are one."""

    def borders(self, values: FloatArray) -> FloatArray:
        # Halved, because the distance of huge numbers of both signs would overflow.
        return 2 * np.quantile(values / 2, np.linspace(0, 1, self.n_bins + 1), axis=-1)

    def inner_borders(self, rows: FloatArray) -> list[FloatArray]:
        """The same, of all rows at once."""
        borders = np.sort(self.borders(rows).T, axis=1)
        is_new = np.ones(borders.shape, dtype=bool)
        is_new[:, 1:] = borders[:, 1:] != borders[:, :-1]
        return [own[new][1:-1] for own, new in zip(borders, is_new, strict=True)]


@dataclass(frozen=True)
class EqualWidths(Bins):
    """Bins of one width between the least and the greatest training value."""

    def borders(self, values: FloatArray) -> FloatArray:
        return 2 * np.linspace(values.min() / 2, values.max() / 2, self.n_bins + 1)


@dataclass(frozen=True)
class EachValue(Bins):
    """A bin for each training value, halfway to its neighbours; of more than ``n_bins`` values quantiles."""

    n_bins: int = 20

    def borders(self, values: FloatArray) -> FloatArray:
        distinct = np.unique(values)
        if len(distinct) > self.n_bins:
            return Quantiles(self.n_bins).borders(values)
        return np.concatenate([distinct[:1], distinct[:-1] / 2 + distinct[1:] / 2, distinct[-1:]])
