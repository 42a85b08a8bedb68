"""The interior-point solver: what its programmes are, and that other roads meet it."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from lineal import LinearClassifier, LinearRegressor, LinearSVC, _core, verify
from lineal.errors import NotCertifiedWarning
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    EpsilonInsensitive,
    GroupL2,
    Hinge,
    Huber,
    Intercept,
    ModifiedHuber,
    NoPenalty,
    Problem,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from lineal.objective.dual_points import feasible
from lineal.objective.joint import CrammerSinger, one_hot
from lineal.objective.linear_maps import native_dense
from lineal.solvers import interior
from reference.interior_point import Steps

MARGIN = (Hinge(), SquaredHinge(0.5), ModifiedHuber())
REGRESSION = (
    Absolute(),
    Quantile(0.2),
    EpsilonInsensitive(0.3),
    SquaredEpsilonInsensitive(0.3),
    Huber(0.7),
    Squared(),
)
PENALTIES = (NoPenalty(), L2(0.1), L1(0.5), ElasticNet(0.5, 0.5), GroupL2(None, 0.5))
NO_GROUPS = {"radius": np.zeros(0), "ball_start": np.zeros(0, dtype=np.int64), "value_at_zero": 0.0}


def _table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * [1.0, 1e3, 1e-3, 1.0]
    return X, X @ [1.0, 1e-3, 1e3, 0.0] + rng.standard_t(2, size=60)


def _fit(loss: Any, penalty: Any, X: Any, y: np.ndarray, **options: Any) -> Any:
    is_margin = loss.is_margin
    learner = LinearClassifier if is_margin else LinearRegressor
    weight = options.pop("sample_weight", None)
    target = (y > 0).astype(int) if is_margin else y
    made = learner(loss=loss, penalty=penalty, **{"solver": "interior", "tol": 1e-8, **options})
    return made.fit(X, target, sample_weight=weight)


@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_a_quadratic_conjugate_is_the_conjugate(loss: Any) -> None:
    """place u + tube |u| + bend u^2 / 2 on the interval is loss*(y, u), and both are +inf outside."""
    y, u = np.meshgrid([-1.0, 1.0], np.linspace(-5, 5, 101))
    np.testing.assert_allclose(loss.quadratic_conjugate(y).value(u), loss.conjugate(y, u), atol=1e-12)


def test_a_joint_conjugate_is_linear_on_the_simplex() -> None:
    """place.u is loss*(y, u) wherever u + e_y is in the probability simplex."""
    rng = np.random.default_rng(8)
    y = rng.integers(4, size=50)
    gold = one_hot(y, 4)
    u = rng.dirichlet(np.full(4, 0.3), size=50) - gold
    form = CrammerSinger().quadratic_conjugate(gold)
    np.testing.assert_allclose((form.place * u).sum(axis=1), CrammerSinger().conjugate(y, u), atol=1e-12)
    assert np.all(u >= form.low)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_every_loss_and_penalty_is_certified(loss: Any, penalty: Any) -> None:
    """A table whose columns differ by 10^6 in their units is solved to a relative gap of 1e-8."""
    assert _fit(loss, penalty, *_table()).certificate_.converged


def test_least_absolute_deviations_are_a_linear_programme() -> None:
    """Without a penalty the objective is that of the linear programme."""
    X, y = _table()
    n, A = len(y), np.column_stack([X, np.ones(len(y))])
    cost = np.append(np.zeros(5), np.ones(2 * n))
    eye = np.eye(n)
    bounds = [(None, None)] * 5 + [(0, None)] * (2 * n)
    other = linprog(cost, A_eq=np.hstack([A, eye, -eye]), b_eq=y, bounds=bounds)
    ours = _fit(Absolute(), NoPenalty(), X, y).certificate_.primal
    assert ours == pytest.approx(other.fun, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3)], ids=str)
def test_rows_and_columns_give_one_system(loss: Any) -> None:
    """With fewer rows than columns the system of rows reaches what dual ascent reaches; sparse as dense."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 50)), rng.normal(size=20)
    ours, sparse = _fit(loss, L2(1.0), X, y), _fit(loss, L2(1.0), csr_array(X), y)
    other = _fit(loss, L2(1.0), X, y, solver="dual_cd")
    assert ours.certificate_.converged
    assert sparse.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
    assert sparse.certificate_.primal == pytest.approx(ours.certificate_.primal, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.2)], ids=str)
