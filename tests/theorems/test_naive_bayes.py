"""What is true of naive Bayes: estimates, evidence, linearity, what is impossible, what is novel."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import logsumexp

from lineal import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from lineal.errors import InputError, ParameterError
from reference import naive_bayes as exact

CLASSES = ["a", "b", "c"]
smoothings = pytest.mark.parametrize("l", [0.0, 0.25, 1.0, 3.0])
seeds = st.integers(0, 10_000)


def counts(seed, n=12, d=4, most=4):
    """Rows of small counts with labels; every class has some."""
    rng = np.random.default_rng(seed)
    y = [CLASSES[k] for k in (*range(3), *rng.integers(0, 3, n - 3))]
    return rng.integers(0, most, size=(n, d)), y


# ---- the estimates --------------------------------------------------------------------------------


@smoothings
@given(seed=seeds)
def test_joint_probabilities_are_the_products_of_exact_shares(l, seed):
    """exp(log_joint) is p(C_k) times the product over the features, computed in fractions, for all kinds."""
    X, y = counts(seed)
    rows, kinds = X.tolist(), sorted(set(y))
    test = np.vstack([X, counts(seed + 1)[0]])
    binary, binary_test = (X > 1).astype(int), (test > 1).astype(int)
    models = [
        (CategoricalNB(l), X, test, lambda row: exact.categorical(rows, y, kinds, row, l, smooth=True)),
        (MultinomialNB(l), X, test, lambda row: exact.multinomial(rows, y, kinds, row, l)),
        (
            BernoulliNB(l),
            binary,
            binary_test,
            lambda row: exact.bernoulli(binary.tolist(), y, kinds, row, l, smooth=True),
        ),
    ]
    for model, train, new, joint in models:
        if (
            isinstance(model, MultinomialNB)
            and l == 0
            and any(not X[np.array(y) == kind].any() for kind in kinds)
        ):
            continue  # a class without words has no shares; test_classes_without_words_are_uniform
        ours = np.exp(model.fit(train, y).log_joint(new))
        wanted = np.array([joint(row) for row in new.tolist()], dtype=float)
        np.testing.assert_allclose(ours, wanted, rtol=1e-11)
    if l > 0:
        ours = np.exp(ComplementNB(l).fit(X, y).log_joint(test))
        wanted = np.array([exact.complement(rows, y, kinds, row, l) for row in test.tolist()], dtype=float)
        np.testing.assert_allclose(ours, wanted, rtol=1e-11)


@given(seed=seeds)
def test_maximum_likelihood_is_the_maximum(seed):
    """No other distribution over the words makes the training documents of a class likelier."""
    X, y = counts(seed)
    model = MultinomialNB(smoothing=0).fit(X + 1, y)
    own = (X + 1)[np.array(y) == "a"]
    other = np.random.default_rng(seed).dirichlet(np.ones(4))
    assert (own @ model.coef_[0]).sum() >= (own @ np.log(other)).sum()


@pytest.mark.parametrize("l", [0.5, 1.0, 4.0])
@given(seed=seeds)
def test_smoothing_is_examples_that_were_imagined(l, seed):
    """MAP estimates are the maximum likelihood of the data with l more of each value in each class."""
    X, y = counts(seed)
    kinds = sorted(set(y))
    words = MultinomialNB(0).fit(
        np.vstack([X, np.ones((len(kinds), 4))]), [*y, *kinds], sample_weight=[1.0] * 12 + [l] * len(kinds)
    )
    np.testing.assert_allclose(words.coef_, MultinomialNB(l).fit(X, y).coef_, rtol=1e-12)
    B = (X > 1).astype(int)
    imagined = np.vstack([B, *[[[0] * 4, [1] * 4]] * len(kinds)])
    twice = [kind for kind in kinds for _ in range(2)]
    there = BernoulliNB(0).fit(imagined, [*y, *twice], sample_weight=[1.0] * 12 + [l] * len(twice))
    np.testing.assert_allclose(
        there.feature_log_prob_, BernoulliNB(l).fit(B, y).feature_log_prob_, rtol=1e-12
    )


@given(seed=seeds)
def test_the_gaussian_mode_is_where_its_posterior_is_largest(seed):
    """v = (S + l v_i) / (N + l) maximises the normal likelihood times an inverse gamma prior."""
    rng = np.random.default_rng(seed)
    x, l = rng.normal(size=(9, 1)), 3.0
    model = GaussianNB(smoothing=l).fit(x, ["a"] * 9)
    spread = x.var()

    def log_posterior(v):
        likelihood = -0.5 * 9 * np.log(v) - 0.5 * ((x - x.mean()) ** 2).sum() / v
        shape, scale = l / 2 - 1, l * spread / 2
        return likelihood - (shape + 1) * np.log(v) - scale / v

    best = float(model.var_[0, 0])
    assert all(log_posterior(best) >= log_posterior(best * by) for by in (0.9, 0.999, 1.001, 1.1))


# ---- evidence -------------------------------------------------------------------------------------


@smoothings
def test_evidence_sums_to_1_over_all_rows(l):
    """sum_x p(x) = 1: over all rows of zeros and ones, all rows of categories, all texts of a length."""
    X, y = counts(3)
    everything = np.array(list(product((0, 1), repeat=4)))
    there = BernoulliNB(l).fit(X > 1, y)
    assert np.exp(there.log_evidence(everything)).sum() == pytest.approx(1.0, abs=1e-12)
    table = CategoricalNB(l).fit(X, y)
    rows = list(product(*(values.tolist() for values in table.categories_)))
    assert np.exp(table.log_evidence(rows)).sum() == pytest.approx(1.0, abs=1e-12)
    words = MultinomialNB(l).fit(X, y)
    texts = [np.bincount(text, minlength=4) for text in product(range(4), repeat=3)]
    assert np.exp(words.log_evidence(texts)).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("shared_variance", [False, True])
def test_gaussian_evidence_integrates_to_1(shared_variance):
    """The density of x, whatever the class, has area 1."""
    rng = np.random.default_rng(0)
    model = GaussianNB(shared_variance=shared_variance).fit(
        rng.normal(size=(20, 1)) * 3, rng.integers(0, 2, 20)
    )
    area, _ = quad(lambda x: float(np.exp(model.log_evidence([[x]])[0])), -60, 60, limit=200)
    assert area == pytest.approx(1.0, abs=1e-7)  # what the quadrature promises


@pytest.mark.parametrize("kind", [CategoricalNB, MultinomialNB, BernoulliNB, GaussianNB])
def test_bayes_rule(kind):
    """posterior = joint / evidence, in logarithms; the evidence is the sum of the joints."""
    X, y = counts(5, n=30)
    model = kind().fit(X, y)
    A = model.log_joint(X)
    np.testing.assert_allclose(model.log_evidence(X), logsumexp(A, axis=1), rtol=1e-14)
    np.testing.assert_allclose(
        model.predict_log_proba(X), A - model.log_evidence(X)[:, None], rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_the_complement_has_no_evidence():
    """Its scores are no probabilities of documents: evidence and novelty refuse and name what has them."""
    X, y = counts(1)
    model = ComplementNB().fit(X, y)
    for ask in (model.log_evidence, model.calibrate_novelty, model.typicality):
        with pytest.raises(ParameterError, match="MultinomialNB"):
            ask(X)


# ---- the linear view ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_scores_are_linear(kind):
    """log_joint(X) = X coef' + intercept, of zeros and ones for BernoulliNB."""
    X, y = counts(7, n=40, d=6)
    model = kind().fit(X, y)
    rows = X > 0 if kind is BernoulliNB else X
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    np.testing.assert_allclose(rows @ model.coef_.T + model.intercept_, model.log_joint(X), rtol=1e-12)


