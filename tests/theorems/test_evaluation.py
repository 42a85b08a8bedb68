"""What must be true of scores, intervals, tests and curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_iris

import lineal
from lineal.evaluation import (
    METRICS,
    corrected_resampled_t_test,
    delong_test,
    evaluate_predictions,
    mcnemar,
    paired_t_test,
    permutation_test,
    wilson_interval,
)
from lineal.evaluation.curves import calibration_curve, learning_curve, precision_recall_curve, roc_curve
from lineal.evaluation.predictions import read_predictions
from lineal.evaluation.resampling import MOST_UNITS, RowWeights, resample


def guesses(n=200, K=3, seed=0):
    """Labels and probabilities that know something about them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, size=n)
    Z = rng.normal(size=(n, K)) + 1.2 * np.eye(K)[codes]
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    return codes, P.argmax(axis=1), P


def numbers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.exp(rng.normal(size=n))
    return y, y * np.exp(0.4 * rng.normal(size=n))


# ---- intervals ------------------------------------------------------------------------------------


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_ends_are_where_the_score_test_turns(case):
    """|p̂ - p| = z sqrt(p (1 - p) / n) at both ends that are not 0 or 1; p̂ is inside."""
    k, n = case
    interval = wilson_interval(k, n)
    assert interval.low <= k / n <= interval.high
    for end in (interval.low, interval.high):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(
                1.959963984540054 * np.sqrt(end * (1 - end) / n), rel=1e-6
            )


def test_more_confidence_is_wider_and_more_rows_are_narrower():
    """Every interval at 99 % holds that at 80 %; four times the rows halve it, roughly."""
    few, many = (evaluate_predictions(*guesses(n)[:2], probabilities=guesses(n)[2]) for n in (400, 1600))
    sure, unsure = (
        evaluate_predictions(*guesses(400)[:2], probabilities=guesses(400)[2], confidence=c)
        for c in (0.99, 0.8)
    )
    for name in few:
        assert sure[name].low <= unsure[name].low
        assert unsure[name].high <= sure[name].high
        ratio = few[name].interval.width / many[name].interval.width
        assert 1.4 < ratio < 2.8, name


@pytest.mark.parametrize("K", [2, 3])
def test_a_flawless_sample_does_not_prove_a_flawless_model(K):
    """Where every prediction is right, each score's interval holds 1 and also values below it."""
    y = np.arange(60) % K
    found = evaluate_predictions(y, y, probabilities=np.eye(K)[y])
    for name in ("accuracy", "balanced_accuracy", "precision_macro", "f1_macro", "mcc", "roc_auc"):
        assert found[name].value == found[name].high == 1
        assert found[name].low < 0.99, name
    assert all(score.low < 0.96 for scores in found.per_class.values() for score in scores.values())


def test_resampled_sums_have_the_moments_of_sums():
    """Mean S, covariance sum f f' - S S'/n; random groups beyond MOST_UNITS keep both, within sampling."""
    rng = np.random.default_rng(0)
    for n in (500, 5 * MOST_UNITS):
        parts = rng.exponential(size=(n, 2))
        found = resample(parts, RowWeights.of(None, n), 4000, rng)
        np.testing.assert_allclose(found.sums, parts.sum(axis=0))
        wanted = np.cov(parts.T, bias=True) * n
        np.testing.assert_allclose(np.cov(found.draws.T) / wanted[0, 0], wanted / wanted[0, 0], atol=0.08)
        shift = (found.draws.mean(axis=0) - found.sums) / np.sqrt(np.diag(wanted))
        assert np.abs(shift).max() < 4 / np.sqrt(4000)


@pytest.mark.parametrize("kind", ["counts", "importance"])
def test_resampled_sums_with_weights(kind):
    """Counts: the variance of sum_i w_i f_i is sum w f², as of w rows; importance: sum w² f²."""
    rng = np.random.default_rng(1)
    parts, s = rng.normal(size=(800, 1)), rng.integers(1, 6, size=800).astype(float)
    found = resample(parts, RowWeights.of(s, 800, kind), 4000, rng)
    wanted = np.sum((s if kind == "counts" else s**2) * parts[:, 0] ** 2)
    assert found.draws.var() == pytest.approx(wanted, rel=0.1)
    assert found.sums[0] == pytest.approx(s @ parts[:, 0])