def test_weight_2_is_the_row_twice(loss: Any) -> None:
    """A row of weight 2 counts as two, and one of weight 0 not at all."""
    X, y = _table()
    s = np.arange(60) % 3.0
    twice = np.repeat(np.arange(60), s.astype(int))
    weighted, repeated = _fit(loss, L2(0.1), X, y, sample_weight=s), _fit(loss, L2(0.1), X[twice], y[twice])
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)


def _programme(loss: Any, l1: float, l2: float, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Rows and the quadratic programme of their dual: the arrays that the core takes."""
    rng = np.random.default_rng(seed)
    X, y, s = rng.normal(size=(40, 3)), rng.normal(size=40), rng.uniform(0.5, 2, 40)
    form = loss.quadratic_conjugate(np.sign(y) if loss.is_margin else y)
    n_parts, place, low, high = 1, form.place, form.low, form.high
    if form.tube > 0:
        n_parts, nothing = 2, np.zeros(40)
        low, high = np.append(nothing, low), np.append(high, nothing)
        place = np.append(form.place + form.tube, form.place - form.tube)
    corners = np.arange(3 if l1 > 0 else 0)
    unit = np.zeros(len(corners))
    return X, {
        "n_parts": n_parts,
        "n_outputs": 1,
        "is_joint": False,
        "low": np.append(low, unit - l1),
        "high": np.append(high, unit + l1),
        "place": np.append(place, unit),
        "bend": np.append(np.full(len(place), form.bend), unit),
        "weight": np.append(np.tile(s, n_parts), unit + 1.0),
        "l2": np.array([l2, l2, l2, 0.0]),
        "corners": corners,
        "corner_square": np.square(X).mean(axis=0)[corners],
        "has_constant": True,
        **NO_GROUPS,
    }


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 0.3), (0.7, 0.0), (0.7, 0.3)])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Huber(0.7), EpsilonInsensitive(0.3)], ids=str)
def test_the_core_takes_the_steps_of_the_textbook(loss: Any, l1: float, l2: float) -> None:
    """Weights and dual variables after each of eight steps are those of dense matrices in NumPy."""
    X, programme = _programme(loss, l1, l2, seed=3)
    rows = native_dense(X, 1)
    core = _core.InteriorPoint.make(rows.matrix, used=np.zeros(0, dtype=np.int64), n_threads=1, **programme)
    A = np.column_stack([X, np.ones(40)])
    stacked = np.vstack([A] * programme["n_parts"] + [np.eye(4)[programme["corners"]]])
    plain = {name: programme[name] for name in ("low", "high", "place", "bend", "weight", "l2", "n_parts")}
    twin = Steps(stacked, **plain, n_rows=40, squares=programme["corner_square"])
    core.step(rows.gram(core.curvatures(), True), False)
    for _ in range(8):
        w, u = core.read(False)
        rows_of_twin = twin.u[: 40 * programme["n_parts"]].reshape(-1, 40).sum(axis=0)
        # Products fall by ten a step, and with them what rounding leaves of small differences.
        np.testing.assert_allclose(w, twin.w, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(u, rows_of_twin, rtol=1e-6, atol=1e-8)
        core.step(rows.gram(core.curvatures(), True), False)
        twin.step()


def _joint_programme(l1: float, l2: float, K: int, n: int = 30) -> tuple[np.ndarray, dict[str, Any]]:
    """The same of a joint hinge, output by output."""
    rng = np.random.default_rng(5)
    X, y, s = rng.normal(size=(n, 2)), rng.integers(K, size=n), rng.uniform(0.5, 2, n)
    form = CrammerSinger().quadratic_conjugate(one_hot(y, K))
    n_corners = 2 * K if l1 > 0 else 0
    corners = np.flatnonzero(np.tile([True, True, False], K))[:n_corners]
    unit = np.zeros(n_corners)
    return X, {
        "n_parts": K,
        "n_outputs": K,
        "is_joint": True,
        "low": np.append(form.low.T, unit - l1),
        "high": np.append(form.high.T, unit + l1),
        "place": np.append(form.place.T, unit),
        "bend": np.zeros(n * K + n_corners),
        "weight": np.append(np.tile(s, K), unit + 1.0),
        "l2": np.tile([l2, l2, 0.0], K),
        "corners": corners,
        "corner_square": np.tile(np.square(X).mean(axis=0), K)[:n_corners],
        "has_constant": True,
        **NO_GROUPS,
    }


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 0.3), (0.7, 0.0), (0.7, 0.3)])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_core_takes_the_joint_steps_of_the_textbook(K: int, l1: float, l2: float) -> None:
    """K outputs whose dual variables sum to 0 in each row: eight steps are those of dense matrices."""
    X, programme = _joint_programme(l1, l2, K)
    rows = native_dense(X, 1)
    core = _core.InteriorPoint.make(rows.matrix, used=np.zeros(0, dtype=np.int64), n_threads=1, **programme)
    stacked = np.vstack(
        [np.kron(np.eye(K), np.column_stack([X, np.ones(30)])), np.eye(3 * K)[programme["corners"]]]
    )
    plain = {name: programme[name] for name in ("low", "high", "place", "bend", "weight", "l2", "n_parts")}
    twin = Steps(stacked, **plain, n_rows=30, squares=programme["corner_square"], n_joint=K)
    core.run(1)
    for _ in range(8):
        w, u = core.read(False)
        np.testing.assert_allclose(w, twin.w, rtol=1e-6, atol=1e-8)  # as above
        np.testing.assert_allclose(u.reshape(30, K), twin.u[: 30 * K].reshape(K, 30).T, rtol=1e-6, atol=1e-8)
        core.run(1)
        twin.step()


def _classes(K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap, of columns that differ by 10^6 in their units and lie off 0."""
    rng = np.random.default_rng(6)
    y = rng.integers(K, size=80)
    return (rng.normal(size=(80, 3)) + np.eye(K, 3)[y] + [0.0, 10.0, 0.0]) * [1.0, 1e3, 1e-3], y


@pytest.mark.parametrize("options", [{}, {"penalize_intercept": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("K", [3, 6])
def test_joint_hinges_are_certified(penalty: Any, options: dict[str, Any], K: int) -> None:
    """K >= 3 classes under Crammer and Singer's loss, whatever the penalty and the intercept, to 1e-8."""
    X, y = _classes(K)
    model = LinearClassifier(loss=Hinge(), penalty=penalty, solver="interior", tol=1e-8, **options).fit(X, y)
    assert model.certificate_.converged
    sparse = LinearClassifier(loss=Hinge(), penalty=penalty, solver="interior", tol=1e-8, **options)
    sparse = sparse.fit(csr_array(X), y)
    assert sparse.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)


def _by_linear_programme(X: np.ndarray, y: np.ndarray, l1: float) -> float:
    """The optimum of min sum xi + l1 |W|, xi_i >= 1 + z_ik - z_iy, xi >= 0."""
    n, d, K = *X.shape, int(y.max()) + 1
    A, rows = np.column_stack([X, np.ones(n)]), []
    for i in range(n):
        for k in range(K):
            if k != y[i]:
                z = np.zeros((K, d + 1))
                z[k] += A[i]
                z[y[i]] -= A[i]
                rows.append(np.concatenate([z.ravel(), -z.ravel(), -np.eye(n)[i]]))
    # W = P - N with P, N >= 0 and a price; constants are free.
    price = np.tile(np.append(np.full(d, l1), 0.0), 2 * K)
    found = linprog(np.append(price, np.ones(n)), A_ub=np.array(rows), b_ub=np.full(len(rows), -1.0))
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("l1", [0.0, 2.0])
def test_joint_hinges_are_linear_programmes(l1: float) -> None:
    """Without a part l2 the optimum is that of a linear programme."""
    X, y = _classes()
    X = X / X.std(axis=0)
    penalty = L1(l1) if l1 > 0 else NoPenalty()
    ours = LinearClassifier(loss=Hinge(), penalty=penalty, solver="interior", tol=1e-9).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(_by_linear_programme(X, y, l1), rel=1e-8)


def test_ten_classes_of_counts_whose_weights_grow_from_far_are_certified() -> None:
    """Half the rows are of one class and nearly all 0, the others are counts of very different sizes: weights
    must grow a hundredfold from where they begin, and the gap with them, before the equations are met."""
    rng = np.random.default_rng(1)
    n, d, K = 300, 3, 10
    y = rng.integers(K, size=n)
    y[rng.random(n) < 0.5] = K - 1
    mean = rng.gamma(0.7, 100, (n, 1)) * rng.uniform(0.02, 1, (1, d)) * rng.lognormal(0, 0.3, (K, d))[y]
    X = rng.poisson(mean).astype(float)
    X[(y == K - 1) & (rng.random(n) < 0.9)] = 0
    X = np.column_stack([X, X[:, 1:] / (1 + X[:, :1])])
    ours = LinearClassifier(loss=Hinge(), penalty=NoPenalty(), solver="interior", tol=1e-8).fit(X, y)
    assert ours.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(_by_linear_programme(X, y, 0.0), rel=1e-7)


@pytest.mark.parametrize("unit", [1.0, 1e3])
@pytest.mark.parametrize("K", [2, 3])
def test_the_gap_of_a_step_is_no_less_than_what_can_be_proved(K: int, unit: float) -> None:
    """Under L1 a dual point whose V leaves the box is divided until it does not, and proves less by as much:
    the gap of a step says so of weights that are nearly 0 as well, whose residues cost nothing else."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=60)
    X = (rng.normal(size=(60, 5)) + np.eye(K, 5)[y] + [3.0, 0.0, 0.0, 0.0, 0.0]) * [unit, 1.0, 1.0, 1.0, 1.0]
    loss, Y, n_outputs = (Hinge(), 2.0 * y[:, None] - 1, 1) if K == 2 else (CrammerSinger(), y, K)
    rows, weight = native_dense(X, 1), np.ones(60)
    problem = Problem.of_rows(rows, Y, weight, loss, L1(1.0), Intercept.NONE, n_outputs)
    output = interior._Output(interior._Programme(problem), 0, None)
    for _ in range(15):
        output.run(1, 0.0, 0.0)
        (W, U), b = output.read(False), np.zeros(n_outputs)
        proved = problem.primal(W, b) - feasible(problem, U, W, b).dual
        assert proved <= output.state.gap * (1 + 1e-6)
    assert output.state.gap <= 1e-6 * output.state.value


def test_joint_hinges_agree_with_dual_ascent_and_weights() -> None:
    """Block ascent finds the same objective; weight 2 is the row twice."""
    X, y = _classes()
    X = X / X.std(axis=0)
    s = np.arange(80) % 3.0
    twice = np.repeat(np.arange(80), s.astype(int))
    ours = LinearClassifier(loss=Hinge(), penalty=L2(0.5), tol=1e-9)
    weighted = ours.set_params(solver="interior").fit(X, y, sample_weight=s)
    coef = weighted.coef_
    repeated = ours.fit(X[twice], y[twice])
    np.testing.assert_allclose(repeated.coef_, coef, rtol=1e-5, atol=1e-7)  # the square of 1e-9, nearly
    ascended = LinearClassifier(loss=Hinge(), penalty=L2(0.5), solver="dual_cd", tol=1e-8).fit(
        X[twice], y[twice]
    )
    assert repeated.certificate_.primal == pytest.approx(ascended.certificate_.primal, rel=1e-7)


def test_threads_change_no_bit_of_joint_steps() -> None:
    """Some steps on more rows than one thread is worth, by one thread and by three."""
    X, programme = _joint_programme(0.7, 0.3, 3, n=20_000)
    rows, found = native_dense(X, 1), []
    for n_threads in (1, 3):
        core = _core.InteriorPoint.make(
            rows.matrix, used=np.zeros(0, dtype=np.int64), n_threads=n_threads, **programme
        )
        for _ in range(4):
            core.run(1)
        found.append(core.state())
    np.testing.assert_array_equal(*found)


def test_joint_dual_variables_are_decided() -> None:
    """Of p = u + e_y only classes whose z_k + [k != y] is the row's largest have a share: others have 0."""
    X, y = _classes()
    X = X / X.std(axis=0)
    model = LinearClassifier(loss=Hinge(), penalty=L2(0.5), solver="interior", tol=1e-9).fit(X, y)
    Z, rows = model.decision_function(X), np.arange(80)
    lead = Z[rows, y][:, None] - Z - 1.0 + one_hot(y, 3)
    is_rival = lead < 1e-6 + lead.min(axis=1, keepdims=True)
    assert np.all((model.dual_ + one_hot(y, 3))[~is_rival] == 0)
    assert np.count_nonzero(~is_rival) > 80


def test_separable_classes_without_a_penalty_are_certified() -> None:
    """The minimum is 0, and weights that reach it exist, for two classes and for three."""
    rng = np.random.default_rng(7)
    y = rng.integers(3, size=60)
    X = rng.normal(size=(60, 3)) * [1.0, 1e6, 1.0] + 20 * np.eye(3)[y] * [1.0, 1e6, 1.0]
    for model in (
        LinearClassifier(loss=Hinge(), penalty=NoPenalty()).fit(X, y),
        LinearClassifier(loss=Hinge(), penalty=NoPenalty()).fit(X, y > 0),
    ):
        assert model.certificate_.converged
        assert model.certificate_.primal == 0.0


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.2), Huber(0.7), EpsilonInsensitive(0.3)], ids=str)
def test_columns_that_nearly_repeat_others_are_certified_without_a_penalty(
    loss: Any, is_sparse: bool
) -> None:
    """A sum of columns, all levels of a category, a column to 1e-8: the objective is that of a basis."""
    rng = np.random.default_rng(9)
    a, level = rng.normal(size=(80, 3)), rng.integers(4, size=80)
    near = a[:, 0] - a[:, 1] + 1e-8 * rng.normal(size=80)
    X = np.column_stack([a, a.sum(axis=1), 1e6 * near, one_hot(level, 4)])
    basis = np.column_stack([a, (near - a[:, 0] + a[:, 1]) * 1e8, one_hot(level, 4)[:, 1:]])
    y = basis @ rng.normal(size=7) + rng.standard_t(2, size=80)
    ours = _fit(loss, NoPenalty(), csr_array(X) if is_sparse else X, y, tol=1e-6)
    plain = _fit(loss, NoPenalty(), basis, y, tol=1e-9)
    assert ours.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)


