"""The best columns by a measure."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.deferred import stats
from lineal.errors import InputError, ParameterError
from lineal.learners.reading import read_matrix
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.selection.base import ColumnSelector
from lineal.selection.measures import MEASURES, measured, read_question, require_measure
from lineal.selection.ranking import names_of_columns, ranked

_CORRECTIONS = ("none", "bonferroni", "fdr")
_DEFAULT_SHARE = 0.1


class SelectBest(ColumnSelector):
    """Keeps the columns that a measure ranks highest.

    Parameters
    ----------
    measure : str
        A measure of :func:`lineal.rank_features`.
    k : int or "all", optional
        So many columns; of equal scores the lower column is kept.
    share : float in (0, 1], optional
        This share of the columns, rounded to the nearest, at least one.
    alpha : float in (0, 1), optional
        All columns whose p-value, after the correction, is at most this; the measure must be a test.
        Without ``k``, ``share`` and ``alpha`` a tenth of the columns is kept.
    correction : "none", "bonferroni" or "fdr"
        For the number of columns that were tested, with ``alpha``: the chance of one false column
        (Bonferroni) or the share of false ones (Benjamini and Hochberg) is then at most alpha.
    target, max_values, n_threads
        As in :func:`lineal.rank_features`.

    Attributes
    ----------
    ranking_ : Ranking
        All columns in their order; those that were kept, for "conditional_mutual_information".
    scores_ : (n_columns,) float
        NaN for columns that a greedy measure did not come to.
    p_values_ : (n_columns,) float, or None where the measure is no test
    support_ : (n_columns,) bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from lineal import SelectBest
    >>> best = SelectBest("chi2", k=1).fit([[1, 0, 2], [1, 1, 0], [0, 1, 1], [0, 0, 1]], [1, 1, 0, 0])
    >>> best.get_support(indices=True), best.transform([[3, 4, 5]])
    (array([0]), array([[3]]))
    """

    def __init__(
        self,
        measure: str = "mutual_information",
        *,
        k: int | str | None = None,
        share: float | None = None,
        alpha: float | None = None,
        correction: str = "none",
        target: str = "auto",
        max_values: int = 16,
        n_threads: int | None = None,
    ) -> None:
        self.measure = measure
        self.k = k
        self.share = share
        self.alpha = alpha
        self.correction = correction
        self.target = target
        self.max_values = max_values
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Ranks the columns and chooses.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels or numbers
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        self._check_options()
        array = read_matrix(self, X, reset=True) if y is not None else X
        question = read_question(
            array, y, self.measure, sample_weight, target=self.target, max_values=self.max_values,
            n_threads=self.n_threads, asker=type(self).__name__,
        )  # fmt: skip
        wanted = self._n_wanted(question.n_columns)
        found = measured(question, wanted or question.n_columns)
        names = names_of_columns(getattr(self, "feature_names_in_", None), None, question.n_columns)
        p_values = None if found.tail is None else found.tail(np.arange(question.n_columns))
        looked_up = None if p_values is None else p_values.__getitem__
        ranking = ranked(question, replace(found, tail=looked_up), names, None)
        kept = ranking.columns[:wanted]
        if p_values is not None and self.alpha is not None:
            kept = self._significant(p_values, float(self.alpha))
        support = np.zeros(question.n_columns, dtype=bool)
        support[kept] = True
        self.ranking_, self.scores_, self.p_values_ = ranking, found.scores, p_values
        self.support_ = support
        return self

    def _check_options(self) -> None:
        require_measure(self.measure)
        given = [name for name in ("k", "share", "alpha") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ParameterError(f"SelectBest takes one of k, share and alpha, got {' and '.join(given)}.")
        if self.correction not in _CORRECTIONS:
            raise ParameterError(
                f"correction must be one of {', '.join(map(repr, _CORRECTIONS))}, got {self.correction!r}."
            )
        if self.alpha is None and self.correction != "none":
            raise ParameterError(f"correction={self.correction!r} is for alpha, which was not given.")
        for name in ("share", "alpha"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, numbers.Real) and 0 < float(value) <= 1):
                raise ParameterError(f"{name} must lie in (0, 1], got {value!r}.")
        if self.alpha is not None and not MEASURES[self.measure].is_test:
            tests = ", ".join(repr(name) for name, measure in MEASURES.items() if measure.is_test)
            raise ParameterError(
                f"alpha needs a measure with p-values, one of {tests}; got {self.measure!r}."
            )
        is_count = isinstance(self.k, numbers.Integral) and not isinstance(self.k, bool)
        if not (self.k is None or self.k == "all" or (is_count and int(self.k) >= 1)):
            raise ParameterError(f"k must be a whole number >= 1, 'all' or None, got {self.k!r}.")

    def _n_wanted(self, n_columns: int) -> int | None:
        """How many columns to keep; None where that is for p-values to say."""
        if self.alpha is not None:
            return None
        if self.k == "all":
            return n_columns
        if self.k is not None:
            if int(self.k) > n_columns:
                raise ParameterError(
                    f"k={self.k} columns were asked for, but X has {n_columns}. Use a smaller k, share=, or "
                    "k='all'."
                )
            return int(self.k)
        share = _DEFAULT_SHARE if self.share is None else float(self.share)
        return max(1, round(share * n_columns))

    def _significant(self, p_values: FloatArray, alpha: float) -> NDArray[np.intp]:
        corrected = p_values
        if self.correction == "bonferroni":
            corrected = np.minimum(p_values * len(p_values), 1.0)
        elif self.correction == "fdr":
            corrected = stats.false_discovery_control(p_values)
        kept = np.flatnonzero(corrected <= alpha)
        if not len(kept):
            raise InputError(
                f"no column has a p-value of at most {alpha} by {self.measure}: the least, corrected, "
                f"is {corrected.min():.3g}. Use a larger alpha, or k= or share=."
            )
        return kept
