"""Two roads to one number: our tests and intervals against SciPy, statsmodels' formulas, and definitions."""

from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.metrics import roc_auc_score

from lineal.evaluation import (
    bootstrap_interval,
    bootstrap_test,
    corrected_resampled_t_test,
    delong_test,
    evaluate_predictions,
    evaluate_ranking,
    friedman,
    holm,
    mcnemar,
    nemenyi,
    paired_t_test,
    permutation_test,
    sign_test,
    t_test,
    wilcoxon,
    wilson_interval,
)
from lineal.evaluation.auc import binary_area, macro_area
from lineal.evaluation.influence import rank_correlation
from lineal.evaluation.resampling import RowWeights

SEEDS = pytest.mark.parametrize("seed", range(3))


def pairs(seed, n=40):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return a, a + rng.normal(size=n) * 0.5 + 0.1


# ---- tests of pairs -------------------------------------------------------------------------------


@SEEDS
def test_t_tests_are_scipys(seed):
    """Statistic, p, df and interval are those of ttest_ind (Student, Welch) and ttest_rel."""
    a, b = pairs(seed)
    for ours, theirs in (
        (t_test(a, b[:30]), stats.ttest_ind(a, b[:30])),
        (t_test(a, b[:30], equal_variances=False), stats.ttest_ind(a, b[:30], equal_var=False)),
        (paired_t_test(a, b), stats.ttest_rel(a, b)),
    ):
        ends = theirs.confidence_interval(0.95)
        got = (ours.statistic, ours.p_value, *ours.degrees_of_freedom, ours.interval.low, ours.interval.high)
        want = (theirs.statistic, theirs.pvalue, theirs.df, ends.low, ends.high)
        np.testing.assert_allclose(got, want, rtol=1e-11)


@SEEDS
def test_the_corrected_t(seed):
    """t = d / sqrt((1/J + n_test/n_train) s²), J - 1 degrees of freedom; n_test = 0 would be the paired t."""
    a, b = pairs(seed, 10)
    apart = a - b
    t = apart.mean() / np.sqrt((1 / 10 + 1 / 9) * apart.var(ddof=1))
    ours = corrected_resampled_t_test(a, b, n_train=90, n_test=10)
    np.testing.assert_allclose([ours.statistic, ours.p_value], [t, 2 * stats.t.sf(abs(t), 9)], rtol=1e-12)
    near = corrected_resampled_t_test(a, b, n_train=1, n_test=1e-14)
    assert near.p_value == pytest.approx(paired_t_test(a, b).p_value, rel=1e-9)


@SEEDS
def test_wilcoxon_is_scipys(seed):
    """W and p are those of scipy.stats.wilcoxon on the pairs that differ."""
    a, b = pairs(seed, 25)
    b[:5] = a[:5]
    theirs = stats.wilcoxon(a[5:] - b[5:])
    ours = wilcoxon(a, b)
    assert (ours.statistic, ours.p_value) == (theirs.statistic, theirs.pvalue)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (3, 9), (12, 12), (40, 22)])
def test_mcnemar_by_counting(b, c):
    """Exact: 2 P(Bin(b + c, 1/2) <= min) by coefficients; mid-p: less P(= min); none discordant: 1."""
    right = np.array([1] * b + [0] * c + [1] * 30)
    other = np.array([0] * b + [1] * c + [1] * 30)
    n, least = b + c, min(b, c)
    tail, point = sum(comb(n, i) for i in range(least + 1)) / 2**n, comb(n, least) / 2**n
    exact, mid = (mcnemar(right, other, method=m) for m in ("exact", "mid-p"))
    assert exact.p_value == pytest.approx(min(1.0, 2 * tail) if n else 1.0, abs=1e-13)
    assert mid.p_value == pytest.approx(min(1.0, 2 * tail - point) if n else 1.0, abs=1e-13)
    assert exact.difference == pytest.approx((b - c) / len(right))


