"""How much each column tells about the classes: one score for each, computed without densifying.

Every function takes (X, y, sample_weight) and returns (n_columns,) scores of at least 0, the larger the more
relevant. X is an array, a sparse matrix or a data frame; y holds labels. A weight of 2 counts the row twice
and a weight of 0 not at all; the unstored zeros of a sparse matrix count like any value, so sparse and dense
data have the same scores. With more than two classes the scores that compare two (``pearson``,
``signal_to_noise``, ``t_statistic``, ``welch_statistic``) take each class against all the others, and the
largest.

==========================  =============================================================================
``information_gain``        H(class) - H(class | column), in nats: the mutual information
``normalized_information``  2 (mutual information) / (H(class) + H(column)), between 0 and 1
``conditional_information`` the mutual information among rows that agree in a third variable
``log_likelihood_ratio``    2 N (mutual information): G^2 (Dunning 1993)
``chi2_contingency``        sum of (observed - expected)^2 / expected, of categories and classes
``chi2``                    sum over classes of (observed - expected)^2 / expected, of sums of the column
``pearson``                 abs correlation of the column with being of the class
``signal_to_noise``         abs (mean - mean') / (deviation + deviation') (Golub et al. 1999)
``t_statistic``             abs Student's t with one variance for both; t^2 is the F of a variance analysis
``welch_statistic``         abs Welch's t, with a variance for each of the two
==========================  =============================================================================

The first five need categories. A column with at most ``max_values`` (16) different values is taken as
it is; one with more is cut at its deciles, so the zeros of a rare word are one category, the rest another.

Scores do not depend on the units of a column, ``chi2`` excepted. Deviations count as at least 2^-52 of a
column's largest number, so a column that separates the classes without any spread has a huge score, not an
infinite one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from lineal import _core
from lineal.deferred import special
from lineal.errors import InputError, ParameterError
from lineal.features.categories import Categorised, Cells, categories
from lineal.features.class_moments import Group, moments_in_units
from lineal.features.labelled import Labelled, by_columns, labelled

FloatArray = NDArray[np.float64]
# Deviations count as at least this part of a column's largest number.
_FLOOR = 2.0**-52


# ---- categories and classes -----------------------------------------------------------------------


def categories_of(data: Labelled, max_values: int, n_classes: int | None = None) -> Categorised:
    """The categories of every column."""
    return categories(data.matrix, data.s, max_values, n_classes or data.n_classes)


def cells_of(data: Labelled, max_values: int) -> Cells:
    """The table of categories and classes of every column."""
    return categories_of(data, max_values).counted(data.codes, data.n_classes)


def information_gain(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """The mutual information of each column and the class, in nats; see the module for continuous columns.

    Examples
    --------
    >>> from lineal.features import information_gain
    >>> information_gain([[0, 5], [0, 7], [1, 5], [1, 7]], ["no", "no", "yes", "yes"]).round(4)
    array([0.6931, 0.    ])
    """
    return cells_of(labelled(X, y, sample_weight), max_values).information()


def conditional_information(
    X: Any, y: ArrayLike, given: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """The mutual information of each column and the class among rows that agree in ``given``, in nats.

    I(column; class | given) = I(column; class and given) - I(column; given).

    Parameters
    ----------
    given : sequence of n_rows labels

    Examples
    --------
    Two coins, and whether they show the same: each says nothing alone, and all once the other is known.

    >>> from lineal.features import conditional_information, information_gain
    >>> coins, same = [[0, 0], [0, 1], [1, 0], [1, 1]], [1, 0, 0, 1]
    >>> information_gain(coins, same)
    array([0., 0.])
    >>> conditional_information(coins, same, given=[0, 0, 1, 1]).round(4)
    array([0.    , 0.6931])
    """
    data, other = labelled(X, y, sample_weight), labelled(X, given, sample_weight)
    K = data.n_classes * other.n_classes
    found = categories_of(data, max_values, K)
    return conditional(found, data.codes, data.n_classes, other.codes, other.n_classes)


def conditional(
    found: Categorised, codes: NDArray[np.int32], K: int, given: NDArray[np.int32], L: int
) -> FloatArray:
    """I(column; class | given) by the chain rule, for classes 0 .. K - 1 and given labels 0 .. L - 1."""
    both = codes.astype(np.int64) * L + given
    difference = found.counted(both, K * L).information() - found.counted(given, L).information()
    return np.maximum(difference, 0.0)


def normalized_information(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """2 I(column; class) / (H(column) + H(class)): columns with many values gain nothing by having them.

    Examples
    --------
    >>> from lineal.features import normalized_information
    >>> normalized_information([[0, 1], [0, 2], [1, 3], [1, 4]], ["no", "no", "yes", "yes"]).round(4)
    array([1.    , 0.6667])
    """
    return normalized(cells_of(labelled(X, y, sample_weight), max_values))


def normalized(cells: Cells) -> FloatArray:
    """2 I / (H + H); 0 where nothing varies."""
    share = cells.totals / cells.totals.sum()
    size = cells.entropy() + float(special.entr(share).sum())
    return np.minimum(np.divide(2 * cells.information(), size, out=np.zeros_like(size), where=size > 0), 1.0)


def log_likelihood_ratio(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """2 sum observed log(observed / expected): G^2, which is 2 N times the mutual information.

    Examples
    --------
    >>> from lineal.features import log_likelihood_ratio
    >>> log_likelihood_ratio([[0], [0], [1], [1]], ["no", "no", "yes", "yes"]).round(4)
    array([5.5452])
    """
    cells = cells_of(labelled(X, y, sample_weight), max_values)
    return 2 * cells.totals.sum() * cells.information()


def chi2_contingency(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, max_values: int = 16
) -> FloatArray:
    """sum (observed - expected)^2 / expected over the table of the column's categories and the classes.

    The zeros of a column are a category like any other, which :func:`chi2` leaves out.

    Examples
    --------
    >>> from lineal.features import chi2_contingency
    >>> chi2_contingency([[0, 1], [0, 2], [1, 1], [1, 2]], ["no", "no", "yes", "yes"])
    array([4., 0.])
    """
    return cells_of(labelled(X, y, sample_weight), max_values).chi2()


# ---- sums -----------------------------------------------------------------------------------------


def chi2(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The chi-squared statistic of the sums of each column over the classes; X >= 0, counts or presence.

    As ``sklearn.feature_selection.chi2``. A column of zeros scores 0.

    Examples
    --------
    >>> from lineal.features import chi2
    >>> chi2([[1, 1], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1])
    array([2., 0.])
    """
    return chi2_of_sums(labelled(X, y, sample_weight))


