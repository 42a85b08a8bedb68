"""Several models at once: Holm's correction, Friedman's test over data sets, Nemenyi's difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.deferred import special, stats
from lineal.errors import InputError
from lineal.evaluation.inputs import checked_confidence, score_table, without_rounding
from lineal.evaluation.wording import aligned, brief, counted, p_text
from lineal.objective.losses import FloatArray


def holm(p_values: ArrayLike) -> FloatArray:
    """p-values of m tests, corrected so that the chance of any false alarm is kept (Holm 1979).

    In rising order p_(i) becomes max over j <= i of min(1, (m - j + 1) p_(j)).

    Parameters
    ----------
    p_values : (m,) numbers in [0, 1]

    Returns
    -------
    (m,) array, in the order given

    Examples
    --------
    >>> from lineal.evaluation import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    try:
        p = np.array(p_values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"p_values must be numbers: {error}.") from error
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"p_values must be a list of numbers between 0 and 1, got {p_values!r}.")
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    return corrected


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test in the form of Iman and Davenport; ``print`` gives a sentence.

    Attributes
    ----------
    statistic, p_value : float
        F with (k - 1, (k - 1)(N - 1)) degrees of freedom.
    chi_squared, chi_squared_p : float
        Friedman's own, which is too careful.
    mean_ranks : (k,) array
        1 is best.
    n_sets : int
    """

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, int]
    chi_squared: float
    chi_squared_p: float
    mean_ranks: FloatArray
    n_sets: int

    def __str__(self) -> str:
        ranks = ", ".join(f"{rank:.2f}" for rank in self.mean_ranks)
        k, rest = self.degrees_of_freedom
        return (
            f"Friedman's test of {len(self.mean_ranks)} models on {counted(self.n_sets, 'data set')}: "
            f"F({k}, {rest}) = {brief(self.statistic)}, {p_text(self.p_value)}; mean ranks {ranks}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "test": "Friedman (Iman-Davenport)",
            "statistic": self.statistic,
            "p_value": self.p_value,
            "degrees_of_freedom": list(self.degrees_of_freedom),
            "chi_squared": self.chi_squared,
            "chi_squared_p": self.chi_squared_p,
            "mean_ranks": self.mean_ranks.tolist(),
            "n_sets": self.n_sets,
        }


def friedman(scores: ArrayLike, *, greater_is_better: bool = True) -> Friedman:
    """Whether k models differ over N data sets.

    With R_j the mean rank of model j, chi² = 12N / (k(k + 1)) (sum R_j² - k(k + 1)²/4), divided by the share
    of the ranks' variance that ties leave, and F = (N - 1) chi² / (N(k - 1) - chi²). Where all data sets rank
    the models alike F is infinite, and p is exact: the chance that N - 1 of them repeat the first by lot.

    Parameters
    ----------
    scores : (N, k) numbers
        A row for each data set, a column for each model.
    greater_is_better : bool

    Returns
    -------
    Friedman

    Examples
    --------
    >>> from lineal.evaluation import friedman
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.95, 0.9, 0.85], [0.7, 0.6, 0.5], [0.6, 0.7, 0.5]]
    >>> print(friedman(scores))
    Friedman's test of 3 models on 5 data sets: F(2, 8) = 7.111, p = 0.017; mean ranks 1.20, 2.00, 2.80.
    """
    table = score_table(scores)
    n, k = table.shape
    ranks = _ranks(table, greater_is_better)
    means = ranks.mean(axis=0)
    # The variance of the ranks within rows: k(k + 1)/12 for k different numbers, less with ties.
    within = float(np.sum((ranks - (k + 1) / 2) ** 2)) / (n * (k - 1))
    chi_squared = n * float(np.sum((means - (k + 1) / 2) ** 2)) / within if within > 0 else 0.0
    freedom = k - 1, (k - 1) * (n - 1)
    left = n * (k - 1) - chi_squared
    if left > 1e-9:
        statistic = (n - 1) * chi_squared / left
        p = float(stats.f.sf(statistic, *freedom))
    else:
        statistic, p = float("inf"), _orders(ranks[0]) ** (1.0 - n)
    return Friedman(statistic, p, freedom, chi_squared, float(stats.chi2.sf(chi_squared, k - 1)), means, n)


def _orders(ranks: FloatArray) -> float:
    """In how many orders these ranks can stand: k!, divided by t! for each t that are tied."""
    tied = np.unique(ranks, return_counts=True)[1]
    return float(np.exp(special.gammaln(len(ranks) + 1) - special.gammaln(tied + 1).sum()))


def _ranks(table: FloatArray, greater_is_better: bool) -> FloatArray:
    """1 for the best of each row; scores that differ by rounding alone are tied."""
    values = without_rounding(table, np.abs(table).max(axis=1, keepdims=True))
    return np.asarray(stats.rankdata(-values if greater_is_better else values, axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """Which mean ranks are too far apart for chance; ``print`` lists the pairs.

    Attributes
    ----------
    names : tuple of str
    mean_ranks : (k,) array
    critical_difference : float
        Mean ranks further apart than this differ, all pairs at once at the level 1 - confidence.
    p_values : (k, k) array
        Of each pair, corrected for all of them.
    confidence : float
    n_sets : int
    """

    names: tuple[str, ...]
    mean_ranks: FloatArray
    critical_difference: float
    p_values: FloatArray
    confidence: float
    n_sets: int

    def __str__(self) -> str:
        k = len(self.names)
        rows = [
            (
                f"{self.names[i]} – {self.names[j]}",
                f"{abs(self.mean_ranks[i] - self.mean_ranks[j]):.2f}",
                p_text(self.p_values[i, j]),
            )
            for i in range(k)
            for j in range(i + 1, k)
        ]
        head = (
            f"Nemenyi's test on {counted(self.n_sets, 'data set')}: mean ranks differ that are "
            f"{self.critical_difference:.3f} apart."
        )
        return "\n".join([head, *aligned(["pair", "ranks apart", "p"], rows)])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "names": list(self.names),
            "mean_ranks": self.mean_ranks.tolist(),
            "critical_difference": self.critical_difference,
            "p_values": self.p_values.tolist(),
            "confidence": self.confidence,
            "n_sets": self.n_sets,
        }


def nemenyi(
    scores: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> Nemenyi:
    """All pairs of k models over N data sets, by their mean ranks (Demšar 2006).

    The critical difference is q sqrt(k(k + 1) / 6N), q the studentised range of k and infinity over sqrt 2.

    Parameters
    ----------
    scores : (N, k) numbers
        A row for each data set, a column for each model.
    names : k names, optional
    greater_is_better : bool
    confidence : float

    Returns
    -------
    Nemenyi
    """
    table = score_table(scores)
    confidence = checked_confidence(confidence)
    n, k = table.shape
    named = tuple(f"model {j}" for j in range(k)) if names is None else tuple(map(str, names))
    if len(named) != k:
        raise InputError(f"scores has {k} columns, but there are {len(named)} names.")
    means = _ranks(table, greater_is_better).mean(axis=0)
    unit = np.sqrt(k * (k + 1) / (6 * n))
    apart = np.abs(means[:, None] - means[None]) / unit
    p = np.clip(stats.studentized_range.sf(apart * np.sqrt(2), k, np.inf), 0.0, 1.0)
    q = float(stats.studentized_range.ppf(confidence, k, np.inf)) / np.sqrt(2)
    return Nemenyi(named, means, float(q * unit), np.asarray(p), confidence, n)
