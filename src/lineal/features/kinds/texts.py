"""Columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lineal.data.columns import Column
from lineal.data.rows import Arrays, empty_rows
from lineal.data.threads import thread_count
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.kinds.base import Kind, one_of
from lineal.model.encodings.base import Encoding
from lineal.model.encodings.texts import TextEncoding, read_texts
from lineal.model.record import Draft, Spec
from lineal.protocol import clone, has_fit_parameter
from lineal.text.vectorizer import TextVectorizer


def default_transformer() -> Any:
    """What turns text into features unless another transformer is given; chosen here and nowhere else."""
    return TextVectorizer(dtype=np.float64)  # what a table's numbers are in


@dataclass(frozen=True)
class Text(Kind):
    """A column of text, in the hands of a transformer: ``name:word``.

    Parameters
    ----------
    transformer : anything that fits and transforms a list of str, optional
        By default ``lineal.TextVectorizer``: words and pairs of words, with tf-idf.
    missing : "indicate" or "refuse"
        A missing text is an empty one. If the training data had some, a column ``name is missing`` is added.
    """

    word: ClassVar[str] = "text"

    transformer: Any = None
    missing: str = "indicate"

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        return read_texts(column)

    def __call__(self, column: Column, y: Any = None) -> Encoding | None:
        """Learns from a column, and from labels where the transformer weighs words by them."""
        column = self.checked(column)
        return None if column.missing.all() else self.learn(column, y)

    def learn_many(self, columns: Sequence[Column], y: Any = None) -> Sequence[Encoding | None]:
        return [self(column, y) for column in columns]

    def learn(self, column: Column, y: Any = None) -> Encoding:
        transformer = (
            default_transformer() if self.transformer is None else clone(self.transformer, safe=False)
        )
        try:
            if y is not None and has_fit_parameter(transformer, "y"):
                transformer.fit(column.values.tolist(), y)
            else:
                transformer.fit(column.values.tolist())
        except ValueError as error:
            reason = str(error).removesuffix(".")
            raise InputError(
                f"column {column.name!r}, taken as text, could not be learned from: {reason}. "
                "Give it another kind or another transformer."
            ) from error
        usual = self._usual(column)
        if type(transformer) is TextVectorizer and not transformer.functions:
            return _Words(*usual, transformer.reader(), transformer)
        return _TransformedText(*usual, transformer)


@dataclass(frozen=True, eq=False)
class _Words(TextEncoding):
    """Texts as a vectoriser reads them; the vectoriser is kept for those who ask for it."""

    transformer: TextVectorizer

    def block(self, column: Column, n_threads: int) -> Arrays:
        return super().block(column, thread_count(self.transformer.n_threads))


def restored_words(encoding: TextEncoding, transformer: TextVectorizer) -> TextEncoding:
    """An encoding that was stored, with the vectoriser that made it."""
    usual = (encoding.column, encoding.has_indicator, encoding.refuses_missing)
    return _Words(*usual, encoding.reader, transformer)


@dataclass(frozen=True, eq=False)
class _TransformedText(Encoding):
    """Texts in the hands of a transformer, of which nothing is known but that it transforms."""

    kind: ClassVar[str] = "transformed"

    transformer: Any

    @cached_property
    def parts(self) -> tuple[str, ...]:
        if hasattr(self.transformer, "get_feature_names_out"):
            words = self.transformer.get_feature_names_out()
        else:
            words = range(self.transformer.transform([""]).shape[1])
        return tuple(f"{self.column}:{word}" for word in words)

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    def read(self, column: Column) -> Column:
        return read_texts(column)

    def block(self, column: Column, n_threads: int) -> Arrays:
        if not len(column):
            return empty_rows(0)
        made = sp.csr_array(self.transformer.transform(column.values.tolist()))
        made.sort_indices()
        return made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data

    def made_up(self, turn: int) -> Any:
        raise NotImplementedError

    @classmethod
    def put_many(cls, draft: Draft, place: str, encodings: Sequence[Any]) -> dict[str, Any]:
        own = next(own for own in encodings if isinstance(own, cls))
        raise ParameterError(
            f"the texts of column {own.column!r} are read by {type(own.transformer).__name__}, which a "
            f"model "
            "file does not hold. A TextVectorizer without functions can be stored; keep others with pickle."
        )

    @classmethod
    def read_many(cls, spec: Spec, columns: Sequence[str]) -> Sequence[Encoding]:
        raise NotImplementedError

    @classmethod
    def read_own(cls, spec: Spec, column: str, has_indicator: bool, refuses_missing: bool) -> Encoding:
        raise NotImplementedError
