"""What information theory says of scores of columns, and what every ranking keeps to."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr

from lineal import SelectBest, rank_features
from lineal.features import conditional_information, information_gain, log_likelihood_ratio
from lineal.selection.measures import MEASURES
from lineal.selection.ranking import falling

SEEDS = st.integers(0, 2**32 - 1)
GREEDY = "conditional_mutual_information"
EACH = sorted(set(MEASURES) - {GREEDY})


def table(seed, n=60, d=5, n_values=4, n_classes=3):
    """Whole numbers, a third of them 0, labels that depend on the first column, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = np.where(rng.random(n) < 0.5, X[:, 0] % n_classes, rng.integers(0, n_classes, size=n))
    y[:n_classes] = np.arange(n_classes)
    return X.astype(float), y, rng.integers(0, 4, size=n)


def entropy(*columns):
    """H of rows of categories, in nats."""
    _, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return entr(counts / counts.sum()).sum()


@given(SEEDS)
@settings(max_examples=25)
def test_information_is_a_difference_of_entropies(seed):
    """0 <= I(X; Y) = H(X) + H(Y) - H(X, Y), and it is symmetric."""
    X, y, _ = table(seed)
    found = information_gain(X, y)
    assert (found >= 0).all()
    expected = [entropy(x) + entropy(y) - entropy(x, y) for x in X.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found, [information_gain(y[:, None], x)[0] for x in X.T], atol=1e-12)


def test_independent_columns_say_nothing_and_a_copy_says_all():
    """I = 0 for exact product tables, to rounding; I = H(Y) for a copy of the labels under any names."""
    x, y = (part.ravel() for part in np.meshgrid([0, 0, 1, 5], [0, 1, 1, 2, 2, 2]))
    found = information_gain(np.column_stack([x, 7 - y]), y)
    assert found[0] < 1e-15
    assert found[1] == pytest.approx(entropy(y), abs=1e-14)


@given(SEEDS)
@settings(max_examples=25)
def test_conditional_information_is_the_mean_within(seed):
    """I(X; Y | Z) = sum_z p(z) I(X; Y among rows with Z = z), and the chain rule holds."""
    X, y, _ = table(seed)
    z = X[:, 1] + (X[:, 2] > 1)
    found = conditional_information(X, y, z)
    within = sum(np.mean(z == v) * information_gain(X[z == v], y[z == v]) for v in np.unique(z))
    np.testing.assert_allclose(found, within, atol=1e-12)
    both = np.unique(np.column_stack([y, z]), axis=0, return_inverse=True)[1].ravel()
    chain = information_gain(X, z) + found
    np.testing.assert_allclose(chain, information_gain(X, both), atol=1e-12)


@given(SEEDS)
@settings(max_examples=10)
def test_the_likelihood_ratio_is_information(seed):
    """G^2 = 2 N I, N the weight of all rows."""
    X, y, s = table(seed)
    np.testing.assert_allclose(
        log_likelihood_ratio(X, y, s), 2 * s.sum() * information_gain(X, y, s), rtol=1e-12
    )


@given(SEEDS)
@settings(max_examples=10)
def test_information_sees_the_order_of_numbers_alone(seed):
    """A rising map of a continuous column, which may move its zeros, changes no category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) * (rng.random((150, 4)) < [0.2, 0.6, 0.95, 1.0])
    y = (X[:, 1] + rng.normal(size=150) > 0).astype(int)
    np.testing.assert_allclose(information_gain(X, y), information_gain(np.exp(X), y), atol=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_repeat_and_layouts_change_nothing(measure, seed):
    """Weight w is the row w times, in scores and p-values; CSR, CSC, dense and threads give the same bits."""
    X, y, s = table(seed, n=90, d=7)
    X[:, 6] = np.round(np.random.default_rng(seed).normal(size=90) ** 2, 3)  # many values
    rows = np.repeat(np.arange(90), s)
    heavy = rank_features(X, y, measure, sample_weight=s)
    twice = rank_features(X[rows], y[rows], measure)
    np.testing.assert_allclose(heavy.scores, twice.scores, rtol=1e-9, atol=1e-12)
    if measure != GREEDY:  # whose order may hang on the last bit of a tie
        assert set(heavy.columns) == set(twice.columns) == set(range(7))
    for other in (sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X), X.astype(np.float32)):
        same = rank_features(other, y, measure, sample_weight=s, n_threads=1 + seed)
        if other.dtype == np.float32:
            np.testing.assert_allclose(heavy.scores, same.scores, rtol=1e-5)
            continue
        np.testing.assert_array_equal(heavy.columns, same.columns)
        np.testing.assert_array_equal(heavy.scores, same.scores)
        np.testing.assert_array_equal(heavy.p_values, same.p_values)
    if heavy.p_values is not None:
        np.testing.assert_allclose(heavy.p_values, twice.p_values, rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("measure", sorted(set(MEASURES) - {"chi2"}))
def test_units_do_not_matter(measure):
    """Columns in other units have the same scores; chi2 of sums alone grows with them."""
    X, y, _ = table(3)
    units = np.array([1e-200, 1e-3, 2.0, 1e3, 1e150])
    a, b = rank_features(X, y, measure), rank_features(X * units, y, measure)
    np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-14)


@given(SEEDS, st.integers(1, 12))
@settings(max_examples=25)
def test_the_k_best_are_kept_and_lower_columns_first(seed, k):
    """SelectBest keeps the k highest scores; among equals the lower columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(12, 6))[:, rng.integers(0, 6, size=12)].astype(float)  # with copies
    y = np.arange(12) % 2
    scores = information_gain(X, y)
    expected = sorted(range(12), key=lambda j: (-scores[j], j))[:k]
    assert rank_features(X, y, k=k).columns.tolist() == expected
    assert set(SelectBest(k=k).fit(X, y).get_support(indices=True)) == set(expected)


