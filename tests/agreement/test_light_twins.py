"""What the command line does without scikit-learn and SciPy's statistics is what they do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats
from sklearn import metrics
from sklearn.model_selection import KFold, StratifiedKFold

from lineal.data.dealing import dealt, dealt_by_label, parted
from lineal.evaluation.distributions import (
    POISSON_LEVELS,
    chi_squared_above,
    fair_tosses_below,
    fair_tosses_chance,
    normal_below,
    normal_quantile,
    ranks,
    root_between,
)
from lineal.evaluation.thresholds import average_precision, precision_recall_points, roc_points
from lineal.learners.calibration import lowest_between

seeds = st.integers(0, 2**31 - 1)


def same_folds(ours, theirs):
    theirs = list(theirs)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert_array_equal(own[0], other[0])
        assert_array_equal(own[1], other[1])


@given(st.integers(2, 6), st.integers(0, 60), seeds)
def test_rows_are_dealt_as_kfold_deals_them(n_folds, n_more, seed):
    """The folds of n rows are KFold's with the same seed, row for row."""
    rows = np.zeros(n_folds + n_more)
    same_folds(
        parted(dealt(len(rows), n_folds, seed), n_folds),
        KFold(n_folds, shuffle=True, random_state=seed).split(rows),
    )


@pytest.mark.filterwarnings("ignore:The least populated class")
@given(st.integers(2, 5), st.lists(st.integers(0, 4), min_size=2, max_size=40), seeds)
def test_labels_are_dealt_as_stratified_kfold_deals_them(n_folds, labels, seed):
    """The folds of labelled rows are StratifiedKFold's with the same seed, also where labels are rare."""
    codes = np.unique(labels + [0] * n_folds, return_inverse=True)[1]
    theirs = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    same_folds(parted(dealt_by_label(codes, n_folds, seed), n_folds), theirs.split(codes, codes))


# Weights are multiples of 1/2, whose sums are exact: which points lie on a line does not depend on rounding.
weighed = st.lists(
    st.tuples(st.booleans(), st.integers(-9, 9), st.integers(0, 6)), min_size=1, max_size=40
).map(lambda rows: [(True, 0, 2), (False, 1, 1), *rows])


@given(weighed)
def test_thresholds_are_counted_as_scikit_learn_counts_them(rows):
    """ROC points, precision, recall and average precision of weighed rows are scikit-learn's."""
    is_positive, scores, s = (np.array(column) for column in zip(*rows, strict=True))
    scores, s = scores / 4.0, s / 2.0
    precision, recall, thresholds = metrics.precision_recall_curve(
        is_positive, scores, sample_weight=s, drop_intermediate=True
    )
    pairs = [
        (roc_points, metrics.roc_curve(is_positive, scores, sample_weight=s)),
        (precision_recall_points, (precision[:-1], recall[:-1], thresholds)),  # (1, 0) has no threshold
    ]
    for points, theirs in pairs:
        for own, other in zip(points(is_positive, scores, s), theirs, strict=True):
            assert own.shape == other.shape
            assert_allclose(own, other, rtol=1e-12)  # quotients of the same sums
    theirs = metrics.average_precision_score(is_positive, scores, sample_weight=s)
    assert_allclose(average_precision(is_positive, scores, s), theirs, rtol=1e-12)


# ---- distributions: SciPy and the functions here round differently, by some parts in 1e13 ----------------


@given(st.floats(1e-12, 1 - 1e-12), st.floats(-30, 30), st.floats(0, 600))
def test_normal_chances_are_scipys(level, z, x):
    """Quantiles and tails of the normal and of its square agree with SciPy's, far out too."""
    assert math.isclose(normal_quantile(level), stats.norm.ppf(level), rel_tol=1e-11, abs_tol=1e-14)
    assert math.isclose(normal_below(z), stats.norm.cdf(z), rel_tol=1e-11)
    assert math.isclose(chi_squared_above(x), stats.chi2.sf(x, 1), rel_tol=1e-11)


def test_quantiles_of_certainty_are_infinite():
    """Nothing is below the quantile of 0 and everything is below that of 1."""
    assert (normal_quantile(0.0), normal_quantile(1.0)) == (-math.inf, math.inf)


@given(st.integers(1, 60_000), st.floats(0, 0.5))
def test_fair_tosses_are_scipys(n, share):
    """Chances of k heads, and of at most k, in n tosses agree with SciPy's up to half of n."""
    k = int(share * n)
    # lgamma has 16 digits of numbers up to 1e6, so that its exponential has 10.
    assert math.isclose(fair_tosses_chance(k, n), stats.binom.pmf(k, n, 0.5), rel_tol=1e-9, abs_tol=1e-300)
    assert math.isclose(fair_tosses_below(k, n), stats.binom.cdf(k, n, 0.5), rel_tol=1e-9, abs_tol=1e-300)


def test_poisson_levels_are_scipys():
    """The levels of Poisson(1) agree with SciPy's to rounding."""
    assert_allclose(POISSON_LEVELS, stats.poisson.cdf(np.arange(20), 1.0), rtol=1e-14)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_ranks_are_scipys(values):
    """Equal values share the mean of their places; columns are ranked one by one."""
    column = np.array(values) / 2.0
    assert_array_equal(ranks(column), stats.rankdata(column))
    both = np.column_stack([column, -column])
    assert_array_equal(ranks(both), stats.rankdata(both, axis=0))


@given(st.floats(0.01, 0.99), st.booleans())
def test_roots_are_found(root, is_rising):
    """Halving ends beside the root that Brent's method finds."""

    def cubic(x):
        return (1 if is_rising else -1) * (x**3 - root**3)

    assert math.isclose(root_between(cubic, 0.0, 1.0), optimize.brentq(cubic, 0.0, 1.0), abs_tol=4e-12)


@given(st.floats(-12, 12), st.floats(0.1, 5), st.floats(1.2, 3))
def test_lowest_points_are_scipys(valley, height, power):
    """A valley is found as closely as by SciPy's bounded search, also where it lies outside."""

    def function(x):
        return height * abs(x - valley) ** power

    theirs = optimize.minimize_scalar(function, bounds=(-10, 10), method="bounded").x
    nearest = min(max(valley, -10.0), 10.0)
    assert abs(lowest_between(function, -10.0, 10.0) - nearest) <= max(2e-5, 2 * abs(theirs - nearest))