def test_rows_off_the_margin_have_no_dual_variable_and_weights_at_0_are_0() -> None:
    """What is strictly complementary is decided: exact zeros, as an active set would find them."""
    X, y = _table()
    t = (y > 0).astype(int)
    svm = LinearSVC(loss="hinge", solver="interior").fit(X, t)
    sign = 2 * t - 1
    off = sign * svm.decision_function(X) > 1 + 1e-6
    assert off.any()
    assert np.all(svm.dual_.ravel()[off] == 0)
    inside = sign * svm.decision_function(X) < 1 - 1e-6
    np.testing.assert_allclose(np.abs(svm.dual_.ravel()[inside]), 1.0, rtol=1e-9)  # sums are balanced
    scaled = X / X.std(axis=0)
    lasso = _fit(Absolute(), L1(10.0), scaled, y)
    other = _fit(Absolute(), L1(10.0), scaled, y, solver="prox_cd", tol=1e-9)
    assert 0 < np.count_nonzero(lasso.coef_) < 4
    np.testing.assert_array_equal(lasso.coef_ == 0, other.coef_ == 0)


@pytest.mark.parametrize("K", [3, 5])
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_outputs_of_one_vs_rest_are_problems_of_their_own(K: int, intercept: str) -> None:
    """K outputs at once are certified, with the objective that dual ascent finds, whatever the intercept."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 4)), rng.integers(K, size=90)
    options: dict[str, Any] = {
        "free": {},
        "penalized": {"penalize_intercept": True},
        "none": {"fit_intercept": False},
    }[intercept]
    ours, other = (
        LinearSVC(loss="hinge", solver=name, tol=1e-7, **options).fit(X, y)
        for name in ("interior", "dual_cd")
    )
    assert ours.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)


def test_a_constant_target_is_met_exactly() -> None:
    """Where a constant explains all, the objective is 0 and said to be certified."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    for loss in (Absolute(), Quantile(0.3), EpsilonInsensitive(0.1)):
        model = _fit(loss, L2(1.0), X, np.full(30, 7.0), tol=1e-4)
        assert model.certificate_.converged, loss
        np.testing.assert_allclose(model.predict(X), 7.0, atol=0.11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.9)], ids=str)
