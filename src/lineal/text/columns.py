"""Columns and the terms they stand for: learned vocabularies and hashing.

Each knows how to turn documents into rows, and its names; each is plain arrays, so it can be pickled and
stored. What the core makes of the arrays is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.documents import documents as documents_of
from lineal.errors import InputError
from lineal.text.analysis import Analysis
from lineal.text.name_sample import Names, NameSample, named_by

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
Level = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int32]]


@dataclass
class NGramColumns:
    """A learned vocabulary of n-grams of words, or of characters.

    ``bytes`` and ``starts`` spell the words; ``columns`` has each word's own column or -1; ``longer`` holds,
    for n = 2, 3, ..., the n-grams: which one of length n - 1 each continues, with which word, and its column
    or -1.
    """

    bytes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    longer: list[Level]
    n_columns: int
    separator: str
    _native: Any = field(default=None, repr=False, compare=False)

    def rows(
        self,
        documents: _core.Documents,
        analysis: Analysis,
        weighing: _core.Weighing,
        is_double: bool,
        n_threads: int,
    ) -> Arrays:
        return self.native().rows(analysis.tokens(documents, n_threads), weighing, is_double)

    def native(self) -> _core.Vocabulary:
        if self._native is None:
            self._native = _core.Vocabulary(
                self.bytes, self.starts, self.columns, self.longer, self.n_columns
            )
        return self._native

    def names(self) -> list[str]:
        return _core.spell(self.bytes, self.starts, self.columns, self.longer, self.n_columns, self.separator)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns: one look through the arrays, and no name of any other."""
        is_wanted = np.zeros(self.n_columns + 1, dtype=bool)  # the last place is what -1 finds
        is_wanted[list(columns)] = True
        words = np.flatnonzero(is_wanted[self.columns]).tolist()
        found = {int(self.columns[k]): self._word(k) for k in words}
        for n, (_, _, own) in enumerate(self.longer):
            for k in np.flatnonzero(is_wanted[own]).tolist():
                found[int(own[k])] = self.separator.join(self._words(n, k))
        return [found[column] for column in columns]

    def _word(self, number: int) -> str:
        first, last = self.starts[number : number + 2].tolist()
        return self.bytes[first:last].tobytes().decode("utf-8", "surrogatepass")

    def _words(self, level: int, at: int) -> list[str]:
        """The words of an n-gram of a level."""
        words = []
        for prefix, word, _ in reversed(self.longer[: level + 1]):
            words.append(self._word(int(word[at])))
            at = int(prefix[at])
        return [self._word(at), *reversed(words)]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_native": None}

    @classmethod
    def from_names(cls, names: Iterable[str], separator: str, *, is_whole: bool = False) -> NGramColumns:
        """Columns for these n-grams, in this order; ``is_whole``: each is one token as it stands."""
        if is_whole:
            split: list[tuple[str, ...]] = [(name,) for name in names]
        else:
            split = [tuple(name.split(separator)) if separator else tuple(name) for name in names]
        known: dict[tuple[str, ...], int] = {}
        for column, words in enumerate(split):
            if words in known:
                raise InputError(f"The vocabulary names {separator.join(words)!r} twice.")
            known[words] = column
        single = sorted(
            {word for words in split for word in words}, key=lambda w: w.encode("utf-8", "surrogatepass")
        )
        number = {word: k for k, word in enumerate(single)}
        encoded = [word.encode("utf-8", "surrogatepass") for word in single]
        starts = np.concatenate([[0], np.cumsum([len(word) for word in encoded], dtype=np.int64)])
        columns = np.array([known.get((word,), -1) for word in single], dtype=np.int32)
        longer: list[Level] = []
        before: dict[tuple[str, ...], int] = {(word,): k for k, word in enumerate(single)}
        for n in range(2, max(map(len, split), default=1) + 1):
            # Prefixes of longer n-grams are there too, without a column.
            here = {
                words[:n]: k for k, words in enumerate(dict.fromkeys(w[:n] for w in split if len(w) >= n))
            }
            longer.append(
                (
                    np.array([before[words[:-1]] for words in here], dtype=np.uint32),
                    np.array([number[words[-1]] for words in here], dtype=np.uint32),
                    np.array([known.get(words, -1) for words in here], dtype=np.int32),
                )
            )
            before = here
        data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(data, starts.astype(np.int64), columns, longer, len(split), separator)


@dataclass
class GramColumns:
    """A learned vocabulary of character n-grams inside words; ``bytes`` and ``starts`` spell them."""

    bytes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    min_n: int
    max_n: int
    _native: Any = field(default=None, repr=False, compare=False)

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1

    def rows(
        self,
        documents: _core.Documents,
        analysis: Analysis,
        weighing: _core.Weighing,
        is_double: bool,
        n_threads: int,
    ) -> Arrays:
        tokens = analysis.tokens(documents, n_threads)
        return self.native().rows(tokens, self.min_n, self.max_n, weighing, is_double)

    def native(self) -> _core.GramVocabulary:
        if self._native is None:
            self._native = _core.GramVocabulary(self.bytes, self.starts)
        return self._native

    def names(self) -> list[str]:
        return _core.strings(self.bytes, self.starts)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns."""
        bounds = [self.starts[column : column + 2].tolist() for column in columns]
        return [self.bytes[first:last].tobytes().decode("utf-8", "surrogatepass") for first, last in bounds]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_native": None}

    @classmethod
    def from_names(cls, names: Iterable[str], min_n: int, max_n: int) -> GramColumns:
        """Columns for these n-grams, in this order."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in names]
        if len(set(encoded)) < len(encoded):
            raise InputError("The vocabulary names an n-gram twice.")
        starts = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in encoded], out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), starts, min_n, max_n)