def chi2_of_sums(data: Labelled) -> FloatArray:
    """chi2 of what was read."""
    V, is_below = data.sums()
    if is_below:
        j = int(data.matrix.indices[np.flatnonzero(data.matrix.data < 0)[0]])
        raise InputError(
            f"chi2 needs values >= 0, such as counts, but column {j} has one below. "
            "Use information_gain, or t_statistic."
        )
    has_rows = data.totals > 0
    if not has_rows.all():
        V = V[has_rows]
    scores = np.empty(data.n_columns)
    expected = data.totals[has_rows] / data.totals.sum()
    _core.chi2_scores(V, expected, scores, data.rows.n_threads)
    return scores


# ---- means and deviations -------------------------------------------------------------------------


@dataclass(frozen=True)
class Contrast:
    """The largest score of a class against all others, and what its law is to be looked up with."""

    score: FloatArray
    freedom: FloatArray


def largest_contrast(data: Labelled, compare: Callable[[Group, Group], tuple[FloatArray, Any]]) -> Contrast:
    """``compare`` gives score and degrees of freedom of a class and the others; constants score 0."""
    of, is_constant, _ = moments_in_units(data)

    def work(columns: slice) -> tuple[FloatArray, ...]:
        varies = ~is_constant[columns]
        best, freedom = np.zeros(len(varies)), np.ones(len(varies))
        for group, others in of.against_others(columns):
            with np.errstate(invalid="ignore", divide="ignore"):
                score, its_freedom = compare(group, others)
            is_better = (score > best) & varies
            best = np.where(is_better, score, best)
            freedom = np.where(is_better, its_freedom, freedom)
        return best, freedom

    return Contrast(*by_columns(work, data.n_columns))


def pearson(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest absolute correlation of each column with being of a class; constants score 0.

    Examples
    --------
    >>> from lineal.features import pearson
    >>> pearson([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]], ["a", "a", "b"]).round(4)
    array([0.866, 0.   ])
    """
    return largest_contrast(labelled(X, y, sample_weight), correlation_of_groups).score


def correlation_of_groups(group: Group, others: Group) -> tuple[FloatArray, float]:
    """|r| of the column and of being in the group."""
    both = group.joined(others)
    size = np.sqrt(both.squares * (group.weight * others.weight / both.weight))
    product = group.weight * others.weight / both.weight * np.abs(group.mean - others.mean)
    is_constant = size <= 2.0**-50 * both.weight * np.maximum(np.abs(both.mean), 2.0**-50)
    return np.where(is_constant, 0.0, np.minimum(product / size, 1.0)), both.weight - 2.0


def signal_to_noise(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest |mean - mean'| / (deviation + deviation') of a class against the others.

    Deviations are those of the data, divided by the weight of the class.

    Examples
    --------
    >>> from lineal.features import signal_to_noise
    >>> signal_to_noise([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1])
    array([2.5])
    """
    return largest_contrast(labelled(X, y, sample_weight), signal_of_groups).score


