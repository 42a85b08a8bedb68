"""Labels of one file in the words of another: 1, 1.0 and "1" are one label, as are true and "True"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import plain_array

_TRUTHS = {"true": True, "false": False, "1": True, "0": False}


def labels_like(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels in the type of known ones, where a file spells them otherwise; as they are, where they differ.

    A file whose labels are 1 and 2 is read as numbers, though the one before it, with 1, 2 and x, had names.
    """
    kind = classes.dtype.kind
    if y.dtype.kind == kind:
        return y
    if kind in "USO":
        return _as_names(y, {str(label) for label in classes.tolist()})
    if kind == "b":
        words = [str(value).strip().lower() for value in y.tolist()]
        is_known = all(word in _TRUTHS for word in words)
        return np.array([_TRUTHS[word] for word in words]) if is_known else y
    if kind not in "iuf" or y.dtype.kind == "b":
        return y
    try:
        numbers = y.astype(np.float64)
    except ValueError:
        return y
    is_whole = kind in "iu" and bool((numbers == np.round(numbers)).all())
    return numbers.astype(np.int64) if is_whole else numbers


def _as_names(y: NDArray[Any], known: set[str]) -> NDArray[Any]:
    """Values that were read as numbers or truth values, as the known names spell them."""
    names = {value: str(value) for value in set(y.tolist())}
    for value, name in names.items():
        if name in known:
            continue
        others = [name.lower(), name.upper()] if y.dtype.kind == "b" else []
        if y.dtype.kind == "f" and float(value).is_integer():
            others = [str(int(value))]
        names[value] = next((other for other in others if other in known), name)
    return plain_array([names[value] for value in y.tolist()])