@dataclass
class HashedColumns:
    """N-grams hashed to columns; the first n-gram met in a column gives it a name.

    ``sample`` is there where a stream gives the names, by a sample of its texts.
    """

    n_columns: int
    min_n: int
    max_n: int
    unit: str
    is_signed: bool
    is_murmur: bool
    named: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    bytes: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8), repr=False)
    starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64), repr=False)
    is_shared: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8), repr=False)
    sample: NameSample | None = field(default=None, repr=False)

    @property
    def n_collisions(self) -> int:
        """In how many columns two or more n-grams met."""
        return int(self.is_shared.sum())

    @property
    def _inside_words(self) -> bool:
        return self.unit == "spaced"

    def native(self) -> _core.Hashing:
        # N-grams inside words come one by one; the others are made of words or characters.
        min_n, max_n = (1, 1) if self._inside_words else (self.min_n, self.max_n)
        separator = " " if self.unit == "words" else ""
        return _core.Hashing(min_n, max_n, self.n_columns, self.is_murmur, separator)

    def splitting(self, analysis: Analysis) -> _core.Splitting:
        """How the core splits texts."""
        grams = (self.min_n, self.max_n) if self._inside_words else (0, 0)
        return analysis.splitting(grams)

    def rows(
        self,
        documents: _core.Documents,
        analysis: Analysis,
        weighing: _core.Weighing,
        is_double: bool,
        n_threads: int,
    ) -> Arrays:
        if analysis.is_native:
            return self.native().rows(
                documents, self.splitting(analysis), self.is_signed, weighing, is_double, n_threads
            )
        tokens = analysis.tokens(documents, n_threads)
        return self.native().rows_of_tokens(tokens, self.is_signed, weighing, is_double, n_threads)

    def learn_names(self, pieces: Iterable[_core.Documents], analysis: Analysis, n_threads: int) -> None:
        found = _core.HashedNames()
        for documents in pieces:
            if analysis.is_native:
                found.read(self.native(), documents, self.splitting(analysis), n_threads)
            else:
                found.read_tokens(self.native(), analysis.tokens(documents, n_threads), n_threads)
        self.named, self.bytes, self.starts, self.is_shared = found.found()

    def settled(self, analysis: Analysis, n_threads: int) -> HashedColumns:
        """With the names of all texts of the sample, and none that waits."""
        if self.sample is None or not self.sample.waiting:
            return self

        def look(texts: Sequence[str]) -> Names:
            return self._met(documents_of(texts), analysis, n_threads)

        before = Names(self.named, self.bytes, self.starts, self.is_shared, self.sample.counts)
        after = named_by(before, self.sample.waiting, look)
        return replace(
            self,
            named=after.columns,
            bytes=after.bytes,
            starts=after.starts,
            is_shared=after.is_shared,
            sample=replace(self.sample, counts=after.counts, waiting=[], n_waiting=0),
        )

    def _met(self, documents: _core.Documents, analysis: Analysis, n_threads: int) -> Names:
        """What texts call the columns that they meet, and how many texts do so behind the first."""
        hashing, found, occurs = self.native(), _core.HashedNames(), _core.Weighing("occurrence", "none")
        if analysis.is_native:
            splitting = self.splitting(analysis)
            found.read(hashing, documents, splitting, n_threads)
            _, columns, _ = hashing.rows(documents, splitting, False, occurs, False, n_threads)
        else:
            tokens = analysis.tokens(documents, n_threads)
            found.read_tokens(hashing, tokens, n_threads)
            _, columns, _ = hashing.rows_of_tokens(tokens, False, occurs, False, n_threads)
        named, spelling, starts, is_shared = found.found()
        ordered = np.sort(columns)
        places = np.searchsorted(ordered, named)
        n_texts = np.diff(places, append=len(ordered))
        counts = np.clip(n_texts - 1, 0, 255).astype(np.uint8)
        return Names(named, spelling, starts, is_shared, counts)

    def names(self) -> list[str]:
        names = [f"hashed{column}" for column in range(self.n_columns)]
        for column, name in self.known_names().items():
            names[column] = name
        return names

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns."""
        known = self.known_names() if len(self.named) else {}
        return [known.get(column, f"hashed{column}") for column in columns]

    def known_names(self) -> dict[int, str]:
        """The names of the columns that have one; a name that stands for several n-grams says so."""
        spelt = _core.strings(self.bytes, self.starts)
        found = zip(self.named.tolist(), spelt, self.is_shared.tolist(), strict=True)
        return {column: f"{name} (and others)" if is_shared else name for column, name, is_shared in found}
