"""The header of a model file, and other JSON in it, read in bounded time and memory whatever it holds.

A general JSON parser makes a 16 MB header of brackets into a gigabyte of lists before anyone can object. The
header is a much smaller language, an object of ``name: {dtype, shape, data_offsets}`` and of strings, so it
is scanned as that.
"""

from __future__ import annotations

import json
import math
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # there since Python 2.6, untyped
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from lineal.errors import ModelFileError

MAX_HEADER_BYTES = 16_000_000
MAX_TENSORS = 16_384
MAX_STRINGS = 1024
MAX_NAME_CHARACTERS = 256
MAX_DIMENSIONS = 4
MAX_JSON_DEPTH = 64
MAX_JSON_GROUPS = 200_000  # brackets and braces, those in strings too: they are counted, not parsed
MAX_JSON_ITEMS = 2_000_000
METADATA = "__metadata__"

_TYPES: dict[str, DTypeLike] = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
}
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(code) for name, code in _TYPES.items()}

_SPACE = re.compile(r"[ \t\n\r]*")
# Nineteen digits hold every 64-bit offset, and Python's int is quick on them.
_WHOLE = re.compile(r"(?:0|[1-9][0-9]{0,18})(?![0-9.eE])")


class Entry(NamedTuple):
    """An array as the header states it: numbers of one type, in a range of the data."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


def scan_header(header: bytes) -> tuple[dict[str, str], dict[str, Entry]]:
    """The strings and the arrays that a header states.

    The time is linear in the header up to its first flaw, the memory a few times its size.

    Raises
    ------
    ModelFileError
        Anything else than an object of arrays and strings, or too many of them.
    """
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError as flaw:
        raise ModelFileError(f"byte {flaw.start} of its header is not UTF-8.") from None
    if not text.startswith("{"):
        raise ModelFileError("its header does not begin with a brace.")
    scanner = _Scanner(text)
    metadata: dict[str, str] = {}
    entries: dict[str, Entry] = {}
    for key in scanner.members(MAX_TENSORS + 1, "arrays"):
        if key == METADATA:
            for string in scanner.members(MAX_STRINGS, "strings"):
                metadata[string] = scanner.string()
        elif len(entries) == MAX_TENSORS:
            scanner.refuse(f"at most {MAX_TENSORS} arrays")
        else:
            entries[key] = scanner.entry()
    scanner.end()
    return metadata, entries


class _Scanner:
    """A place in a text, which moves on over what was expected there, and refuses anything else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def refuse(self, expected: str) -> NoReturn:
        raise ModelFileError(f"character {self._place} of its header: expected {expected}.")

    def members(self, n_most: int, what: str) -> Any:
        """The keys of an object, one by one; the caller reads each value before it asks for the next."""
        self._take("{")
        seen: set[str] = set()
        if self._took("}"):
            return
        while True:
            key = self.string()
            if len(key) > MAX_NAME_CHARACTERS:
                self.refuse(f"names of at most {MAX_NAME_CHARACTERS} characters")
            if key in seen:
                self.refuse(f"no name twice, but {key[:40]!r} was there before")
            if len(seen) == n_most:
                self.refuse(f"at most {n_most} {what}")
            seen.add(key)
            self._take(":")
            yield key
            if self._took("}"):
                return
            self._take(",")

    def entry(self) -> Entry:
        """The type, the shape and the range of an array, in any order."""
        found: dict[str, Any] = {}
        for key in self.members(3, "properties of an array"):
            if key == "dtype":
                found[key] = self._dtype()
            elif key == "shape":
                found[key] = self._wholes(MAX_DIMENSIONS)
            elif key == "data_offsets":
                found[key] = self._wholes(2)
            else:
                self.refuse("dtype, shape or data_offsets")
        if len(found) < 3 or len(found["data_offsets"]) != 2:
            self.refuse("a dtype, a shape and two data_offsets before here")
        begin, end = found["data_offsets"]
        if begin > end:
            self.refuse(f"a range that does not end ({end}) before it begins ({begin})")
        return Entry(found["dtype"], found["shape"], begin, end)

    def string(self) -> str:
        """A JSON string that could be encoded again."""
        if not self._took('"'):
            self.refuse("a string in double quotes")
        try:
            found, self._place = scanstring(self._text, self._place, True)
            found.encode()
        except ValueError:  # also half of a surrogate pair, which json lets through
            self.refuse("a string that ends and is Unicode")
        return str(found)

    def end(self) -> None:
        """Nothing but spaces may follow, which fill the header up to a multiple of 8 bytes."""
        if self._next() != len(self._text):
            self.refuse("nothing but spaces")

    def _dtype(self) -> np.dtype[Any]:
        name = self.string()
        if name not in DTYPES:
            self.refuse(f"a dtype out of {', '.join(DTYPES)}, not {name[:40]!r}")
        return DTYPES[name]

    def _wholes(self, n_most: int) -> tuple[int, ...]:
        self._take("[")
        numbers: list[int] = []
        if self._took("]"):
            return ()
        while True:
            found = _WHOLE.match(self._text, self._next())
            if found is None:
                self.refuse("a whole number of at most 19 digits, not below 0")
            self._place = found.end()
            if len(numbers) == n_most:
                self.refuse(f"at most {n_most} numbers")
            numbers.append(int(found.group()))
            if self._took("]"):
                return tuple(numbers)
            self._take(",")

    def _next(self) -> int:
        space = _SPACE.match(self._text, self._place)
        self._place = self._place if space is None else space.end()
        return self._place

    def _took(self, sign: str) -> bool:
        is_there = self._text.startswith(sign, self._next())
        self._place += is_there
        return is_there

    def _take(self, sign: str) -> None:
        if not self._took(sign):
            self.refuse(sign)


