"""Tests of pairs of numbers, one pair for each row, fold or data set, and of two independent samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.data.targets import plain_array
from lineal.deferred import stats
from lineal.errors import InputError, ParameterError
from lineal.evaluation.distributions import chi_squared_above, fair_tosses_below, fair_tosses_chance
from lineal.evaluation.inputs import checked_confidence, differences, one_sample, two_samples
from lineal.evaluation.intervals import paired_proportions_ends, wilson_ends
from lineal.evaluation.records import Interval, Significance
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray


def t_test(
    a: ArrayLike, b: ArrayLike, *, equal_variances: bool = True, confidence: float = 0.95
) -> Significance:
    """Student's test of the means of two independent samples, or Welch's.

    t = (mean a - mean b) / (s sqrt(1/n + 1/m)), s² the pooled variance, with n + m - 2 degrees of freedom.
    For n = m this is (mean a - mean b) / (s sqrt(2/n)), s² the mean of the two variances.

    Parameters
    ----------
    a, b : numbers, such as the scores of two models in runs of their own
        If run i of one goes with run i of the other, use ``paired_t_test``.
    equal_variances : bool
        False: Welch's test.
    confidence : float

    Returns
    -------
    Significance
        With the interval of the difference, and Cohen's d.

    Examples
    --------
    >>> from lineal.evaluation import t_test
    >>> print(t_test([0.91, 0.93, 0.92, 0.94], [0.90, 0.89, 0.91, 0.90]))
    t-test of 4 and 4 numbers: t(6) = 3.273, p = 0.017; difference 0.0250 (95 % interval 0.0063 .. 0.0437); \
Cohen's d 2.315.
    """
    first, second = one_sample("a", a), one_sample("b", b)
    confidence = checked_confidence(confidence)
    sizes = len(first), len(second)
    difference = float(first.mean() - second.mean())
    pooled = ((sizes[0] - 1) * first.var(ddof=1) + (sizes[1] - 1) * second.var(ddof=1)) / (sum(sizes) - 2)
    name = "t-test" if equal_variances else "Welch's t-test"
    test = f"{name} of {sizes[0]} and {sizes[1]} numbers"
    if pooled <= _rounding(first, second):
        return _without_noise(test, difference, (float(sum(sizes) - 2),), confidence)
    found = stats.ttest_ind(first, second, equal_var=equal_variances)
    ends = found.confidence_interval(confidence)
    interval = Interval(float(ends.low), float(ends.high), confidence, "t")
    return Significance(
        *(test, float(found.statistic), float(found.pvalue), "t", (float(found.df),), difference, interval),
        effect=difference / float(np.sqrt(pooled)),
        effect_name="Cohen's d",
    )


def paired_t_test(a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95) -> Significance:
    """Student's test of the mean difference of pairs.

    For scores on the folds of a cross-validation it finds differences where there are none, because the folds
    share training rows: use ``corrected_resampled_t_test`` there.

    Parameters
    ----------
    a, b : numbers, of one length
    confidence : float

    Returns
    -------
    Significance
    """
    first, second = two_samples(a, b)
    test = f"paired t-test of {counted(len(first), 'pair')}"
    return t_of_differences(test, first, second, 1 / len(first), confidence)


def corrected_resampled_t_test(
    a: ArrayLike, b: ArrayLike, *, n_train: float, n_test: float, confidence: float = 0.95
) -> Significance:
    """The t-test for scores on J folds or random splits of the same rows (Nadeau and Bengio 2003).

    t = d / sqrt((1/J + n_test/n_train) s_d²) with J - 1 degrees of freedom. The second term makes up for
    training sets that overlap. Differences that are all the same, as shares of few rows can be by chance, are
    taken to vary by one row, s_d = 1 / n_test, or by as much as they are if that is less.

    Parameters
    ----------
    a, b : (J,) scores of two models on the same folds
    n_train, n_test : float
        Rows in one training and in one test set.
    confidence : float

    Returns
    -------
    Significance

    Examples
    --------
    >>> from lineal.evaluation import corrected_resampled_t_test
    >>> a, b = [0.81, 0.83, 0.80, 0.84, 0.82], [0.80, 0.80, 0.79, 0.82, 0.81]
    >>> print(corrected_resampled_t_test(a, b, n_train=80, n_test=20))
    corrected resampled t-test of 5 folds: t(4) = 2.667, p = 0.056; difference 0.0160 \
