"""Rows become a frame: texts are looked at and forgotten, other columns are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lineal.data.corpus import LABEL_NAMES, TEXT_NAMES
from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.contents import Contents
from lineal.data.doctor.frame import Column, Frame, TextsBuilder
from lineal.data.doctor.lines import Rows
from lineal.data.doctor.spellings import DATE_NAMES, shape
from lineal.data.prose import is_prose
from lineal.errors import ParameterError

_MORE_LABEL_NAMES = (*LABEL_NAMES, "sentiment", "outcome", "is_spam", "spam")
_WORDS_OF_TITLES, _MOST = 1.5, 0.5
_SAMPLE = 2000


class Gatherer:
    """Collects the rows of one file.

    Parameters
    ----------
    label, text, drop : what was asked of the columns; label and texts are guessed from the first rows if not
    found : Collector
    """

    def __init__(
        self,
        label: str | None,
        text: Sequence[str],
        drop: Sequence[str],
        found: Collector,
        *,
        is_test: bool = False,
    ) -> None:
        # Parquet has no lines, and the letters of folders are looked at file by file.
        self.has_lines = True
        self.looks_at_letters = True
        self._is_test = is_test
        self.label = label
        self._asked_text = tuple(text)
        self._drop = frozenset(drop)
        self._found = found
        self.names: list[str] = []
        self.texts: dict[str, TextsBuilder] = {}
        self._contents: dict[str, Contents] = {}
        self._values: dict[str, list[Any]] = {}
        self._lines: list[Any] = []
        self._ends: list[Any] = []
        self.n_rows = 0

    @property
    def first_text(self) -> str | None:
        """The column of texts that was asked for."""
        return next(iter(self._asked_text), None)

    def add(self, rows: Rows) -> None:
        """More rows."""
        n = len(rows.lines)
        if n == 0 and self.names:
            return
        if not self.names:
            self._settle(rows)
        for name, values in rows.columns.items():
            if name in self._drop:
                continue
            if name not in self.names:
                self._appear(name)
            if name in self.texts:
                texts = [value if value is None or isinstance(value, str) else str(value) for value in values]
                self.texts[name].add(texts)
                if name in self._contents:
                    self._contents[name].add(texts, rows.lines if self.has_lines else None, self.n_rows)
            else:
                self._values[name].append(_typed(values))
        self._lines.append(np.asarray(rows.lines, dtype=np.int64))
        self._ends.append(self._lines[-1] if rows.ends is None else np.asarray(rows.ends, dtype=np.int64))
        self.n_rows += n
        # A key that these objects do not have is missing in all of them.
        for name in self.names:
            if name not in rows.columns:
                if name in self.texts:
                    self.texts[name].add([None] * n)
                else:
                    self._values[name].append(pa.nulls(n))

    def _appear(self, name: str) -> None:
        """A key that was not met before: nothing is known of it in the rows so far."""
        self.names.append(name)
        self._values[name] = [pa.nulls(self.n_rows)]

    def _settle(self, rows: Rows) -> None:
        """Which columns are texts, and which is the label."""
        names = [name for name in rows.columns if name not in self._drop]
        asked_for = (*self._asked_text, *([self.label] if self.label is not None else []), *self._drop)
        for asked in asked_for:
            if asked not in rows.columns and not self._is_test:
                shown_names = ", ".join(map(repr, list(rows.columns)[:30]))
                raise ParameterError(f"there is no column {asked!r}. Choose among {shown_names}.")
        samples = {name: _sample(rows.columns[name]) for name in names}
        usual = [name for name in names if name.strip().lower() in TEXT_NAMES and _is_strings(samples[name])]
        others = [name for name in names if name != self.label]
        texts = list(self._asked_text) or [n for n in others if n in usual or _is_prose(samples[n])]
        if not texts and len(others) <= 2:
            # Names to be told apart by their letters, where there is nothing else to learn from.
            texts = [name for name in others if _is_distinct(samples[name])][:1]
        if self.label is None and not self._is_test:
            self.label = _guess_label(names, texts)
            texts = [name for name in texts if name != self.label]
        self.names = names
        for name in names:
            if name in texts:
                self.texts[name] = TextsBuilder(name)
                if self.looks_at_letters:
                    self._contents[name] = Contents(name, self._found)
            else:
                self._values[name] = []

    def frame(self, file: str, format: str, **more: Any) -> Frame:
        """All rows, and what their letters told."""
        columns = {name: Column(name, _joined(parts)) for name, parts in self._values.items()}
        nothing = np.zeros(0, dtype=np.int64)
        lines, ends = (np.concatenate([nothing, *parts]) for parts in (self._lines, self._ends))
        frame = Frame(
            file=file,
            format=format,
            n_rows=self.n_rows,
            columns=columns,
            texts={name: builder.texts() for name, builder in self.texts.items()},
            label=self.label,
            lines=lines if self.has_lines else None,
            ends=ends if self.has_lines else None,
            names=tuple(self.names),
            **more,
        )
        self._close_contents(frame)
        return frame

    def _close_contents(self, frame: Frame) -> None:
        for name, column in frame.columns.items():
            if column.is_string and self.looks_at_letters and column.levels:
                contents = Contents(name, self._found)
                order = np.argsort(column.first_rows, kind="stable")
                rows = column.first_rows[order]
                lines = None if frame.lines is None else frame.lines[rows].tolist()
                contents.add([column.levels[level] for level in order.tolist()], lines, 0)
        for name, contents in self._contents.items():
            n_html, n_rows, places = contents.html()
            if n_html:
                self._found.add(
                    "text-html",
                    column=name,
                    count=n_html,
                    share=percent(n_html / n_rows),
                    text=shown(places[0][2]),
                    examples=[mark for _, _, mark in places],
                    **frame.places([row for row, _, _ in places]),
                )


def _guess_label(names: list[str], texts: list[str]) -> str | None:
    for usual in _MORE_LABEL_NAMES:
        found = [name for name in names if name.strip().lower() == usual]
        if len(found) == 1:
            return found[0]
    rest = [name for name in names if name not in texts]
    return rest[0] if len(rest) == 1 and len(texts) == 1 else None


def _sample(values: Sequence[Any]) -> list[Any]:
    present = [value for value in values[: 4 * _SAMPLE] if value is not None and value != ""]
    return present[:: max(1, len(present) // _SAMPLE)]


def _is_strings(sample: list[Any]) -> bool:
    return all(isinstance(value, str) for value in sample)


def _is_prose(sample: list[Any]) -> bool:
    """Several words a value, and few values twice; fewer words will do if almost all values differ."""
    if not sample or not _is_strings(sample):
        return False
    words = sum(len(value.split()) for value in sample) / len(sample)
    if _is_distinct(sample) and words >= _WORDS_OF_TITLES:
        return not all(shape(value) in DATE_NAMES for value in sample[:20])
    return is_prose(sample)


def _is_distinct(sample: list[Any]) -> bool:
    if len(sample) <= 20 or not _is_strings(sample) or len(set(sample)) <= 0.95 * len(sample):
        return False
    return sum(shape(value) == "other" for value in sample) > _MOST * len(sample)


def _typed(values: list[Any]) -> Any:
    """The values as an Arrow array: of one type if they have one, else as text."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        try:
            return pa.array(values, pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            pass
    if kinds and kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _joined(parts: list[Any]) -> Any:
    """Blocks of a column as one: of the type that all have, numbers if all are, else text."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        kind = pa.float64() if kinds == {pa.int64(), pa.float64()} else pa.string()
        parts = [part.cast(kind) for part in parts]
    elif kinds:
        kind = kinds.pop()
        parts = [part if part.type == kind else pa.nulls(len(part), kind) for part in parts]
    else:
        kind = pa.string()
        parts = [pa.nulls(len(part), kind) for part in parts]
    return pa.chunked_array(parts, kind)


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
