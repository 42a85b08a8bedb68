"""The rows that checks look at: columns as they were read; of texts hashes, lengths and beginnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lineal import _core
from lineal.data.compression import SUFFIXES as PACKED
from lineal.data.doctor.arrow import floats, null, one_chunk, row_numbers, whole_numbers
from lineal.data.doctor.collector import N_PLACES

Ints = NDArray[np.int64]

_SPACE = b" \t\r\n\v\f"
_LOWER = bytes(range(256)).lower()
# What is kept of a text, to show; and enough of it to tell most texts apart.
_HEAD, _SURE_PREFIX = 80, 40


def fold(text: bytes) -> bytes:
    """The text without space and in small letters: equal for one text that was written in two ways."""
    return text.translate(_LOWER, _SPACE)


def is_string(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


class Column:
    """A column that is no text: its values, their distinct levels, and numbers if it has any.

    Nulls, NaN and blank strings are missing, and have code -1.
    """

    def __init__(self, name: str, values: Any) -> None:
        if isinstance(values, pa.Array):
            values = pa.chunked_array([values])
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        self.name = name
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_string(self) -> bool:
        """Whether the values came as strings, be they numbers or not."""
        return is_string(self.values.type)

    @property
    def is_flat(self) -> bool:
        """Whether the values are single ones: not lists, not structures."""
        return not pa.types.is_nested(self.values.type)

    @cached_property
    def _encoded(self) -> tuple[Ints, list[Any]]:
        return encoded(self.values)

    @property
    def codes(self) -> Ints:
        """(n,) number of each row's level, -1 where the value is missing."""
        return self._encoded[0]

    @property
    def levels(self) -> list[Any]:
        """The distinct values that are not missing."""
        return self._encoded[1]

    @cached_property
    def counts(self) -> Ints:
        """How often each level occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels)).astype(np.int64)

    @cached_property
    def first_rows(self) -> Ints:
        """The row where each level occurs first."""
        found = np.full(len(self.levels), -1, dtype=np.int64)
        rows = np.flatnonzero(self.codes >= 0)[::-1]
        found[self.codes[rows]] = rows
        return found

    def rows_of(self, level: int, limit: int = N_PLACES) -> Ints:
        """The first few rows with a level."""
        return np.flatnonzero(self.codes == level)[:limit]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """(n,) the values as numbers, NaN where missing; None if some are no numbers."""
        if is_number(self.values.type):
            return floats(self.values)
        return _numbers_of_strings(self.values) if self.is_string else None

    def take(self, rows: Any) -> Column:
        """Some of the rows."""
        return Column(self.name, self.values.take(row_numbers(rows)))


def encoded(values: Any) -> tuple[Ints, list[Any]]:
    """Codes and levels of a chunked array."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), null(values.type), values)
    if pa.types.is_decimal(values.type) or pa.types.is_temporal(values.type) or pa.types.is_null(values.type):
        values = values.cast(pa.string())
    coded = one_chunk(values).dictionary_encode()
    codes = whole_numbers(coded.indices, missing=-1)
    levels = coded.dictionary.to_pylist()
    if not is_string(coded.dictionary.type):
        return codes, levels
    blank = [place for place, level in enumerate(levels) if isinstance(level, str) and not level.strip()]
    if blank:
        kept = np.ones(len(levels) + 1, dtype=bool)
        kept[[*blank, -1]] = False
        places = np.where(kept, np.cumsum(kept) - 1, -1)
        codes = places[codes]
        levels = [level for level, keep in zip(levels, kept, strict=False) if keep]
    return codes, levels


