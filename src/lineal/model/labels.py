"""Labels in a model's record: every label comes back with its value and its type.

Arrays of text, whole numbers, numbers, booleans and dates are kept as arrays. Labels of several types are
kept one by one, each with the name of its type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ModelFileError, ParameterError
from lineal.model.record import Draft, Spec

_PLAIN: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
_MOST_ROOM = 1 << 12  # an array of text may have more room than its texts need, but no more than this
_NUMBERS = tuple(
    np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
)
_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")


def put_labels(draft: Draft, place: str, labels: NDArray[Any]) -> dict[str, Any]:
    """Labels, kept; what cannot be is refused by name."""
    kind = labels.dtype.kind
    if labels.dtype in _NUMBERS:
        draft.put(place, "labels", labels)
        return {"kind": "numbers"}
    if kind == "U":
        draft.put_strings(place, "labels", labels.tolist())
        return {"kind": "strings", "width": labels.dtype.itemsize // 4}
    if kind == "M" and np.datetime_data(labels.dtype)[0] in _UNITS and np.datetime_data(labels.dtype)[1] == 1:
        draft.put(place, "labels", labels.view(np.int64))
        return {"kind": "dates", "unit": np.datetime_data(labels.dtype)[0]}
    if kind == "O":
        return {"kind": "mixed", "labels": [_tagged(label) for label in labels]}
    raise ParameterError(
        f"labels of type {labels.dtype} cannot be stored: labels must be text, whole numbers, numbers, "
        f"booleans or "
        "dates. Turn them into text before fitting, for example with np.asarray(y).astype(str)."
    )


def read_labels(spec: Spec) -> NDArray[Any]:
    """Labels that ``put_labels`` kept."""
    kind = spec.text("kind", ("numbers", "strings", "dates", "mixed"))
    if kind == "numbers":
        types = [
            np.dtype(code) for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
        ]
        return _fixed(spec.tensor("labels", types, (None,)).copy())
    if kind == "strings":
        strings = spec.strings("labels")
        longest = max(map(len, strings), default=0)
        width = spec.whole("width", longest, max(longest, _MOST_ROOM))
        return _fixed(np.array(strings, dtype=f"<U{max(width, 1)}"))
    if kind == "dates":
        unit = spec.text("unit", _UNITS)
        return _fixed(spec.tensor("labels", (np.int64,), (None,)).view(f"datetime64[{unit}]").copy())
    given = spec.value.get("labels")
    if not isinstance(given, list):
        spec.refuse("labels", "a list of labels", given)
    read = [_untagged(spec, item) for item in given]
    return _fixed(np.fromiter(read, dtype=object, count=len(read)))


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _tagged(label: Any) -> list[Any]:
    for name, kind in _PLAIN.items():
        if type(label) is kind:
            return [name, _in_json(label)]
    if label is None:
        return ["none", None]
    if isinstance(label, np.generic) and (label.dtype.kind == "U" or label.dtype in _NUMBERS):
        name = "str" if label.dtype.kind == "U" else label.dtype.name
        return [f"numpy.{name}", _in_json(label.item())]
    raise ParameterError(
        f"the label {label!r} is of type {type(label).__name__}, which a model file cannot hold: labels must "
        f"be "
        "text, whole numbers, numbers, booleans or dates. Turn them into text before fitting."
    )


def _in_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return str(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def _untagged(spec: Spec, item: Any) -> Any:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        spec.refuse("labels", "a list of types and values", item)
    name, value = item
    if name == "none":
        return None
    is_numpy = name.startswith("numpy.")
    kind = name.removeprefix("numpy.")
    make = _maker(kind, is_numpy)
    is_json = isinstance(value, (str, int, float)) and (kind != "str" or isinstance(value, str))
    if make is None or not is_json:
        spec.refuse("labels", "a list of types and values", item)
    try:
        return make(value)
    except (ValueError, OverflowError):
        raise ModelFileError(f"the model's record is damaged: {value!r} is no {name}.") from None


def _maker(kind: str, is_numpy: bool) -> Callable[[Any], Any] | None:
    if not is_numpy:
        return _PLAIN.get(kind)
    if kind == "str":
        return np.str_
    known = {dtype.name: dtype for dtype in _NUMBERS}
    return known[kind].type if kind in known else None
