"""Why an input got its score: the exact share of every term and, in a text, of every token."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.text.occurrences import Places


class TopFeature(NamedTuple):
    """A feature and its weight."""

    name: str
    weight: float


def top_features(names: Any, weights: NDArray[np.float64], k: int, sign: float = 1.0) -> list[TopFeature]:
    """The k features of largest weight above 0; with ``sign`` -1 of lowest below 0."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
        raise ParameterError(f"k must be a whole number from 0 on, got {k!r}.")
    signed = sign * weights
    best = np.argpartition(-signed, min(k, len(signed) - 1))[:k]
    best = best[np.argsort(-signed[best], kind="stable")]
    return [TopFeature(str(names[j]), float(weights[j])) for j in best if signed[j] > 0]


def shown(name: str) -> str:
    """A term to be read: spaces are made visible in n-grams of characters that begin or end with one."""
    return name if name == name.strip(" ") else name.replace(" ", "␣")


@dataclass(frozen=True)
class Term:
    """One column of a text's row: value * weight = contribution."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """A score taken apart: ``intercept`` + the contributions of all ``terms`` = ``score``, exactly.

    ``tokens`` deals the same sum out to the pieces of the text between white space, in order: an n-gram's
    share goes to each of its occurrences alike, and there to each of its words alike. What no piece holds
    (lexicons, functions, hashed terms that share a column) is left to ``terms``.
    """

    label: Any
    score: float
    intercept: float
    terms: list[Term]
    tokens: list[tuple[str, float]]

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.score:+.4f} = {self.intercept:+.4f} (intercept)"]
        lines += [f"  {term.contribution:+.4f}  {shown(term.name)}" for term in self.terms[:12]]
        if len(self.terms) > 12:
            rest = sum(term.contribution for term in self.terms[12:])
            lines.append(f"  {rest:+.4f}  ({len(self.terms) - 12} more)")
        return "\n".join(lines)


def explained(
    label: Any,
    columns: Any,
    values: Any,
    names: Any,
    weights: NDArray[np.float64],
    intercept: float,
    places: list[tuple[int, Places]],
    tokens: list[str],
) -> Explanation:
    """The explanation of one score: of a row's stored columns and values, ``names`` being those by column.

    ``places`` tells for each range of columns, by the column behind it, which tokens its terms touch.
    """
    ends = [end for end, _ in places]
    terms = []
    shares = np.zeros(len(tokens))
    for column, value in zip(columns, values, strict=True):
        name = str(names[column])
        contribution = float(value) * float(weights[column])
        terms.append(Term(name, float(value), float(weights[column]), contribution))
        touched = places[bisect_right(ends, column)][1].get(name, [])
        for place in touched:
            for token in place:
                shares[token] += contribution / len(touched) / len(place)
    terms.sort(key=lambda term: -abs(term.contribution))
    score = intercept + sum(term.contribution for term in terms)
    return Explanation(label, score, intercept, terms, list(zip(tokens, shares.tolist(), strict=True)))
