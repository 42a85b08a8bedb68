"""Columns in the order of a measure."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.errors import InputError, ParameterError
from lineal.objective.losses import FloatArray
from lineal.selection.measures import (
    MEASURES,
    Measured,
    Question,
    given_names,
    measured,
    read_question,
)

_SHOWN = 20  # rows of a printed ranking
_MOST_PICKS = 100  # of a greedy measure, unless told otherwise


@dataclass(frozen=True, eq=False)
class Ranking:
    """Columns, the most relevant first; ``print`` shows the first twenty.

    Attributes
    ----------
    measure : str
    columns : (k,) int
        Numbers of columns; of equal scores the lower column comes first.
    scores : (k,) float
    p_values : (k,) float or None
        Of the hypothesis that column and target are independent; None where the measure is no test.
    names : (k,) str or None
    n_rows, n_columns : int
        Of the data.
    """

    measure: str
    columns: NDArray[np.intp]
    scores: FloatArray
    p_values: FloatArray | None
    names: NDArray[np.object_] | None
    n_rows: int
    n_columns: int

    def __len__(self) -> int:
        return len(self.columns)

    def top(self, k: int) -> Ranking:
        """The first k."""
        cut = slice(0, k)
        return replace(
            self,
            columns=self.columns[cut],
            scores=self.scores[cut],
            p_values=None if self.p_values is None else self.p_values[cut],
            names=None if self.names is None else self.names[cut],
        )

    def named(self, names: Any) -> Ranking:
        """The same with names: those of all columns, or whatever has ``get_feature_names_out``."""
        known = names_of_columns(names, None, self.n_columns)
        return replace(self, names=None if known is None else known[self.columns])

    def __str__(self) -> str:
        shown = self.top(_SHOWN)
        labels = [f"x{j}" for j in shown.columns] if shown.names is None else [str(n) for n in shown.names]
        width = max([len(label) for label in labels], default=0)
        lines = [f"{self.measure} of {self.n_columns:,} columns in {self.n_rows:,} rows"]
        for place, label in enumerate(labels):
            p = "" if shown.p_values is None else f"   p = {shown.p_values[place]:.3g}"
            lines.append(f"{place + 1:>4}  {label:<{width}}  {shown.scores[place]:>10.5g}{p}")
        if len(self) > len(shown):
            lines.append(f"      and {len(self) - len(shown):,} more")
        return "\n".join(lines)


def rank_features(
    X: Any,
    y: ArrayLike,
    measure: str = "mutual_information",
    *,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    names: Any = None,
    target: str = "auto",
    max_values: int = 16,
    n_threads: int | None = None,
) -> Ranking:
    """Ranks the columns of X by how much each tells about y.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        Sparse data are never made dense.
    y : sequence of n_rows labels or numbers
    measure : str
        "mutual_information" (or its other name "information_gain"), "normalized_mutual_information",
        "conditional_mutual_information", "chi2", "chi2_contingency", "log_likelihood_ratio", "pearson",
        "signal_to_noise", "t" or "welch"; see Notes.
    k : int, optional
        How many columns to return; all if not given, at most 100 for "conditional_mutual_information".
    sample_weight : sequence of n_rows numbers >= 0, optional
        A weight of 2 means the row twice.
    names : sequence of str, or anything with ``get_feature_names_out``, optional
        Such as a fitted TextVectorizer or Pipeline; a data frame brings its own.
    target : "auto", "classes" or "numbers"
        "auto" takes numbers that are not whole for measurements, and everything else for classes.
    max_values : int
        A column with more different values is cut at its deciles where categories are needed; so are numbers
        in y.
    n_threads : int, optional
        Changes the time, never a bit.

    Returns
    -------
    Ranking

    Notes
    -----
    Formulas are in :mod:`lineal.features.relevance`. With numbers for y there are "pearson" and all that is
    made of categories. "conditional_mutual_information" is greedy (Fleuret 2004): the next column has the
    largest min(I(column; y), I(column; y | chosen)) over all that were chosen, which passes over columns
    that repeat a chosen one. No measure here sees two columns that tell something only together.

    p-values are those of the chi-squared law for "chi2" (classes - 1 degrees of freedom), "chi2_contingency"
    and "log_likelihood_ratio" ((categories - 1)(classes - 1)), and of Student's for "t", "welch" and
    "pearson". Where a class was compared with all others for each of K > 2 classes, p is K times that of the
    largest, at most 1.

    Examples
    --------
    >>> from lineal import rank_features
    >>> words = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> print(rank_features(words, ["spam", "spam", "ham", "ham"], names=["free", "hello", "the"]))
    mutual_information of 3 columns in 4 rows
       1  free      0.69315
       2  the       0.21576
       3  hello           0
    """
    question = read_question(
        X, y, measure, sample_weight, target=target, max_values=max_values, n_threads=n_threads
    )
    known = names_of_columns(names, X, question.n_columns)
    return ranked(question, measured(question, _how_many(question, k)), known, k)


def _how_many(question: Question, k: int | None) -> int:
    """Checks k; how many columns a greedy measure should pick."""
    d = question.n_columns
    if k is None:
        return min(d, _MOST_PICKS)
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1:
        raise ParameterError(f"k must be a whole number >= 1 or None, got {k!r}.")
    if k > d:
        raise ParameterError(f"k={k} columns were asked for, but X has {d}. Use k=None for all of them.")
    return int(k)


def ranked(question: Question, found: Measured, names: NDArray[np.object_] | None, k: int | None) -> Ranking:
    """The k best, with p-values of those alone."""
    if found.order is None:
        columns = best(found.scores, len(found.scores) if k is None else int(k))
    else:
        columns = found.order if k is None else found.order[:k]
    return Ranking(
        question.measure,
        columns,
        found.scores[columns],
        None if found.tail is None else found.tail(columns),
        None if names is None else names[columns],
        question.n_rows,
        question.n_columns,
    )


def best(scores: FloatArray, k: int) -> NDArray[np.intp]:
    """The places of the k largest, largest first, the lower place first among equals."""
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        above = np.flatnonzero(scores > least)
        level = np.flatnonzero(scores == least)[: k - len(above)]
        places = np.sort(np.concatenate([above, level]))
        return places[falling(scores[places])]
    return falling(scores)


def falling(scores: FloatArray) -> NDArray[np.intp]:
    """``argsort(-scores)`` of numbers >= 0, the lower place first among equals."""
    order = np.empty(len(scores), dtype=np.int64)
    _core.falling_order(np.ascontiguousarray(scores, dtype=np.float64), order)
    return order


def names_of_columns(names: Any, X: Any, n_columns: int) -> NDArray[np.object_] | None:
    """(n_columns,) names, if there are any."""
    if hasattr(names, "get_feature_names_out"):
        names = names.get_feature_names_out()
    if names is None:
        names = given_names(X)
    if names is None or callable(names):
        return None
    if isinstance(names, str) or (
        not isinstance(names, (Sequence, np.ndarray)) and not hasattr(names, "__len__")
    ):
        raise ParameterError(
            f"names must be a sequence of names or have get_feature_names_out, got {names!r}."
        )
    if len(names) != n_columns:
        raise InputError(f"names has {len(names)} names for {n_columns} columns.")
    known = np.empty(n_columns, dtype=object)
    known[:] = [str(name) for name in names]
    return known


__all__ = ["MEASURES", "Ranking", "rank_features"]