@SEEDS
def test_mcnemar_is_the_sign_test_and_the_permutation_test(seed):
    """On right and wrong the exact McNemar, sign and exact permutation tests are one test."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, 30)) < 0.7
    p = mcnemar(a, b, method="exact").p_value
    assert sign_test(a.astype(int), b.astype(int)).p_value == pytest.approx(p, abs=1e-13)
    swaps = permutation_test(a.astype(int), b.astype(int), n_permutations=2**22)
    assert "exact" in swaps.test
    assert swaps.p_value == pytest.approx(p, abs=1e-13)


@SEEDS
def test_permutations_counted(seed):
    """The exact test is the share of all 2^n sign patterns with a mean as far from 0; sampling comes near."""
    a, b = pairs(seed, 10)
    apart = a - b
    means = np.array([np.mean(apart * signs) for signs in product((1, -1), repeat=10)])
    want = np.mean(np.abs(means) >= abs(apart.mean()) - 1e-12)
    assert permutation_test(a, b).p_value == pytest.approx(want, abs=1e-14)
    sampled = permutation_test(a, b, n_permutations=1000).p_value
    assert abs(sampled - want) < 5 * np.sqrt(want * (1 - want) / 1000) + 0.002


def test_the_bootstrap_of_a_mean():
    """The bootstrap's interval is the mean ± 1.96 s/sqrt(n), and its p the normal one, for many pairs."""
    a, b = pairs(0, 500)
    apart = a - b
    ours = bootstrap_test(a, b, n_resamples=10_000)
    error = apart.std() / np.sqrt(500)
    half = 1.96 * error
    assert ours.interval.low == pytest.approx(apart.mean() - half, abs=0.06 * error)
    assert ours.interval.high == pytest.approx(apart.mean() + half, abs=0.06 * error)
    weaker = bootstrap_test(a, a - 0.8 * error + apart - apart.mean(), n_resamples=10_000)
    assert weaker.p_value == pytest.approx(2 * stats.norm.sf(0.8), abs=0.02)


def test_bootstrap_interval_is_scipys():
    """BCa and percentile intervals of any statistic are scipy.stats.bootstrap's with the same numbers."""
    sample = np.random.default_rng(1).exponential(size=60)
    for method in ("BCa", "percentile"):
        theirs = stats.bootstrap(
            (sample,),
            np.median,
            method=method,
            n_resamples=300,
            vectorized=False,
            random_state=np.random.default_rng(5),
        )
        ours = bootstrap_interval(sample, np.median, method=method, n_resamples=300, random_state=5)
        assert (ours.low, ours.high) == tuple(theirs.confidence_interval)


# ---- several --------------------------------------------------------------------------------------


def test_holm_by_its_steps():
    """The i-th smallest of m is compared with level/(m - i + 1), until one is not below it."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(6) ** 3
        corrected = holm(p)
        for level in (0.01, 0.05, 0.3):
            order, rejected = np.argsort(p), set()
            for i, place in enumerate(order):
                if p[place] > level / (6 - i):
                    break
                rejected.add(place)
            assert rejected == set(np.flatnonzero(corrected <= level))


@SEEDS
def test_friedman_is_scipys(seed):
    """chi² is scipy's, with and without ties; without ties it is 12N/(k(k+1)) (sum R² - k(k+1)²/4)."""
    scores = np.random.default_rng(seed).normal(size=(12, 4))
    ours, theirs = friedman(scores), stats.friedmanchisquare(*scores.T)
    np.testing.assert_allclose([ours.chi_squared, ours.chi_squared_p], [*theirs], rtol=1e-11)
    ranks = ours.mean_ranks
    assert ours.chi_squared == pytest.approx(12 * 12 / 20 * (np.sum(ranks**2) - 4 * 25 / 4), rel=1e-11)
    f = 11 * ours.chi_squared / (12 * 3 - ours.chi_squared)
    assert ours.p_value == pytest.approx(stats.f.sf(f, 3, 33), rel=1e-11)
    tied = np.round(scores)
    assert friedman(tied).chi_squared == pytest.approx(stats.friedmanchisquare(*tied.T).statistic, rel=1e-10)


def test_nemenyis_table():
    """q at 5 % for 2 .. 10 models is 1.960 2.344 2.569 2.728 2.850 2.948 3.031 3.102 3.164 (Demšar 2006)."""
    table = (1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164)
    for k, q in enumerate(table, start=2):
        found = nemenyi(np.random.default_rng(k).normal(size=(10, k)))
        assert found.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / 60), abs=6e-4)
        apart = np.abs(found.mean_ranks[:, None] - found.mean_ranks)
        np.testing.assert_array_equal(found.p_values < 0.05, apart > found.critical_difference)


# ---- proportions and areas ------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (930, 1000)])
def test_wilson_is_scipys(k, n):
    """The interval is that of binomtest(...).proportion_ci(method='wilson')."""
    theirs = stats.binomtest(k, n).proportion_ci(0.9, method="wilson")
    ours = wilson_interval(k, n, confidence=0.9)
    np.testing.assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], atol=1e-14)


def placed_by_pairs(scores, y):
    """DeLong's V10 and V01 by all pairs."""
    wins = (scores[y == 1][:, None] > scores[y == 0]) + 0.5 * (scores[y == 1][:, None] == scores[y == 0])
    return wins.mean(axis=1), wins.mean(axis=0)


