"""Columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lineal.data.columns import Column
from lineal.data.documents import documents as documents_of
from lineal.data.rows import Arrays, empty_rows
from lineal.errors import ModelFileError
from lineal.model.encodings.base import Encoding, put_each, read_each
from lineal.model.features.readers import put_reader, read_reader
from lineal.model.record import Draft, Spec
from lineal.text.reader import TextReader


@dataclass(frozen=True, eq=False)
class TextEncoding(Encoding):
    """The words of texts; a missing text is an empty one."""

    kind: ClassVar[str] = "text"

    reader: TextReader

    @property
    def n_parts(self) -> int:
        return self.reader.n_columns

    @property
    def parts(self) -> tuple[str, ...]:
        self._native  # noqa: B018
        return tuple(f"{self.column}:{word}" for word in self.reader.names())

    def names_of(self, places: Sequence[int]) -> list[str]:
        """The names of some features, without making those of the others."""
        self._native  # noqa: B018
        n = self.n_parts
        words = iter(self.reader.names_of([place for place in places if place < n]))
        return [
            f"{self.column}:{next(words)}" if place < n else f"{self.column} is missing" for place in places
        ]

    @cached_property
    def _native(self) -> Any:
        try:
            return self.reader.columns.native(), self.reader.weights.native
        except (ValueError, OverflowError) as flaw:
            raise ModelFileError(f"the model's vocabulary is damaged: {flaw}. Make the file again.") from None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def read(self, column: Column) -> Column:
        return read_texts(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        if not len(column):
            return empty_rows(0)
        self._native  # noqa: B018
        return self.reader.rows(documents_of(column.values.tolist()), n_threads)

    def made_up(self, turn: int) -> Any:
        n = self.reader.columns.n_columns
        step = max(n // 40, 1)
        names = self.reader.names_of([(turn * step + k * 7 * step) % n for k in range(min(n, 4))])
        return ("", "Ünïcødé 12 ", "")[turn % 3] + " ".join(names)

    def put_own(self, draft: Draft, place: str) -> dict[str, Any]:
        return {"reader": put_reader(draft, f"{place}.reader", self.reader)}

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Encoding]) -> dict[str, Any]:
        return put_each(draft, place, encodings)

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        return read_each(cls, spec, columns)

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Self:
        return cls(column, has_indicator, refuses_missing, read_reader(spec.child("reader")))


def read_texts(column: Column) -> Column:
    """A column of text, whatever its values are."""
    texts = np.empty(len(column), dtype=object)
    texts[:] = [
        "" if gone else value if isinstance(value, str) else str(value)
        for value, gone in zip(column.values.tolist(), column.missing, strict=True)
    ]
    return replace(column, values=texts)
