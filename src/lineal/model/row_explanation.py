"""Why a row of a table got its score: the exact share of every feature, and of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.model.explanation import Explanation, Term, shown
from lineal.text.occurrences import Places


@dataclass(frozen=True)
class RowExplanation(Explanation):
    """A score of a row taken apart: ``intercept`` + the contributions of all ``terms`` = ``score``, exactly.

    ``columns`` sums the same contributions by the column of the table that they come from, largest first.
    ``tokens`` deals those of text columns out to the pieces of their texts between white space, in order.
    """

    columns: list[tuple[str, float]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.score:+.4f} = {self.intercept:+.4f} (intercept)"]
        lines += [f"  {share:+.4f}  {shown(name)}" for name, share in self.columns[:12]]
        if len(self.columns) > 12:
            rest = sum(share for _, share in self.columns[12:])
            lines.append(f"  {rest:+.4f}  ({len(self.columns) - 12} more columns)")
        return "\n".join(lines)


@dataclass(frozen=True)
class RowBlock:
    """The stored features of one row in a range of columns of the matrix.

    Attributes
    ----------
    names, origins : the features and the table's columns that they come from
    values, weights : of the features
    text : the column's tokens and where its terms are in them, if the features are words of a text
    """

    names: Sequence[str]
    origins: Sequence[str]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    text: tuple[list[str], Places] | None = None


def explained_row(label: Any, blocks: Sequence[RowBlock], intercept: float) -> RowExplanation:
    """The explanation of one score of a row."""
    terms: list[Term] = []
    columns: dict[str, float] = {}
    shares: dict[str, tuple[list[str], NDArray[np.float64]]] = {}
    for block in blocks:
        for name, origin, value, weight in zip(
            block.names, block.origins, block.values.tolist(), block.weights.tolist(), strict=True
        ):
            contribution = value * weight
            terms.append(Term(name, value, weight, contribution))
            columns[origin] = columns.get(origin, 0.0) + contribution
            if block.text is not None:
                tokens, places = block.text
                _, share = shares.setdefault(origin, (tokens, np.zeros(len(tokens))))
                _deal(share, places, name.removeprefix(f"{origin}:"), contribution)
    terms.sort(key=lambda term: -abs(term.contribution))
    return RowExplanation(
        label,
        intercept + sum(term.contribution for term in terms),
        intercept,
        terms,
        [pair for tokens, share in shares.values() for pair in zip(tokens, share.tolist(), strict=True)],
        sorted(columns.items(), key=lambda pair: -abs(pair[1])),
    )


def _deal(share: NDArray[np.float64], places: Mapping[str, Any], term: str, contribution: float) -> None:
    """A term's contribution to each of its occurrences alike, and there to each of its words alike."""
    touched = places.get(term, [])
    for place in touched:
        for token in place:
            share[token] += contribution / len(touched) / len(place)
