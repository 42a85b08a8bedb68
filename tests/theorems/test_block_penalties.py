"""Blocks of columns with penalties of their own: one objective, its certificate, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from lineal import LinearClassifier, LinearRegressor, verify
from lineal.errors import ParameterError
from lineal.objective import L1, L2, Blocks, ElasticNet, GroupL2, Hinge, Huber, Log, Lp, NoPenalty, Squared
from lineal.objective.block_penalty import ColumnElasticNet

pandas = pytest.importorskip("pandas")


def data(seed=0, n=120, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2.0, size=d)
    return X, X[:, 0] - 2 * X[:, 3] + 0.5 * X[:, 6] + rng.normal(size=n) + 0.4


CHOICES = {
    "two ridges": {range(4): L2(0.1), ...: L2(20.0)},
    "lasso and ridge": {range(4): L1(8.0), ...: L2(1.0)},
    "free and lasso": {0: NoPenalty(), (3, 6): NoPenalty(), ...: L1(15.0)},
    "all kinds": {0: NoPenalty(), range(1, 3): L2(1.0), range(3, 6): L1(6.0), ...: ElasticNet(2.0, 3.0)},
    "a held intercept": {...: L1(4.0), "intercept": L2(50.0)},
}
choices = pytest.mark.parametrize("blocks", CHOICES.values(), ids=CHOICES)


def parts(blocks, d=8):
    bound = Blocks(blocks).for_columns(d)
    return bound.l1, bound.l2


@choices
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Log(), Hinge()], ids=str)
def test_the_objective_is_the_sum_over_blocks(loss, blocks):
    """Certified, proved again in NumPy, and P is the losses plus each block's own penalty."""
    X, y = data()
    y = y > 0 if loss.is_margin else y
    kind = LinearClassifier if loss.is_margin else LinearRegressor
    model = kind(loss=loss, penalty=blocks, tol=1e-5).fit(X, y)
    assert model.certificate_.converged, model.certificate_
    assert verify(model, X, y).converged
    l1, l2 = parts(blocks)
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    target = np.where(y, 1.0, -1.0) if loss.is_margin else y
    expected = loss.value(target, X @ w + b).sum() + l1 @ np.abs(w) + l2 @ w**2 / 2
    if "intercept" in blocks:
        expected += 25.0 * b * b
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-9)


@choices
def test_no_weights_are_below_the_bound(blocks):
    """The optimum by another road (split signs, L-BFGS-B) lies between the bound and the objective."""
    X, y = data(1)
    model = LinearRegressor(penalty=blocks, tol=1e-7).fit(X, y)
    l1, l2 = parts(blocks)
    on_b = 50.0 if "intercept" in blocks else 0.0

    def value(theta):
        up, down, b = theta[:8], theta[8:16], theta[16]
        w = up - down
        r = X @ w + b - y
        g = X.T @ r + l2 * w
        slope = np.r_[g + l1, -g + l1, r.sum() + on_b * b]
        return r @ r / 2 + l1 @ (up + down) + l2 @ w**2 / 2 + on_b * b * b / 2, slope

    bounds = [(0, None)] * 16 + [(None, None)]
    found = minimize(value, np.zeros(17), jac=True, bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-10})
    assert model.certificate_.dual <= found.fun * (1 + 1e-9)
    assert model.certificate_.primal <= found.fun * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "nesterov", "prox_cd", "newton"])
def test_solvers_agree_or_refuse(solver):
    """Whoever takes an l1 and an l2 for each column ends at the same objective."""
    X, y = data(2)
    blocks = CHOICES["two ridges" if solver == "newton" else "lasso and ridge"]
    tol = 1e-4 if solver == "nesterov" else 1e-6
    model = LinearRegressor(penalty=blocks, solver=solver, tol=tol).fit(X, y)
    assert model.certificate_.converged, model.certificate_
    known = LinearRegressor(penalty=blocks, tol=1e-8).fit(X, y).certificate_
    assert model.certificate_.primal == pytest.approx(known.primal, rel=2 * tol)


