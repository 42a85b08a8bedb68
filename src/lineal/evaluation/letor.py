"""Rankings judged by the definitions of LETOR 4.0's evaluation script, to compare with published figures.

They differ from those of :func:`lineal.evaluation.evaluate_ranking`: rows of equal scores stand in the order
of the file; gains are 2^r - 1 and discounts 1, 1, 1/log2(3), 1/log2(4), ...; a query with fewer than k rows
has an NDCG at k of 0, and so has every measure of a query without a relevant row; all queries count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import InputError
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.inputs import checked_confidence, checked_count, generator
from lineal.evaluation.ranking import Measure, Ranked, Resampling, mean_over_queries
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray

_MOST_RELEVANT = 1000  # 2^r beyond it is near the largest number there is


def evaluate_letor(
    scores: ArrayLike,
    relevance: ArrayLike,
    groups: ArrayLike,
    *,
    k: int = 10,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> Evaluation:
    """NDCG at k, mean NDCG, MAP and precision at k as LETOR 4.0 defines them, with intervals over queries.

    Parameters
    ----------
    scores : (n,) numbers
        The larger, the higher the row stands; equal ones in the order of the rows.
    relevance : (n,) numbers >= 0
        Rows of relevance 1 and more are relevant.
    groups : (n,) labels
        Which query a row belongs to.
    k : int
        Where NDCG and precision stop.
    confidence, n_resamples, random_state
        Of the intervals.

    Returns
    -------
    Evaluation
        ``ndcg_at_k``, ``mean_ndcg`` (over all places of a query), ``map``, ``precision_at_k``.

    Examples
    --------
    >>> from lineal.evaluation import evaluate_letor
    >>> found = evaluate_letor([3, 2, 1], [0, 2, 1], ["q", "q", "q"], k=3)
    >>> round(found["ndcg_at_k"].value, 4), round(found["map"].value, 4)
    (0.9077, 0.5833)
    """
    how = Resampling(
        checked_confidence(confidence), checked_count("n_resamples", n_resamples, 10), generator(random_state)
    )
    k = checked_count("k", k)
    ranked = Ranked.of(scores, relevance, groups, 1.0)
    if ranked.relevance.max() > _MOST_RELEVANT:
        raise InputError(f"gains 2^r - 1 are for relevance up to {_MOST_RELEVANT}.")
    sizes = np.bincount(ranked.query, minlength=ranked.n_queries)
    reached = _ndcg_at_all(ranked)
    at_k = np.zeros(ranked.n_queries)
    is_kth = ranked.position == k
    at_k[ranked.query[is_kth]] = reached[is_kth]
    found = np.bincount(ranked.query, weights=ranked.is_relevant, minlength=ranked.n_queries)
    before = np.cumsum(ranked.is_relevant)
    starts = np.cumsum(sizes) - sizes
    before = before - (before[starts] - ranked.is_relevant[starts])[ranked.query]
    precision = np.bincount(
        ranked.query, weights=ranked.is_relevant * before / ranked.position, minlength=ranked.n_queries
    )
    table = {
        "ndcg_at_k": (f"NDCG at {k}", at_k),
        "mean_ndcg": ("mean NDCG", np.bincount(ranked.query, weights=reached) / sizes),
        "map": (
            "mean average precision",
            np.divide(precision, found, out=np.zeros_like(found), where=found > 0),
        ),
        "precision_at_k": (
            f"precision at {k}",
            np.bincount(ranked.query, weights=ranked.is_relevant & (ranked.position <= k)) / k,
        ),
    }
    every = np.ones(ranked.n_queries, dtype=bool)
    short, empty = int(np.sum(sizes < k)), int(np.sum(found == 0))
    notes = (
        "by the definitions of LETOR 4.0",
        f"{counted(short, 'query', 'queries')} of fewer than {k} rows count 0 for NDCG at {k}",
        f"{counted(empty, 'query', 'queries')} without a relevant row count 0",
    )
    measures = {name: Measure(title, values, every) for name, (title, values) in table.items()}
    return mean_over_queries(measures, ranked.n_queries, notes, how)


def _ndcg_at_all(ranked: Ranked) -> FloatArray:
    """(n,) the NDCG of each row's query at its place."""
    gains = np.exp2(ranked.relevance) - 1
    discounts = 1 / np.log2(np.maximum(ranked.position, 2))
    best = gains[np.lexsort((-gains, ranked.query))]
    gained, possible = (_running(values * discounts, ranked.query) for values in (gains, best))
    return np.divide(gained, possible, out=np.zeros_like(gained), where=possible > 0)


def _running(values: FloatArray, query: Any) -> FloatArray:
    """Sums up to each row, from the first one of its query."""
    sums = np.empty_like(values)
    firsts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    for first, last in zip(firsts, [*firsts[1:], len(values)], strict=True):
        sums[first:last] = np.cumsum(values[first:last])
    return sums
