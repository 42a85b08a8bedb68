"""Rankings judged: rows of a query in the order of their scores, against how relevant they are.

Every measure is a mean over queries, and queries are what is resampled. Rows of one query whose scores are
equal stand in all their orders at once: the measure is its mean over these orders (McSherry and Najork
2008), so that a constant score gains nothing from the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data.targets import classes_and_codes
from lineal.deferred import special
from lineal.errors import InputError, ParameterError
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.inputs import checked_confidence, checked_count, generator, one_sample
from lineal.evaluation.predictions import checked_labels
from lineal.evaluation.records import Score
from lineal.evaluation.resampling import RowWeights, Statistic, resample
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray

_MOST_EXPONENTIAL = 1000  # 2^r beyond it is near the largest number there is


def evaluate_ranking(
    scores: ArrayLike,
    relevance: ArrayLike,
    groups: ArrayLike,
    *,
    k: int = 10,
    relevant_from: float = 1.0,
    gain: str = "linear",
    empty: str = "skip",
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> Evaluation:
    """NDCG, mean average precision, mean reciprocal rank and precision at k, with intervals over queries.

    Parameters
    ----------
    scores : (n,) numbers
        The larger, the higher the row stands.
    relevance : (n,) numbers >= 0
    groups : (n,) labels
        Which query a row belongs to; rows of a query need not stand together.
    k : int
        Where NDCG and precision stop.
    relevant_from : float
        The least relevance of a relevant row, for the measures that know only relevant and not.
    gain : "linear" or "exponential"
        What relevance r is worth in NDCG: r, or 2^r - 1.
    empty : "skip" or "zero"
        Queries without a relevant row have no measure, and are left out, or count as 0.
    confidence, n_resamples, random_state
        Of the intervals.

    Returns
    -------
    Evaluation
        ``ndcg`` (all ranks), ``ndcg_at_k``, ``map``, ``mrr``, ``precision_at_k``.

    Examples
    --------
    >>> from lineal.evaluation import evaluate_ranking
    >>> result = evaluate_ranking([3, 2, 1, 3, 2, 1], [1, 0, 0, 0, 0, 1], ["a", "a", "a", "b", "b", "b"])
    >>> result["mrr"].value
    0.6666666666666666
    """
    confidence = checked_confidence(confidence)
    k, n_resamples = checked_count("k", k), checked_count("n_resamples", n_resamples, 10)
    rng = generator(random_state)
    if gain not in ("linear", "exponential"):
        raise ParameterError(f"gain must be 'linear' or 'exponential', got {gain!r}.")
    if empty not in ("skip", "zero"):
        raise ParameterError(f"empty must be 'skip' or 'zero', got {empty!r}.")
    ranked = Ranked.of(scores, relevance, groups, relevant_from)
    if gain == "exponential" and ranked.relevance.max() > _MOST_EXPONENTIAL:
        raise InputError(
            f"gain='exponential' is for relevance up to {_MOST_EXPONENTIAL}, got {ranked.relevance.max():g}. "
            "Use gain='linear'."
        )
    worth = ranked.relevance if gain == "linear" else np.exp2(ranked.relevance) - 1
    table = {
        "ndcg": ranked.ndcg(worth, None),
        "ndcg_at_k": ranked.ndcg(worth, k),
        "map": ranked.average_precision(),
        "mrr": ranked.reciprocal_rank(),
        "precision_at_k": ranked.precision(k),
    }
    has_any = np.bincount(ranked.query, weights=ranked.is_relevant, minlength=ranked.n_queries) > 0
    is_used = has_any if empty == "skip" else np.ones(ranked.n_queries, dtype=bool)
    if not is_used.any():
        raise InputError(f"no query has a row of relevance {relevant_from:g} or more.")
    values = np.column_stack([np.where(has_any, column, 0.0) for column in table.values()])[is_used]
    return _evaluation(
        dict(zip(table, values.T, strict=True)), k, has_any, empty, confidence, n_resamples, rng
    )


def _evaluation(
    table: dict[str, FloatArray],
    k: int,
    has_any: NDArray[np.bool_],
    empty: str,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Evaluation:
    values = np.column_stack(list(table.values()))
    found = resample(values, RowWeights.of(None, len(values)), n_resamples, rng)
    scores = {
        name: Score(name, float(values[:, j].mean()), found.interval(_mean_of(j, len(values)), confidence))
        for j, name in enumerate(table)
    }
    titles = {
        "ndcg": "NDCG",
        "ndcg_at_k": f"NDCG at {k}",
        "map": "mean average precision",
        "mrr": "mean reciprocal rank",
        "precision_at_k": f"precision at {k}",
    }
    n_empty = int(np.sum(~has_any))
    treated = "left out" if empty == "skip" else "counted as 0"
    verb = "has" if n_empty == 1 else "have"
    note = f"{counted(n_empty, 'query', 'queries')} without a relevant row {verb} been {treated}"
    return Evaluation(
        *("ranking", scores, len(values), confidence), notes=(note,) if n_empty else (), titles=titles
    )


def _mean_of(column: int, n: int) -> Statistic:
    return lambda S: S[:, column] / n


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows by query and falling score; ``position`` is 1 for the first of a query.

    Attributes
    ----------
    query, position, tie : (n,) places
        ``tie`` numbers the runs of equal scores within a query.
    relevance : (n,) array
    is_relevant : (n,) bool
    n_queries : int
    """

    query: NDArray[np.int64]
    position: NDArray[np.int64]
    tie: NDArray[np.int64]
    relevance: FloatArray
    is_relevant: NDArray[np.bool_]
    n_queries: int

    @classmethod
    def of(cls, scores: Any, relevance: Any, groups: Any, relevant_from: float) -> Ranked:
        """Sorts the rows."""
        values, worth = one_sample("scores", scores, 1), one_sample("relevance", relevance, 1)
        labels = checked_labels("groups", groups)
        if not len(values) == len(worth) == len(labels):
            raise InputError(
                f"there are {len(values)} scores, {len(worth)} relevances and {len(labels)} groups: "
                "each row needs one of each."
            )
        if (worth < 0).any():
            raise InputError(f"relevance must be >= 0, got {worth.min():g}.")
        if not relevant_from > 0:
            raise ParameterError(f"relevant_from must be > 0, got {relevant_from!r}.")
        names, codes = classes_and_codes(labels)
        order = np.lexsort((-values, codes))
        query, sorted_values = codes[order].astype(np.int64), values[order]
        is_new = np.r_[True, query[1:] != query[:-1]]
        starts = np.flatnonzero(is_new)
        position = np.arange(len(query)) - np.repeat(starts, np.diff(np.r_[starts, len(query)])) + 1
        tie = np.cumsum(is_new | np.r_[True, sorted_values[1:] != sorted_values[:-1]]) - 1
        found = worth[order]
        return cls(query, position, tie, found, found >= relevant_from, len(names))

    def _per_query(self, values: Any) -> FloatArray:
        return np.asarray(np.bincount(self.query, weights=values, minlength=self.n_queries), dtype=np.float64)

    def _over_ties(self, values: FloatArray) -> FloatArray:
        """Each row's mean over the places that its run of ties takes."""
        return np.asarray((np.bincount(self.tie, weights=values) / np.bincount(self.tie))[self.tie])

    def ndcg(self, worth: FloatArray, k: int | None) -> FloatArray:
        """(Q,) the discounted gain over that of the best order."""
        discount = 1 / np.log2(self.position + 1.0)
        if k is not None:
            discount[self.position > k] = 0.0
        gained = self._per_query(worth * self._over_ties(discount))
        best = self._per_query(worth[np.lexsort((-worth, self.query))] * discount)
        return np.divide(gained, best, out=np.zeros(self.n_queries), where=best > 0)

    def precision(self, k: int) -> FloatArray:
        """(Q,) the share of relevant rows among the first k."""
        return self._per_query(self.is_relevant * self._over_ties((self.position <= k) / k))

    def _runs(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """For each row: the size of its run, its relevant rows, those before the run, and the place in it."""
        size = np.bincount(self.tie).astype(np.float64)
        relevant = np.bincount(self.tie, weights=self.is_relevant).astype(np.float64)
        starts = np.flatnonzero(np.r_[True, self.tie[1:] != self.tie[:-1]])
        found = self._per_query(self.is_relevant)
        before = np.cumsum(relevant) - relevant - (np.cumsum(found) - found)[self.query[starts]]
        place = (np.arange(len(self.tie)) - starts[self.tie] + 1).astype(np.float64)
        return size[self.tie], relevant[self.tie], before[self.tie], place

    def average_precision(self) -> FloatArray:
        """(Q,) the mean, over relevant rows, of the precision at their places."""
        size, relevant, before, place = self._runs()
        # At place j of its run a row is relevant with chance r/n, and has (j - 1)(r - 1)/(n - 1) before it.
        others = (place - 1) * np.maximum(relevant - 1, 0) / np.maximum(size - 1, 1)
        precision = relevant / size * (before + others + 1) / self.position
        found = self._per_query(self.is_relevant)
        return np.divide(self._per_query(precision), found, out=np.zeros(self.n_queries), where=found > 0)

    def reciprocal_rank(self) -> FloatArray:
        """(Q,) one over the place of the first relevant row."""
        size, relevant, before, place = self._runs()
        is_first = (before == 0) & (relevant > 0) & (place <= size - relevant + 1)
        n, r, j = size[is_first], relevant[is_first], place[is_first]
        # The first relevant of r among n stands at j with chance C(n - j, r - 1) / C(n, r).
        log_chance = special.gammaln(n - j + 1) - special.gammaln(n - j - r + 2) - special.gammaln(r)
        log_chance -= special.gammaln(n + 1) - special.gammaln(n - r + 1) - special.gammaln(r + 1)
        values = np.zeros(len(self.tie))
        values[is_first] = np.exp(log_chance) / self.position[is_first]
        return self._per_query(values)