@SEEDS
def test_delong_by_pairs(seed):
    """Areas, variance and test by placements are those of the definition by all pairs, with ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(60) < 0.4).astype(int)
    scores = np.round(rng.normal(size=(2, 60)) + y * [[1.0], [0.4]], 1)
    up, down = zip(*(placed_by_pairs(s, y) for s in scores), strict=True)
    covariance = np.cov(up) / y.sum() + np.cov(down) / (1 - y).sum()
    areas = [v.mean() for v in up]
    np.testing.assert_allclose(areas, [roc_auc_score(y, s) for s in scores], rtol=1e-13)
    area = binary_area(scores[0], y == 1, RowWeights.of(None, 60))
    np.testing.assert_allclose([area.value, area.variance], [areas[0], covariance[0, 0]], rtol=1e-12)
    ours = delong_test(y, *scores)
    z = (areas[0] - areas[1]) / np.sqrt([1, -1] @ covariance @ [1, -1])
    np.testing.assert_allclose([ours.statistic, ours.p_value], [z, 2 * stats.norm.sf(abs(z))], rtol=1e-11)


@SEEDS
def test_macro_area(seed):
    """The macro area is scikit-learn's one-vs-rest; with two classes area and variance are DeLong's."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=80)
    P = rng.dirichlet(np.ones(3), size=80) + 0.5 * np.eye(3)[codes]
    P /= P.sum(axis=1, keepdims=True)
    s = rng.integers(1, 4, size=80).astype(float)
    for weights in (None, s):
        area = macro_area(P, codes, RowWeights.of(weights, 80))
        want = roc_auc_score(codes, P, multi_class="ovr", average="macro", sample_weight=weights)
        assert area.value == pytest.approx(want, rel=1e-12)
    two = codes > 0
    plain = RowWeights.of(None, 80)
    one, both = binary_area(P[:, 1], two, plain), macro_area(np.c_[-P[:, 1], P[:, 1]], two.astype(int), plain)
    np.testing.assert_allclose([both.value, both.variance], [one.value, one.variance], rtol=1e-12)


# ---- evaluations ----------------------------------------------------------------------------------


def guesses(seed, K, n=300):
    """Labels, and probabilities that know something about them."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(K, p=rng.dirichlet(np.full(K, 5.0)), size=n)
    codes[:K] = np.arange(K)
    Z = rng.normal(size=(n, K)) + 1.5 * np.eye(K)[codes]
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    names = np.array([f"class {k}" for k in range(K)])
    return names[codes], names[P.argmax(axis=1)], P, names


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("K", [2, 4])
def test_classification_scores_are_scikit_learns(K, is_weighted):
    """Every score is that of sklearn.metrics, with weights too; log loss, area and Brier by probabilities."""
    y, said, P, names = guesses(K, K)
    s = np.random.default_rng(0).integers(0, 4, size=len(y)).astype(float) if is_weighted else None
    ours = evaluate_predictions(y, said, probabilities=P, sample_weight=s, n_resamples=20)
    options = {"sample_weight": s}
    averages = {"average": "macro", "zero_division": 0, **options}
    ranks = P[:, 1] if K == 2 else P
    want = {
        "accuracy": metrics.accuracy_score(y, said, **options),
        "f1_micro": metrics.f1_score(y, said, average="micro", **options),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, said, **options),
        "precision_macro": metrics.precision_score(y, said, **averages),
        "recall_macro": metrics.recall_score(y, said, **averages),
        "f1_macro": metrics.f1_score(y, said, **averages),
        "mcc": metrics.matthews_corrcoef(y, said, **options),
        "log_loss": metrics.log_loss(y, P, labels=names, **options),
        "roc_auc": metrics.roc_auc_score(y, ranks, multi_class="ovr", **options),
        "brier": np.average(((P - (y[:, None] == names)) ** 2).sum(axis=1) / (2 if K == 2 else 1), weights=s),
    }
    for name, value in want.items():
        assert ours[name].value == pytest.approx(value, rel=1e-11), name
        assert ours[name].low <= value <= ours[name].high
    by_class = metrics.precision_recall_fscore_support(y, said, labels=names, **options)
    for k, label in enumerate(names):
        got = [ours.per_class[label][name].value for name in ("precision", "recall", "f1")]
        np.testing.assert_allclose(got, [column[k] for column in by_class[:3]], rtol=1e-12)
    np.testing.assert_allclose(ours.confusion.counts, metrics.confusion_matrix(y, said, sample_weight=s))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_regression_scores_are_scikit_learns(is_weighted):
    """Every score is that of sklearn.metrics, and Spearman's of SciPy; weights are counts of rows."""
    rng = np.random.default_rng(1)
    y = np.exp(rng.normal(size=200))
    said = np.round(y * np.exp(0.3 * rng.normal(size=200)), 1)
    s = rng.integers(1, 4, size=200).astype(float) if is_weighted else None
    ours = evaluate_predictions(y, said, sample_weight=s, n_resamples=20)
    times = np.ones(200, dtype=int) if s is None else s.astype(int)
    rows = (np.repeat(y, times), np.repeat(said, times))
    want = {
        "r2": metrics.r2_score(*rows),
        "mse": metrics.mean_squared_error(*rows),
        "rmse": metrics.root_mean_squared_error(*rows),
        "mae": metrics.mean_absolute_error(*rows),
        "median_absolute_error": metrics.median_absolute_error(y, said, sample_weight=s),
        "mape": metrics.mean_absolute_percentage_error(*rows),
        "spearman": stats.spearmanr(*rows).statistic,
    }
    for name, value in want.items():
        assert ours[name].value == pytest.approx(value, rel=1e-11), name
        assert ours[name].low <= value <= ours[name].high


