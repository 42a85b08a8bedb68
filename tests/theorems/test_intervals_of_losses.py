"""What must be true of the intervals of means over skewed rows, of their ratios and of sums of gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal.evaluation import evaluate_predictions
from lineal.evaluation.gap_sums import Bins, _chances, _likeliest, _rooms, gap_sum_ends
from lineal.evaluation.resampling import RowWeights
from lineal.evaluation.skewed_means import UNSEEN_BY_RATIO, _undone, mean_ends, ratio_ends


def plain(n):
    return RowWeights.of(None, n)


def skewed(n=60, seed=0):
    return np.exp(1.2 * np.random.default_rng(seed).normal(size=n))


def some_bins(seed=0, m=6):
    rng = np.random.default_rng(seed)
    size = rng.integers(5, 60, size=m).astype(float)
    right = rng.binomial(size.astype(int), 0.8) / size
    return Bins(size / size.sum(), rng.uniform(0.5, 1.0, size=m), right, size)


def right_by_chance(confidence, accuracy, rng):
    """Rows of two classes, predicted with these confidences and right with these chances."""
    is_right = rng.random(len(confidence)) < accuracy
    truth = np.where(is_right, 1, 0)
    P = np.column_stack([1 - confidence, confidence])
    return evaluate_predictions(truth, np.ones_like(truth), probabilities=P, classes=[0, 1], n_resamples=10)


# ---- means ----------------------------------------------------------------------------------------


@given(st.floats(-6, 6), st.floats(-1, 1))
def test_halls_transformation_is_undone(z, skewness):
    """t + g t²/3 + g² t³/27 + g/6 of the t found is z, and t rises with z."""
    t = _undone(z, skewness)
    # Below 1e-6 the skewness is taken as 0, which leaves g t²/3.
    assert t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6 == pytest.approx(z, abs=2e-5)
    assert _undone(z + 0.1, skewness) > t


@given(st.integers(0, 50), st.floats(0.01, 100), st.floats(-5, 5))
def test_ends_of_a_mean_move_with_the_numbers(seed, scale, shift):
    """The ends of a + b x are those of x, moved; those of -x are mirrored; the mean is inside."""
    x = skewed(seed=seed)
    low, high = mean_ends(x, plain(60), 0.95)
    assert low < x.mean() < high
    moved = mean_ends(shift + scale * x, plain(60), 0.95)
    np.testing.assert_allclose(moved, (shift + scale * low, shift + scale * high), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(mean_ends(-x, plain(60), 0.95), (-high, -low), rtol=1e-9)


def test_many_normal_rows_have_the_usual_interval():
    """The mean ± 1.96 s/sqrt(n), as corrections vanish with the rows."""
    x = np.random.default_rng(0).normal(size=100_000)
    half = 1.96 * x.std() / np.sqrt(len(x))
    # 0.1 %: what skewness, kurtosis and one row more make of 100,000 normal rows.
    np.testing.assert_allclose(
        mean_ends(x, plain(len(x)), 0.95), (x.mean() - half, x.mean() + half), atol=1e-3 * half
    )


def test_a_skewed_sample_reaches_further_up():
    """The rows that are missing from a sample are the large ones: the upper end is further from the mean."""
    x = skewed()
    low, high = mean_ends(x, plain(60), 0.95)
    assert high - x.mean() > 1.5 * (x.mean() - low)


def test_rows_that_do_not_differ_and_single_rows():
    """The interval of rows that are all alike is a point; one row does not say how rows differ."""
    assert mean_ends(np.full(9, 0.3), plain(9), 0.95) == pytest.approx((0.3, 0.3))
    assert np.isnan(mean_ends(np.ones(1), plain(1), 0.95)).all()


@pytest.mark.parametrize("n", [200, 1000])
def test_means_of_rare_losses_are_held(n):
    """Where one row in a hundred is wrong, 95 % intervals hold the true log loss in 93 to 98 % of samples."""
    rng = np.random.default_rng(n)
    margins = 4 * (2.33 + rng.normal(size=(1500, n)))
    truth = np.logaddexp(0, -4 * (2.33 + rng.normal(size=2_000_000))).mean()
    ends = np.array([mean_ends(losses, plain(n), 0.95) for losses in np.logaddexp(0, -margins)])
    # Three standard errors of 1,500 samples are 1.7 points, about 94.5 and 96 %.
    assert 0.925 < np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) < 0.98


def test_squares_of_skewed_errors_are_held():
    """Where few rows hold most of the squared error, 1,000 rows hold its mean in 94 % of samples."""
    rng = np.random.default_rng(3)
    sizes, turns = np.exp(0.6 * rng.normal(size=(1500, 1000))), np.exp(0.3 * rng.normal(size=(1500, 1000)))
    # E[y²] E[(r - 1)²] of the log-normal y and r.
    truth = np.exp(2 * 0.36) * (np.exp(2 * 0.09) - 2 * np.exp(0.5 * 0.09) + 1)
    squares = (sizes * (turns - 1)) ** 2
    ends = np.array([mean_ends(row, plain(1000), 0.95) for row in squares])
    # 93.5 to 96.5 %, and three standard errors of 1,500 samples.
    assert 0.918 < np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) < 0.982


def test_a_bound_says_what_a_row_not_seen_can_add():
    """Brier scores of 60 rows without an error reach as far as one error would, not to a point."""
    low, high = mean_ends(np.zeros(60), plain(60), 0.95, most=1.0)
    assert low == 0
    assert 0.5 / 60 < high < 3 / 60
    x = np.random.default_rng(0).random(80)
    assert mean_ends(x, plain(80), 0.95, most=1.0)[1] <= mean_ends(x, plain(80), 0.95, most=9.0)[1]
    once, again = (
        mean_ends(x, RowWeights.of(unit * x, 80, "importance"), 0.95, most=1.0) for unit in (1.0, 50.0)
    )
    assert again == pytest.approx(once)


@pytest.mark.parametrize("n", [100, 200])
def test_brier_scores_with_hardly_an_error_are_held(n):
    """Where one row in a hundred is wrong, the bound of 1 keeps intervals from being too short."""
    rng = np.random.default_rng(n)
    chances = 1 / (1 + np.exp(4 * (2.33 + rng.normal(size=(1500, n)))))
    truth = np.mean(1 / (1 + np.exp(4 * (2.33 + rng.normal(size=2_000_000)))) ** 2)
    ends = np.array([mean_ends(row, plain(n), 0.95, most=1.0) for row in chances**2])
    # At least 93.5 %, less three standard errors of 1,500 samples.
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) > 0.918


# ---- ratios ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["counts", "importance"])
def test_ends_of_a_ratio_are_where_the_mean_turns(kind):
    """At each end r, the interval of the mean of top - r bottom ends at 0."""
    weights = RowWeights.of(np.random.default_rng(1).integers(1, 4, size=80), 80, kind)
    top, bottom = skewed(80, 2), skewed(80, 3)
    low, high = ratio_ends(top, bottom, weights, 0.9)
    assert low < weights.s @ top / (weights.s @ bottom) < high
    for side, end in enumerate((low, high)):
        ends = mean_ends(top - end * bottom, weights, 0.9, unseen=UNSEEN_BY_RATIO)
        assert ends[side] == pytest.approx(0, abs=1e-8)


def test_r2_does_not_know_the_unit():
    """The interval of R² is the same for a y + b, and within (-inf, 1]."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    said = y + 0.3 * rng.normal(size=50)
    first, other = (evaluate_predictions(a * y + b, a * said + b)["r2"] for a, b in ((1, 0), (1000, -7)))
    assert first.low < first.value < first.high <= 1
    np.testing.assert_allclose([other.low, other.high], [first.low, first.high], rtol=1e-6)


