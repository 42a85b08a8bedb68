"""Scores and searches of columns against SciPy and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import feature_selection, linear_model
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import KFold

from lineal import (
    BackwardElimination,
    ForwardSelection,
    RecursiveElimination,
    Ridge,
    SelectBest,
    rank_features,
)
from lineal.features import (
    chi2,
    chi2_contingency,
    class_moments,
    information_gain,
    log_likelihood_ratio,
    normalized_information,
    relevance,
    welch_statistic,
)
from lineal.selection.measures import chi2_tail

rng = np.random.default_rng(0)
COUNTS = rng.poisson(np.linspace(0.05, 2.0, 12), size=(200, 12)).astype(float)
TWO = np.arange(200) % 2
MANY = np.where(rng.random(200) < 0.3, COUNTS[:, 5] % 4, rng.integers(0, 4, size=200)).astype(int)
COUNTS[:, 3] += 2 * TWO
LABELS = pytest.mark.parametrize("y", [TWO, MANY], ids=["2 classes", "4 classes"])


def in_column_order(ranking):
    """(scores, p-values) column by column."""
    place = np.argsort(ranking.columns)
    return ranking.scores[place], ranking.p_values[place]


@LABELS
@pytest.mark.parametrize("measure", ["chi2_contingency", "log_likelihood_ratio"])
def test_tables_are_those_of_scipy(measure, y):
    """Statistic and p-value of the table of a column's values and the classes."""
    X = COUNTS - 1  # also values below 0
    scores, p_values = in_column_order(rank_features(sp.csr_array(X), y, measure))
    kind = "pearson" if measure == "chi2_contingency" else "log-likelihood"
    for j, x in enumerate(X.T):
        observed = stats.contingency.crosstab(x, y).count
        expected = stats.chi2_contingency(observed, correction=False, lambda_=kind)
        assert scores[j] == pytest.approx(expected.statistic, rel=1e-11)
        assert p_values[j] == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
    function = chi2_contingency if measure == "chi2_contingency" else log_likelihood_ratio
    np.testing.assert_array_equal(scores, function(X, y))


@LABELS
def test_chi2_is_scikit_learns(y):
    """Statistic and p-value of sums over classes."""
    expected, expected_p = feature_selection.chi2(COUNTS, y)
    scores, p_values = in_column_order(rank_features(sp.csr_array(COUNTS), y, "chi2"))
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    np.testing.assert_allclose(p_values, expected_p, rtol=1e-9)
    np.testing.assert_array_equal(scores, chi2(COUNTS, y))


@LABELS
def test_information_is_scikit_learns(y):
    """Mutual information of discrete columns, plain and normalised, from float32 and float64 alike."""
    expected = feature_selection.mutual_info_classif(COUNTS, y, discrete_features=True)
    np.testing.assert_allclose(information_gain(COUNTS, y), expected, atol=1e-12)
    np.testing.assert_allclose(information_gain(sp.csr_array(COUNTS, dtype="f4"), y), expected, atol=1e-12)
    shares = [normalized_mutual_info_score(y, x) for x in COUNTS.T]
    np.testing.assert_allclose(normalized_information(COUNTS, y), shares, atol=1e-12)


def test_numbers_that_differ_in_the_last_bits_are_different():
    """Values are told apart exactly in both precisions, below 0 too."""
    for kind in (np.float32, np.float64):
        one = np.array(1.1, kind)
        x = np.tile(np.array([one, np.nextafter(one, kind(2)), -one, 0], kind), 10)[:, None]
        assert information_gain(x, np.tile(np.arange(4), 10))[0] == pytest.approx(np.log(4))


def test_t_tests_are_scipys():
    """Student's, Welch's and the correlation's; with two classes Student's and the correlation's p agree."""
    a, b = COUNTS[TWO == 0], COUNTS[TWO == 1]
    for measure, options in (("t", {}), ("welch", {"equal_var": False})):
        expected = stats.ttest_ind(a, b, **options)
        scores, p_values = in_column_order(rank_features(COUNTS, TWO, measure))
        np.testing.assert_allclose(scores, np.abs(expected.statistic), rtol=1e-10)
        np.testing.assert_allclose(p_values, expected.pvalue, rtol=1e-8)
    F, p = feature_selection.f_classif(COUNTS, TWO)
    scores, p_values = in_column_order(rank_features(COUNTS, TWO, "t"))
    np.testing.assert_allclose(scores**2, F, rtol=1e-9)
    np.testing.assert_allclose(p_values, p, rtol=1e-8)
    np.testing.assert_allclose(in_column_order(rank_features(COUNTS, TWO, "pearson"))[1], p, rtol=1e-8)