def _numbers_of_strings(values: Any) -> NDArray[np.float64] | None:
    trimmed = pc.utf8_trim_whitespace(values)
    is_blank = pc.match_substring_regex(trimmed, "^$")
    trimmed = pc.if_else(is_blank, null(trimmed.type), trimmed)
    first = next((value for value in trimmed[:100].to_pylist() if value is not None), None)
    if first is not None and first[:1].isalpha():
        return None
    try:
        return floats(trimmed.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None


@dataclass(frozen=True)
class Texts:
    """What is kept of a column of texts.

    Attributes
    ----------
    exact, folded : (n,) hashes of the texts and of the folded texts; 0 for texts that are blank or missing
    n_bytes : (n,) lengths
    heads : Arrow array or chunked array of the texts, or of their first bytes
    """

    name: str
    exact: Ints
    folded: Ints
    n_bytes: Ints
    heads: Any

    def head(self, row: int) -> str:
        """The beginning of a text, to show."""
        return str((self.heads[int(row)].as_py() or b"")[:_HEAD].decode("utf-8", "ignore"))


class TextsBuilder:
    """Texts, block by block."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._exact: list[Ints] = []
        self._folded: list[Ints] = []
        self._n_bytes: list[Ints] = []
        self._heads: list[Any] = []

    def add(self, texts: Sequence[str | None]) -> None:
        """More texts, with everything that is asked of them computed at once."""
        raw = [b"" if text is None else text.encode("utf-8", "replace") for text in texts]
        folds = [fold(text) for text in raw]
        self._exact.append(np.array([hash(text) for text in raw], dtype=np.int64))
        self._folded.append(np.array([hash(text) if text else 0 for text in folds], dtype=np.int64))
        self._n_bytes.append(np.array([len(text) for text in raw], dtype=np.int64))
        self._heads.append(pa.array([text[:_HEAD] for text in raw], pa.binary()))

    def texts(self) -> Texts:
        """All of them."""
        if not self._heads:
            self.add([])
        return Texts(
            self.name,
            np.concatenate(self._exact),
            np.concatenate(self._folded),
            np.concatenate(self._n_bytes),
            pa.chunked_array(self._heads, pa.binary()).combine_chunks(),
        )


def quick_texts(columns: Sequence[Any], name: str) -> list[Texts]:
    """The same for columns in memory (of a training and a test table), much quicker.

    Beginnings that occur once belong to texts that occur once, so only the others are folded as a whole. Both
    tables are needed at once, since a beginning may occur once in each.
    """
    raws = [_binary(column) for column in columns]
    heads = [_prefix_hashes(column) for column in columns]
    both = np.concatenate(heads)
    _, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    is_repeated = counts[inverse] > 1
    made, start = [], 0
    for raw, head in zip(raws, heads, strict=True):
        exact, folded = head.copy(), head
        rows = np.flatnonzero(is_repeated[start : start + len(raw)])
        # One by one: taking them at once would first copy all chunks into one.
        whole = [raw[row].as_py() or b"" for row in rows.tolist()]
        exact[rows] = [hash(text) for text in whole]
        folds = [fold(text) for text in whole]
        folded[rows] = [hash(text) if text else 0 for text in folds]
        n_bytes = whole_numbers(pc.binary_length(raw), missing=0)
        made.append(Texts(name, exact, folded, n_bytes, raw))
        start += len(raw)
    return made


def _binary(column: Any) -> Any:
    """The texts as bytes, in the chunks that they lie in: nothing is copied."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary())


def _prefix_hashes(column: Any) -> Ints:
    """Of the first letters of each folded text: equal for texts that are equal when folded; 0 without any."""
    found = _core.ArrowTexts(column, None, True).read()
    return np.zeros(0, dtype=np.int64) if found is None else found.letter_hashes(_SURE_PREFIX)


@dataclass
class Frame:
    """A table with the places of its rows.

    ``lines`` are the lines where rows begin, ``ends`` where they end, ``files`` the files of rows where each
    has its own; lines, files or neither are known.
    """

    file: str
    format: str
    n_rows: int
    columns: dict[str, Column]
    texts: dict[str, Texts]
    label: str | None = None
    lines: Ints | None = None
    ends: Ints | None = None
    files: list[str] | None = None
    has_header: bool = False
    delimiter: str = ","
    header_line: int | None = None
    raw_names: tuple[str, ...] = ()
    names: tuple[str, ...] = field(default=())

    @property
    def is_lines(self) -> bool:
        """Whether every row is a line of a file that commands for lines can work on."""
        if self.lines is None or self.file in ("", "-") or self.file.endswith(tuple(PACKED)):
            return False
        return self.ends is None or bool((self.ends == self.lines).all())

    @property
    def labels(self) -> Column | None:
        """The column of labels."""
        return None if self.label is None else self.columns.get(self.label)

    @property
    def features(self) -> list[Column]:
        """Columns beside the label that are no texts."""
        return [column for name, column in self.columns.items() if name != self.label]

    def places(self, rows: Any) -> dict[str, Any]:
        """Where rows are, as fields of a finding; the first is the one that the sentence is about."""
        rows = [int(row) for row in rows]
        if self.files is not None and rows:
            return {"file": self.files[rows[0]], "rows": rows}
        lines = [] if self.lines is None else [int(self.lines[row]) for row in rows]
        ends = [] if self.ends is None else [int(self.ends[row]) for row in rows]
        return {"file": self.file, "rows": rows, "lines": lines, "ends": ends}

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        if self.files is not None:
            return self.files[int(row)]
        return f"row {int(row)}" if self.lines is None else f"line {int(self.lines[row])}"