# ---- weights --------------------------------------------------------------------------------------


def test_weight_two_is_the_row_twice():
    """Values are equal to rounding, closed intervals too; bootstrapped ones to within their noise."""
    codes, said, P = guesses()
    y, z = numbers()
    s = np.random.default_rng(5).integers(0, 3, size=200)
    rows = np.repeat(np.arange(200), s)
    for weighted, repeated in (
        (
            evaluate_predictions(codes, said, probabilities=P, sample_weight=s),
            evaluate_predictions(codes[rows], said[rows], probabilities=P[rows]),
        ),
        (evaluate_predictions(y, z, sample_weight=s), evaluate_predictions(y[rows], z[rows])),
    ):
        for name in set(weighted):
            a, b = weighted[name], repeated[name]
            if name == "median_absolute_error":  # between two rows it is either, or their mean
                continue
            assert a.value == pytest.approx(b.value, rel=1e-10), name
            is_drawn = "bootstrap" in a.interval.method
            tolerance = 0.25 * b.interval.width if is_drawn else 1e-6
            np.testing.assert_allclose([a.low, a.high], [b.low, b.high], atol=tolerance, err_msg=name)


def test_quantiles_of_weights_are_those_of_repeated_rows():
    """Whole numbers of rows are rows; equal importance is none; without weights they are NumPy's."""
    rng = np.random.default_rng(2)
    values, levels = np.round(rng.normal(size=60), 1), np.linspace(0, 1, 11)
    s = rng.integers(0, 4, size=60)
    repeated = np.quantile(np.repeat(values, s), levels)
    np.testing.assert_allclose(RowWeights.of(s, 60).quantiles(values, levels), repeated, atol=1e-12)
    for kind in ("counts", "importance"):
        for weight in (0.01, 1 / 3, 0.5, 1 / 60, 0.7):  # equal ones, of any size, change nothing
            own = RowWeights.of(np.full(60, weight), 60, kind)
            np.testing.assert_allclose(own.quantiles(values, levels), np.quantile(values, levels), atol=1e-9)
    longer = calibration_curve(np.repeat(values > 0, s), np.repeat(abs(values) / 4, s), n_bins=5)
    weighted = calibration_curve(values > 0, abs(values) / 4, n_bins=5, sample_weight=s)
    np.testing.assert_allclose(weighted.observed, longer.observed)
    assert weighted.error == pytest.approx(longer.error)


@pytest.mark.parametrize("unit", [1e-100, 1e-45, 1e-40, 1e38, 1e46, 1e100])
def test_errors_in_any_unit_have_the_same_interval(unit):
    """Fourth powers of squares neither overflow nor vanish: ends scale as the score does."""
    y, z = numbers(60)
    plain, scaled = evaluate_predictions(y, z), evaluate_predictions(unit * y, unit * z, task="regression")
    for name, power in (("r2", 0), ("rmse", 1), ("mae", 1), ("mse", 2)):
        found = np.array([scaled[name].low, scaled[name].value, scaled[name].high]) / unit**power
        np.testing.assert_allclose(found, [plain[name].low, plain[name].value, plain[name].high], rtol=1e-6)


def test_equal_importance_is_none():
    """Importance weights that are all the same change no value and no closed interval."""
    codes, said, P = guesses()
    plain = evaluate_predictions(codes, said, probabilities=P)
    equal = evaluate_predictions(
        codes, said, probabilities=P, sample_weight=np.full(200, 7.0), weights="importance"
    )
    for name in ("accuracy", "balanced_accuracy", "precision_macro", "roc_auc", "log_loss", "brier"):
        np.testing.assert_allclose(
            [equal[name].low, equal[name].high], [plain[name].low, plain[name].high], rtol=1e-9
        )
    assert equal["log_loss"].value == pytest.approx(plain["log_loss"].value)


# ---- invariance -----------------------------------------------------------------------------------


