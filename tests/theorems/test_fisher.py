"""What is true of Fisher's discriminant."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from lineal import FisherDiscriminant, LinearRegression
from lineal.errors import InputError
from lineal.learners.fisher import Gaussians
from lineal.learners.fisher import discriminant as roads
from lineal.learners.fisher.crossing import crossing
from reference import fisher as printed


def clouds(n_classes=2, n=120, d=4, seed=0, apart=1.0):
    """Correlated clouds of unequal sizes, with weights."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, n_classes, n) * rng.integers(0, 2, n) + 0)
    y[: n_classes * 4] = np.arange(n_classes * 4) % n_classes
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + apart * rng.normal(size=(n_classes, d))[y]
    return X, y, rng.integers(1, 4, n).astype(float)


# ---- the directions -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_within_and_between_are_the_whole(n_classes):
    """S_W + S_B is the scatter of all rows: so mu / (1 + mu) is the explained share along a direction."""
    X, y, s = clouds(n_classes)
    within, between, _, _ = printed.scatters(X, y, s)
    whole = (s[:, None] * (X - np.average(X, axis=0, weights=s))).T @ (X - np.average(X, axis=0, weights=s))
    np.testing.assert_allclose(within + between, whole, rtol=1e-11)
    model = FisherDiscriminant().fit(X, y, s)
    spread = np.sum(s[:, None] * model.transform(X) ** 2, axis=0)  # seen from the mean of all rows
    np.testing.assert_allclose(spread, s.sum() * (1 + model.eigenvalues_), rtol=1e-11)


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_directions_solve_the_generalised_eigenproblem(n_classes, shrinkage):
    """S_B w = mu S_W w with the eigenvalues of LAPACK, and w'(S_W / N) w = 1 between all of them."""
    X, y, s = clouds(n_classes)
    within, between, _, _ = printed.scatters(X, y, s)
    within = printed.shrunk(within, 0.0 if shrinkage == "auto" else shrinkage)
    model = FisherDiscriminant(shrinkage=shrinkage).fit(X, y, s)
    r = min(n_classes - 1, X.shape[1])
    W, mu = model.scalings_, model.eigenvalues_
    assert W.shape == (X.shape[1], r)
    np.testing.assert_allclose(between @ W, within @ W * mu, atol=1e-10 * np.abs(between).max())
    np.testing.assert_allclose(mu, printed.eigenvalues(within, between)[:r], rtol=1e-10)
    np.testing.assert_allclose(W.T @ within @ W / s.sum(), np.eye(r), atol=1e-11)
    np.testing.assert_allclose(model.explained_ratio_.sum(), 1.0)


def test_two_classes_solve_the_printed_equations():
    """S_W w = m_1 - m_0, and no other direction has a larger J(w) = w'S_B w / w'S_W w."""
    X, y, s = clouds()
    within, between, means, _ = printed.scatters(X, y, s)
    w = FisherDiscriminant().fit(X, y, s).direction_
    np.testing.assert_allclose(within @ w, means[1] - means[0], rtol=1e-10)
    others = np.random.default_rng(0).normal(size=(200, 4))
    others = np.vstack([others, w + 1e-3 * others])

    def criterion(v):
        return (v @ between @ v) / (v @ within @ v)

    assert all(criterion(v) < criterion(w) for v in others)


@pytest.mark.parametrize("weighted", [False, True])
def test_fisher_is_least_squares(weighted):
    """Regression on targets N / N_1 and -N / N_0 has weights along w, and its zero is m.w (Bishop 4.1.5)."""
    X, y, s = clouds(seed=3)
    s = s if weighted else np.ones(len(y))
    N, counts = s.sum(), np.bincount(y, weights=s)
    targets = np.where(y == 1, N / counts[1], -N / counts[0])
    line = LinearRegression(tol=1e-12).fit(X, targets, s)
    w = FisherDiscriminant().fit(X, y, s).direction_
    ratio = line.coef_ / w
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-9)
    assert ratio.mean() > 0
    # The factor: (S_W + N_0 N_1 / N gap gap') v = N gap gives v = N / (1 + N_0 N_1 / N gap.w) w.
    gap = X[y == 1].T @ s[y == 1] / counts[1] - X[y == 0].T @ s[y == 0] / counts[0]
    np.testing.assert_allclose(ratio.mean(), N / (1 + counts.prod() / N * (gap @ w)), rtol=1e-9)
    assert line.intercept_ == pytest.approx(-np.average(X, axis=0, weights=s) @ line.coef_, rel=1e-9)


