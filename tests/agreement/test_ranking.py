"""RankSVM and measures of rankings by other roads: all pairs listed, SciPy, LETOR's script, slowly."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kendalltau

import lineal
from lineal.evaluation import evaluate_letor, evaluate_ranking
from lineal.objective import L2, Hinge, Log, SquaredHinge

LOSSES = (Hinge(), SquaredHinge(), Log(), Hinge(0.5), SquaredHinge(2.0))


def ranking(seed, n=None, d=None):
    """(X, grades, queries): few different values, so that rows, grades and differences meet."""
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(4, 30)), d or int(rng.integers(1, 6))
    X = rng.integers(-2, 3, size=(n, d)) + (0.0 if seed % 2 else rng.normal(size=(n, d)))
    grades = rng.integers(0, rng.integers(2, 6), size=n).astype(float)
    queries = rng.integers(0, rng.integers(1, 4), size=n)
    grades[:2], queries[:2] = (0, 1), 0
    return X, grades, queries


def differences(X, grades, queries):
    """Every x_i - x_j of one query with grade i above grade j, and the rows they come from."""
    i, j = np.nonzero((queries[:, None] == queries) & (grades[:, None] > grades))
    return X[i] - X[j], i, j


def listed(loss, C, D, weight=None):
    """The weights and the objective of the same machine on listed pairs, every other one turned over."""
    s = np.ones(len(D)) if weight is None else weight
    D, s = np.vstack([D, D[:1]]), np.append(s, s[0] / 2)  # two classes, even of one pair
    s[0] /= 2
    signs = np.where(np.arange(len(D)) % 2, -1, 1)
    signs[-1] = -1
    model = lineal.LinearClassifier(loss, L2(1 / C), fit_intercept=False, tol=1e-11, solver="auto")
    model.fit(D * signs[:, None], signs, sample_weight=s)
    return model.coef_[0], model.certificate_


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")  # 1e-11 may be below rounding
@pytest.mark.parametrize("block", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 10))])
def test_ranking_is_classification_of_all_differences(block):
    """On random sets with ties (20 a block), objective and weights are those of the machine on all pairs."""
    for seed in range(20 * block, 20 * (block + 1)):
        X, grades, queries = ranking(seed)
        loss, C = LOSSES[seed % len(LOSSES)], 10.0 ** (seed % 4 - 2)
        model = lineal.RankSVM(C, loss=loss, tol=1e-9).fit(X, grades, groups=queries)
        D, _, _ = differences(X, grades, queries)
        w, theirs = listed(loss, C, D)
        assert model.n_pairs_ == len(D)
        scale = max(theirs.primal, 1e-9)
        # Two certified objectives of one problem differ by no more than the larger of their gaps.
        assert model.certificate_.primal == pytest.approx(
            theirs.primal, rel=1e-8, abs=theirs.gap + 1e-12 * scale
        )
        assert model.certificate_.dual <= theirs.primal * (1 + 1e-12)
        # (lam / 2) |w - w*|^2 <= gap, for both.
        reach = np.sqrt(2 * C * (model.certificate_.gap + abs(theirs.gap) + 1e-12 * scale))
        assert np.linalg.norm(model.coef_ - w) <= 2 * reach + 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_explicit_pairs_are_the_pairs_of_a_ranking(loss):
    """fit_pairs on all pairs of a ranking, dense or sparse, learns what fit learns; weights weigh."""
    X, grades, queries = ranking(4, 25, 3)
    _, i, j = differences(X, grades, queries)
    whole = lineal.RankSVM(0.3, loss=loss, tol=1e-12).fit(X, grades, groups=queries)
    for kind in (np.asarray, sp.csr_array):
        pairs = lineal.RankSVM(0.3, loss=loss, tol=1e-12).fit_pairs(kind(X[i]), kind(X[j]))
        np.testing.assert_allclose(pairs.coef_, whole.coef_, rtol=1e-5, atol=1e-6)  # sqrt of the gap
    weight = np.arange(len(i)) % 3.0
    heavy = lineal.RankSVM(0.3, loss=loss, tol=1e-12).fit_pairs(X[i], X[j], pair_weight=weight)
    w, _ = listed(loss, 0.3, X[i] - X[j], weight)
    np.testing.assert_allclose(heavy.coef_, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Log()], ids=str)
def test_weights_of_rows_and_queries_weigh_pairs(loss):
    """A pair weighs c_q s_i s_j, with c_q divided by the query's pairs where queries count the same."""
    X, grades, _ = ranking(6, 30, 3)
    queries = np.arange(30) % 3
    rng = np.random.default_rng(0)
    s = rng.integers(0, 4, size=30) + 0.5
    D, i, j = differences(X, grades, queries)
    pairs = s[i] * s[j]
    c = np.where(queries == 1, 3.0, 1.0)
    totals = np.bincount(queries[i], weights=pairs, minlength=queries.max() + 1)
    for weighting, weight in (("pairs", pairs * c[i]), ("queries", (pairs * c[i]) / totals[queries[i]])):
        model = lineal.RankSVM(2.0, loss=loss, weighting=weighting, tol=1e-12)
        model.fit(X, grades, queries, s, query_weight={1: 3.0})
        w, theirs = listed(loss, 2.0, D, weight)
        assert model.certificate_.primal == pytest.approx(theirs.primal, rel=1e-9)
        np.testing.assert_allclose(model.coef_, w, rtol=1e-4, atol=1e-5)
        again = lineal.verify(model, X, grades, s, groups=queries, query_weight={1: 3.0})
        assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Log()], ids=str)