def test_targets_that_are_sums_of_columns_are_certified_or_left_to_rounding(loss: Any, seed: int) -> None:
    """Twelve months in tenths and their year: what is left is a few roundings of each score, and is said."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.gamma(1.0, 20.0, (120, 12)), 1)
    y = X.sum(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model = LinearRegressor(loss=loss, penalty=NoPenalty()).fit(X, y)
    found = model.certificate_
    assert found.primal <= 16 * np.finfo(np.float64).eps * np.abs(y).sum()
    assert found.converged or "rounding of the scores" in found.reason


# ---- groups -------------------------------------------------------------------------------------


def _in_groups(programme: dict[str, Any], groups: list[list[int]], K: int, strength: float) -> dict[str, Any]:
    """The same programme with the weights of these columns of two or three in groups, over all K outputs."""
    n = len(programme["place"]) - len(programme["corners"])
    d = len(programme["l2"]) // K
    corners = [k * d + j for group in groups for k in range(K) for j in group]
    unit = np.zeros(len(corners))
    sizes = [len(group) * K for group in groups]
    square = programme["square"][[c % d for c in corners]]
    first = {name: programme[name][:n] for name in ("low", "high", "place", "bend", "weight")}
    return programme | {
        "low": np.append(first["low"], unit - np.inf),
        "high": np.append(first["high"], unit + np.inf),
        "place": np.append(first["place"], unit),
        "bend": np.append(first["bend"], unit),
        "weight": np.append(first["weight"], unit + 0.8),
        "corners": np.array(corners),
        "corner_square": square,
        "radius": np.full(len(groups), strength / 0.8),
        "ball_start": np.concatenate([[0], np.cumsum(sizes)]),
        "value_at_zero": 0.5,
    }


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("loss", [SquaredHinge(), Huber(0.7), EpsilonInsensitive(0.3), "joint"], ids=str)
def test_the_core_takes_the_steps_of_groups_of_the_textbook(loss: Any, K: int) -> None:
    """Two groups that hold all outputs: eight steps are those of dense cones and matrices in NumPy."""
    if loss == "joint":
        X, programme = _joint_programme(0.0, 0.0, 3)
        K, groups = 3, [[0], [1]]
    else:
        X, programme = _programme(loss, 0.0, 0.0, seed=3)
        groups = [[0, 2], [1]]
        n_parts, n = programme["n_parts"], len(X)
        for name in ("low", "high", "place", "bend", "weight"):  # the same targets for each output
            programme[name] = np.repeat(programme[name].reshape(n_parts, 1, n), K, axis=1).ravel()
        programme |= {"n_parts": n_parts * K, "n_outputs": K, "l2": np.zeros(4 * K)}
    programme["square"] = np.append(np.square(X).mean(axis=0), 1.0)
    programme = _in_groups(programme, groups, K, 3.0)
    squares = programme.pop("square")
    assert len(squares) == X.shape[1] + 1
    rows = native_dense(X, 1)
    core = _core.InteriorPoint.make(rows.matrix, used=np.zeros(0, dtype=np.int64), n_threads=1, **programme)
    A, is_joint = np.kron(np.eye(K), np.column_stack([X, np.ones(len(X))])), programme["is_joint"]
    runs = programme["n_parts"] // K
    stacked = np.vstack([A] * runs + [np.eye(A.shape[1])[programme["corners"]]])
    first, starts = len(A) * runs, programme["ball_start"]
    plain = {name: programme[name] for name in ("low", "high", "place", "bend", "weight", "l2")}
    twin = Steps(
        stacked, **plain, n_rows=len(X) if is_joint else len(A), n_parts=K if is_joint else runs,
        squares=programme["corner_square"], n_joint=K if is_joint else 1, at_zero=0.5,
        balls=[(first + np.arange(a, b), 3.0 / 0.8) for a, b in pairwise(starts)],
    )  # fmt: skip
    core.run(1)
    for _ in range(8):
        w, u = core.read(False)
        of_rows = twin.u[:first].reshape(runs, K, len(X)).sum(axis=0).T
        np.testing.assert_allclose(w, twin.w, rtol=1e-6, atol=1e-8)  # as above
        np.testing.assert_allclose(u.reshape(-1, K), of_rows, rtol=1e-6, atol=1e-8)
        core.run(1)
        twin.step()


@pytest.mark.parametrize("options", [{}, {"penalize_intercept": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_groups_are_certified(loss: Any, options: dict[str, Any]) -> None:
    """Groups of columns whose units differ by 10^6, one and several outputs, to 1e-8; sparse as dense."""
    X, y = _table()
    for strength in (1e-3, 0.5, 10.0):
        penalty = GroupL2([0, 1, 1, 0], strength)
        model = _fit(loss, penalty, X, y, **options)
        assert model.certificate_.converged
        sparse = _fit(loss, penalty, csr_array(X), y, **options)
        assert sparse.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)
        is_margin = loss.is_margin
        Y = np.digitize(y, [-0.5, 0.5]) if is_margin else np.column_stack([y, 2 * y + X[:, 0], -y])
        learner = LinearClassifier if is_margin else LinearRegressor
        several = learner(loss=loss, penalty=penalty, solver="interior", tol=1e-8, **options).fit(X, Y)
        assert several.certificate_.converged


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), ModifiedHuber()], ids=str)
def test_groups_agree_with_working_sets(loss: Any) -> None:
    """prox_cd finds the same objective and the same groups, the others being exactly 0."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(200, 30)), np.arange(30) // 3
    y = X[:, :3].sum(axis=1) + X[:, 3] + rng.normal(size=200)
    for strength in (8.0, 16.0):
        ours = _fit(loss, GroupL2(groups, strength), X, y, tol=1e-9)
        other = _fit(loss, GroupL2(groups, strength), X, y, solver="prox_cd", tol=1e-7)
        assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-7)
        in_play, theirs = ({int(g) for g in groups[np.flatnonzero(model.coef_)]} for model in (ours, other))
        assert in_play == theirs
        assert 0 < len(in_play) < 10


