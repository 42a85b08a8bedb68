"""Models of float32, or scaled to other curvatures, lead where exact ones do, and proofs know neither."""

import numpy as np
import pytest

from lineal import Lasso, LinearClassifier, LinearRegressor, _core, path, verify
from lineal.objective import L1, ElasticNet, Log, Squared, linear_maps
from lineal.objective.linear_maps import NativeRows, native_dense
from lineal.solvers import prox_cd
from strategies import sample

EVERY = slice(None)


def kept_columns(X, wanted=EVERY):
    rows = native_dense(np.ascontiguousarray(X), 1).keeping_columns()
    return rows.kept, rows.take_columns(np.arange(X.shape[1])[wanted])


@pytest.mark.parametrize("is_even", [True, False], ids=["even", "weighted"])
def test_products_in_float32_are_near_and_nobody_else_is_given_them(is_even):
    """G is X'diag(h)X to float32, as columns join; a Gram matrix that is asked for has all its digits."""
    rng = np.random.default_rng(0)
    X, h = rng.normal(size=(60, 40)) * rng.uniform(0.1, 10, 40), np.full(60, 0.25)
    h = h if is_even else rng.uniform(0.01, 0.25, 60)
    kept, _ = kept_columns(X, slice(0, 7))
    kept.weigh(h, is_narrow=True)
    for n in (7, 19, 40):
        places = np.arange(n)
        kept.take(X, places, 1)
        A = np.column_stack([X[:, :n], np.ones(60)])
        truth, size = A.T @ (h[:, None] * A), np.sqrt(np.outer(*2 * [h @ A**2]))
        found = kept.kept_gram(places, True)
        assert found.dtype == np.float32
        assert np.all(np.abs(found - truth) <= 1e-6 * size)
        assert np.all(np.abs(kept.gram(places, h, True) - truth) <= 1e-13 * size)
    kept.weigh(h)
    assert np.all(np.abs(kept.kept_gram(places, True) - truth) <= 1e-13 * size)


def test_an_active_set_in_float32_ends_near_the_exact_one():
    """The same model, the same weights but for its rounding, and a gradient that is the model's."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 90)), rng.normal(size=300)
    G, g = X.T @ X, -X.T @ y
    l2 = np.zeros(90)
    for strength in (20.0, 8.0, 1.0, 0.01):
        found = []
        for active, matrix in ((_core.ActiveSet(), G), (_core.NarrowActiveSet(), G.astype(np.float32))):
            w, gradient = np.zeros(90), g.copy()
            active.run(matrix, np.full(90, strength), l2, gradient, w, 0, 1e-6, 1000)
            np.testing.assert_allclose(gradient, g + matrix.astype(np.float64) @ w, atol=1e-9)
            found.append(w)
        exact, narrow = found
        np.testing.assert_allclose(narrow, exact, atol=1e-5 * max(1e-3, np.abs(exact).max()))


def test_a_column_that_float32_cannot_tell_from_others_does_not_join_them():
    """Two columns that differ in their tenth digit are one to the factor: the model ends all the same."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 6))
    X[:, 5] = X[:, 0] + 1e-10 * rng.normal(size=50)
    G, gradient, w = (X.T @ X).astype(np.float32), -X.T @ rng.normal(size=50), np.zeros(6)
    _core.NarrowActiveSet().run(G, np.full(6, 0.1), np.zeros(6), gradient, w, 0, 1e-6, 1000)
    slopes = np.where(w == 0, np.abs(gradient) - 0.1, np.abs(gradient + 0.1 * np.sign(w)))
    assert np.isfinite(w).all()
    assert slopes.max() <= 1e-4


@pytest.mark.parametrize("penalty", [L1(1.0), ElasticNet(1.0, 0.3)], ids=str)
@pytest.mark.parametrize("unit", [1.0, 1e-22, 1e22], ids=str)
@pytest.mark.parametrize("loss", [Log(), Squared()], ids=str)
def test_paths_of_rounded_models_are_paths(loss, unit, penalty, monkeypatch):
    """Every point is proved, by NumPy alone too, and as good as a fit of its own, in any unit of columns."""
    monkeypatch.setattr(prox_cd, "_LARGE", 0)  # as if it were large: no more digits than are asked for
    monkeypatch.setattr(prox_cd, "CHEAP", 0.0)
    widths = []
    weigh = linear_maps.KeptColumns.weigh

    def noting(self, h, *, is_narrow=False):
        widths.append(is_narrow)
        weigh(self, h, is_narrow=is_narrow)

    monkeypatch.setattr(linear_maps.KeptColumns, "weigh", noting)
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(80, 300)), np.zeros(300)
    w[:8] = 3.0
    y = X @ w + rng.normal(size=80)
    X[:, 1::3] *= unit
    learner = LinearClassifier if loss == Log() else LinearRegressor
    y = np.where(y > 0, 1, -1) if loss == Log() else y
    strengths = np.max(np.abs(X.T @ (y - y.mean()))) * np.geomspace(0.9, 0.01, 12)
    points = path(learner(loss, penalty, tol=1e-4), X, y, strengths=strengths)
    assert any(widths) == (unit <= 1.0)  # beyond what float32 holds models are exact
    for i, proof in enumerate(points.certificates):
        assert proof.converged
        # Of weights alone nobody proves anything where columns of a ridge are 1e22 times others.
        assert unit != 1.0 or verify(points.model(i), X, y).relative_gap <= 1e-4
        alone = learner(loss, penalty.at_strength(strengths[i]), tol=1e-6).fit(X, y)
        assert abs(proof.primal - alone.certificate_.primal) <= 1.1e-4 * alone.certificate_.primal


@pytest.mark.parametrize(
    ("alpha", "n_passes"), [(1e-4, 2), (0.1, 1), (1e3, 1)], ids=["all digits", "some", "none"]
)
def test_small_squares_are_pulled_no_more_often_than_they_are_looked_at(alpha, n_passes, monkeypatch):
    """X'U of the first slopes tells where 0 is best, and with the model's products what is at its minimum,
    unless l1 is so small beside it that they would be rounded: the proof is that of NumPy's own pass.
    """
    X, y = sample("regression", 2)
    counts = []
    adjoint = NativeRows.adjoint

    def counted(self, U):
        counts.append(1)
        return adjoint(self, U)

    monkeypatch.setattr(NativeRows, "adjoint", counted)
    found = Lasso(alpha).fit(X, y)
    assert found.certificate_.converged
    assert len(counts) == n_passes
    proof = verify(found, X, y)
    assert proof.relative_gap <= 1e-11
    assert abs(proof.dual - found.certificate_.dual) <= 1e-11 * abs(proof.primal)
