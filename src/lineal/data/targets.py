"""Targets and weights of rows, as they come from outside, as NumPy arrays."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.objective.losses import FloatArray


def plain_array(y: Any) -> NDArray[Any]:
    """Targets as a NumPy array, whatever library they come from."""
    if hasattr(y, "to_pylist"):  # pyarrow, whose own conversion refuses what it would have to copy
        y = y.to_pylist()
    elif hasattr(y, "to_numpy"):
        array = np.asarray(y.to_numpy())
        # A null among whole numbers makes floats of them: 2^53 and 2^53 + 1 would be one label.
        is_whole = str(getattr(y, "dtype", "")).lower().startswith(("int", "uint"))
        return as_objects(list(y)) if array.dtype.kind == "f" and is_whole else array
    try:
        array = np.asarray(y)
    except ValueError:  # labels of several shapes, such as tuples beside text
        return as_objects(y)
    if array.dtype.kind in "US" and isinstance(y, (list, tuple)):
        # NumPy makes text of a number, of None and of NaN beside text.
        if not _is_text(y):
            return as_objects(y)
        if _ends_in_nul(y):  # which NumPy cuts off: "a" and "a\0" would be one
            return as_objects(y) if array.ndim == 1 else np.array(y, dtype=object)
    return array


def _is_text(values: Any) -> bool:
    """Whether a list, or a list of lists, holds one kind of text and nothing else."""
    kinds = {type(each) for each in values}
    if kinds <= {list, tuple}:
        return all(_is_text(each) for each in values)
    return all(issubclass(kind, str) for kind in kinds) or all(issubclass(kind, bytes) for kind in kinds)


def _ends_in_nul(values: Any) -> bool:
    """Whether a list, or a list of lists, holds text that ends in NUL; all of it text of one kind."""
    if not isinstance(values[0], (str, bytes)):
        return any(_ends_in_nul(each) for each in values)
    nul: Any = b"\0" if isinstance(values[0], bytes) else "\0"
    return nul in nul[:0].join(values) and any(each.endswith(nul) for each in values)


def as_objects(values: Any) -> NDArray[Any]:
    """(n,) things as they are."""
    return np.fromiter(values, dtype=object, count=len(values))


def weights_of_rows(sample_weight: Any, n_rows: int) -> FloatArray:
    """(n,) non-negative float64 weights, at least one of them positive."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, numbers.Number):
        given = np.full(n_rows, sample_weight)
    else:
        given = plain_array(sample_weight)
    if given.dtype.kind in "cmM":
        raise InputError(f"sample_weight must be real numbers, got {given.dtype}.")
    try:
        s = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}.") from error
    if s.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got an array of {s.ndim} dimensions.")
    if s.shape != (n_rows,):
        raise InputError(
            f"sample_weight has {s.shape[0]} entries for {n_rows} rows: "
            f"sample_weight.shape == {s.shape}, expected {(n_rows,)}!"
        )
    if not np.isfinite(s).all() or (s < 0).any():
        bad = int(np.flatnonzero(~np.isfinite(s) | (s < 0))[0])
        raise InputError(f"sample_weight must be finite and >= 0, got {s[bad]} at row {bad}.")
    if not s.any():
        raise InputError("every sample_weight is zero, so there is nothing to learn from.")
    return s


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The sorted labels and each row's place; labels that cannot be compared sort by type and text."""
    try:
        if y.dtype.kind == "O":
            _require_order(y.tolist())
        classes = _distinct(y)
        if len(classes) == 2 and y.dtype.kind != "O":  # the usual case needs one comparison a row
            return classes, (y == classes[1]).astype(np.int32)
        codes = np.searchsorted(classes, y)  # much cheaper than the sort behind return_inverse
    except TypeError:
        labels = in_order(y.tolist())
        place = {label: i for i, label in enumerate(labels)}
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        codes = np.array([place[label] for label in y.tolist()])
    return classes, codes.astype(np.int32)


def _distinct(y: NDArray[Any]) -> NDArray[Any]:
    """The sorted labels; whole numbers near each other are ticked off, not looked up."""
    if y.dtype.kind == "i" and y.ndim == 1 and len(y):
        least, most = int(y.min()), int(y.max())
        if most - least < len(y):
            is_there = np.zeros(most - least + 1, dtype=bool)
            is_there[np.subtract(y, least, dtype=np.int64)] = True
            return (np.flatnonzero(is_there) + least).astype(y.dtype)
    return np.unique(y)


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Distinct labels, sorted; those that cannot be compared sort by type and text."""
    distinct = list(dict.fromkeys(labels))
    try:
        _require_order(distinct)
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, _text_of(label)))


def _require_order(labels: Iterable[Any]) -> None:
    if any(isinstance(label, frozenset) for label in labels):
        raise TypeError("< says of sets whether one is part of the other")


def _text_of(label: Any) -> str:
    # Of one set there are as many texts as orders, and another process has another one.
    return repr(sorted(map(repr, label))) if isinstance(label, frozenset) else repr(label)


def labels_as_given(y: Any) -> NDArray[Any]:
    """Labels as they came: a tuple is one label, not a row of two."""
    is_listed = isinstance(y, (list, tuple))
    if is_listed and any(isinstance(label, tuple) for label in y):
        return as_objects(y)
    return plain_array(y)


def first_missing(values: NDArray[Any], *, has_nulls: bool = True) -> int | None:
    """The first place with no value: NaN, NaT, NA and, where there are nulls, None."""
    if values.dtype.kind in "mM":
        is_missing = np.isnat(values)
    elif values.dtype.kind == "f":
        is_missing = np.isnan(values)
    elif values.dtype.kind == "O":
        listed = values.tolist()
        is_missing = np.fromiter(map(_is_missing, listed), bool, len(listed))
        if has_nulls:
            is_missing |= np.fromiter((value is None for value in listed), bool, len(listed))
    else:
        return None
    return int(np.flatnonzero(is_missing)[0]) if is_missing.any() else None


def _is_missing(value: Any) -> bool:
    # Missing values of pandas are equal to nothing, and do not say so with a bool.
    return type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def groups_as_given(groups: Any, n_rows: int) -> NDArray[Any]:
    """(n,) the group of each row, none missing: as they came, or numbered where they are of several types."""
    found = labels_as_given(groups)
    if found.shape != (n_rows,):
        came = f"{len(found)} groups" if found.ndim == 1 else f"an array of shape {found.shape}"
        raise InputError(f"groups must name one group for each row: there are {n_rows} rows, got {came}.")
    if (missing := first_missing(found)) is not None:
        raise InputError(
            f"groups contains NaN or a null, first at row {missing}: nobody knows which rows belong "
            "together. Name the group, or drop those rows."
        )
    if found.dtype.kind == "O" and not all(isinstance(group, str) for group in found):
        return classes_and_codes(found)[1]
    return found
