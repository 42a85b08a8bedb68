"""Names for the columns of a stream of hashed texts: those of a sample of the texts, in bounded memory.

Which texts are in the sample depends on their numbers in the stream alone: the first 256, and of every
doubling after them 128, one at random of each block of equal size. Of n texts these are
256 + 128 log2(n / 256), 1,100 of the first 25,000 and 3,100 of a billion.

A sampled text waits until names are asked for, or the waiting ones are too many; then its n-grams give names
to the columns that have none, and it is forgotten. Names are given in the order of the stream, and
whether several texts or one are looked at together does not matter: pieces of any size, any number of
threads, and a stream that was stored in between give the same names.

Where there is no room for another name, those that the sample met in the fewest texts go (Misra and Gries
1982): all counts are lowered by one, and names whose count was 0 are dropped, until a quarter of the room
is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How many names a stream keeps, and how many bytes they have together.
MOST_NAMES = 1 << 18
MOST_BYTES = 1 << 22
# How many characters may wait, and how many are read of one text.
MOST_WAITING = 1 << 22
MOST_OF_A_TEXT = 1 << 16
# Texts that are all in the sample: 2^8.
_ALL_BITS = 8
_GOLDEN, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(20)
_LARGEST_COUNT = 255


def sampled(first: int, end: int) -> list[int]:
    """The numbers from ``first`` to before ``end`` that are in the sample."""
    found: list[int] = []
    while first < end:
        bits = max(first.bit_length() - _ALL_BITS, 0)
        upper = min(end, 1 << (bits + _ALL_BITS))  # blocks have one size up to there
        starts = np.arange(first >> bits, ((upper - 1) >> bits) + 1, dtype=np.uint64) << np.uint64(bits)
        # Fibonacci hashing: every place of a block is as likely, whatever period a stream has.
        chosen = starts + (starts * _GOLDEN >> _SHIFT) % np.uint64(1 << bits)
        found += chosen[(chosen >= first) & (chosen < upper)].tolist()
        first = upper
    return found


def _next_sampled(number: int) -> int:
    """The first number of the sample from this one on: in its block or in the next."""
    size = 1 << max(number.bit_length() - _ALL_BITS, 0)
    return sampled(number, number + 4 * size)[0]


@dataclass(frozen=True, eq=False)
class Names:
    """Names of columns.

    Attributes
    ----------
    columns : (n,) int32
        The columns that have a name, in order.
    bytes, starts : the names
    is_shared : (n,) uint8
        Whether another n-gram was met in the column.
    counts : (n,) uint8
        In how many texts the column was met after the one that named it, less what was lowered; at most 255.
    """

    columns: NDArray[np.int32]
    bytes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    is_shared: NDArray[np.uint8]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.columns)

    def has_room(self, n_names: int, n_bytes: int) -> bool:
        """Whether so many names more, of so many bytes, may come."""
        return len(self) + n_names <= MOST_NAMES and len(self.bytes) + n_bytes <= MOST_BYTES

    def taken(self, places: NDArray[Any]) -> Names:
        """The names at some places, in their order."""
        lengths = np.diff(self.starts)[places]
        starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        at = np.repeat(self.starts[:-1][places] - starts[:-1], lengths) + np.arange(starts[-1])
        return Names(
            self.columns[places], self.bytes[at], starts, self.is_shared[places], self.counts[places]
        )

    def faded(self) -> Names:
        """Without the names that were met least often, so that a quarter of the room is free."""
        left = self
        while 4 * len(left) > 3 * MOST_NAMES or 4 * len(left.bytes) > 3 * MOST_BYTES:
            left = left.taken(np.flatnonzero(left.counts))
            left = replace(left, counts=left.counts - np.uint8(1))
        return left

    def joined(self, met: Names, is_known: NDArray[np.bool_], at: NDArray[np.int64]) -> Names:
        """With what later texts met: ``is_known`` says which columns of it are here, ``at`` where."""
        own = at[is_known]
        is_shared, counts = self.is_shared.copy(), self.counts.astype(np.int64)
        again = met.taken(np.flatnonzero(is_known))
        is_shared[own] |= again.is_shared | _differ(self.taken(own), again)
        counts[own] += again.counts.astype(np.int64) + 1
        new = met.taken(np.flatnonzero(~is_known))
        both = Names(
            np.concatenate([self.columns, new.columns]),
            np.concatenate([self.bytes, new.bytes]),
            np.concatenate([self.starts, self.starts[-1] + new.starts[1:]]),
            np.concatenate([is_shared, new.is_shared]),
            np.concatenate([np.minimum(counts, _LARGEST_COUNT).astype(np.uint8), new.counts]),
        )
        return both.taken(np.argsort(both.columns, kind="stable"))


def _differ(one: Names, other: Names) -> NDArray[np.bool_]:
    """Which of two lists of as many names are spelt differently."""
    differ = np.diff(one.starts) != np.diff(other.starts)
    alike = np.flatnonzero(~differ)
    one, other = one.taken(alike), other.taken(alike)
    at = np.searchsorted(one.starts, np.flatnonzero(one.bytes != other.bytes), side="right") - 1
    differ[alike[at]] = True
    return differ


@dataclass
class NameSample:
    """Where the sample of a stream is.

    Attributes
    ----------
    n_met : int
        How many texts the stream has had.
    counts : (n_names,) uint8
        See :class:`Names`.
    waiting : list of str
        Sampled texts that have given no names yet.
    """

    n_met: int = 0
    counts: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8), repr=False)
    waiting: list[str] = field(default_factory=list, repr=False)
    n_waiting: int = 0
    _next: int = -1

    def copy(self) -> NameSample:
        return replace(self, waiting=list(self.waiting))

    def add(self, text_of: Callable[[int], str], n_texts: int) -> None:
        """The next texts of the stream, of which those in the sample are asked for by number."""
        first, end = self.n_met, self.n_met + n_texts
        self.n_met = end
        if self._next >= end:
            return
        for number in sampled(first, end):
            text = _shortened(text_of(number - first))
            self.waiting.append(text)
            self.n_waiting += len(text)
        self._next = _next_sampled(end)

    @property
    def is_full(self) -> bool:
        """Whether the texts that wait should give their names now."""
        return self.n_waiting >= MOST_WAITING


def named_by(names: Names, texts: Sequence[str], look: Callable[[Sequence[str]], Names]) -> Names:
    """Names, and those that more texts give; ``look`` tells what some texts meet."""
    if not texts:
        return names
    met = look(texts)
    is_known, at = _found(names, met)
    n_bytes = int(np.diff(met.starts)[~is_known].sum())
    if not names.has_room(int(np.count_nonzero(~is_known)), n_bytes):
        if len(texts) > 1:
            half = len(texts) // 2
            return named_by(named_by(names, texts[:half], look), texts[half:], look)
        names = names.faded()
        is_known, at = _found(names, met)
        # In the order of the columns, which is that of chance.
        sizes = np.cumsum(np.where(is_known, 0, np.diff(met.starts)))
        fits = (np.cumsum(~is_known) <= MOST_NAMES - len(names)) & (sizes <= MOST_BYTES - len(names.bytes))
        kept = np.flatnonzero(is_known | fits)
        met, is_known, at = met.taken(kept), is_known[kept], at[kept]
    return names.joined(met, is_known, at)


def _found(names: Names, met: Names) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which columns of ``met`` have names already, and where."""
    at = np.searchsorted(names.columns, met.columns)
    is_known = np.zeros(len(met), dtype=bool)
    is_inside = at < len(names)
    is_known[is_inside] = names.columns[at[is_inside]] == met.columns[is_inside]
    return is_known, at


def _shortened(text: str) -> str:
    """The beginning of a long text, to the end of a word if there is one."""
    if len(text) <= MOST_OF_A_TEXT:
        return text
    head = text[:MOST_OF_A_TEXT]
    words = head.rsplit(None, 1)
    return words[0] if len(words) == 2 else head