def test_shared_variances_make_it_linear():
    """x . w_k + b_k is the log joint less the same number for every class, which no posterior sees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 20.0, 0.1] + [5.0, 0.0, -1.0]
    model = GaussianNB(shared_variance=True).fit(X, rng.integers(0, 3, 60))
    rest = model.log_joint(X) - (X @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), rtol=1e-11)
    assert not hasattr(model.set_params(shared_variance=False).fit(X, rng.integers(0, 3, 60)), "coef_")


def test_the_shared_variance_is_the_mean_of_the_classes():
    """v_i = sum_k N_k v_ki / N."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    apart, shared = GaussianNB(0).fit(X, y), GaussianNB(0, shared_variance=True).fit(X, y)
    mean = (apart.class_count_[:, None] * apart.var_).sum(axis=0) / 40
    np.testing.assert_allclose(shared.var_, np.tile(mean, (2, 1)), rtol=1e-13)


# ---- what is impossible ---------------------------------------------------------------------------


def test_zero_times_minus_infinity_is_zero():
    """By maximum likelihood a word of probability 0 forbids where it is, and changes nothing elsewhere."""
    model = MultinomialNB(smoothing=0).fit([[3, 1, 0], [0, 1, 3]], ["a", "b"])
    np.testing.assert_allclose(np.exp(model.log_joint([[0, 2, 0]])), [[1 / 32, 1 / 32]], rtol=1e-14)
    np.testing.assert_array_equal(model.log_joint([[1, 0, 0]])[0, 1], -np.inf)
    assert model.predict([[1, 5, 0], [0, 5, 1]]).tolist() == ["a", "b"]
    assert model.predict_proba([[1, 5, 0]]).tolist() == [[1.0, 0.0]]
    assert model.predict_log_proba([[1, 5, 0]]).tolist() == [[0.0, -np.inf]]


