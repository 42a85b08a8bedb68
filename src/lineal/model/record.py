"""A model's record: JSON and arrays, written by what the model is made of, and read back with suspicion.

An array belongs to the part of the record that it is named after: the array ``head.W`` to the object under
``head``. Files may come from anywhere, so every value is held against what it must be before anything is made
of it, and what is wrong is named by its place. Keys that nobody asks for have no effect.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.errors import ModelFileError

_LARGEST = 2**63 - 1


@dataclass
class Draft:
    """Arrays that a record is being written with."""

    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)

    def put(self, place: str, name: str, array: NDArray[Any]) -> None:
        """Keeps an array under the part of the record that it belongs to."""
        self.tensors[f"{place}.{name}"] = array

    def put_strings(self, place: str, name: str, strings: Sequence[str]) -> None:
        """Keeps strings as one block of UTF-8 and where each begins."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(string) for string in encoded], out=starts[1:])
        self.put(place, f"{name}.bytes", np.frombuffer(b"".join(encoded), dtype=np.uint8))
        self.put(place, f"{name}.starts", starts)


@dataclass(frozen=True)
class Spec:
    """An object of a record and its arrays, to be read."""

    value: Mapping[str, Any]
    place: str
    tensors: Mapping[str, NDArray[Any]]

    def refuse(self, key: str, needed: str, came: Any) -> NoReturn:
        """Says what is wrong, and where."""
        shown = repr(came) if len(repr(came)) <= 60 else repr(came)[:57] + "..."
        where = f"{self.place}.{key}".removeprefix(".")
        raise ModelFileError(f"the model's record is damaged: {where} must be {needed}, but is {shown}.")

    def _get(self, key: str, needed: str) -> Any:
        if key not in self.value:
            where = f"{self.place}.{key}".removeprefix(".")
            raise ModelFileError(f"the model's record is damaged: {where}, {needed}, is missing.")
        return self.value[key]

    def has(self, key: str) -> bool:
        """Whether there is a value that is not null."""
        return self.value.get(key) is not None

    # ---- values -------------------------------------------------------------------------------

    def text(self, key: str, among: Sequence[str] | None = None) -> str:
        """A string, one of some if they are given."""
        needed = "a string" if among is None else f"one of {', '.join(map(repr, among))}"
        value = self._get(key, needed)
        if not isinstance(value, str) or (among is not None and value not in among):
            self.refuse(key, needed, value)
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        value = self._get(key, "a list of strings")
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(key, "a list of strings", value)
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            self.refuse(key, "true or false", value)
        return value

    def whole(self, key: str, least: int = 0, most: int = _LARGEST) -> int:
        """A whole number in a range."""
        value = self._get(key, needed := f"a whole number from {least} to {most}")
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse(key, needed, value)
        return value

    def number(self, key: str, least: float = -math.inf, *, is_above: bool = False) -> float:
        """A number from, or above, the least."""
        value = self._get(key, needed := f"a number {'above' if is_above else 'from'} {least}")
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not (value > least if is_above else value >= least):
            self.refuse(key, needed, value)
        return float(value)

    def child(self, key: str) -> Spec:
        """An object inside."""
        value = self._get(key, "an object")
        if not isinstance(value, dict):
            self.refuse(key, "an object", value)
        return Spec(value, f"{self.place}.{key}".removeprefix("."), self.tensors)

    def children(self, key: str) -> list[Spec]:
        """A list of objects inside."""
        value = self._get(key, "a list of objects")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.refuse(key, "a list of objects", value)
        place = f"{self.place}.{key}".removeprefix(".")
        return [Spec(item, f"{place}.{k}", self.tensors) for k, item in enumerate(value)]

    # ---- arrays -------------------------------------------------------------------------------

    def has_tensor(self, name: str) -> bool:
        """Whether there is such an array."""
        return f"{self.place}.{name}" in self.tensors

    def tensor(self, name: str, dtypes: Sequence[Any], shape: Sequence[int | None]) -> NDArray[Any]:
        """An array of one of some types; None in its shape is any length."""
        where = f"{self.place}.{name}"
        needed = (
            f"an array of {' or '.join(np.dtype(dtype).name for dtype in dtypes)} of shape "
            f"({', '.join('any' if side is None else str(side) for side in shape)})"
        )
        if where not in self.tensors:
            raise ModelFileError(f"the model's record is damaged: {where}, {needed}, is missing.")
        array = self.tensors[where]
        fits = array.ndim == len(shape) and all(
            wanted is None or side == wanted for side, wanted in zip(array.shape, shape, strict=True)
        )
        if array.dtype not in [np.dtype(dtype) for dtype in dtypes] or not fits:
            self.refuse(name, needed, f"{array.dtype} of shape {array.shape}")
        return array

    def block(self, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Strings as bytes and starts, which rise and end with the bytes."""
        data = self.tensor(f"{name}.bytes", (np.uint8,), (None,))
        starts = self.tensor(f"{name}.starts", (np.int64,), (None,))
        if not len(starts) or starts[0] != 0 or starts[-1] != len(data) or (np.diff(starts) < 0).any():
            self.refuse(f"{name}.starts", f"places that rise from 0 to {len(data)}", "something else")
        return data, starts

    def strings(self, name: str) -> list[str]:
        """Strings that ``put_strings`` kept."""
        data, starts = self.block(name)
        try:
            return _core.strings(data, starts)
        except ValueError as flaw:
            self.refuse(name, "strings in UTF-8", str(flaw))