(95 % interval -0.000659 .. 0.0327); Cohen's d 1.789.
    """
    first, second = two_samples(a, b)
    if not (n_train > 0 and n_test > 0):
        raise ParameterError(f"n_train and n_test must be > 0, got {n_train!r} and {n_test!r}.")
    test = f"corrected resampled t-test of {counted(len(first), 'fold')}"
    return t_of_differences(
        test, first, second, 1 / len(first) + n_test / n_train, confidence, least=1 / n_test
    )


def t_of_differences(
    test: str, a: FloatArray, b: FloatArray, factor: float, confidence: float, least: float = 0.0
) -> Significance:
    """t of the mean difference, whose variance is a factor times that of one difference.

    Differences that do not vary have the deviation ``least``, if they are not 0.
    """
    confidence = checked_confidence(confidence)
    apart = a - b
    difference, deviation, freedom = float(apart.mean()), float(apart.std(ddof=1)), float(len(apart) - 1)
    note = ""
    if deviation**2 <= _rounding(a, b):
        if difference == 0 or least == 0:
            return _without_noise(test, difference, (freedom,), confidence)
        deviation, note = min(least, abs(difference)), "the differences do not vary: by one row is supposed"
    error = deviation * np.sqrt(factor)
    t = difference / error
    half = float(stats.t.ppf((1 + confidence) / 2, freedom) * error)
    return Significance(
        *(test, float(t), float(2 * stats.t.sf(abs(t), freedom)), "t", (freedom,), difference),
        Interval(difference - half, difference + half, confidence, "t"),
        difference / deviation,
        "Cohen's d",
        note,
    )


def _rounding(a: FloatArray, b: FloatArray) -> float:
    """A variance of differences that rounding alone can make."""
    return (4 * np.finfo(np.float64).eps * float(max(np.abs(a).max(), np.abs(b).max()))) ** 2


def _without_noise(
    test: str, difference: float, freedom: tuple[float, ...], confidence: float
) -> Significance:
    """Numbers that do not vary: equal, or apart for certain as far as they tell."""
    is_same = difference == 0
    interval = Interval(difference, difference, confidence, "t")
    statistic, p = (0.0, 1.0) if is_same else (float(np.copysign(np.inf, difference)), 0.0)
    note = "" if is_same else "the differences do not vary at all: check that the runs are independent"
    return Significance(test, statistic, p, "t", freedom, difference, interval, note=note)


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Significance:
    """Wilcoxon's signed-rank test of pairs; for two models on several data sets (Demšar 2006).

    Parameters
    ----------
    a, b : numbers, of one length
        Pairs that are equal, but for rounding, are left out.

    Returns
    -------
    Significance
        The effect is the rank-biserial correlation: the share of rank sum for a less the share for b.
    """
    first, second = two_samples(a, b)
    apart = differences(first, second)
    moved = apart[apart != 0]
    test = f"Wilcoxon signed-rank test of {counted(len(first), 'pair')}"
    difference = float(np.median(apart))
    if not len(moved):
        return Significance(test, 0.0, 1.0, "W", (), difference, effect=0.0, effect_name="rank correlation")
    found = stats.wilcoxon(moved, method="auto")
    ranks = stats.rankdata(np.abs(moved))
    effect = float(np.sum(ranks * np.sign(moved)) / ranks.sum())
    return Significance(
        *(test, float(found.statistic), float(found.pvalue), "W", (), difference),
        effect=effect,
        effect_name="rank correlation",
        note="at least 6 pairs are needed for p < 0.05" if len(moved) < 6 else "",
    )


def sign_test(a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95) -> Significance:
    """How often a wins against b, against a fair coin; ties are left out.

    Parameters
    ----------
    a, b : numbers, of one length
    confidence : float

    Returns
    -------
    Significance
        The statistic is the number of wins, the effect their share.
    """
    first, second = two_samples(a, b, least=1)
    confidence = checked_confidence(confidence)
    wins, losses = int(np.sum(first > second)), int(np.sum(first < second))
    n = wins + losses
    p = float(stats.binomtest(wins, n).pvalue) if n else 1.0
    low, high = wilson_ends(np.array(wins / max(n, 1)), np.array(n), confidence)
    won = wins / n if n else float("nan")
    interval = Interval(2 * float(low) - 1, 2 * float(high) - 1, confidence, "Wilson")
    return Significance(
        *(f"sign test of {counted(n, 'pair')} that differ", float(wins), p, "wins", ()),
        *(2 * won - 1 if n else 0.0, interval, won, "share of wins"),
    )


def mcnemar(
    correct_a: ArrayLike, correct_b: ArrayLike, *, method: str = "mid-p", confidence: float = 0.95
) -> Significance:
    """McNemar's test of two accuracies on the same rows.

    Only the rows count that one model has right and the other wrong: b of them for a, c for b. Under equal
    accuracies b is Binomial(b + c, 1/2).

    Parameters
    ----------
    correct_a, correct_b : (n,) bool
        Which rows each has right.
    method : "mid-p", "exact" or "chi2"
        min(1, 2 P(X <= min(b, c))) is exact, and never above its level but often below; mid-p, that less
        P(X = min(b, c)), is close to it (Fagerland 2013). "chi2" is (b - c)² / (b + c), for very many rows.
    confidence : float
        Of the interval of the difference of accuracies (Bonett and Price 2012).

    Returns
    -------
    Significance
        The statistic is b, or chi², the effect the odds ratio b / c.

    Examples
    --------
    >>> from lineal.evaluation import mcnemar
    >>> print(mcnemar([1] * 95 + [0] * 5, [1] * 85 + [0] * 10 + [1] * 2 + [0] * 3))
    McNemar's test (mid-p) on 100 rows, 12 of them decided differently: b = 10, p = 0.022; difference 0.0800 \
(95 % interval 0.0082 .. 0.1487); odds ratio 5.
    """
    first, second = (_right(name, c) for name, c in (("correct_a", correct_a), ("correct_b", correct_b)))
    if len(first) != len(second):
        raise InputError(
            f"correct_a has {len(first)} rows and correct_b {len(second)}: they must be the same."
        )
    if method not in ("mid-p", "exact", "chi2"):
        raise ParameterError(f"method must be 'mid-p', 'exact' or 'chi2', got {method!r}.")
    confidence, n = checked_confidence(confidence), len(first)
    only_a, only_b = int(np.sum(first & ~second)), int(np.sum(~first & second))
    ends = paired_proportions_ends(only_a, only_b, n, confidence)
    odds = only_a / only_b if only_b else float("inf" if only_a else "nan")
    apart = counted(only_a + only_b, "of them", "of them")
    is_chi2 = method == "chi2"
    return Significance(
        f"McNemar's test ({method}) on {counted(n, 'row')}, {apart} decided differently",
        (only_a - only_b) ** 2 / max(only_a + only_b, 1) if is_chi2 else float(only_a),
        mcnemar_p(only_a, only_b, method),
        "chi²" if is_chi2 else "b",
        difference=(only_a - only_b) / n,
        interval=Interval(*ends, confidence, "Bonett-Price"),
        effect=odds,
        effect_name="odds ratio",
    )


def mcnemar_p(only_a: int, only_b: int, method: str) -> float:
    """The p-value from the two counts of discordant rows."""
    n, least = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    if method == "chi2":
        return chi_squared_above((only_a - only_b) ** 2 / n)
    p = 2 * fair_tosses_below(least, n)
    if method == "mid-p":
        p -= fair_tosses_chance(least, n)
    return min(1.0, p)


def _right(name: str, correct: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    array = plain_array(correct)
    if array.ndim != 1 or not len(array):
        raise InputError(f"{name} must be a list of true and false, got an array of shape {array.shape}.")
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must say for each row whether it is right: True or False, 1 or 0.")
    return array.astype(bool)