def test_several_classes_pay_for_several_comparisons():
    """With K classes the score is the largest of one class against the rest, and p is K times its own."""
    each = [stats.ttest_ind(COUNTS[c == MANY], COUNTS[c != MANY], equal_var=False) for c in range(4)]
    best = np.abs([one.statistic for one in each]).argmax(axis=0)
    scores, p_values = in_column_order(rank_features(COUNTS, MANY, "welch"))
    np.testing.assert_allclose(scores, np.abs([one.statistic for one in each]).max(axis=0), rtol=1e-10)
    own = np.array([one.pvalue for one in each])[best, np.arange(12)]
    np.testing.assert_allclose(p_values, np.minimum(4 * own, 1), rtol=1e-8)
    np.testing.assert_array_equal(scores, welch_statistic(COUNTS, MANY))


def test_numbers_as_targets():
    """Correlations with numbers are SciPy's; information takes them in deciles."""
    y = COUNTS @ rng.normal(size=12) + rng.normal(size=200)
    scores, p_values = in_column_order(rank_features(sp.csr_array(COUNTS), y, "pearson"))
    expected = [stats.pearsonr(x, y) for x in COUNTS.T]
    np.testing.assert_allclose(scores, [abs(one.statistic) for one in expected], rtol=1e-10)
    np.testing.assert_allclose(p_values, [one.pvalue for one in expected], rtol=1e-7)
    tenths = np.searchsorted(np.sort(y)[19:180:20], y)
    np.testing.assert_allclose(
        rank_features(COUNTS, y).scores, np.sort(information_gain(COUNTS, tenths))[::-1], atol=1e-12
    )


@pytest.mark.parametrize("correction", ["none", "bonferroni", "fdr"])
def test_columns_by_p_values_are_scikit_learns(correction):
    """alpha keeps what SelectFpr, SelectFwe and SelectFdr keep."""
    kinds = {"none": "SelectFpr", "bonferroni": "SelectFwe", "fdr": "SelectFdr"}
    theirs = getattr(feature_selection, kinds[correction])(feature_selection.chi2, alpha=0.2)
    ours = SelectBest("chi2", alpha=0.2, correction=correction).fit(COUNTS, TWO)
    np.testing.assert_array_equal(ours.get_support(), theirs.fit(COUNTS, TWO).get_support())
    np.testing.assert_allclose(ours.p_values_, theirs.pvalues_, rtol=1e-9)


# ---- searches -------------------------------------------------------------------------------------

X = rng.normal(size=(90, 8))
NUMBERS = X @ [0, 3, 0, -2, 0, 1, 0.3, 0] + rng.normal(size=90)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_eliminations_rank_as_scikit_learn_does(layout):
    """One column at a time, by the weights of ridge regression."""
    theirs = feature_selection.RFE(linear_model.Ridge(), n_features_to_select=1).fit(X, NUMBERS)
    ours = RecursiveElimination(Ridge(), n_columns=3).fit(layout(X), NUMBERS)
    np.testing.assert_array_equal(ours.ranking_, theirs.ranking_)


@pytest.mark.parametrize("kind", [ForwardSelection, BackwardElimination])
def test_steps_are_those_of_scikit_learn(kind):
    """The same folds, the same learner, the same columns."""
    direction = "forward" if kind is ForwardSelection else "backward"
    cv = KFold(3)
    theirs = feature_selection.SequentialFeatureSelector(
        linear_model.Ridge(), n_features_to_select=4, direction=direction, cv=cv
    ).fit(X, NUMBERS)
    ours = kind(Ridge(), n_columns=4, cv=cv).fit(sp.csr_array(X), NUMBERS)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())


@pytest.mark.parametrize("freedom", [1, 2, 5, 19, 20, 200, 201])
def test_the_tail_of_chi_squared_is_scipys(freedom):
    """To 1e-12 of itself, from 0 to where it leaves the range of floats."""
    x = np.concatenate([[0.0, 1e-300, 1e-8], np.geomspace(1e-5, 1300, 300)])
    expected = stats.chi2.sf(x, freedom)
    np.testing.assert_allclose(chi2_tail(x, freedom), expected, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("measure", [relevance.t_statistic, relevance.welch_statistic, relevance.pearson])
def test_one_pass_over_dense_columns_tells_what_three_do(measure, unit, offset, monkeypatch):
    """Means and squares about the first row are those about the means, whatever units and offsets."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)) + offset, rng.integers(3, size=60)
    X[:, 0] += 50 * y  # between classes far more than inside them
    X[:, 1] = X[0, 1]
    X[0, 2] += 1e5  # a first row far from all others
    found = measure(unit * X, y)
    monkeypatch.setattr(class_moments, "_in_one_pass", lambda *_: None)
    assert_allclose(found, measure(unit * X, y), rtol=1e-6 if offset > 1e6 else 1e-9)
    assert found[1] == 0
    numbers = X[:, 3] + rng.normal(size=60)
    slow = relevance.pearson_of_numbers(unit * X, numbers)
    monkeypatch.undo()
    assert_allclose(relevance.pearson_of_numbers(unit * X, numbers), slow, rtol=1e-6, atol=1e-9)