def test_r2_of_flawless_and_of_very_few_rows():
    """Predictions without error have the point 1; three rows do not bound R² from below."""
    y = np.arange(20) + 0.5
    assert evaluate_predictions(y, y)["r2"].interval.width == 0
    assert evaluate_predictions([0.0, 1.5, 9.0], [0.5, 1.0, 7.0])["r2"].low == -np.inf


# ---- sums of gaps ---------------------------------------------------------------------------------


@given(st.integers(0, 50), st.floats(0.05, 2.0))
def test_the_likeliest_gaps_of_a_sum(seed, part):
    """They have that sum, and no others of the same sum are nearer to those seen, in deviations."""
    bins, rng = some_bins(seed), np.random.default_rng(seed)
    seen, variances = np.abs(bins.gaps), bins.variances()
    total = part * seen.sum()
    rooms = (0.5 + rng.random(len(seen))) * (seen + total / len(seen))
    rooms *= max(1.0, 1.01 * total / rooms.sum())
    best = _likeliest(seen, variances, rooms, total)
    assert best.sum() == pytest.approx(total)
    assert (best >= 0).all()
    assert (best <= rooms * (1 + 1e-12)).all()
    for _ in range(20):
        # A step that keeps the sum and leads to another point with room.
        other = np.clip(best + 0.1 * rng.normal(size=len(best)) * seen.max(), 0, rooms)
        other = best + (other - best) - (other - best).mean()
        if (other < 0).any() or (other > rooms).any():
            continue
        assert np.sum((best - seen) ** 2 / variances) <= np.sum((other - seen) ** 2 / variances) + 1e-9