IMPOSSIBLE = [
    (MultinomialNB(0), [[1, 0, 1], [1, 0, 1], [0, 1, 1]], [[1, 1, 0], [5, 1, 2]]),
    (BernoulliNB(0, smooth_prior=False), [[1, 0], [1, 0], [0, 1]], [[1, 1], [0, 0]]),
    (CategoricalNB(0), [["u", "x"], ["u", "x"], ["v", "y"]], [["u", "y"], ["never", "x"], [3, 4]]),
]


@pytest.mark.parametrize(("model", "X", "rows"), IMPOSSIBLE, ids=lambda value: type(value).__name__)
def test_a_row_that_no_class_can_give_is_answered_with_the_prior(model, X, rows):
    """Evidence -inf, posterior = prior, the class of the largest prior; never NaN."""
    model.fit(X, ["rare" if k == 2 else "usual" for k in range(3)])
    assert np.isneginf(model.log_joint(rows)).all()
    assert np.isneginf(model.log_evidence(rows)).all()
    np.testing.assert_allclose(model.predict_proba(rows), [[1 / 3, 2 / 3]] * len(rows), rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), model.predict_proba(rows), rtol=1e-14)
    assert set(model.predict(rows)) == {"usual"}


def test_bernoulli_forbids_what_is_missing_too():
    """Where every row of a class has a feature, a row without it cannot be of that class."""
    model = BernoulliNB(0, smooth_prior=False).fit([[1, 1], [1, 0], [0, 1], [0, 0]], ["a", "a", "b", "b"])
    A = np.exp(model.log_joint([[1, 1], [1, 0], [0, 1], [0, 0]]))
    np.testing.assert_allclose(A, [[0.25, 0], [0.25, 0], [0, 0.25], [0, 0.25]], rtol=1e-14)


def test_classes_without_words_are_uniform():
    """A class that was announced but has no rows is the limit of ever less smoothing: uniform."""
    for kind in (MultinomialNB, BernoulliNB, CategoricalNB):
        model = kind(smoothing=0, class_prior="uniform")
        model.partial_fit([[1, 0], [0, 1]], ["a", "a"], classes=["a", "b"])
        limit = kind(smoothing=1e-12, class_prior="uniform")
        limit.partial_fit([[1, 0], [0, 1]], ["a", "a"], classes=["a", "b"])
        rows = [[1, 0], [0, 1]]
        np.testing.assert_allclose(model.log_joint(rows), limit.log_joint(rows), atol=1e-9)


def test_ties_go_to_the_first_class():
    """Equal scores give the lowest-numbered class, in predict and as the first of equal probabilities."""
    for kind in (MultinomialNB, BernoulliNB, ComplementNB, GaussianNB, CategoricalNB):
        model = kind().fit([[1, 2], [1, 2], [1, 2]], ["z", "m", "k"])
        p = model.predict_proba([[1, 2], [0, 1]])
        np.testing.assert_allclose(p, 1 / 3, rtol=1e-14)
        assert p.argmax(axis=1).tolist() == [0, 0]
        assert model.predict([[1, 2], [0, 1]]).tolist() == ["k", "k"]