def test_one_penalty_for_every_block_is_that_penalty():
    """Blocks that all say the same are the penalty itself, sparse rows and several classes too."""
    X, y = data(3)
    classes = np.digitize(y, [-1.0, 1.0])
    for penalty in (L2(2.0), L1(3.0), ElasticNet(1.0, 1.0)):
        for rows, target, kind in (
            (X, y, LinearRegressor),
            (sp.csr_array(X), classes, LinearClassifier),
        ):
            same = kind(penalty={range(3): penalty, ...: penalty}, tol=1e-6).fit(rows, target)
            plain = kind(penalty=penalty, tol=1e-6).fit(rows, target)
            assert same.certificate_.converged
            assert same.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=3e-6)


def test_names_and_patterns_name_columns():
    """Blocks of a data frame go by the names of its columns."""
    X, y = data(4)
    X = np.ascontiguousarray(X[:, [0, 1, 3, 6, 7]])
    frame = pandas.DataFrame(X, columns=["age", "city=a", "city=b", "income", "x*"])
    by_name = LinearRegressor(penalty={"age": NoPenalty(), "city=*": L1(5.0), ...: L2(1.0)}, tol=1e-7)
    by_place = LinearRegressor(penalty={0: NoPenalty(), (1, 2): L1(5.0), ...: L2(1.0)}, tol=1e-7)
    np.testing.assert_array_equal(by_name.fit(frame, y).coef_, by_place.fit(X, y).coef_)


def test_a_free_block_is_not_shrunk():
    """A free column has the least-squares weight of what the other columns, all 0, leave."""
    X, y = data(5)
    model = LinearRegressor(penalty={0: NoPenalty(), ...: L1(1e4)}, tol=1e-9).fit(X, y)
    A = np.c_[X[:, 0], np.ones(len(X))]
    w, b = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_array_equal(model.coef_[1:], 0.0)
    assert model.coef_[0] == pytest.approx(w, rel=1e-6)
    assert model.intercept_ == pytest.approx(b, rel=1e-6, abs=1e-9)
    assert model.certificate_.converged


def test_columns_and_their_conjugates():
    """Fenchel and Young hold term by term, with equality at a slope, for every mixture of parts."""
    rng = np.random.default_rng(0)
    penalty = ColumnElasticNet(np.array([0.0, 1.0, 0.0, 2.0]), np.array([1.0, 0.0, 3.0, 0.5]))
    for _ in range(50):
        W, V = rng.normal(size=(2, 4, 3)) * 2
        V = V * penalty.scaling(V)
        assert (penalty.residuals(W, V) >= -1e-12).all()
        slope = -penalty.derivative(W)
        np.testing.assert_allclose(penalty.residuals(W, slope), 0.0, atol=1e-12)
        moved = penalty.prox(W, 0.3)
        assert penalty.violations(moved, (moved - W) / 0.3).max() <= 1e-12


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ({}, "at least one block"),
        ({0: L2(1.0)}, r"column 1 is in no block.*\.\.\."),
        ({(0, 1): L2(1.0), range(1, 8): L1(1.0)}, "column 1 is in two blocks"),
        ({"age": L2(1.0), ...: L1(1.0)}, "no names"),
        ({9: L2(1.0), ...: L1(1.0)}, "beyond the 8 columns"),
        ({range(5, 12): L2(1.0), ...: L1(1.0)}, "beyond the 8 columns"),
        ({0: Lp(1.0, 1.5), ...: L1(1.0)}, "Blocks takes L2, L1"),
        ({0: GroupL2(), ...: L1(1.0)}, "Blocks takes L2, L1"),
        ({0.5: L2(1.0), ...: L1(1.0)}, "a block is a column"),
        ({0: 1.0, ...: L1(1.0)}, "Blocks takes L2, L1"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(blocks, words):
    """Each refusal says which block, and what to write."""
    X, y = data()
    with pytest.raises(ParameterError, match=words):
        LinearRegressor(penalty=blocks).fit(X, y)


def test_what_the_intercept_is_told_must_agree():
    """A block for an intercept that is not fitted, and a penalised one that no block describes."""
    X, y = data()
    with pytest.raises(ParameterError, match="fit_intercept=False"):
        LinearRegressor(penalty={...: L2(1.0), "intercept": L2(1.0)}, fit_intercept=False).fit(X, y)
    with pytest.raises(ParameterError, match="block 'intercept'"):
        LinearRegressor(penalty={0: L1(1.0), ...: L2(1.0)}, penalize_intercept=True).fit(X, y)
