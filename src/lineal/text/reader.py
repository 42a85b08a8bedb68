"""How texts are read once everything about it is known: with NumPy and the core alone.

A reader is what a fitted ``TextVectorizer`` transforms with, and what a stored model holds of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.documents import documents as documents_of
from lineal.data.rows import Arrays, from_dense, side_by_side
from lineal.errors import ModelFileError
from lineal.text.analysis import Analysis
from lineal.text.columns import GramColumns, HashedColumns, NGramColumns
from lineal.text.lexicons import LexiconFeatures
from lineal.text.occurrences import Places, occurrences

Columns = NGramColumns | GramColumns | HashedColumns


@dataclass(frozen=True, eq=False)
class Weights:
    """How counts become numbers.

    Attributes
    ----------
    tf : "count", "occurrence", "logarithm" or "bm25"
    norm : "none", "l1" or "l2"
    of_columns : (n_columns,) weights, or None: all are 1
    bm25, mean_length : of BM25
    """

    tf: str
    norm: str
    of_columns: NDArray[np.float64] | None
    bm25: tuple[float, float] = (1.2, 0.75)
    mean_length: float = 1.0

    @cached_property
    def native(self) -> _core.Weighing:
        """The same for the core, which copies the weights."""
        return _core.Weighing(self.tf, self.norm, self.of_columns, *self.bm25, self.mean_length)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "native"}


@dataclass(frozen=True, eq=False)
class TextReader:
    """Texts to rows: terms, then lexicons.

    Attributes
    ----------
    columns : the terms and their columns
    analysis : how a text becomes tokens
    ngrams : shortest and longest n-grams
    weights : how counts become numbers
    is_double : whether numbers are float64, else float32
    lexicons : named collections of words, or None
    """

    columns: Columns
    analysis: Analysis
    ngrams: tuple[int, int]
    weights: Weights
    is_double: bool
    lexicons: LexiconFeatures | None = None

    @property
    def n_columns(self) -> int:
        """Terms and lexicons."""
        return self.columns.n_columns + (len(self.lexicons.words) if self.lexicons is not None else 0)

    def rows(self, documents: _core.Documents, n_threads: int) -> Arrays:
        """(starts, columns, values) of texts; the same bits for any number of threads."""
        terms = self.columns.rows(documents, self.analysis, self.weights.native, self.is_double, n_threads)
        return self.with_lexicons(terms, documents, n_threads)

    def with_lexicons(self, terms: Arrays, documents: _core.Documents, n_threads: int) -> Arrays:
        """Rows of terms with the counts of lexicons behind them, if there are any."""
        if self.lexicons is None:
            return terms
        words = replace(self.analysis.as_split(), unit="words")
        counts = self.lexicons.rows(words.tokens(documents, n_threads))
        block = from_dense(counts.astype(np.float64 if self.is_double else np.float32))
        return side_by_side([(terms, self.columns.n_columns), (block, counts.shape[1])])

    def names(self) -> list[str]:
        """The names of all columns."""
        with _damage_told():
            terms = self.columns.names()
        return terms + (self.lexicons.names() if self.lexicons is not None else [])

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns, without making those of the others."""
        n_terms = self.columns.n_columns
        with _damage_told():
            terms = iter(self.columns.names_of([column for column in columns if column < n_terms]))
        more = self.lexicons.names() if self.lexicons is not None else []
        return [next(terms) if column < n_terms else more[column - n_terms] for column in columns]

    def names_in(self, text: str) -> dict[int, str] | None:
        """What a text calls its columns, where no fit has given them names; else None."""
        columns = self.columns
        if not isinstance(columns, HashedColumns) or self.lexicons is not None:
            return None
        if len(columns.named) and columns.sample is None:
            return None
        fresh = HashedColumns(
            *(columns.n_columns, columns.min_n, columns.max_n, columns.unit),
            is_signed=columns.is_signed,
            is_murmur=columns.is_murmur,
        )
        fresh.learn_names([documents_of([text])], self.analysis, 1)
        return fresh.known_names()

    def occurrences(self, pieces: list[str]) -> Places:
        """Of each term the pieces of a text (between white space, by number) that its occurrences touch."""
        return occurrences(pieces, self.analysis, self.ngrams)

    def scorer_part(self) -> tuple[Any, ...] | None:
        """What ``_core.TextScorer`` needs to read one text as ``rows`` does; None where it cannot."""
        if not self.analysis.is_native or self.lexicons is not None:
            return None
        grams = self.ngrams if self.analysis.unit == "spaced" else (0, 0)
        splitting = self.analysis.splitting((int(grams[0]), int(grams[1])))
        is_signed = isinstance(self.columns, HashedColumns) and self.columns.is_signed
        return self.columns.native(), is_signed, splitting, self.weights.native, self.is_double


@contextmanager
def _damage_told() -> Iterator[None]:
    """A vocabulary that was fitted spells all its columns; one out of a damaged file may not."""
    try:
        yield
    except (KeyError, IndexError, UnicodeDecodeError):
        raise ModelFileError(
            "the vocabulary is damaged: a column has no name, or one that is not UTF-8. Make the file again."
        ) from None
