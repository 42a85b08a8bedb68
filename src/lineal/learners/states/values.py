"""Plain values in a record: numbers, text, arrays, labels, and lists and dicts of them; nothing else."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.model.labels import put_labels, read_labels
from lineal.model.record import Draft, Spec
from lineal.objective.certificate import Certificate, Stop

_MOST_SPREAD = 1 << 27
_NUMBERS = tuple(np.dtype(c) for c in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))


class NotPlainError(Exception):
    """A value that is not kept."""


def put_values(draft: Draft, place: str, values: dict[str, Any]) -> dict[str, Any]:
    """Those of some named values that are plain; the others are left out."""
    kept = {}
    for name, value in values.items():
        try:
            kept[name] = put_value(draft, f"{place}.{name}", value)
        except NotPlainError:
            continue
    return kept


def put_value(draft: Draft, place: str, value: Any) -> Any:
    """A value as JSON, its arrays kept beside."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return _put_array(draft, place, value)
    if isinstance(value, Certificate):
        return {"certificate": {name: put_value(draft, place, item) for name, item in asdict(value).items()}}
    if isinstance(value, (list, tuple)):
        items = [put_value(draft, f"{place}.{k}", item) for k, item in enumerate(value)]
        return {"list": items, "is_tuple": isinstance(value, tuple)}
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: put_value(draft, f"{place}.{name}", item) for name, item in value.items()}}
    raise NotPlainError


def _put_array(draft: Draft, place: str, array: NDArray[Any]) -> dict[str, Any]:
    if array.dtype in _NUMBERS and array.ndim <= 4:
        draft.put(place, "array", np.array(array, order="C"))
        return {"array": True}
    if array.ndim != 1:
        raise NotPlainError
    try:
        return {"labels": put_labels(draft, f"{place}.labels", array)}
    except ParameterError:
        raise NotPlainError from None


def read_values(spec: Spec) -> dict[str, Any]:
    """Values that ``put_values`` kept."""
    return {name: read_value(spec, name) for name in spec.value}


def read_value(spec: Spec, name: str) -> Any:
    """A value that ``put_value`` kept under a name; arrays are copied, so that they can be written to."""
    value = spec.value[name]
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    own = spec.child(name)
    if "float" in own.value:
        return float(own.text("float", ("inf", "-inf", "nan")))
    if "array" in own.value:
        return np.array(own.tensor("array", _NUMBERS, (None,) * own.tensors[f"{own.place}.array"].ndim))
    if "labels" in own.value:
        return np.array(read_labels(own.child("labels")))
    if "certificate" in own.value:
        found = read_values(own.child("certificate"))
        if found.get("stop") is not None:
            own.child("certificate").text("stop", tuple(Stop))
        # Files of earlier versions have no stop.
        names = {field.name for field in fields(Certificate)} - ({"stop"} - found.keys())
        return Certificate.of_record({name: found[name] for name in names})
    if "list" in own.value:
        items = own.value["list"]
        if not isinstance(items, list):
            own.refuse("list", "a list", items)
        inner = Spec({str(k): item for k, item in enumerate(items)}, own.place, own.tensors)
        read = [read_value(inner, str(k)) for k in range(len(items))]
        return tuple(read) if own.flag("is_tuple") else read
    return read_values(Spec(own.child("dict").value, own.place, own.tensors))


def put_rows(draft: Draft, place: str, name: str, array: NDArray[Any]) -> None:
    """A long table, most of whose rows may be 0: then the others and their places are kept."""
    rows = np.flatnonzero(array.any(axis=1)) if array.size <= _MOST_SPREAD else np.arange(len(array))
    if len(rows) * 4 < len(array):
        draft.put(place, f"{name}.places", rows.astype(np.int64))
        array = array[rows]
    draft.put(place, name, np.array(array, order="C"))


def read_rows(spec: Spec, name: str, n_rows: int) -> NDArray[np.float64]:
    """A table that ``put_rows`` kept, to be written to."""
    if not spec.has_tensor(f"{name}.places"):
        return np.array(spec.tensor(name, (np.float64,), (n_rows, None)))
    stored = spec.tensor(name, (np.float64,), (None, None))
    places = spec.tensor(f"{name}.places", (np.int64,), (len(stored),))
    is_sound = not len(places) or (
        places[0] >= 0 and places[-1] < n_rows and bool((np.diff(places) > 0).all())
    )
    if not is_sound or n_rows * stored.shape[1] > _MOST_SPREAD:
        spec.refuse(f"{name}.places", f"rows that rise from 0 to {n_rows - 1} at most", "others")
    spread = np.zeros((n_rows, stored.shape[1]))
    spread[places] = stored
    return spread