def test_the_area_knows_only_the_order():
    """A rising function of the scores changes nothing; the other class gives 1 - AUC, mirrored."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    scores = rng.normal(size=80) + y
    plain = roc_curve(y, scores).area
    assert roc_curve(y, np.exp(3 * scores)).area == plain
    other = roc_curve(y, scores, positive=0).area
    np.testing.assert_allclose([other.low, other.high], [1 - plain.high, 1 - plain.low])


@pytest.mark.parametrize("metric", [name for name, m in METRICS.items() if m.task == "classification"])
def test_names_and_order_of_labels_do_not_matter(metric):
    """Renaming classes, and shuffling rows, leave every score as it is."""
    codes, said, P = guesses()
    order = np.random.default_rng(1).permutation(200)
    names = np.array(["zebra", "ant", "moth"])
    renamed = read_predictions(names[codes[order]], names[said[order]], P[order], classes=names)
    value = METRICS[metric].value(read_predictions(codes, said, P))
    assert METRICS[metric].value(renamed) == pytest.approx(value, rel=1e-12)


@given(st.integers(0, 10_000))
def test_tests_are_antisymmetric(seed):
    """Swapping the two models turns the difference and its interval around and keeps p."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 12))
    y = np.arange(12) % 2
    for test in (
        paired_t_test,
        permutation_test,
        lambda a, b: mcnemar(a > 0, b > 0),
        lambda a, b: delong_test(y, a, b),
    ):
        one, other = test(a, b), test(b, a)
        assert one.p_value == pytest.approx(other.p_value, abs=1e-12)
        assert one.difference == pytest.approx(-other.difference, abs=1e-12)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-12)


def test_compare_and_evaluate_agree_in_folds():
    """The mean over folds is that of evaluate on each fold by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    folds = [
        (np.flatnonzero(np.arange(90) % 3 != k), np.flatnonzero(np.arange(90) % 3 == k)) for k in range(3)
    ]
    models = {"a": lineal.GaussianNB(), "b": lineal.LogisticRegression()}
    found = lineal.compare(models, X, y, cv=folds, metric="log_loss")
    for name, model in models.items():
        values = [
            metrics.log_loss(y[rest], type(model)().fit(X[train], y[train]).predict_proba(X[rest]))
            for train, rest in folds
        ]
        assert found[name].value == pytest.approx(np.mean(values), rel=1e-9)


# ---- curves ---------------------------------------------------------------------------------------


def test_the_area_is_under_the_curve():
    """The trapezoids under the ROC curve add up to the area; rates lie within their intervals."""
    rng = np.random.default_rng(2)
    y = np.arange(150) % 3 == 0
    scores = np.round(rng.normal(size=150) + y, 1)
    for s in (None, rng.integers(1, 4, size=150)):
        curve = roc_curve(y, scores, sample_weight=s)
        area = np.trapezoid(curve.true_positive_rate, curve.false_positive_rate)
        assert area == pytest.approx(curve.area.value, rel=1e-12)
        assert (curve.true_low <= curve.true_positive_rate).all()
        assert (curve.false_positive_rate <= curve.false_high).all()


def test_precision_and_recall_by_counting():
    """At each threshold precision and recall are those of the rows at or above it, with Wilson's interval."""
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3 == 0
    scores = np.round(rng.normal(size=60) + y, 1)
    curve = precision_recall_curve(y, scores)
    for k, threshold in enumerate(curve.thresholds):
        said = scores >= threshold
        right = int(np.sum(said & y))
        for value, low, high, total in (
            (curve.precision, curve.precision_low, curve.precision_high, int(said.sum())),
            (curve.recall, curve.recall_low, curve.recall_high, int(y.sum())),
        ):
            interval = wilson_interval(right, total)
            np.testing.assert_allclose(
                [value[k], low[k], high[k]], [right / total, interval.low, interval.high], atol=1e-12
            )