@given(seed=seeds)
def test_predict_is_the_largest_probability(seed):
    """argmax of predict_proba is predict, also where rounding makes scores equal and far out."""
    X, y = counts(seed)
    rng = np.random.default_rng(seed)
    for kind in (MultinomialNB, BernoulliNB, ComplementNB, GaussianNB, CategoricalNB):
        model = kind().fit(X, y)
        for scale in (1, 10**4, 10**9):
            rows = rng.integers(0, 4, size=(40, 4)) * scale
            p = model.predict_proba(rows)
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
            np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))


# ---- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("scale", [2.0**-1000, 1e-160, 1e-3, 1e160, 2.0**1000])
def test_units_of_a_column_do_not_matter_to_gaussians(scale, layout):
    """X -> cX leaves the posterior alone and moves every log density by -ln c; squares never overflow."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    shaped = sp.csr_array if layout == "sparse" else np.asarray
    scaled = X * [1.0, scale, 1.0]
    plain, other = GaussianNB().fit(shaped(X), y), GaussianNB().fit(shaped(scaled), y)
    np.testing.assert_allclose(other.predict_proba(shaped(scaled)), plain.predict_proba(shaped(X)), rtol=1e-9)
    np.testing.assert_allclose(
        other.log_evidence(shaped(scaled)), plain.log_evidence(shaped(X)) - np.log(scale), rtol=1e-9
    )


def test_a_constant_column_says_nothing():
    """A column that never varies has variance 1 and leaves every posterior as it was without it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    with_constant = np.column_stack([X, np.full(30, 7.5)])
    model = GaussianNB().fit(with_constant, y)
    assert model.var_[:, 2].tolist() == [1.0, 1.0]
    test = np.column_stack([X, rng.normal(size=30)])
    np.testing.assert_allclose(model.predict_proba(test), GaussianNB().fit(X, y).predict_proba(X), rtol=1e-11)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_rows_beyond_all_bounds_are_answered_with_the_prior(layout):
    """Where squares of distances outgrow a double no class can give the row: prior, -inf, never NaN."""
    model = GaussianNB().fit([[1.0, 1e10], [2.0, 3e10], [3.0, 2e10], [9.0, 1e10]], [0, 0, 0, 1])
    rows = layout(np.array([[1e300, 1e300], [-1e300, 0.0], [1.0, 1e308], [1.5, 1e10]]))
    assert np.isneginf(model.log_evidence(rows)).tolist() == [True, True, True, False]
    np.testing.assert_allclose(model.predict_proba(rows)[:3], [[0.75, 0.25]] * 3, rtol=1e-14)
    assert model.predict(rows).tolist() == [0, 0, 0, 0]


