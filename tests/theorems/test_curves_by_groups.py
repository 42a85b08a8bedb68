"""Curves of rows in groups: their bands are about groups, however many rows each of them has."""

import numpy as np
import pytest

from lineal.errors import InputError
from lineal.evaluation.by_groups import Groups
from lineal.evaluation.curves import calibration_curve, precision_recall_curve, roc_curve
from lineal.evaluation.curves_by_groups import GroupedCurve, _running

BANDS = {
    roc_curve: ("true_low", "true_high", "false_low", "false_high"),
    precision_recall_curve: ("precision_low", "precision_high", "recall_low", "recall_high"),
    calibration_curve: ("low", "high"),
}


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, np.clip(0.3 + 0.4 * y + rng.normal(scale=0.25, size=n), 0.01, 0.99)


def area_of(curve):
    return curve.area if hasattr(curve, "area") else curve.average_precision


@pytest.mark.parametrize("make", BANDS)
def test_copies_within_a_group_tell_nothing_new(make):
    """Every row written down 20 times, in one group with its copies, leaves every band as it was."""
    y, p = rows(60)
    options = {"bins": "uniform", "n_bins": 4} if make is calibration_curve else {}
    once = make(y, p, groups=np.arange(60), **options)
    often = make(np.repeat(y, 20), np.repeat(p, 20), groups=np.repeat(np.arange(60), 20), **options)
    for name in BANDS[make]:
        np.testing.assert_allclose(getattr(often, name), getattr(once, name), atol=1e-9, err_msg=name)
    if make is not calibration_curve:
        for end in ("low", "high"):
            # DeLong's terms have n - 1 rows of each kind in their denominators, whatever the groups are.
            assert getattr(area_of(often), end) == pytest.approx(getattr(area_of(once), end), abs=5e-3)


@pytest.mark.parametrize("make", BANDS)
def test_groups_of_one_row_are_rows(make):
    """Where each row is a group of its own, bands are those of independent rows, nearly."""
    y, p = rows(3000, 1)
    alone, plain = make(y, p, groups=np.arange(3000)), make(y, p)
    for name in BANDS[make]:
        # Student's quantile and n - 1 for n, where more than some rows are called.
        np.testing.assert_allclose(getattr(alone, name)[:-50], getattr(plain, name)[:-50], atol=0.02)
    if make is roc_curve:
        assert alone.area.interval.width == pytest.approx(plain.area.interval.width, rel=0.05)
    if make is precision_recall_curve:
        # The formula on the logit scale is wider than what resampled rows show.
        ratio = alone.average_precision.interval.width / plain.average_precision.interval.width
        assert 0.4 < ratio < 1.2


def test_sums_over_groups_by_their_definition():
    """The sums of A_g B_g of the first rows, and the variance of a rate, are those of groups added up."""
    rng = np.random.default_rng(2)
    codes, x, y = rng.integers(0, 4, 30), rng.random(30), rng.random(30)
    found = _running(codes, x, y)
    for k in (0, 1, 7, 30):
        a, b = (np.bincount(codes[:k], weights=v[:k], minlength=4) for v in (x, y))
        assert found[k] == pytest.approx(a @ b)
    labels, p = rows(40, 3)
    groups = Groups.of(np.arange(40) // 5)
    curve = GroupedCurve(groups, p, np.ones(40), labels == 1, 0.95)
    low, high = curve.shares_called(labels == 1, np.array([np.mean(p[labels == 1] >= 0.6)]), np.array([0.6]))
    hits, sizes = (np.bincount(groups.codes, weights=w) for w in ((labels == 1) & (p >= 0.6), labels == 1))
    rate = hits.sum() / sizes.sum()
    deviation = np.sqrt(8 / 7 * np.sum((hits - rate * sizes) ** 2)) / sizes.sum()
    # Student's 2.365 deviations to either side, bent by Wilson to stay within 0 and 1.
    assert high[0] - low[0] == pytest.approx(2 * 2.365 * deviation, rel=0.15)


def test_bands_of_groups_that_agree_hold_the_truth():
    """30 groups of 20 rows whose scores move together: 95 % bands by groups hold the true rate."""
    rng = np.random.default_rng(4)
    groups, n_held, n_held_by_rows, repeats = np.repeat(np.arange(30), 20), 0, 0, 200
    y = np.tile([0, 1], 300)
    for _ in range(repeats):
        scores = y + np.repeat(rng.normal(size=30), 20) + 0.5 * rng.normal(size=600)
        for is_grouped in (True, False):
            curve = roc_curve(y, scores, groups=groups if is_grouped else None)
            place = np.searchsorted(-curve.thresholds, -1.0, side="right") - 1  # half of all positives
            is_held = curve.true_low[place] <= 0.5 <= curve.true_high[place]
            n_held += is_grouped and is_held
            n_held_by_rows += (not is_grouped) and is_held
    # 200 tosses of 0.95 fall below 180 once in 500 times.
    assert n_held >= 180
    assert n_held_by_rows < 150


def test_rows_of_weight_0_and_flawless_groups():
    """A row that does not count changes nothing; a rate of 1 in few groups is as unsure as their number."""
    y, p = rows(40, 5)
    s = np.r_[np.ones(39), 0.0]
    groups = np.r_[np.arange(39) // 4, 99]
    whole = precision_recall_curve(y, p, sample_weight=s, groups=groups)
    part = precision_recall_curve(y[:39], p[:39], groups=groups[:39])
    np.testing.assert_allclose(whole.precision_low[-5:], part.precision_low[-5:])
    flawless = roc_curve(y, y.astype(float), groups=np.arange(40) // 8)
    place = int(np.argmax(flawless.true_positive_rate))
    assert flawless.true_low[place] < 0.7  # five groups: Wilson's 0.57
    with pytest.raises(InputError, match="one group for each row"):
        roc_curve(y, p, groups=[1, 2])
