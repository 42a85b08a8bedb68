"""Rankings judged: rows of a query in the order of their scores, against how relevant they are.

Every measure is a mean over queries, and queries are what is resampled. Rows of one query whose scores are
equal stand in all their orders at once: the measure is its mean over these orders (McSherry and Najork
2008), so that a constant score gains nothing from the order of the file. Kendall's tau-b has its own way with
ties, and does not need that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data.targets import classes_and_codes
from lineal.deferred import special
from lineal.errors import InputError, ParameterError
from lineal.evaluation.doubts import FEW_GROUPS
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.inputs import checked_confidence, checked_count, generator, one_sample
from lineal.evaluation.predictions import checked_labels
from lineal.evaluation.records import Score
from lineal.evaluation.resampling import RowWeights, Statistic, resample
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray
from lineal.objective.ranking_pairs import Pairs

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
    """NDCG, average precision, reciprocal rank, precision at k, Kendall's tau; with intervals over queries.

    :func:`evaluate_letor` has the definitions of LETOR's own script, which differ.

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
        Queries without a relevant row have no measure, and are left out, or count as 0. ``kendall`` and
        ``pair_accuracy`` are means over the queries that have rows of different relevance, whatever is
        chosen here.
    confidence, n_resamples, random_state
        Of the intervals.

    Returns
    -------
    Evaluation
        ``ndcg`` (all ranks), ``ndcg_at_k``, ``map``, ``mrr``, ``precision_at_k``; ``kendall``, which is
        tau-b, 0 where all scores are equal; ``pair_accuracy``, the share of pairs in the right order, a tie
        as a half.

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
    treated = "left out" if empty == "skip" else "counted as 0"
    measures = {
        name: Measure(_TITLES[name].format(k=k), np.where(has_any, column, 0.0), is_used)
        for name, column in table.items()
    }
    found, kendall, accuracy = ranked.orders()
    if found.any():
        measures["kendall"] = Measure("Kendall's tau-b", kendall, found)
        measures["pair_accuracy"] = Measure("pairs in the right order", accuracy, found)
    omitted = {} if found.any() else dict.fromkeys(("kendall", "pair_accuracy"), "no query has two grades")
    return mean_over_queries(
        measures,
        int(is_used.sum()),
        _notes(int(np.sum(~has_any)), treated),
        Resampling(confidence, n_resamples, rng),
        omitted,
    )


_TITLES = {
    "ndcg": "NDCG",
    "ndcg_at_k": "NDCG at {k}",
    "map": "mean average precision",
    "mrr": "mean reciprocal rank",
    "precision_at_k": "precision at {k}",
}


@dataclass(frozen=True, eq=False)
class Measure:
    """(Q,) what each query scores, and whether it counts; queries that do not count are left out."""

    title: str
    values: FloatArray
    is_used: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Resampling:
    """How intervals are made."""

    confidence: float
    n_resamples: int
    rng: np.random.Generator


def mean_over_queries(
    measures: dict[str, Measure],
    n_queries: int,
    notes: tuple[str, ...],
    how: Resampling,
    omitted: dict[str, str] | None = None,
) -> Evaluation:
    """Every measure's mean over the queries that it counts, with an interval over them."""
    is_any = np.any([measure.is_used for measure in measures.values()], axis=0)
    columns = [
        column[is_any]
        for measure in measures.values()
        for column in (np.where(measure.is_used, measure.values, 0.0), measure.is_used.astype(np.float64))
    ]
    parts = np.column_stack(columns)
    found = resample(parts, RowWeights.of(None, len(parts)), how.n_resamples, how.rng)
    scores = {
        name: Score(
            name,
            float(measure.values[measure.is_used].mean()),
            found.interval(_mean_of(2 * j), how.confidence),
        )
        for j, (name, measure) in enumerate(measures.items())
    }
    titles = {name: measure.title for name, measure in measures.items()}
    few = f"only {counted(n_queries, 'query', 'queries')}"
    is_flat = [name for name, measure in measures.items() if not np.ptp(measure.values[measure.is_used])]
    doubts = dict.fromkeys(is_flat, "every query scores the same")
    return Evaluation(
        *("ranking", scores, n_queries, how.confidence),
        omitted=omitted or {},
        notes=notes,
        titles=titles,
        doubts=doubts | (dict.fromkeys(scores, few) if n_queries < FEW_GROUPS else {}),
        per_query={name: measure.values[measure.is_used] for name, measure in measures.items()},
    )


def _notes(n_empty: int, treated: str) -> tuple[str, ...]:
    verb = "has" if n_empty == 1 else "have"
    note = f"{counted(n_empty, 'query', 'queries')} without a relevant row {verb} been {treated}"
    return (note,) if n_empty else ()


def _mean_of(column: int) -> Statistic:
    """A sum over how many queries it is of."""

    def mean(S: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(S[:, column] / S[:, column + 1])

    return mean


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

    def orders(self) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """(Q,) whether there are two grades, Kendall's tau-b, and the share of pairs in the right order."""
        ones = np.ones(len(self.query))
        pairs = Pairs.of(self.relevance, self.query, ones, np.ones(self.n_queries), is_by_query=False)
        wrong, tied = pairs.disorder(-self.tie.astype(np.float64))  # ties are numbered from the highest score
        sizes = np.bincount(self.tie).astype(np.float64)
        of_tie = self.query[np.flatnonzero(np.r_[True, self.tie[1:] != self.tie[:-1]])]
        rows = self._per_query(ones)
        within = np.bincount(of_tie, weights=sizes * (sizes - 1) / 2, minlength=self.n_queries)
        apart = rows * (rows - 1) / 2 - within  # pairs of different scores
        has_pairs = pairs.total > 0
        right = pairs.total - wrong - tied
        scale = np.sqrt(pairs.total * apart)
        kendall = np.divide(right - wrong, scale, out=np.zeros(self.n_queries), where=scale > 0)
        accuracy = np.divide(right + 0.5 * tied, pairs.total, out=np.zeros(self.n_queries), where=has_pairs)
        return has_pairs, kendall, accuracy

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
