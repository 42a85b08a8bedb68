"""Texts, read by readers that stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.documents import documents as documents_of
from lineal.data.rows import side_by_side
from lineal.errors import InputError, ModelFileError
from lineal.model.answers import FloatArray
from lineal.model.features.base import Context, Features
from lineal.model.features.readers import put_reader, read_reader
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows
from lineal.text.columns import HashedColumns
from lineal.text.reader import TextReader


@dataclass(frozen=True, eq=False)
class TextFeatures(Features):
    """Texts as rows.

    Attributes
    ----------
    readers : how texts are read, in the order of their columns
    missing : "refuse" or "empty": what is done with None and NaN in place of a text
    is_short : whether a list of one text is scored straight from the text, as text learners do
    """

    kind: ClassVar[str] = "texts"

    readers: tuple[TextReader, ...]
    missing: str = "refuse"
    is_short: bool = False

    @cached_property
    def n_columns(self) -> int:
        return sum(reader.n_columns for reader in self.readers)

    @property
    def n_inputs(self) -> int:
        return 1

    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        documents = documents_of(X, missing=self.missing)
        self._natives  # noqa: B018  what is wrong with a file is told as such
        blocks = [(reader.rows(documents, n_threads), reader.n_columns) for reader in self.readers]
        return MatrixRows.of(side_by_side(blocks), self.n_columns, n_threads)

    @cached_property
    def _natives(self) -> list[Any]:
        """The readers' columns and weights in the core, which looks at every place in them first."""
        try:
            return [(reader.columns.native(), reader.weights.native) for reader in self.readers]
        except (ValueError, OverflowError) as flaw:
            raise ModelFileError(f"the model's vocabulary is damaged: {flaw}. Make the file again.") from None

    def names(self) -> list[str]:
        self._natives  # noqa: B018
        return [name for reader in self.readers for name in reader.names()]

    def names_of(self, columns: Sequence[int]) -> list[str]:
        self._natives  # noqa: B018
        found: dict[int, str] = {}
        first = 0
        for reader in self.readers:
            own = [column - first for column in columns if first <= column < first + reader.n_columns]
            names = reader.names_of(own) if own else []
            found.update((column + first, name) for column, name in zip(own, names, strict=True))
            first += reader.n_columns
        return [found[column] for column in columns]

    @property
    def n_collisions(self) -> int | None:
        hashed = [r.columns for r in self.readers if isinstance(r.columns, HashedColumns)]
        return sum(columns.n_collisions for columns in hashed) if hashed else None

    def single(self, x: Any) -> Any:
        if not isinstance(x, str):
            raise InputError(f"One text is explained at a time, but a {type(x).__name__} came.")
        return [x]

    def context(self, x: Any, columns: Sequence[int]) -> Context:
        tokens, places, end = x.split(), [], 0
        for reader in self.readers:
            end += reader.n_columns
            places.append((end, reader.occurrences(tokens)))
        names = self.readers[0].names_in(x) if len(self.readers) == 1 else None
        if names is None:
            names = dict(zip(columns, self.names_of(columns), strict=True))
        return Context(names, places, tokens)

    def scorer(self, W: NDArray[Any], b: FloatArray) -> Any:
        self._natives  # noqa: B018
        parts = [reader.scorer_part() for reader in self.readers]
        if not self.is_short or None in parts:
            return None
        return _core.TextScorer(parts, np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(b))

    def made_up(self, heavy: Sequence[int]) -> list[str]:
        names = [name for name in self.names_of(heavy[:42]) if name.strip()]
        words = " ".join(names[:6])
        texts = ["", words, words.upper(), "Ünïcødé 12 " + words, ", ".join(names[6:12]) + "!"]
        return [*texts, " ".join(names[12:22]), "\n".join(names[22:32]), " ".join(names[32:] + names[:3])]

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "missing": self.missing,
            "is_short": self.is_short,
            "readers": [
                put_reader(draft, f"{place}.readers.{k}", reader) for k, reader in enumerate(self.readers)
            ],
        }

    @classmethod
    def read(cls, spec: Spec) -> TextFeatures:
        """What ``put`` kept."""
        readers = tuple(read_reader(child) for child in spec.children("readers"))
        if not readers or sum(reader.n_columns for reader in readers) >= 2**31:
            spec.refuse("readers", "readers of 1 to 2^31 - 1 columns together", f"{len(readers)} readers")
        return cls(readers, spec.text("missing", ("refuse", "empty")), spec.flag("is_short"))
