"""Joint maps: features of an input and a label together, phi(x, y) -> {name: number}."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.errors import InputError, InputTypeError

JointMap = Callable[[Any, Any], Mapping[Hashable, float]]
LARGEST = float(np.finfo(np.float64).max)


def block_map(x: Any, y: Any) -> dict[Hashable, float]:
    """The map without shared features: each feature of x, once for each label, as ``(name, y)``.

    Parameters
    ----------
    x : mapping or sequence of numbers
        Features by name, or by place.
    y : label

    Examples
    --------
    >>> from lineal.features import block_map
    >>> block_map({"interest": 1, "rate": 2}, "financial")
    {('interest', 'financial'): 1, ('rate', 'financial'): 2}
    >>> block_map([0.5, 2.0], "sports")
    {(0, 'sports'): 0.5, (1, 'sports'): 2.0}
    """
    return {(name, y): value for name, value in (x.items() if isinstance(x, Mapping) else enumerate(x))}


def stacked(
    phi: JointMap,
    xs: Sequence[Any] | NDArray[Any],
    labels: Sequence[Any],
    columns: dict[Hashable, int],
    *,
    is_learning: bool,
    largest: float = LARGEST,
    first_row: int = 0,
    n_known: list[int] | None = None,
) -> sp.csr_array:
    """phi(x, y) for every x and label: row i K + k is that of x i and label k.

    Parameters
    ----------
    columns : dict
        The place of every known feature; new ones are added while learning, else left out.
    largest : float
        The size that no value may exceed.
    first_row : int
        The number of the first x, for messages.
    n_known : list, optional
        Gets the number of known features after each x.

    Raises
    ------
    InputError
        Where phi fails, or gives something else than names with finite numbers; says for which x and label.
    """
    values, indices, ends = array("d"), array("i"), array("q", [0])
    for row, x in enumerate(xs, start=first_row):
        for label in labels:
            for name, value in _features(phi, row, x, label).items():
                column = columns.setdefault(name, len(columns)) if is_learning else columns.get(name)
                if column is None:
                    continue
                try:
                    values.append(value)
                except (TypeError, OverflowError) as error:
                    raise InputTypeError(
                        f"{_call(row, x, label)} gives {_short(value)} for {name!r}: values must be numbers."
                    ) from error
                indices.append(column)
            ends.append(len(indices))
        if n_known is not None:
            n_known.append(len(columns))
    numbers = np.asarray(values)
    is_fine = np.abs(numbers) <= largest
    if not is_fine.all():
        place = int(np.flatnonzero(~is_fine)[0])
        row, k = divmod(int(np.searchsorted(np.asarray(ends), place, side="right")) - 1, len(labels))
        limit = (
            f"between {-largest:g} and {largest:g}: scale them" if np.isfinite(numbers[place]) else "finite"
        )
        raise InputError(
            f"{_call(first_row + row, xs[row], labels[k])} gives {numbers[place]} for "
            f"{list(columns)[indices[place]]!r}: values must be {limit}."
        )
    shape = (len(ends) - 1, max(1, len(columns)))  # what has no column at all is no matrix elsewhere
    matrix = sp.csr_array((numbers, np.asarray(indices), np.asarray(ends)), shape=shape)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _features(phi: JointMap, row: int, x: Any, label: Any) -> Mapping[Hashable, float]:
    try:
        features = phi(x, label)
    except Exception as error:
        raise InputError(f"{_call(row, x, label)} failed with {type(error).__name__}: {error}") from error
    if not isinstance(features, Mapping):
        raise InputTypeError(
            f"{_call(row, x, label)} gives {_short(features)}: it must give a dict from names to numbers, "
            "{} for no features."
        )
    return features


def _call(row: int, x: Any, label: Any) -> str:
    return f"phi(x, y) for row {row}, x = {_short(x)}, and label y = {_short(label)}"


def _short(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."