def test_threads_layouts_and_orders_change_no_answer(loss):
    """Threads change no bit; sparse rows, shuffled rows and other names of queries no weight."""
    X, grades, queries = ranking(8, 3000, 6)
    queries = np.random.default_rng(0).integers(0, 40, size=3000)
    fits = [lineal.RankSVM(0.1, loss=loss, n_threads=n).fit(X, grades, groups=queries) for n in (1, 2, 5)]
    for one in fits[1:]:
        assert np.array_equal(one.coef_, fits[0].coef_)
    tight = lineal.RankSVM(0.1, loss=loss, tol=1e-10).fit(X, grades, groups=queries)
    sparse = lineal.RankSVM(0.1, loss=loss, tol=1e-10).fit(sp.csr_array(X), grades, groups=queries)
    order = np.random.default_rng(1).permutation(3000)
    names = np.array([f"query {q}" for q in queries])
    other = lineal.RankSVM(0.1, loss=loss, tol=1e-10).fit(X[order], grades[order], groups=names[order])
    for one in (sparse, other):
        np.testing.assert_allclose(one.coef_, tight.coef_, rtol=1e-3, atol=1e-4)
        assert one.certificate_.primal == pytest.approx(tight.certificate_.primal, rel=1e-9)


def test_many_columns_go_by_conjugate_gradients_to_the_same_optimum():
    """More columns than a Hessian is built for: the same objective as on listed pairs."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 500), density=0.05, format="csr", rng=rng)
    grades, queries = rng.integers(0, 3, size=60), rng.integers(0, 6, size=60)
    D, _, _ = differences(X.toarray(), grades, queries)
    for loss in (Hinge(), SquaredHinge(), Log()):
        model = lineal.RankSVM(0.5, loss=loss, tol=1e-5).fit(X, grades, groups=queries)
        _, theirs = listed(loss, 0.5, D)
        assert theirs.dual * (1 - 1e-12) <= model.certificate_.primal <= theirs.primal * (1 + 1e-5)


# ---- measures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_kendall_is_scipys_and_pairs_are_counted(seed):
    """tau-b is SciPy's, query by query, with ties on both sides; ordered pairs are counted one by one."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, 6, size=60)
    scores, grades = rng.integers(0, 5, size=60) / 2, rng.integers(0, 3, size=60)
    found = evaluate_ranking(scores, grades, queries, n_resamples=10)
    taus, shares = [], []
    for q in np.unique(queries):
        z, r = scores[queries == q], grades[queries == q]
        i, j = np.nonzero(r[:, None] > r)
        if len(i):
            tau = kendalltau(z, r, variant="b").statistic
            taus.append(0.0 if np.isnan(tau) else tau)
            shares.append(np.mean((z[i] > z[j]) + 0.5 * (z[i] == z[j])))
    assert found["kendall"].value == pytest.approx(np.mean(taus), abs=1e-12)
    assert found["pair_accuracy"].value == pytest.approx(np.mean(shares), abs=1e-12)
    model = lineal.RankSVM().fit(scores[:, None], grades, groups=queries)
    if model.coef_[0] > 0:
        i, j = np.nonzero((queries[:, None] == queries) & (grades[:, None] > grades))
        right = np.mean((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
        assert model.score(scores[:, None], grades, groups=queries) == pytest.approx(right, abs=1e-12)


def letor_slowly(scores, relevance, queries, k):
    """(NDCG at k, mean NDCG, MAP, precision at k) place by place, as LETOR 4.0's script computes them."""
    rows = []
    for q in np.unique(queries):
        z, r = scores[queries == q], relevance[queries == q]
        rates = r[np.argsort(-z, kind="stable")]

        def dcg(rates):
            gains = [2.0**rate - 1 for rate in rates]
            return [
                sum(g if place < 2 else g / np.log2(place + 1) for place, g in enumerate(gains[: last + 1]))
                for last in range(len(gains))
            ]

        best = dcg(sorted(rates, reverse=True))
        ndcg = [a / b if b else 0.0 for a, b in zip(dcg(rates), best, strict=True)]
        n_relevant, total = 0, 0.0
        for place, rate in enumerate(rates):
            if rate >= 1:
                n_relevant += 1
                total += n_relevant / (place + 1)
        rows.append(
            (
                ndcg[k - 1] if len(ndcg) >= k else 0.0,
                np.mean(ndcg),
                total / n_relevant if n_relevant else 0.0,
                sum(rate >= 1 for rate in rates[:k]) / k,
            )
        )
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_letor_measures_are_those_of_its_script(seed):
    """Ties in the order of the file, short queries and queries without a relevant row as zeros."""
    rng = np.random.default_rng(seed)
    queries = np.sort(rng.integers(0, 12, size=80))
    scores, relevance = rng.integers(0, 6, size=80) / 2, rng.integers(0, 3, size=80)
    relevance[queries == queries[-1]] = 0
    for k in (1, 4, 10):
        found = evaluate_letor(scores, relevance, queries, k=k, n_resamples=10)
        got = [found[name].value for name in ("ndcg_at_k", "mean_ndcg", "map", "precision_at_k")]
        np.testing.assert_allclose(got, letor_slowly(scores, relevance, queries, k), rtol=1e-12)