def parse_json(text: str) -> Any:
    """A JSON text out of a model file, whoever wrote it: of bounded depth and size, finite, no key twice.

    Raises
    ------
    ModelFileError
        It is no such text.

    Examples
    --------
    >>> parse_json('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    _check_amount(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_twins,
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_whole,
        )
    except RecursionError:
        raise ModelFileError("a JSON text of the model is nested too deeply.") from None
    except ModelFileError:
        raise
    except ValueError as flaw:
        raise ModelFileError(f"a JSON text of the model is damaged: {flaw}.") from None
    _check_depth(value)
    return value


def format_json(value: Any) -> str:
    """A JSON text that :func:`parse_json` reads back: the same bytes for the same value.

    Raises
    ------
    ModelFileError
        The value holds NaN, is too deep or too big, or is no JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as flaw:
        raise ModelFileError(f"A model's record cannot be written as JSON: {flaw}.") from None
    _check_amount(text)
    _check_depth(value)
    return text


def _check_amount(text: str) -> None:
    n_groups, n_items = text.count("[") + text.count("{"), text.count(",")
    if n_groups > MAX_JSON_GROUPS or n_items > MAX_JSON_ITEMS:
        raise ModelFileError(
            f"a JSON text of the model has {n_groups} lists and objects and {n_items} commas;"
            f" {MAX_JSON_GROUPS} and {MAX_JSON_ITEMS} are the most."
        )


def _check_depth(value: Any) -> None:
    groups, depth = [value] if isinstance(value, dict | list | tuple) else [], 0
    while groups:
        depth += 1
        if depth > MAX_JSON_DEPTH:
            raise ModelFileError(
                f"a JSON text of the model is nested too deeply; {MAX_JSON_DEPTH} is the most."
            )
        groups = [
            item
            for group in groups
            for item in (group.values() if isinstance(group, dict) else group)
            if isinstance(item, dict | list | tuple)
        ]


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("a JSON text of the model holds one key twice.")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ModelFileError(f"a JSON text of the model holds {text[:40]}, which is no finite number.")
    return number


def _whole(text: str) -> int:
    if len(text) > 20 or abs(int(text)) >= 2**64:
        raise ModelFileError(f"a JSON text of the model holds {text[:40]}, which does not fit 64 bits.")
    return int(text)
