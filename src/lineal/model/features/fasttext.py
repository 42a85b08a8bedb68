"""Texts as fastText reads them: words between white space, hashed n-grams of words, hashed parts of words.

A row is the mean of a text's features, so that weights (input matrix times output matrix) give fastText's
own scores. Words are looked up and hashed in Python, once for each distinct word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from lineal.data.documents import documents as documents_of
from lineal.errors import InputError
from lineal.model.features.base import Context, Features
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows
from lineal.text.occurrences import Places

END = b"</s>"  # of every line, a word like any other
LABEL = b"__label__"
_SPACE = re.compile(rb"[ \t\n\v\f\r\0]+")
MOST_GRAMS = 32  # so that no text takes much longer than others of its length
_MOST_COLUMNS = 2**31 - 1
_MOST_REMEMBERED = 1 << 19
_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class FastTextFeatures(Features):
    """Texts as rows of shares.

    Attributes
    ----------
    words : the words of the vocabulary, as bytes, in the order of their columns
    labels : words that stand for labels, and are left out of texts
    n_buckets : columns behind those of the words, which n-grams are hashed to
    word_ngrams : longest n-grams of words
    parts : shortest and longest parts of words, in characters; none if the longest is 0
    """

    kind: ClassVar[str] = "texts"
    stored_kind: ClassVar[str] = "fasttext"

    words: tuple[bytes, ...]
    labels: frozenset[bytes]
    n_buckets: int
    word_ngrams: int = 1
    parts: tuple[int, int] = (0, 0)
    _memory: dict[bytes, tuple[list[int], int] | None] = field(default_factory=dict, repr=False)

    @property
    def n_columns(self) -> int:
        return len(self.words) + self.n_buckets

    @property
    def n_inputs(self) -> int:
        return 1

    @cached_property
    def _columns(self) -> dict[bytes, int]:
        return {word: column for column, word in enumerate(self.words)}

    # ---- reading ------------------------------------------------------------------------------

    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        documents = documents_of(X)
        starts, columns, values = [0], [], []
        for row in range(len(documents)):
            found = self.features(documents[row].encode("utf-8", "surrogatepass"))
            own, counts = np.unique(np.array(found, dtype=np.int64), return_counts=True)
            columns.append(own)
            values.append(counts / max(len(found), 1))
            starts.append(starts[-1] + len(own))
        none = [np.empty(0)]
        arrays = (
            np.array(starts, dtype=np.int64),
            np.concatenate(columns or none).astype(np.int32),
            np.concatenate(values or none),
        )
        return MatrixRows.of(arrays, self.n_columns, n_threads)

    def features(self, text: bytes) -> list[int]:
        """The columns of a text, one for each time it is met."""
        found: list[int] = []
        hashes: list[int] = []
        for word in self._tokens(text):
            known = self._remembered(word)
            if known is not None:
                found += known[0]
                hashes.append(known[1])
        if self.word_ngrams > 1 and self.n_buckets:
            found += (bucket + len(self.words) for bucket, _ in self._ngrams(hashes))
        return found

    def _tokens(self, text: bytes) -> list[bytes]:
        tokens = [*filter(None, _SPACE.split(text)), END]
        return tokens[: tokens.index(END) + 1]  # a text that spells the end of a line ends there

    def _remembered(self, word: bytes) -> tuple[list[int], int] | None:
        """The columns and the hash of a word; None for a label."""
        if word not in self._memory:
            if len(self._memory) >= _MOST_REMEMBERED:
                self._memory.clear()
            self._memory[word] = self._looked_up(word)
        return self._memory[word]

    def _looked_up(self, word: bytes) -> tuple[list[int], int] | None:
        column = self._columns.get(word)
        if column is None and (word in self.labels or word.startswith(LABEL)):
            return None
        own = [] if column is None else [column]
        if word != END:
            own += [bucket + len(self.words) for bucket, _ in self._parts(word)]
        return own, signed_hash(word)

    def _parts(self, word: bytes) -> Iterator[tuple[int, bytes]]:
        """Buckets of the parts of a word between signs for its ends, and the parts."""
        least, most = self.parts
        if not most or not self.n_buckets:
            return
        whole = b"<" + word + b">"
        # UTF-8 is split between characters: bytes 10xxxxxx go on with the one before.
        edges = [k for k in range(len(whole)) if whole[k] & 0xC0 != 0x80] + [len(whole)]
        for first in range(len(edges) - 1):
            for n in range(max(least, 1), min(most, len(edges) - 1 - first) + 1):
                if n == 1 and (first == 0 or first == len(edges) - 2):
                    continue
                part = whole[edges[first] : edges[first + n]]
                yield fnv(part) % self.n_buckets, part

    def _ngrams(self, hashes: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
        """Buckets of n-grams of two words or more, and where they begin and end."""
        for first in range(len(hashes)):
            h = hashes[first]
            for last in range(first + 1, min(len(hashes), first + self.word_ngrams)):
                h = (h * 116049371 + hashes[last]) & _MASK
                yield h % self.n_buckets, (first, last + 1)

    # ---- names --------------------------------------------------------------------------------

    def names(self) -> list[str]:
        return self.names_of(range(self.n_columns))

    def names_of(self, columns: Sequence[int]) -> list[str]:
        n = len(self.words)
        return [_text(self.words[j]) if j < n else f"hashed{j - n}" for j in columns]

    def single(self, x: Any) -> Any:
        if not isinstance(x, str):
            raise InputError(f"One text is explained at a time, but a {type(x).__name__} came.")
        return [x]

    def context(self, x: Any, columns: Sequence[int]) -> Context:
        """What a text calls its columns, hashed ones included, and which of its words they touch."""
        tokens = self._tokens(x.encode("utf-8", "surrogatepass"))
        names: dict[int, str] = {}
        places: Places = {}

        def touch(column: int, name: str, where: tuple[int, ...]) -> None:
            places.setdefault(names.setdefault(column, name), []).append(where)

        homes, hashes, n = [], [], len(self.words)
        for place, word in enumerate(tokens):
            known = self._remembered(word)
            if known is None:
                continue
            homes.append(place)
            hashes.append(known[1])
            if word in self._columns:
                touch(self._columns[word], _text(word), (place,))
            if word != END:
                for bucket, part in self._parts(word):
                    touch(bucket + n, _text(part), (place,))
        if self.word_ngrams > 1 and self.n_buckets:
            for bucket, (first, last) in self._ngrams(hashes):
                where = tuple(homes[first:last])
                touch(bucket + n, " ".join(_text(tokens[k]) for k in where), where)
        return Context(names, [(self.n_columns, places)], [_text(word) for word in tokens])

    # ---- record -------------------------------------------------------------------------------

    def made_up(self, heavy: Sequence[int]) -> list[str]:
        near = [column for column in heavy if column < len(self.words)]
        names = [name for name in self.names_of([*near, *range(min(40, len(self.words)))]) if name][:42]
        words = " ".join(names[:6])
        texts = ["", words, words.upper(), "Ünïcødé 12 " + words, ", ".join(names[6:12]) + "!"]
        return [*texts, " ".join(names[12:22]), "\n".join(names[22:32]), " ".join(names[32:] + names[:3])]

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        for name, strings in (("words", self.words), ("labels", sorted(self.labels))):
            starts = np.zeros(len(strings) + 1, dtype=np.int64)
            np.cumsum([len(string) for string in strings], out=starts[1:])
            draft.put(place, f"{name}.bytes", np.frombuffer(b"".join(strings), dtype=np.uint8))
            draft.put(place, f"{name}.starts", starts)
        return {
            "kind": self.stored_kind,
            "n_buckets": self.n_buckets,
            "word_ngrams": self.word_ngrams,
            "parts": list(self.parts),
        }

    @classmethod
    def read(cls, spec: Spec) -> FastTextFeatures:
        """What ``put`` kept."""
        words, labels = (_strings(spec, name) for name in ("words", "labels"))
        n_buckets = spec.whole("n_buckets", 0, _MOST_COLUMNS - len(words))
        parts = spec.value.get("parts")
        is_pair = isinstance(parts, list) and len(parts) == 2 and all(type(n) is int for n in parts)
        if not is_pair or not all(0 <= n <= MOST_GRAMS for n in parts):  # type: ignore[union-attr]
            spec.refuse("parts", f"two whole numbers from 0 to {MOST_GRAMS}, shortest and longest", parts)
        if len(words) + n_buckets < 1:
            spec.refuse("words", "a word at least", "none")
        least, most = parts  # type: ignore[misc]
        longest = spec.whole("word_ngrams", 1, MOST_GRAMS)
        return cls(words, frozenset(labels), n_buckets, longest, (least, most))


def _strings(spec: Spec, name: str) -> tuple[bytes, ...]:
    data, starts = spec.block(name)
    whole, places = data.tobytes(), starts.tolist()
    return tuple(whole[a:b] for a, b in pairwise(places))


def fnv(word: bytes) -> int:
    """FNV-1a in 32 bits, with bytes above 127 taken as signed, as fastText takes them."""
    h = 2166136261
    for byte in word:
        h = ((h ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return h


def signed_hash(word: bytes) -> int:
    """The hash as fastText continues it: a signed number of 32 bits, as one of 64."""
    h = fnv(word)
    return h if h < 1 << 31 else h | 0xFFFFFFFF00000000


def _text(word: bytes) -> str:
    return word.decode("utf-8", "replace")