def test_calibration_error_by_its_definition():
    """Sum over bins of |mean confidence - accuracy| times the share of rows; the bins hold equal numbers."""
    y, said, P, _ = guesses(3, 3)
    order = np.argsort(P.max(axis=1))
    bins = np.array_split(order, 10)
    gaps = [abs(P.max(axis=1)[b].mean() - (y == said)[b].mean()) * len(b) / len(y) for b in bins]
    ours = evaluate_predictions(y, said, probabilities=P, n_resamples=20)
    assert ours["calibration_error"].value == pytest.approx(sum(gaps), rel=1e-12)


@SEEDS
def test_the_derivative_of_spearmans_correlation(seed):
    """What a row adds is the slope of the weighted correlation in its weight, with ties, by differences."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=30), 1)
    y = np.round(x + rng.normal(size=30), 1)
    s = rng.uniform(0.5, 2.0, size=30)
    found = rank_correlation(x, y, RowWeights.of(s, 30, "importance"))
    size = s.sum() ** 2 / np.sum(s**2)
    for i in range(30):
        up, down = s.copy(), s.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        values = [rank_correlation(x, y, RowWeights.of(w, 30)).value for w in (up, down)]
        slope = (values[0] - values[1]) / 2e-5
        assert found.terms[i] == pytest.approx(slope * s[i] * np.sqrt(size / (size - 1)), abs=1e-9)


# ---- rankings -------------------------------------------------------------------------------------


def queries(seed, is_tied, n_queries=12):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 9, size=n_queries)
    groups = np.repeat(rng.permutation(n_queries), sizes)
    relevance = rng.integers(0, 3, size=len(groups))
    scores = rng.normal(size=len(groups)) + relevance
    scores = np.round(scores) if is_tied else scores
    shuffled = rng.permutation(len(groups))
    return scores[shuffled], relevance[shuffled], groups[shuffled]


@SEEDS
def test_rankings_are_scikit_learns(seed):
    """Mean NDCG and NDCG at k, with ties, and average precision, without, are scikit-learn's."""
    for is_tied in (False, True):
        scores, relevance, groups = queries(seed, is_tied)
        ours = evaluate_ranking(scores, relevance, groups, k=4, empty="zero", n_resamples=20)
        rows = [groups == q for q in np.unique(groups)]
        for name, k in (("ndcg", None), ("ndcg_at_k", 4)):
            want = [metrics.ndcg_score([relevance[r]], [scores[r]], k=k) for r in rows]
            assert ours[name].value == pytest.approx(np.mean(want), rel=1e-12)
        if not is_tied:
            some = [r for r in rows if relevance[r].any()]
            want = [metrics.average_precision_score(relevance[r] > 0, scores[r]) for r in some]
            assert ours["map"].value == pytest.approx(np.sum(want) / len(rows), rel=1e-12)


@SEEDS
def test_ties_stand_in_all_orders(seed):
    """With ties every measure is its mean over all orders of the tied rows: 720 queries, one of each."""
    rng = np.random.default_rng(seed)
    scores, relevance = rng.integers(0, 2, size=6), rng.integers(0, 2, size=6)
    relevance[0] = 1
    orders = 0.01 * np.array(list(permutations(range(6))))
    untied = evaluate_ranking(
        (scores + orders).ravel(), np.tile(relevance, 720), np.repeat(np.arange(720), 6), k=3, n_resamples=10
    )
    tied = evaluate_ranking(scores, relevance, np.zeros(6), k=3, n_resamples=10)
    for name in set(untied) - {"kendall"}:  # tau-b has its own way with ties
        assert tied[name].value == pytest.approx(untied[name].value, rel=1e-12), name
