"""Bags: rows that have one label together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.learners.targets import labels_of_rows, plain_array
from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class Bags:
    """Which rows lie in which bag.

    Attributes
    ----------
    ids : (B,) names of the bags in the order in which they first appear
    bag : (n,) the place of each row's bag in ``ids``
    """

    ids: NDArray[Any]
    bag: NDArray[np.intp]

    @property
    def n_bags(self) -> int:
        """How many bags."""
        return len(self.ids)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """(B,) how many rows each bag has."""
        return np.bincount(self.bag, minlength=self.n_bags)

    def highest(self, z: FloatArray) -> FloatArray:
        """(B,) the highest score in each bag."""
        best = np.full(self.n_bags, -np.inf)
        np.maximum.at(best, self.bag, z)
        return best

    def witnesses(self, z: FloatArray) -> NDArray[np.intp]:
        """(B,) the row with the highest score of each bag; the first of several."""
        order = np.lexsort((np.arange(len(z)), -z, self.bag))
        return order[np.searchsorted(self.bag[order], np.arange(self.n_bags))]


def stacked(X: Any, bags: Any) -> tuple[Any, Any]:
    """Rows below each other and the bag of each, from rows or from a list of bags of rows."""
    if not isinstance(X, (list, tuple)) or not len(X) or not all(_is_table(each) for each in X):
        return X, bags
    if bags is not None:
        raise InputError("X is a list of bags, so it says itself which rows lie in which: leave bags= out.")
    sizes = [each.shape[0] if hasattr(each, "shape") else len(each) for each in X]
    if 0 in sizes:
        raise InputError(f"bag {sizes.index(0)} of X has no rows. Leave empty bags out, and their labels.")
    widths = sorted({np.shape(each)[1] for each in X})
    if len(widths) > 1:
        raise InputError(f"the bags of X must have the same columns, got {widths} columns.")
    is_sparse = any(sp.issparse(each) for each in X)
    rows = sp.vstack([sp.csr_array(each) for each in X], format="csr") if is_sparse else np.vstack(X)
    return rows, np.repeat(np.arange(len(X)), sizes)


def _is_table(each: Any) -> bool:
    if sp.issparse(each):
        return bool(each.ndim == 2)
    if isinstance(each, (str, bytes, Mapping)):
        return False
    try:
        return np.ndim(each) == 2
    except ValueError:  # rows of several lengths
        return False


def read_bags(bags: Any, n_rows: int) -> Bags:
    """The bags of rows; without ids each row is a bag of its own."""
    if bags is None:
        return Bags(np.arange(n_rows), np.arange(n_rows))
    ids = plain_array(bags)
    if ids.ndim != 1 or len(ids) != n_rows:
        raise InputError(
            f"bags must name the bag of each of the {n_rows} rows, got an array of shape {ids.shape}."
        )
    if any(each is None or each != each for each in ids.tolist()):
        raise InputError("bags has rows without a bag (None or NaN). Give each row the name of its bag.")
    places: dict[Any, int] = {}
    bag = np.fromiter((places.setdefault(each, len(places)) for each in ids.tolist()), np.intp, n_rows)
    first = np.array([0, *np.flatnonzero(np.diff(np.maximum.accumulate(bag))) + 1], dtype=np.intp)
    return Bags(ids[first], bag)


def of_bags(values: Any, bags: Bags, name: str) -> NDArray[Any]:
    """(B,) a value of each bag: given by bag, by row, or by a mapping of ids."""
    if isinstance(values, Mapping):
        missing = [each for each in bags.ids.tolist() if each not in values]
        if missing:
            raise InputError(f"{name} has nothing for {len(missing)} bags, the first is {missing[0]!r}.")
        return plain_array([values[each] for each in bags.ids.tolist()])
    array = plain_array(values)
    n_bags, n_rows = bags.n_bags, len(bags.bag)
    if array.ndim >= 1 and len(array) == n_rows != n_bags:
        return _agreed(array, bags, name)
    if array.ndim >= 1 and len(array) != n_bags:
        wanted = f"{n_bags} bags" + (f" or {n_rows} rows" if n_rows != n_bags else "")
        raise InputError(
            f"X and {name} have inconsistent numbers of samples: {len(array)} values for {wanted}."
        )
    return array


def _agreed(array: NDArray[Any], bags: Bags, name: str) -> NDArray[Any]:
    """Values of rows, which must be the same throughout a bag."""
    first = np.searchsorted(np.sort(bags.bag), np.arange(bags.n_bags))
    rows = np.argsort(bags.bag, kind="stable")[first]
    own = array[rows]
    differs = array != own[bags.bag]
    if np.any(differs):
        row = int(np.flatnonzero(differs)[0])
        bag = bags.bag[row]
        raise InputError(
            f"{name} gives the rows of bag {bags.ids.tolist()[bag]!r} two values, {own.tolist()[bag]!r} and "
            f"{array.tolist()[row]!r}. "
            "A bag has one label: with labels of single rows, learn from rows, for instance by LinearSVC."
        )
    return own


def labels_of_bags(y: Any, bags: Bags) -> NDArray[Any]:
    """(B,) labels."""
    return labels_of_rows(of_bags(y, bags, "y"), bags.n_bags)