def test_joint_hinges_in_groups_weigh_2_as_the_row_twice() -> None:
    """Weights of rows, and rows that weigh nothing."""
    X, y = _classes()
    s = np.arange(80) % 3.0
    twice = np.repeat(np.arange(80), s.astype(int))
    penalty = GroupL2([0, 1, 1], 2.0)
    model = LinearClassifier(loss=Hinge(), penalty=penalty, tol=1e-9)
    weighted = model.fit(X, y, sample_weight=s).certificate_
    repeated = model.fit(X[twice], y[twice]).certificate_
    assert weighted.solver == "interior"
    assert weighted.primal == pytest.approx(repeated.primal, rel=1e-8)


def test_a_run_with_groups_goes_on_from_its_state() -> None:
    """All that later steps depend on: the same bits, and another programme's state is refused."""
    X, y = _table()
    problem = Problem.of_rows(
        native_dense(X, 1),
        np.sign(y)[:, None],
        np.ones(60),
        Hinge(),
        GroupL2([0, 1, 1, 0], 0.5),
        Intercept.FREE,
        1,
    )
    programme = interior._Programme(problem)
    one = interior._Output(programme, 0, None)
    one.run(5, 0.0, 0.0)
    other = interior._Output(programme, 0, one.state.state())
    for each in (one, other):
        each.run(4, 0.0, 0.0)
    np.testing.assert_array_equal(one.state.state(), other.state.state())
    with pytest.raises(ValueError, match="another programme"):
        one.state.restore(other.state.state()[:-1])