def test_chances_stay_chances():
    """A gap that would need more than all rows to be right is taken the other way, at its size."""
    bins = Bins(np.array([0.5, 0.5]), np.array([0.9, 0.6]), np.array([1.0, 0.7]), np.array([10.0, 5.0]))
    chances = _chances(bins, np.array([[0.1, 0.1]]))
    np.testing.assert_allclose(chances, [[0.7, 0.8]])
    np.testing.assert_allclose(_rooms(bins, bins.variances()), [0.45, 0.3])
    many = Bins(bins.share, bins.confidence, bins.right, 100 * bins.size)  # which are surely not below
    np.testing.assert_allclose(_rooms(many, many.variances()), [0.05, 0.2])


@pytest.mark.parametrize(("accuracy", "low", "high"), [(1.0, 0.3, 0.4), (0.0, 0.6, 0.9)])
def test_models_that_are_always_right_or_wrong_hold_their_own_gap(accuracy, low, high):
    """The value seen is the true one if the model is so always: it is the upper end, the lower is near."""
    confidence = np.linspace(low, high, 300)
    found = right_by_chance(confidence, accuracy, np.random.default_rng(0))["calibration_error"]
    assert found.value == pytest.approx(abs(accuracy - confidence.mean()))
    assert found.high == pytest.approx(found.value)
    assert 0.003 < found.value - found.low < 0.02  # 0.99^300 is 5 %


@pytest.mark.parametrize(("low", "high", "accuracy"), [(0.3, 0.4, 0.995), (0.2, 0.8, 0.98)])
def test_the_gap_of_models_far_from_their_confidence_is_held(low, high, accuracy):
    """Also where a bin cannot be further out than it is, as all its rows are right."""
    confidence, rng = np.linspace(low, high, 300), np.random.default_rng(1)
    ends = [right_by_chance(confidence, accuracy, rng)["calibration_error"].interval for _ in range(120)]
    truth = abs(accuracy - confidence).mean()
    # At least 93.5 %, less three standard errors of 120 samples.
    assert np.mean([end.low - 1e-9 <= truth <= end.high + 1e-9 for end in ends]) > 0.867


def test_bins_without_errors_leave_doubt():
    """Rows that are all right, with a confidence of 1, have an error of 0 and an interval that goes on."""
    found = right_by_chance(np.ones(60), 1.0, np.random.default_rng(0))["calibration_error"]
    assert found.value == found.low == 0
    assert found.high > 0.02


def test_more_rows_narrow_the_sum_of_gaps():
    """With 100 times the rows in the same bins, the interval closes in on the sum seen."""
    bins = some_bins()
    many = Bins(bins.share, bins.confidence, bins.right, 1e4 * bins.size)
    seen = np.abs(bins.gaps).sum()
    few_ends, many_ends = (gap_sum_ends(b, 0.95, np.random.default_rng(0)) for b in (bins, many))
    np.testing.assert_allclose(many_ends, seen, rtol=0.05)
    assert few_ends[0] < many_ends[0] < many_ends[1] < few_ends[1]


def test_counts_of_errors_forbid_95_percent_of_a_gap_that_is_less_than_a_row():
    """Models with 1.98 and 2.94 errors in 200 rows that expect 2.46 have the same calibration error.

    Numbers of errors for which it is not held, few or many, are rarer than 3.5 % or more frequent than 6.5 %
    with one of the two models, whatever numbers they are: 95 % cannot be kept to 1.5 points with both.
    """
    counts = np.arange(40)
    log_factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    chances = [np.exp(-m + counts * np.log(m) - log_factorials) for m in (1.98, 2.94)]
    left_out = [(few, many) for few in range(8) for many in range(few + 1, 40)]
    for few, many in left_out:
        missed = [own[:few].sum() + own[many:].sum() for own in chances]
        assert not all(0.035 <= rate <= 0.065 for rate in missed)


@pytest.mark.slow
def test_a_gap_in_one_bin_is_held_in_nine_of_ten_samples():
    """Where one of ten bins has the whole gap, about as large as the noise of all, 95 % intervals hold 92 %.

    The sum alone does not tell how gaps are spread; those that are spread over all bins are held in 97 %.
    """
    rng, size = np.random.default_rng(0), np.full(10, 30.0)
    confidence = np.linspace(0.45, 0.95, 10)
    chance = confidence - 0.3 * (np.arange(10) == 4)
    held = 0
    for _ in range(400):
        bins = Bins(size / 300, confidence, rng.binomial(30, chance) / 30, size)
        low, high = gap_sum_ends(bins, 0.95, rng)
        held += low <= 0.03 <= high
    assert 0.878 < held / 400 < 0.96  # three standard errors about 92 %


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.02, 0.1])
def test_calibration_errors_are_held(apart):
    """Where accuracy is the confidence less the same everywhere, 95 % intervals hold that difference."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        confidence = rng.uniform(0.55, 0.95, size=400)
        held += apart in right_by_chance(confidence, confidence - apart, rng)["calibration_error"].interval
    assert 0.917 < held / 400 < 0.983  # three standard errors