def test_a_calibration_curve_counts_every_row_once():
    """Bins add up to all rows, their means to the mean probability and the share of positives."""
    rng = np.random.default_rng(4)
    p = rng.random(300)
    y = rng.random(300) < p
    for bins in ("quantile", "uniform"):
        curve = calibration_curve(y, p, bins=bins)
        assert curve.counts.sum() == 300
        assert curve.counts @ curve.predicted == pytest.approx(p.sum())
        assert curve.counts @ curve.observed == pytest.approx(y.sum())
        assert (curve.low <= curve.observed).all()
    assert np.ptp(calibration_curve(y, p).counts) <= 1


def test_a_learning_curve_ends_where_cross_validation_does():
    """With all training rows the held-out scores are those of compare on the same folds; sizes are nested."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    curve = learning_curve(lineal.GaussianNB(), X, y, sizes=[20, 0.5, 1.0], cv=5, metric="log_loss")
    folds = lineal.compare(
        {"a": lineal.GaussianNB(), "b": lineal.GaussianNB()}, X, y, cv=5, metric="log_loss"
    )
    np.testing.assert_allclose(curve.test_runs[:, -1], folds.runs[:, 0], rtol=1e-9)
    assert curve.sizes.tolist() == [20, 60, 120]
    assert (curve.test_low <= curve.test).all()
    assert "held out" in str(curve)


def test_an_average_precision_that_rounding_keeps_from_one_has_the_interval_of_one():
    """Sums of precisions may end a rounding error below 1; that is no reason to know nothing."""
    rng = np.random.default_rng(0)
    for n in range(3, 40):
        y = np.r_[np.zeros(n, dtype=int), np.ones(n, dtype=int)]
        scores, weights = y + 0.4 * rng.random(2 * n), 0.5 + rng.random(2 * n)
        found = precision_recall_curve(y, scores, sample_weight=weights, weights="importance")
        assert found.average_precision.low > 0.1


def test_one_pair_out_of_order_hardly_changes_the_interval_of_average_precision():
    """The ends go down with the value: 1, one pair out of order, six rows too low."""
    y = np.repeat([1, 0], [40, 200])
    scores = np.r_[np.linspace(2, 3, 40), np.linspace(0, 1, 200)]
    swapped, low = scores.copy(), scores.copy()
    swapped[0], low[:6] = 0.999, 0.9
    found = [precision_recall_curve(y, each).average_precision for each in (scores, swapped, low)]
    assert [score.value for score in found] == sorted((score.value for score in found), reverse=True)
    assert 0.92 > found[0].low > found[1].low > 0.9 > found[2].low > 0.8


def test_folds_that_all_differ_by_one_row_prove_nothing():
    """Differences that are the same in every fold vary by a row at least; so do scores that are."""
    a, b = np.full(3, 1.0), np.full(3, 0.9)
    found = corrected_resampled_t_test(a, b, n_train=20, n_test=10)
    assert found.p_value > 0.3
    assert found.interval.low < 0 < found.interval.high
    assert corrected_resampled_t_test(a, a - 0.5, n_train=200, n_test=100).p_value < 0.001
    assert corrected_resampled_t_test(a, a, n_train=20, n_test=10).p_value == 1
    tiny = corrected_resampled_t_test(1e-6 * a, 1e-6 * b, n_train=20, n_test=10)  # in another unit
    assert tiny.p_value > 0.3
    assert tiny.interval.width < 1e-5
    assert "do not vary" in tiny.note
    X, y = load_iris(return_X_y=True)
    models = {"nb": lineal.GaussianNB(), "1nn": lineal.KNeighborsClassifier(1)}
    for seed in range(12):
        result = lineal.compare(models, X, y, cv=2, random_state=seed)
        assert result.pairs[0].p_value > 0.05
        assert all(score.interval.width > 0 for score in result.scores.values())


def test_a_verdict_tells_the_difference_of_the_better_model():
    """Whoever is better, its score less the other's: the interval does not change with the order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    good, bad = lineal.LogisticRegression().fit(X, y), lineal.LogisticRegression().fit(X[:, ::-1], y)
    said = [
        lineal.compare(models, X_test=X, y_test=y, refit=False).pairs[0].verdict
        for models in ({"good": good, "bad": bad}, {"bad": bad, "good": good})
    ]
    assert said[0] == said[1]
    assert "good is better than bad" in said[0]
    assert "difference 0." in said[0]