def _of_groups(loss: Any, n_classes: int, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Three groups of two columns in three units, of which the last says nothing."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 6))
    scores = X[:, :4] @ rng.normal(size=(4, n_classes))
    X[:, 1] += 3.0
    X *= [1.0, 1.0, 100.0, 100.0, 1e-2, 1e-2]
    y = scores[:, 0] + rng.normal(size=90)
    if loss.is_margin:
        y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    learner = LinearClassifier if loss.is_margin else LinearRegressor
    made = learner(loss, GroupL2([0, 0, 1, 1, 2, 2], 2.0), **{"tol": 1e-8, "solver": "interior", **options})
    return made, X, y


@pytest.mark.parametrize("options", [{}, {"penalize_intercept": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", MARGIN + REGRESSION, ids=str)
def test_groups_are_cones(loss: Any, n_classes: int, options: dict[str, Any]) -> None:
    """Every loss under norms of groups in different units, whatever the intercept, is certified to 1e-8:
    sparse as dense, rows of weight 0 left out and of weight 2 taken twice."""
    model, X, y = _of_groups(loss, n_classes, **options)
    s = np.arange(90) % 3
    twice = np.repeat(np.arange(90), s)
    weighted = model.fit(X, y, sample_weight=s).certificate_
    sparse = model.fit(csr_array(X), y, sample_weight=s).certificate_
    repeated = model.fit(X[twice], y[twice]).certificate_
    for found in (weighted, sparse, repeated):
        assert found.converged
        assert found.primal == pytest.approx(weighted.primal, rel=1e-7)


@pytest.mark.parametrize(
    ("loss", "n_classes", "other"),
    [
        (Hinge(), 2, "prox_cd"),
        (SquaredHinge(), 3, "prox_cd"),
        (Huber(0.7), 2, "prox_cd"),
        (Hinge(), 3, "nesterov"),
    ],
    ids=str,
)
def test_other_roads_to_groups_meet(loss: Any, n_classes: int, other: str) -> None:
    """Working sets, and gradients of rounded kinks, end at the same objective; the same groups are 0."""
    model, X, y = _of_groups(loss, n_classes)
    X = X / X.std(axis=0)
    model.set_params(penalty=GroupL2([0, 0, 1, 1, 2, 2], 40.0 if n_classes == 3 else 12.0)).fit(X, y)
    ours, zeros = model.certificate_.primal, model.coef_ == 0
    assert zeros.any()
    tol = 1e-3 if other == "nesterov" else 1e-6
    theirs = model.set_params(solver=other, tol=tol).fit(X, y)
    assert ours <= theirs.certificate_.primal * (1 + 1e-9)
    assert theirs.certificate_.primal <= ours * (1 + tol)
    if other == "prox_cd":
        np.testing.assert_array_equal(theirs.coef_ == 0, zeros)


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_a_step_on_groups_is_about_what_is_proved(seed: int) -> None:
    """Products, residues and what leaves the balls: no less than what weights and a feasible point prove."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 6)) * [1.0, 1.0, 50.0, 50.0, 1.0, 1.0], rng.choice([-1.0, 1.0], size=60)
    problem = Problem.of_rows(
        native_dense(X, 1),
        y[:, None],
        np.ones(60),
        Hinge(),
        GroupL2([0, 0, 1, 1, 2, 2], 3.0),
        Intercept.FREE,
        1,
    )
    output = interior._Output(interior._Programme(problem), 0, None)
    output.run(1, 0.0, 0.0)
    while output.state.gap > 1e-8 * output.state.value:
        output.run(1, 0.0, 0.0)
        W, U = output.read(False)
        proved = problem.primal(W[:6], W[6]) - feasible(problem, U, W[:6], W[6]).dual
        assert proved <= output.state.gap * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_joint_hinges_over_columns_ten_orders_apart_are_certified(seed: int) -> None:
    """Sums of money, counts of people and shares side by side, as they are, few rows far beyond the others.

    The factor of a step is a part of its inverse there: what it leaves is not left.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=40)
    size = np.exp(1.5 * rng.normal(size=40) + 0.5 * y)
    X = np.column_stack(
        [
            1e10 * size * np.exp(rng.normal(size=40)),
            1e6 * size * np.exp(0.3 * rng.normal(size=40)),
            1e3 * size,
            1e2 * rng.uniform(size=40),
            rng.uniform(size=40),
            rng.integers(-10, 11, size=40) + 2 * y,
        ]
    )
    model = LinearClassifier(loss=Hinge(), penalty=L1(1.0), solver="interior").fit(X, y)
    assert model.certificate_.converged
    assert verify(model, X, y).converged