def test_a_gaussian_class_without_rows_is_like_all():
    """Announced and given a prior, it has the mean and the variance of all rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) * [1.0, 5.0] + 3.0
    model = GaussianNB(class_prior="uniform").partial_fit(X, ["a"] * 20, classes=["a", "b"])
    np.testing.assert_allclose(model.theta_, [X.mean(axis=0)] * 2, rtol=1e-14)
    np.testing.assert_allclose(model.var_, [X.var(axis=0)] * 2, rtol=1e-8)


def test_maximum_likelihood_refuses_a_variance_of_0():
    """With smoothing=0 a class with one value in a column has no density: named, with the way out."""
    X, y = [[1.0, 2.0], [1.0, 3.0], [2.0, 5.0]], ["a", "a", "b"]
    with pytest.raises(InputError, match=r"class 'a' has a variance of 0 in column 0.*smoothing > 0"):
        GaussianNB(smoothing=0).fit(X, y)
    assert GaussianNB().fit(X, y).predict([[1.0, 2.5], [2.0, 5.0]]).tolist() == ["a", "b"]


# ---- novelty --------------------------------------------------------------------------------------


@given(seed=seeds, level=st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9]))
def test_ordinary_rows_are_rarely_novel(seed, level):
    """Of n + 1 rows in any order at most level (n + 1) are novel when held against the n others.

    So a row drawn like the n is novel with probability at most the level, whatever it is drawn from. The same
    holds of the calibration rows themselves.
    """
    X, y = counts(seed)
    model = MultinomialNB().fit(X, y)
    rows = counts(seed + 1, n=21)[0]
    novel = [
        bool(model.calibrate_novelty(np.delete(rows, i, axis=0)).is_novel(rows[i : i + 1], level)[0])
        for i in range(21)
    ]
    assert sum(novel) <= level * 21 + 1e-9
    assert model.calibrate_novelty(rows).is_novel(rows, level).mean() <= level


def test_the_threshold_is_an_order_statistic():
    """With 99 rows and level 0.05 the threshold is the 5th least typical, and 4 of them lie below it."""
    X = np.arange(1.0, 100.0)[:, None]
    model = GaussianNB().fit(X, ["one"] * 99).calibrate_novelty(X)
    assert model.novelty_threshold(0.05) == np.sort(model.typicality(X))[4]
    assert model.is_novel(X, 0.05).sum() == 4
    assert model.novelty_threshold(0.009) == -np.inf
    assert not model.is_novel([[1e9]], 0.009).any()
    assert model.is_novel([[1e9], [50.0]], 0.05).tolist() == [True, False]


def test_novelty_is_per_word():
    """A document ten times over is as typical as it was, nearly: length alone makes nothing novel.

    Evidence falls with every word; the evidence per word differs only by the prior, which is spread thinner.
    """
    X, _ = counts(2, n=40, d=6)
    model = MultinomialNB(class_prior=[1.0]).fit(X, ["one"] * 40)
    rows = X[X.sum(axis=1) > 0]
    np.testing.assert_allclose(model.typicality(10 * rows), model.typicality(rows), rtol=1e-12)
    assert (model.log_evidence(10 * rows) < model.log_evidence(rows)).all()
    assert model.typicality([[0] * 6]).tolist() == [0.0]
    assert not model.calibrate_novelty(X).is_novel([[0] * 6], 0.9).any()


def test_a_word_salad_is_novel():
    """Documents of words that no class favours are novel; documents like the training ones are not."""
    rng = np.random.default_rng(0)
    usual = np.vstack(
        [
            rng.multinomial(40, p)
            for p in ([0.45, 0.45, 0.05, 0.05], [0.6, 0.3, 0.05, 0.05])
            for _ in range(50)
        ]
    )
    model = MultinomialNB().fit(usual[::2], ["a"] * 25 + ["b"] * 25).calibrate_novelty(usual[1::2])
    assert model.is_novel([[2, 2, 18, 18]]).all()
    assert not model.is_novel([[18, 18, 2, 2]]).any()


def test_novelty_needs_ordinary_rows_and_a_share():
    """A model taught in pieces, or asked at an odd level, says what to do."""
    X, y = counts(1)
    model = MultinomialNB().fit(X, y)
    for level in (-0.1, 1.0, "low", float("nan")):
        with pytest.raises(ParameterError, match="level"):
            model.is_novel(X, level)
    with pytest.raises(InputError, match="calibrate_novelty"):
        model.partial_fit(X, y).is_novel(X)
    with pytest.raises(ParameterError, match="ComplementNB has no evidence"):
        ComplementNB().fit(X, y).is_novel(X)


@pytest.mark.parametrize("as_rows", [np.array, sp.csr_array])
def test_after_a_fit_rows_are_held_against_those_learnt_from(as_rows):
    """Without calibration the learnt rows are the ordinary ones, those of weight 0 left out; pickles too."""
    X, y = counts(1)
    s = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0)
    model = MultinomialNB().fit(as_rows(X), y, sample_weight=s)
    asked = pickle.loads(pickle.dumps(model))
    wanted = np.sort(model.typicality(np.asarray(X)[s > 0]))
    np.testing.assert_array_equal(model.typical_, wanted)
    np.testing.assert_array_equal(asked.typical_, wanted)
    assert model.is_novel(np.asarray(X)[s > 0], 0.2).mean() <= 0.2
    np.testing.assert_array_equal(model.calibrate_novelty(X).typical_, np.sort(model.typicality(X)))


def test_categories_are_held_against_those_learnt_from():
    """What was never met is novel at once."""
    rows = [["red", "round"], ["red", "square"]] * 30
    model = CategoricalNB().fit(rows, ["a", "b"] * 30)
    assert model.is_novel([["red", "round"], ["blue", "flat"]], 0.05).tolist() == [False, True]
