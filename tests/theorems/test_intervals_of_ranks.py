"""What must be true of the intervals of areas under ROC curves and of medians."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lineal.evaluation.auc import binary_area, macro_area
from lineal.evaluation.distributions import fair_tosses_below, normal_below
from lineal.evaluation.intervals import median_ends
from lineal.evaluation.resampling import RowWeights


def plain(n):
    return RowWeights.of(None, n)


def held(truth, intervals):
    """The share of intervals that hold the truth."""
    ends = np.array(intervals)
    return np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


# ---- areas ----------------------------------------------------------------------------------------


def rows_far_out(m, n, apart, share, rng):
    """Scores of m positives, a share of which is scored as if they were negative, and of n negatives."""
    lifted = apart * (rng.random(m) >= share)
    return np.concatenate([lifted + rng.normal(size=m), rng.normal(size=n)])


@pytest.mark.parametrize(
    ("m", "n", "apart", "share"),
    [
        (100, 100, 4.66, 0.0),
        (30, 70, 1.5, 0.0),
        (30, 270, 4.0, 0.02),
        (100, 100, 6.0, 0.01),
        (50, 50, 4.0, 0.02),
    ],
)
def test_areas_are_held_whether_or_not_rows_are_far_out(m, n, apart, share):
    """95 % intervals hold the true area, also where one row in fifty has most of the misordered pairs.

    Samples without such a row look like those of a model that never has one: an interval from the variance
    seen holds the area of 30 and 270 rows in 6 of 10 samples.
    """
    rng, is_positive = np.random.default_rng(m + n), np.arange(m + n) < m
    truth = (1 - share) * normal_below(apart / np.sqrt(2)) + share / 2
    ends = []
    for _ in range(1500):
        found = binary_area(rows_far_out(m, n, apart, share, rng), is_positive, plain(m + n)).interval(0.95)
        ends.append((found.low, found.high))
    # 93.5 to 97 %, and three standard errors of 1,500 samples: misses are above only, or on both sides.
    assert 0.918 < held(truth, ends) < 0.983


def test_many_rows_have_the_usual_interval_of_an_area():
    """The area ± 1.96 of DeLong's deviations, as a row more is nothing beside many."""
    rng, is_positive = np.random.default_rng(0), np.arange(100_000) < 40_000
    area = binary_area(is_positive + rng.normal(size=100_000), is_positive, plain(100_000))
    half, found = 1.96 * np.sqrt(area.seen), area.interval(0.95)
    # 1 %: Wilson's ends of a share of 0.76 differ by 0.6 %, and the rows not seen add less.
    usual = (area.value - half, area.value + half)
    np.testing.assert_allclose((found.low, found.high), usual, atol=0.01 * half)


def test_a_flawless_order_leaves_room_for_a_row_of_each_class():
    """No pair misordered: the lower end is below what a row of the rarer class half way out would make."""
    for m, n in ((10, 90), (30, 70), (100, 100)):
        found = binary_area(np.arange(m + n, dtype=float), np.arange(m + n) >= n, plain(m + n)).interval(0.95)
        assert found.high == 1
        assert 1 - 4 / m < found.low < 1 - 0.5 / m


@given(st.integers(0, 30), st.sampled_from([0.0, 1.0, 4.0]))
def test_two_classes_are_the_mean_of_two_equal_areas(seed, apart):
    """The mean area of both classes against each other is the area, and so is its interval."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(60) < 20).astype(int)
    scores = apart * codes + rng.normal(size=60)
    weights = RowWeights.of(rng.uniform(0.5, 2, size=60), 60, "importance")
    one = binary_area(scores, codes == 1, weights).interval(0.95)
    both = macro_area(np.column_stack([-scores, scores]), codes, weights).interval(0.95)
    assert (both.low, both.high) == pytest.approx((one.low, one.high))


# ---- medians --------------------------------------------------------------------------------------


@given(st.integers(8, 200), st.data())
def test_whole_ranks_have_the_confidence_of_fair_tosses(n, data):
    """With the chance of d to n - d heads as confidence, the ends are the d-th rows from below and above."""
    d = data.draw(st.integers(1, n // 3))
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    chance = 1 - 2 * fair_tosses_below(d - 1, n)
    assume(chance < 1 - 1e-9)  # beyond that, differences of confidences are rounding
    assert median_ends(values, np.ones(n), n, chance) == pytest.approx((d, n + 1 - d), abs=1e-6)
    if d > 1 and (wider := 1 - 2 * fair_tosses_below(d - 2, n)) < 1 - 1e-9:
        low, high = median_ends(values, np.ones(n), n, 0.5 * (chance + wider))
        assert d - 1 < low < d
        assert high == pytest.approx(n + 1 - low)


@given(st.integers(1, 60), st.floats(0.05, 0.999))
def test_ends_of_a_median_hold_it_and_turn_with_the_numbers(n, confidence):
    """The median is between its ends; those of -x are mirrored; a row twice is a weight of 2."""
    rng = np.random.default_rng(n)
    x, counts = rng.exponential(size=n), rng.integers(1, 4, size=n)
    low, high = median_ends(x, np.ones(n), n, confidence)
    assert low <= np.median(x) + 1e-12
    assert np.median(x) <= high + 1e-12
    assert median_ends(-x, np.ones(n), n, confidence) == pytest.approx((-high, -low))
    total = int(counts.sum())
    longer = median_ends(np.repeat(x, counts), np.ones(total), total, confidence)
    assert median_ends(x, counts.astype(float), total, confidence) == pytest.approx(longer)


def test_five_rows_have_no_interval_within_them():
    """The least and the greatest of five rows hold the median in 94 % of samples: no rows hold it in more."""
    x = np.array([3.0, 1.0, 9.0, 4.0, 2.0])
    assert median_ends(x, np.ones(5), 5, 0.95) == (1.0, 9.0)


@pytest.mark.parametrize("n", [11, 40, 100])
@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_medians_are_held(n, power):
    """95 % intervals hold the median in 95 % of samples, whatever the shape: powers of uniform numbers."""
    rng = np.random.default_rng(n)
    ends = [median_ends(row, np.ones(n), n, 0.95) for row in rng.random((3000, n)) ** power]
    # A point for the shape, three standard errors of 3,000 samples are 1.2 points.
    assert 0.928 < held(0.5**power, ends) < 0.972
