"""The voted perceptron's weights: every vector that was ever held, and for how many examples.

What is kept are the changes, not the vectors (Freund and Schapire 1999): the rows at which mistakes were
made, each once, and for every mistake which of them it was. With M mistakes at m different rows that is
m rows of X and 32 M bytes, however many columns there are. A prediction needs the products of x with the m
rows, then M additions a score: every survivor's score is the one before plus one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# Scores of all survivors are held for so many rows at a time.
_CHUNK_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class Changes:
    """Mistakes: the rows at which they were made, and when.

    Attributes
    ----------
    examples : array or CSR array
        (m, d): the rows.
    place : array
        (M,): which of them each mistake was.
    when : array
        (M,): how many examples were met before.
    gained, lost : arrays
        (M,): the numbers of the classes whose weights gained and lost the row.
    """

    examples: Any
    place: NDArray[np.int64]
    when: NDArray[np.int64]
    gained: NDArray[np.int64]
    lost: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        rows: NativeRows,
        codes: NDArray[np.int32],
        log: NDArray[np.int64],
        numbers: NDArray[np.integer[Any]],
    ) -> Changes:
        """From a log (example, row, class predicted); class k has the number ``numbers[k]``."""
        row, place = np.unique(log[:, 1], return_inverse=True)
        X = rows.dense if rows.dense is not None else rows.csr()
        examples = X[row].astype(np.float64)  # the algorithm sums in float64, whatever X is stored in
        gained, lost = (numbers[k].astype(np.int64) for k in (codes[log[:, 1]], log[:, 2]))
        return cls(examples, place.astype(np.int64), log[:, 0].copy(), gained, lost)

    @classmethod
    def joined(cls, parts: Sequence[Changes], width: int) -> Changes:
        """One after another, with so many columns."""
        if not parts:
            none = np.empty(0, dtype=np.int64)
            return cls(np.empty((0, width)), none, none, none, none)
        if len(parts) == 1 and parts[0].examples.shape[1] == width:
            return parts[0]
        before = np.cumsum([0, *(part.examples.shape[0] for part in parts)])
        places = [part.place + first for part, first in zip(parts, before, strict=False)]
        whens, gained, lost = ([getattr(part, n) for part in parts] for n in ("when", "gained", "lost"))
        examples = _one_above_another([part.examples for part in parts], width)
        return cls(examples, *(np.concatenate(each) for each in (places, whens, gained, lost)))


def _one_above_another(blocks: list[Any], width: int) -> Any:
    """Rows of up to so many columns; sparse as soon as one of the blocks is."""
    if not any(sp.issparse(block) for block in blocks):
        return np.vstack([np.pad(block, ((0, 0), (0, width - block.shape[1]))) for block in blocks])
    wide = [sp.csr_array(block) for block in blocks]
    for block in wide:
        block.resize((block.shape[0], width))
    return sp.csr_array(sp.vstack(wide))


@dataclass(frozen=True, eq=False)
class Survivors:
    """The sequence of weights: item j is (coef, intercept) after j mistakes; item 0 is all zeros.

    Attributes
    ----------
    examples : array or CSR array
        (m, d): the rows at which mistakes were made.
    place : array
        (M,): which of them each mistake was.
    gained, lost : arrays
        (M,): the class whose weights gained the row, and the one whose weights lost it.
    counts : array
        (M + 1,): for how many examples each item was held; they add up to the examples met.
    n_classes : int
    has_intercept : bool
    rate : float
    """

    examples: Any
    place: NDArray[np.int64]
    gained: NDArray[np.int64]
    lost: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_classes: int
    has_intercept: bool
    rate: float

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, item: int) -> tuple[FloatArray, FloatArray]:
        n_mistakes = range(len(self))[item]
        signs = self._signs()[:n_mistakes]
        total = np.zeros((self.examples.shape[0], signs.shape[1]))
        np.add.at(total, self.place[:n_mistakes], signs)
        coef = np.asarray(self.examples.T @ total, dtype=np.float64).T
        return coef, signs.sum(axis=0) if self.has_intercept else np.zeros(signs.shape[1])

    def _signs(self) -> FloatArray:
        """(M, 1) or (M, K): the factor of the row in each score's change."""
        if self.n_classes == 2:
            return np.where(self.gained == 1, self.rate, -self.rate)[:, None]
        signs = np.zeros((len(self.place), self.n_classes))
        mistakes = np.arange(len(self.place))
        signs[mistakes, self.gained] += self.rate
        signs[mistakes, self.lost] -= self.rate
        return signs

    def votes(self, rows: NativeRows) -> NDArray[np.int64]:
        """(n, K): for how many of the examples met the weights then held would choose each class."""
        X = rows.dense if rows.dense is not None else rows.csr()
        signs = self._signs()
        votes = np.zeros((rows.n_rows, self.n_classes), dtype=np.int64)
        step = max(1, _CHUNK_NUMBERS // (len(self) * signs.shape[1] + self.examples.shape[0]))
        for first in range(0, rows.n_rows, step):
            chunk = slice(first, first + step)
            products = X[chunk] @ self.examples.T
            products = products.toarray() if sp.issparse(products) else products
            products = np.asarray(products, dtype=np.float64) + float(self.has_intercept)
            votes[chunk] = tallied(products[:, self.place], signs, self.counts, self.n_classes)
        return votes

    @classmethod
    def of(
        cls,
        changes: Changes,
        *,
        seen: int,
        places: NDArray[np.intp],
        has_intercept: bool,
        rate: float,
    ) -> Survivors:
        """After ``seen`` examples; ``places`` is where the class of each number stands."""
        # Weights are counted after each example: a change at example t counts from t on.
        counts = np.diff(np.concatenate([[0], changes.when, [seen]]))
        gained, lost = (places[number].astype(np.int64) for number in (changes.gained, changes.lost))
        n_classes = max(2, len(places))
        return cls(changes.examples, changes.place, gained, lost, counts, n_classes, has_intercept, rate)


def tallied(
    products: FloatArray, signs: FloatArray, counts: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """(n, K): the votes of all survivors, whose scores differ by one product of x with a mistake each.

    Parameters
    ----------
    products : array
        (n, M): of each x with each mistake.
    signs : array
        (M, 1) or (M, K): the mistake's factor in each score.
    counts : array
        (M + 1,): the votes of each survivor; ties between scores are as in the algorithm.
    """
    n, n_mistakes = products.shape
    scores = np.zeros((n, n_mistakes + 1, signs.shape[1]))
    np.cumsum(products[:, :, None] * signs, axis=1, out=scores[:, 1:])
    choices = (scores[:, :, 0] >= 0).astype(np.intp) if signs.shape[1] == 1 else scores.argmax(axis=2)
    return np.stack([(choices == code) @ counts for code in range(n_classes)], axis=1)