def signal_of_groups(group: Group, others: Group) -> tuple[FloatArray, float]:
    """Golub's ratio."""
    noise = np.sqrt(group.squares / group.weight) + np.sqrt(others.squares / others.weight)
    return np.abs(group.mean - others.mean) / np.maximum(noise, _FLOOR), 1.0


def t_statistic(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest |t| of a class against the others, with one variance for both.

    With two classes t^2 is the F of ``sklearn.feature_selection.f_classif``.

    Examples
    --------
    >>> from lineal.features import t_statistic
    >>> t_statistic([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1]).round(4)
    array([3.5355])
    """
    return student(labelled(X, y, sample_weight)).score


def student(data: Labelled) -> Contrast:
    """Student's t of what was read."""
    total = float(data.s.sum())
    if total <= 2:
        raise InputError(
            f"t_statistic needs rows of total weight above 2, but n_samples = {len(data.s)} rows weigh "
            f"{total:g}."
        )

    def compare(group: Group, others: Group) -> tuple[FloatArray, float]:
        freedom = group.weight + others.weight - 2.0
        deviation = np.sqrt((group.squares + others.squares) / freedom)
        error = np.maximum(deviation, _FLOOR) * np.sqrt(1 / group.weight + 1 / others.weight)
        return np.abs(group.mean - others.mean) / error, freedom

    return largest_contrast(data, compare)


def welch_statistic(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The largest |mean - mean'| / sqrt(v / n + v' / n') of a class against the others.

    The variances v are those of samples, divided by one less than the weight; a class that weighs 1 or less
    has none and is not compared.

    Examples
    --------
    >>> from lineal.features import welch_statistic
    >>> welch_statistic([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1]).round(4)
    array([3.5355])
    """
    return welch(labelled(X, y, sample_weight)).score


def welch(data: Labelled) -> Contrast:
    """Welch's t of what was read."""
    if not np.any(data.totals > 1):
        raise InputError(
            f"welch_statistic needs classes that weigh above 1, but the heaviest weighs "
            f"{data.totals.max(initial=0.0):g}. Weights count rows: multiply them."
        )

    def compare(group: Group, others: Group) -> tuple[FloatArray, Any]:
        if min(group.weight, others.weight) <= 1:
            return np.zeros_like(group.mean), 1.0
        a, b = (g.squares / (g.weight - 1) / g.weight for g in (group, others))
        error = np.maximum(np.sqrt(a + b), _FLOOR * np.sqrt(1 / group.weight + 1 / others.weight))
        # Welch and Satterthwaite's degrees of freedom; those of Student's t where nothing varies.
        spread = a * a / (group.weight - 1) + b * b / (others.weight - 1)
        plain = group.weight + others.weight - 2.0
        freedom = np.where(spread > 0, (a + b) ** 2 / np.where(spread > 0, spread, 1.0), plain)
        return np.abs(group.mean - others.mean) / error, np.maximum(freedom, 1e-9)

    return largest_contrast(data, compare)


def pearson_of_numbers(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The correlation, with its sign, of each column with numbers; constants have 0."""
    numbers = np.asarray(column_or_1d(y), dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise InputError("y must be finite numbers to be correlated with.")
    is_counted = np.ones(len(numbers), bool) if sample_weight is None else np.asarray(sample_weight) > 0
    data = labelled(X, np.zeros(len(numbers)), sample_weight)
    return correlation(data, numbers[is_counted])


def correlation(data: Labelled, numbers: FloatArray) -> FloatArray:
    """r of each column with the rows' numbers."""
    # By a power of two, which leaves all digits.
    numbers = np.ldexp(numbers, -int(np.frexp(np.abs(numbers).max(initial=0.0))[1]))
    if np.ptp(numbers) <= 2.0**-50:  # by rounding alone
        return np.zeros(data.n_columns)
    numbers = (numbers - numbers[0]) / np.ptp(numbers)  # an offset would leave no digits
    numbers = numbers - np.average(numbers, weights=data.s)
    data = replace(data, codes=np.zeros_like(data.codes), n_classes=1)
    of, has_one_value, product = moments_in_units(data, numbers)
    everything = of.all_rows(slice(None))
    size = np.sqrt(everything.squares * float(np.sum(data.s * numbers**2)))
    # Of a column that is about 1 in size.
    is_rounding = everything.squares <= 2.0**-102 * everything.weight
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((size <= 0) | is_rounding | has_one_value, 0.0, np.clip(product / size, -1.0, 1.0))


SCORES: dict[str, Callable[..., FloatArray]] = {
    "information_gain": information_gain,
    "chi2": chi2,
    "pearson": pearson,
    "signal_to_noise": signal_to_noise,
    "t": t_statistic,
}


def score_columns(name: str, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> FloatArray:
    """The scores by their name."""
    if name not in SCORES:
        raise ParameterError(f"A score must be one of {', '.join(map(repr, SCORES))}, got {name!r}.")
    return SCORES[name](X, y, sample_weight)