@pytest.mark.parametrize("rule", ["crossing", "both", "pooled"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_invertible_maps_change_nothing(n_classes, rule):
    """Without shrinkage X -> X T + t leaves every score and every place in the discriminant space."""
    X, y, s = clouds(n_classes, seed=1)
    rng = np.random.default_rng(5)
    T, t = rng.normal(size=(4, 4)), rng.normal(size=4)
    a = FisherDiscriminant(rule=rule).fit(X, y, s)
    b = FisherDiscriminant(rule=rule).fit(X @ T + t, y, s)
    np.testing.assert_allclose(b.transform(X @ T + t), a.transform(X), atol=1e-9)
    np.testing.assert_allclose(b.decision_function(X @ T + t), a.decision_function(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shrinkage", ["auto", "ledoit_wolf", None])
@pytest.mark.parametrize("shape", [(120, 4), (20, 60)], ids=["narrow", "wide"])
def test_units_do_not_matter(shape, shrinkage):
    """Columns in units of 1e8, 1e-8 and 1e150, and with offsets, give the same scores."""
    X, y, _ = clouds(n=shape[0], d=shape[1], seed=2)
    units = np.ones(shape[1])
    units[:3] = 1e8, 1e-8, 1e150
    moved = X * units
    moved[:, 3] += 1e6
    a, b = (FisherDiscriminant(shrinkage=shrinkage).fit(Z, y) for Z in (X, moved))
    np.testing.assert_allclose(b.decision_function(moved), a.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [1e300, 1e150, 1e-150, 1e-300])
@pytest.mark.parametrize("shrinkage", ["auto", "ledoit_wolf", None, 0.2])
@pytest.mark.parametrize("shape", [(60, 5), (30, 50)], ids=["narrow", "wide"])
def test_numbers_of_any_size(shape, shrinkage, size):
    """All columns in units of 1e300 or 1e-300: the same predictions, also shrunk by a number."""
    X, y, _ = clouds(3, *shape)
    a, b = (FisherDiscriminant(shrinkage=shrinkage).fit(Z, y) for Z in (X, size * X))
    np.testing.assert_array_equal(b.predict(size * X), a.predict(X))
    assert np.isfinite(b.coef_).all()


# ---- the threshold --------------------------------------------------------------------------------

finite = st.floats(-50, 50)
deviations = st.floats(0.01, 100)
odds = st.floats(-3, 3)


@given(finite, st.floats(0.01, 100), deviations, deviations, odds)
def test_log_densities_meet_at_the_roots(m0, gap, sd0, sd1, log_odds):
    """At a root both log densities, with their priors, are equal; between two roots one class leads."""
    pair = Gaussians((m0, m0 + gap), (sd0**2, sd1**2), log_odds)
    for root in pair.roots():
        upper = norm.logpdf(root, m0 + gap, sd1) + log_odds
        lower = norm.logpdf(root, m0, sd0)
        assert upper == pytest.approx(lower, abs=1e-7, rel=1e-9)  # slopes are up to gap / 0.01^2


@given(finite, st.floats(0.01, 100), deviations, deviations)
def test_equal_priors_always_meet(m0, gap, sd0, sd1):
    """With equal priors there is a root, two unless the variances are equal, and l changes sign at each."""
    pair = Gaussians((m0, m0 + gap), (sd0**2, sd1**2))
    roots = pair.roots()
    assert 1 <= len(roots) <= 2
    assert roots == tuple(sorted(roots))
    if abs(np.log(sd0 / sd1)) > 1e-3:
        assert len(roots) == 2


@pytest.mark.parametrize("nudge", [0.0, 1e-15, 1e-13, 1e-9, 1e-6])
def test_nearly_equal_variances_meet_midway(nudge):
    """Equal variances: (m_0 + m_1) / 2 - v ln(p_1 / p_0) / (m_1 - m_0); nearly equal ones, nearly there."""
    pair = Gaussians((1.0, 4.0), (2.0, 2.0 * (1 + nudge)), 0.5)
    nearest = min(pair.roots(), key=lambda root: abs(root - 2.5))
    assert nearest == pytest.approx(2.5 - 2.0 * 0.5 / 3.0, rel=max(1e-14, nudge))


def test_the_root_between_the_means_is_taken():
    """One root lies between the means: that is the threshold, and the sentence names the other."""
    pair = Gaussians((0.0, 3.0), (1.0, 4.0))
    meet = crossing(pair, np.array([0.0, 3.0]), np.array([0, 1], np.int32), np.ones(2))
    low, high = sorted(meet.roots)
    assert low < 0 < high < 3
    assert meet.threshold == high
    assert "between the means" in meet.reason
    assert f"{low:.6g}" in meet.reason


def test_without_a_root_between_the_means_errors_decide():
    """A narrow class inside a wide one: both roots are beyond the means, and training errors choose."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0.0, 10.0, 200), rng.normal(0.5, 0.3, 200)])
    y = np.repeat([0, 1], 200)
    model = FisherDiscriminant().fit(x[:, None], y)
    means = sorted(model.means_ @ model.direction_)
    t = x * model.direction_[0]
    assert all(not means[0] <= root <= means[1] for root in model.roots_)
    errors = [np.sum((t >= root) != (y == 1)) for root in model.roots_]
    assert model.threshold_ == model.roots_[int(np.argmin(errors))]
    assert "misplaces less" in model.reason_
    both = FisherDiscriminant(rule="both").fit(x[:, None], y)
    assert both.score(x[:, None], y) > model.score(x[:, None], y) + 0.1  # a line cannot enclose a class


def test_both_roots_are_the_gaussians_themselves():
    """rule="both": the score is the log-odds of the fitted Gaussians, 0 at each root."""
    X, y, s = clouds(seed=4)
    model = FisherDiscriminant(rule="both", priors=[0.3, 0.7]).fit(X, y, s)
    t = X @ model.direction_
    score = np.log(0.7 / 0.3)
    for k, sign in ((0, -1), (1, 1)):
        mean = np.average(t[y == k], weights=s[y == k])
        deviation = np.sqrt(np.average((t[y == k] - mean) ** 2, weights=s[y == k]))
        score = score + sign * norm.logpdf(t, mean, deviation)
    np.testing.assert_allclose(model.decision_function(X), score, rtol=1e-9, atol=1e-9)


def test_the_line_touches_the_log_odds_at_the_threshold():
    """rule="crossing": the linear score has the value and the slope of the Gaussians' at the threshold."""
    X, y, s = clouds(seed=4)
    line = FisherDiscriminant().fit(X, y, s)
    both = FisherDiscriminant(rule="both").fit(X, y, s)
    w = line.direction_
    at = w / (w @ w) * line.threshold_  # a row whose projection is the threshold
    step = 1e-5 * w / (w @ w) * np.sqrt(w @ w)
    assert line.decision_function([at])[0] == pytest.approx(0.0, abs=1e-9)
    assert both.decision_function([at])[0] == pytest.approx(0.0, abs=1e-9)
    for model in (line, both):
        assert model.decision_function([at + step])[0] > 0 > model.decision_function([at - step])[0]
    slopes = [np.diff(m.decision_function([at - step, at + step]))[0] for m in (line, both)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-6)


def test_priors_that_never_let_the_classes_meet():
    """With overwhelming priors the densities never meet: said, with the threshold of equal variances."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1.0, 100), rng.normal(0.2, 5.0, 100)])[:, None]
    model = FisherDiscriminant(priors=[1e-6, 1 - 1e-6]).fit(x, np.repeat(["a", "b"], 100))
    assert model.roots_ == ()
    assert "never meet" in model.reason_
    assert np.isfinite(model.threshold_)
    assert set(
        FisherDiscriminant(rule="both", priors=[1e-6, 1 - 1e-6]).fit(x, np.repeat([0, 1], 100)).predict(x)
    ) == {1}


# ---- odd data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", ["auto", "ledoit_wolf", 0.2, None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weight_2_is_the_row_twice(n_classes, shrinkage):
    """A row of weight k and the row k times, and a row of weight 0 and no row, are the same model."""
    X, y, s = clouds(n_classes)
    rows = np.repeat(np.arange(len(y)), s.astype(int))
    a = FisherDiscriminant(shrinkage=shrinkage).fit(X, y, s)
    b = FisherDiscriminant(shrinkage=shrinkage).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=1e-9, atol=1e-9)
    extra = np.vstack([X, 100 + X[:5]])
    c = FisherDiscriminant(shrinkage=shrinkage).fit(extra, np.append(y, [9] * 5), np.append(s, np.zeros(5)))
    np.testing.assert_array_equal(c.coef_, a.coef_)
    np.testing.assert_array_equal(c.classes_, a.classes_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_constant_and_repeated_columns(n_classes):
    """A constant column has weight 0 and changes nothing; a repeated one makes S_W singular."""
    X, y, s = clouds(n_classes)
    plain = FisherDiscriminant().fit(X, y, s)
    padded = np.insert(X, 2, 1e9 / 3, axis=1)
    model = FisherDiscriminant().fit(padded, y, s)
    assert not model.coef_[:, 2].any()
    assert model.shrinkage_ == 0.0
    np.testing.assert_allclose(np.delete(model.coef_, 2, axis=1), plain.coef_, rtol=1e-12)
    twice = FisherDiscriminant().fit(np.hstack([X, X[:, :1]]), y, s)
    assert 0 < twice.shrinkage_ < 0.5
    assert "rank 4 of 5" in twice.reason_
    none = FisherDiscriminant(shrinkage=None).fit(np.hstack([X, X[:, :1]]), y, s)
    np.testing.assert_allclose(
        none.decision_function(np.hstack([X, X[:, :1]])), plain.decision_function(X), rtol=1e-8, atol=1e-8
    )


def test_columns_that_tell_everything():
    """A column that is constant in each class is used by shrinkage and left out without, and both say so."""
    y = np.repeat([0, 1], 10)
    X = np.column_stack([y.astype(float), np.tile(np.arange(10.0), 2)])
    assert FisherDiscriminant().fit(X, y).score(X, y) == 1.0
    with pytest.raises(InputError, match="shrinkage='auto'"):
        FisherDiscriminant(shrinkage=None).fit(X, y)
    for layout in (np.asarray, sp.csr_array):
        with pytest.raises(
            InputError, match="shrinkage='auto'"
        ):  # tr S_W is 0, so that is what it shrinks to
            FisherDiscriminant(shrinkage=0.5).fit(layout([[0.0, 0.0], [2.0, 0.0]]), ["a", "b"])
    points = FisherDiscriminant().fit([[0.0, 0.0], [2.0, 0.0]], ["a", "b"])  # one row of each
    assert points.threshold_ == pytest.approx(points.direction_ @ [1.0, 0.0])
    assert points.predict([[0.9, 5.0], [1.1, 5.0]]).tolist() == ["a", "b"]


def test_means_that_coincide():
    """Without a difference of means the prior decides, with weights of 0 and a sentence that says so."""
    X, y = [[-1.0], [1.0], [-2.0], [2.0]], [0, 0, 1, 1]
    model = FisherDiscriminant(priors=[0.6, 0.4]).fit(X, y)
    assert not model.coef_.any()
    assert "coincide" in model.reason_
    assert model.predict(X).tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(model.predict_proba(X), [[0.6, 0.4]] * 4)
    three = FisherDiscriminant(priors=[0.2, 0.5, 0.3]).fit(np.zeros((6, 2)), [0, 0, 1, 1, 2, 2])
    np.testing.assert_allclose(three.predict_proba([[1.0, 2.0]]), [[0.2, 0.5, 0.3]])


def test_more_columns_than_rows_without_a_square_matrix():
    """20 rows and 40,000 columns: a d x d matrix would take 12 GB; the formula's w is still found."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 40_000))
    X[:, :300] += y[:, None]
    model = FisherDiscriminant(shrinkage=0.1).fit(X, y)
    within = X - model.means_[y]
    level = 0.1 * np.sum(within**2) / X.shape[1]
    w = model.direction_
    left = 0.9 * within.T @ (within @ w) + level * w
    np.testing.assert_allclose(left, model.means_[1] - model.means_[0], atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_conjugate_gradients_find_what_factors_find(n_classes, monkeypatch):
    """Sparse rows that are not factorised give the directions of those that are."""
    rng = np.random.default_rng(0)
    X = sp.random(150, 220, density=0.05, random_state=0, format="csr")
    X.data += 1.0
    y, s = rng.integers(0, n_classes, 150), rng.integers(1, 4, 150).astype(float)
    factors = FisherDiscriminant(shrinkage=0.2).fit(X, y, s)
    intensity = FisherDiscriminant(shrinkage="ledoit_wolf").fit(X, y, s).shrinkage_
    monkeypatch.setattr(roads, "_SMALL", 0)
    model = FisherDiscriminant(shrinkage=0.2).fit(X, y, s)
    assert "conjugate gradients" in model.reason_
    np.testing.assert_allclose(model.coef_, factors.coef_, atol=1e-8 * np.abs(factors.coef_).max())
    np.testing.assert_allclose(model.eigenvalues_, factors.eigenvalues_, rtol=1e-8)
    estimated = FisherDiscriminant().fit(X, y, s).shrinkage_
    assert estimated == pytest.approx(intensity, rel=0.1)  # 32 random vectors
    with pytest.raises(ValueError, match="shrinkage='auto'"):
        FisherDiscriminant(shrinkage=None).fit(X, y, s)


def test_narrow_sparse_rows_are_read_by_blocks(monkeypatch):
    """Sparse rows with few columns go through the same factors, a block of rows at a time."""
    X, y, s = clouds(3, n=300)
    X[np.abs(X) < 0.5] = 0.0
    whole = FisherDiscriminant().fit(X, y, s)
    monkeypatch.setattr(roads, "_SMALL", 0)
    monkeypatch.setattr("lineal.learners.fisher.scatter._BLOCK", 37)
    np.testing.assert_allclose(
        FisherDiscriminant().fit(sp.csr_array(X), y, s).coef_, whole.coef_, rtol=1e-9, atol=1e-11
    )