@given(SEEDS)
@settings(max_examples=25)
def test_falling_is_a_stable_order(seed):
    """As argsort(-scores) that keeps the places of equals, also where scores differ in their last bits."""
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 1e-300, 0.3, 5.0, 1e300], size=300)
    scores = np.where(rng.random(300) < 0.5, scores * (1 + rng.integers(0, 4, size=300) * 2.0**-52), scores)
    np.testing.assert_array_equal(falling(scores), np.argsort(-scores, kind="stable"))
    assert falling(np.array([])).tolist() == []
    assert falling(np.array([2.0])).tolist() == [0]


# ---- conditional information, greedily ------------------------------------------------------------


def plainly_greedy(X, y, k):
    """Fleuret's algorithm without its shortcuts."""
    bound, chosen, scores = information_gain(X, y), [], []
    for _ in range(k):
        free = [j for j in range(X.shape[1]) if j not in chosen]
        best = max(free, key=lambda j: (bound[j], -j))
        chosen.append(best)
        scores.append(bound[best])
        bound = np.minimum(bound, conditional_information(X, y, X[:, best]))
    return chosen, scores


@pytest.mark.parametrize("n_columns", [6, 600])  # fewer and more than are looked at together
def test_greedy_picks_are_those_of_the_plain_algorithm(n_columns):
    """The next column has the largest min(I(X; Y), I(X; Y | chosen)), however many are looked at."""
    rng = np.random.default_rng(5)
    X = (rng.random((80, n_columns)) < rng.uniform(0.05, 0.5, n_columns)).astype(float)
    y = (X[:, 1] + 2 * X[:, 2] + rng.integers(0, 2, 80)).astype(int)
    found = rank_features(sp.csr_array(X), y, GREEDY, k=6)
    chosen, scores = plainly_greedy(X, y, 6)
    np.testing.assert_allclose(found.scores, scores, atol=1e-12)
    assert found.columns.tolist() == chosen
    assert (np.diff(found.scores) <= 1e-15).all()


def test_tables_of_many_classes_are_held_a_few_at_a_time(monkeypatch):
    """How many tables fit into memory at once changes no pick."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 3, size=(120, 40)).astype(float)
    y = (X[:, 1] * X[:, 2] + 5 * rng.integers(0, 4, 120)).astype(int)
    at_once = rank_features(X, y, GREEDY, k=12)
    monkeypatch.setattr("lineal.selection.conditional._MOST_CELLS", 100)
    by_few = rank_features(X, y, GREEDY, k=12)
    assert by_few.columns.tolist() == at_once.columns.tolist()
    np.testing.assert_allclose(by_few.scores, at_once.scores, rtol=1e-12)


def test_a_copy_of_a_chosen_column_adds_nothing():
    """I(X; Y | X) = 0: the copy comes last, where plain information puts it second."""
    rng = np.random.default_rng(0)
    good, fair = rng.integers(0, 2, size=(2, 200))
    y = 2 * good + fair * (rng.random(200) < 0.8)
    X = np.column_stack([good, good, fair])
    assert rank_features(X, y).columns.tolist() == [0, 1, 2]
    greedy = rank_features(X, y, GREEDY)
    assert greedy.columns.tolist() == [0, 2, 1]
    assert greedy.scores[2] == pytest.approx(0.0, abs=1e-12)


# ---- digits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1.7e9, 1e12, 1e14])
def test_offsets_take_no_digits(offset):
    """Correlations, t and signal to noise do not ask where a column lies, nor where the numbers do."""
    rng = np.random.default_rng(0)
    # Rounded to what is left of the digits behind the offset, so that both columns hold the same numbers.
    a, b = (np.round(rng.normal(size=300) * 32) / 32 for _ in range(2))
    near, far = np.column_stack([a, b]), np.column_stack([a, b]) + offset
    wanted = rank_features(near, a + 0.5 * b, "pearson", target="numbers").scores
    found = rank_features(far, a + 0.5 * b + offset, "pearson", target="numbers").scores
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    np.testing.assert_allclose(sorted(wanted), sorted(abs(np.corrcoef(near.T, a + 0.5 * b)[-1, :2])))
    for measure in ("t", "pearson", "signal_to_noise"):
        wanted, found = (rank_features(X, a + b > 0.3, measure).scores for X in (near, far))
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_columns_that_vary_by_rounding_alone_are_constant():
    """As are numbers that do."""
    rng = np.random.default_rng(0)
    x, ripple = rng.normal(size=100), 0.1 + 1.4e-17 * rng.integers(0, 2, size=100)
    found = rank_features(np.column_stack([x, ripple]), x, "pearson", target="numbers")
    assert found.scores[found.columns.tolist().index(1)] == 0
    assert not rank_features(x[:, None], ripple, "pearson", target="numbers").scores.any()
