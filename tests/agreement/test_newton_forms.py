"""Newton's forms: a factorised Hessian, of columns or rows, a sampled one, outputs at their own lengths."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import _core
from lineal.cancellation import CancellationToken, unless_over
from lineal.objective import L2, Hinge, Huber, Log, Lp, NoPenalty, Squared, SquaredHinge
from lineal.objective.dual_points import feasible
from lineal.objective.joint import Softmax
from lineal.objective.linear_maps import native_csr, native_dense
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import Newton, Start, minimise
from lineal.solvers.base import Iterate
from lineal.solvers.newton import _direct_step, _whole_step, is_direct, is_sampled
from lineal.solvers.newton_line import lengths, search, search_by_output
from lineal.solvers.primal import Objective
from lineal.solvers.row_space import RowSpace, is_in_row_space
from strategies import seeds


def table(n, d, K, seed=0, unit=1.0, offset=0.0, is_sparse=False):
    """Rows of columns in units up to ``unit``, around ``offset``, with classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.2 if is_sparse else 2.0))
    y = (X @ rng.normal(size=(d, K)) + 3 * rng.normal(size=(n, K))).argmax(axis=1).astype(np.int32)
    X = X * np.geomspace(1, unit, d) + offset
    return X, y


def posed(X, y, strength=1.0, intercept=Intercept.FREE, s=None):
    """Softmax over the classes of y."""
    s = np.ones(len(y)) if s is None else s
    A = native_csr(sp.csr_array(X), 1) if sp.issparse(X) else native_dense(np.ascontiguousarray(X), 1)
    return Problem.of_rows(A, y, s, Softmax(), L2(strength), intercept, int(y.max()) + 1)


def one_vs_rest(X, y, loss, strength=1.0):
    """As many problems of one score."""
    Y = np.where(y[:, None] == np.arange(y.max() + 1), 1.0, -1.0)
    A = native_dense(np.ascontiguousarray(X), 1)
    return Problem.of_rows(A, Y, np.ones(len(y)), loss, L2(strength), Intercept.FREE, Y.shape[1])


@pytest.mark.parametrize("intercept", list(Intercept))
@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("unit", "offset"), [(1.0, 0.0), (1e4, 0.0), (1e-4, 0.0), (1.0, 30.0)])
def test_a_sampled_hessian_finds_the_optimum(intercept, strength, unit, offset):
    """Whatever the units, offsets and strengths: certified in few steps, and so is a tighter tolerance."""
    problem = posed(*table(4000, 30, 5, unit=unit, offset=offset), strength, intercept)
    assert is_sampled(problem)
    found = minimise(problem, [Newton()], tol=1e-6)
    assert found.certificate.converged
    assert found.certificate.epochs <= 30
    exact = minimise(replace(problem), [Newton()], tol=1e-10)
    assert exact.certificate.converged
    assert found.certificate.primal == pytest.approx(exact.certificate.primal, rel=1e-6)


def test_sampled_and_direct_hessians_agree(monkeypatch):
    """The same problem by each form: the weights agree to what the tolerance leaves."""
    problem = posed(*table(3000, 40, 4))
    assert is_direct(problem)
    assert is_sampled(problem)
    sampled = minimise(problem, [Newton()], tol=1e-11)
    monkeypatch.setattr("lineal.solvers.newton.sampled_cost", lambda *_: None)
    assert not is_sampled(problem)
    direct = minimise(problem, [Newton()], tol=1e-11)
    assert sampled.certificate.converged
    assert direct.certificate.converged
    np.testing.assert_allclose(sampled.W, direct.W, atol=1e-5 * np.abs(direct.W).max())


def test_columns_that_are_nearly_always_0_are_no_trouble():
    """A hundred columns, each in three rows of 6000, in large units: a sample misses them."""
    X, y = table(6000, 40, 5)
    rare = np.zeros((6000, 100))
    rng = np.random.default_rng(1)
    for j in range(100):
        rare[rng.choice(6000, 3, replace=False), j] = 1e3
    problem = posed(np.hstack([X, rare]), y, 1e-2)
    assert is_sampled(problem)
    found = minimise(problem, [Newton()], tol=1e-5)
    assert found.certificate.converged
    assert found.certificate.epochs <= 25


def test_sparse_rows_are_dense_rows():
    """The two layouts of one table give the same objective, and weights to the tolerance."""
    X, y = table(5000, 60, 6, is_sparse=True)
    dense, thin = posed(X, y), posed(sp.csr_array(X), y)
    assert is_sampled(dense)
    assert is_sampled(thin)
    of_dense, of_thin = (minimise(each, [Newton()], tol=1e-10) for each in (dense, thin))
    np.testing.assert_allclose(of_dense.W, of_thin.W, atol=1e-4 * np.abs(of_dense.W).max())


def test_weight_two_is_the_row_twice_under_a_sample():
    """To what a tolerance of 1e-10 leaves."""
    X, y = table(4000, 50, 5)
    s = np.ones(4000)
    s[::3] = 2.0
    twice = np.repeat(np.arange(4000), s.astype(int))
    weighted, repeated = posed(X, y, s=s), posed(X[twice], y[twice])
    assert is_sampled(weighted)
    assert is_sampled(repeated)
    one, other = (minimise(each, [Newton()], tol=1e-10) for each in (weighted, repeated))
    np.testing.assert_allclose(one.W, other.W, atol=1e-4 * np.abs(one.W).max())


@pytest.mark.parametrize("loss", [Log(), SquaredHinge()])
def test_outputs_take_no_more_steps_together_than_the_hardest_alone(loss):
    """Each at a length of its own: an output that needs care holds nobody back."""
    X, y = table(600, 8, 6, unit=30.0)
    X[y == 0] *= 20.0  # one class far away
    together = one_vs_rest(X, y, loss, 1e-2)
    alone = [
        Problem.of_rows(
            together.X, np.ascontiguousarray(together.losses.y[:, k : k + 1]), together.losses.s,
            loss, L2(1e-2), Intercept.FREE, 1,
        )
        for k in range(together.n_outputs)
    ]  # fmt: skip
    found = minimise(together, [Newton()], tol=1e-9)
    each = [minimise(problem, [Newton()], tol=1e-9) for problem in alone]
    assert found.certificate.converged
    assert found.certificate.epochs <= max(one.certificate.epochs for one in each) + 1
    assert found.certificate.primal == pytest.approx(sum(one.certificate.primal for one in each), rel=1e-9)


@given(seed=seeds(), K=st.integers(2, 5))
def test_a_line_by_outputs_is_the_sum_of_lines(seed, K):
    """P, slope and curvature of each output add up to those of all, and a search never rises."""
    X, y = table(60, 4, K, seed)
    problem = one_vs_rest(X, y, Log(), 0.5).in_core()
    K = problem.n_outputs
    objective, rng = Objective(problem), np.random.default_rng(seed)
    point = objective.point(rng.normal(size=objective.n_parameters))
    line = objective.line(point, -point.gradient)
    apart = line.probe_by_output(np.full(K, 0.3))
    assert [part.sum() for part in apart] == pytest.approx(line.probe(0.3), rel=1e-11)
    plain = Objective(replace(problem, losses=one_vs_rest(X, y, Log(), 0.5).losses))
    slow = plain.line(point, -point.gradient).probe_by_output(np.full(K, 0.3))
    np.testing.assert_allclose(apart, slow, rtol=1e-10)
    step, missing = search_by_output(line, 1e-10)
    assert step is not None
    assert not missing.any()
    there, _, _ = step.line.probe_by_output(np.ones(K))
    start, _, _ = line.probe_by_output(np.zeros(K))
    assert np.all(there < start)


@given(seed=seeds(), K=st.integers(1, 4), scale=st.sampled_from([1e-3, 1.0, 30.0]))
def test_lengths_in_the_core_are_numpys(seed, K, scale):
    """Lines that are too short, right and far too long, one for each output and one of all."""
    X, y = table(50, 3, max(K, 2), seed)
    problem = one_vs_rest(X, y, SquaredHinge(), 0.3).in_core()
    K = problem.n_outputs
    objective, rng = Objective(problem), np.random.default_rng(seed)
    point = objective.point(rng.normal(size=objective.n_parameters))
    line = objective.line(point, -scale * point.gradient / 50)
    start, incline, _ = line.probe_by_output(np.zeros(K))
    slow = lengths(line.probe_by_output, start, incline, 1e-10)
    fast = problem.losses.line_lengths(point.Z, line.moved, start, incline, line.quadratic(K), 1e-10)
    np.testing.assert_allclose(fast, slow, rtol=1e-9)
    whole = search(line, 1e-10)
    assert whole is not None
    assert whole.value == pytest.approx(line.probe(whole.t)[0], rel=1e-12)
    assert whole.value < point.value


@given(seed=seeds(), K=st.integers(1, 4))
def test_grams_are_gram_matrices_and_factors_their_inverses(seed, K):
    """Dense and sparse, by columns of weights; inverses as LAPACK finds them."""
    rng = np.random.default_rng(seed)
    X, H = rng.normal(size=(50, 6)), rng.random((50, K))
    wanted = np.stack(
        [np.hstack([X, np.ones((50, 1))]).T * h @ np.hstack([X, np.ones((50, 1))]) for h in H.T]
    )
    for rows in (native_dense(X, 1), native_csr(sp.csr_array(X), 1)):
        np.testing.assert_allclose(rows.grams(H, True), wanted, rtol=1e-12, atol=1e-12)
    right = rng.normal(size=(7, K))
    found = _core.BlockFactors.of(wanted).solve(right)
    exact = np.linalg.solve(wanted, right.T[:, :, None])[:, :, 0].T
    np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-12)


def in_core(loss, intercept, K, seed, own=None, s=None, rows=None):
    """A small table in the core, and the same with its losses in NumPy, which takes a step pass by pass."""
    X, y = table(60, 5, max(K, 2), seed, unit=10.0)
    s = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float) if s is None else s
    Y = np.where(y[:, None] == np.arange(max(K, 2)), 1.0, -1.0)[:, :K]
    A = native_dense(X, 1) if rows is None else rows(X)
    problem = Problem.of_rows(A, Y, s, loss, L2(0.3), intercept, K, own)
    small, plain = Objective(problem.in_core()), Objective(problem)
    assert small.small is not None
    assert plain.small is None
    return small, plain


@pytest.mark.parametrize("intercept", list(Intercept))
@pytest.mark.parametrize("loss", [Log(), SquaredHinge(), Squared()])
@given(seed=seeds(), K=st.integers(1, 4), tol=st.sampled_from([1e-12, 1e6]), is_sparse=st.booleans())
def test_a_step_in_the_core_is_the_step_pass_by_pass(loss, intercept, seed, K, tol, is_sparse):
    """Where it goes, P there, and what the model says; also of outputs that rest, whose way is 0."""
    rows = (lambda X: native_csr(sp.csr_array(X), 1)) if is_sparse else None
    small, plain = in_core(loss, intercept, K, seed, rows=rows)
    theta = 0.1 * np.random.default_rng(seed).normal(size=small.n_parameters)
    fast, slow = (
        step(each, tol, each.point(theta)) for step, each in ((_whole_step, small), (_direct_step, plain))
    )
    assert fast is not None
    assert slow is not None
    for one, other in zip(fast.line.at(fast.t), slow.line.at(slow.t), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    assert fast.value == pytest.approx(slow.value, rel=1e-9)
    assert fast.value == pytest.approx(plain.value(*fast.line.at(fast.t)), rel=1e-12)
    for one, other in ((fast.ahead, slow.ahead), (fast.bent, slow.bent)):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(other).max())


@given(seed=seeds())
def test_outputs_that_rest_stay_and_change_nothing_for_the_others(seed):
    """Those whose squared gradient is at most what is enough."""
    small, _ = in_core(Log(), Intercept.PENALIZED, 3, seed)
    point = small.point(0.1 * np.random.default_rng(seed).normal(size=small.n_parameters))
    worth = np.square(point.gradient.reshape(-1, 3)).sum(axis=0)
    enough = np.sort(worth)[:2].mean()
    rests = worth < enough
    assert small.small is not None
    all_move, some_rest = (small.small.newton_step(point, least, 1e-3) for least in (0.0, enough))
    assert all_move is not None
    assert some_rest is not None
    for moved, rested, before in zip(all_move[:2], some_rest[:2], (point.theta, point.Z), strict=True):
        moved, rested, before = (each.reshape(-1, 3) for each in (moved, rested, before))
        assert np.array_equal(rested[:, rests], before[:, rests])
        np.testing.assert_allclose(rested[:, ~rests], moved[:, ~rests], rtol=1e-12)
    assert all_move[-1] < some_rest[-1] < point.value


@given(seed=seeds(), K=st.integers(1, 4), intercept=st.sampled_from(list(Intercept)))
def test_a_gradient_in_the_core_is_numpys_and_that_of_differences(seed, K, intercept):
    """Slopes and gradient of one call."""
    small, plain = in_core(Log(), intercept, K, seed)
    rng = np.random.default_rng(seed)
    theta, direction = (rng.normal(size=small.n_parameters) / 10 for _ in range(2))
    fast, slow = small.point(theta), plain.point(theta)
    np.testing.assert_allclose(fast.slopes, slow.slopes, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(fast.gradient, slow.gradient, rtol=1e-9, atol=1e-10)
    ends = (plain.point(theta + h * direction).value for h in (1e-5, -1e-5))
    rise = (next(ends) - next(ends)) / 2e-5
    assert rise == pytest.approx(float(fast.gradient @ direction), rel=1e-5, abs=1e-5)


def test_a_step_is_the_same_bits_for_any_number_of_threads_and_ends_with_its_token():
    """Pieces of rows are what sums are made of, not threads."""
    X, y = table(3000, 20, 3)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    found = []
    for n_threads in (1, 3):
        rows = native_dense(X, n_threads)
        problem = Problem.of_rows(rows, Y, np.ones(len(y)), Log(), L2(1.0), Intercept.FREE, 3).in_core()
        objective = Objective(problem)
        assert objective.small is not None
        found.append(_whole_step(objective, 1e-6, objective.start(None)))
    one, three = found
    assert one is not None
    assert three is not None
    for mine, other in zip(one.line.at(1.0), three.line.at(1.0), strict=True):
        assert np.array_equal(mine, other)
    over = CancellationToken()
    over.cancel()
    point = objective.start(None)
    assert unless_over(lambda: _whole_step(objective, 1e-6, point), over) is None


def test_the_core_refuses_arrays_that_do_not_fit():
    """Sizes are looked at before memory is."""
    small, _ = in_core(Log(), Intercept.FREE, 2, 0)
    point = small.start(None)
    parts = small.small
    assert parts is not None
    with pytest.raises(ValueError, match="per parameter"):
        replace(parts, ridges=parts.ridges[:-1]).slopes_and_gradient(point.theta, point.Z)
    with pytest.raises(ValueError, match="per row of Z"):
        parts.slopes_and_gradient(point.theta, point.Z[:-1])
    with pytest.raises(ValueError, match="the gradient needs"):
        parts.newton_step(replace(point, gradient=point.gradient[:-1]), 0.0, 1e-3)
    with pytest.raises(ValueError, match="differ in shape"):
        parts.newton_step(replace(point, slopes=point.slopes[:-1]), 0.0, 1e-3)


def test_softmax_of_columns_in_all_units_is_solved_by_steps_that_are_few():
    """Columns of 1e-3 to 1e8 beside dummies: products with the Hessian creep, and a factor takes over."""
    rng = np.random.default_rng(0)
    n, d, K = 1200, 100, 7
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 9, size=d)
    X[:, 10:30] = np.eye(20)[rng.integers(0, 20, n)]
    y = np.argmax(X[:, :K] / np.abs(X[:, :K]).max(axis=0) + 0.3 * rng.normal(size=(n, K)), axis=1)
    problem = posed(X, y.astype(np.int32), 0.01)
    assert is_sampled(problem)
    assert is_direct(problem)
    found = minimise(problem, [Newton()], tol=1e-6).certificate
    assert found.converged, found
    assert found.epochs <= 40


def wide(loss, intercept, K, seed=0, n=15, d=50, dtype=np.float64):
    """Few rows of many columns, the last of which is nearly the first; outputs meet under Softmax."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = X[:, 0] + 1e-3 * X[:, 1]
    A = native_dense(X.astype(dtype), 1)
    if loss.is_joint:
        y = np.append(np.arange(K), rng.integers(0, K, n - K)).astype(np.int32)
    else:
        y = np.where(rng.normal(size=(n, K)) > 0, 1.0, -1.0)
    return Problem.of_rows(A, y, rng.uniform(0.5, 2.0, n), loss, L2(0.7), intercept, K)


FORMS = [(Log(), 1), (Log(), 3), (SquaredHinge(), 2), (Huber(0.5), 1), (Softmax(), 3)]
every_form = pytest.mark.parametrize(("loss", "K"), FORMS, ids=str)


@every_form
@pytest.mark.parametrize("intercept", Intercept)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_coordinates_of_rows_lead_to_the_weights_of_the_columns(loss, K, intercept, dtype, monkeypatch):
    """Weights, dual point and objective are those of the larger Hessian, from weights 0 and from others."""
    problem = wide(loss, intercept, K, dtype=dtype)
    assert is_in_row_space(problem)
    rng = np.random.default_rng(1)
    start = Start(rng.normal(size=problem.weight_shape), rng.normal(size=K) * (intercept != Intercept.NONE))
    found, again = (minimise(problem, [Newton()], tol=1e-11, start=first) for first in (None, start))
    monkeypatch.setattr("lineal.solvers.newton.is_in_row_space", lambda problem: False)
    other = minimise(problem, [Newton()], tol=1e-11)
    for each in (found, again):
        assert each.certificate.converged
        np.testing.assert_allclose(each.certificate.primal, other.certificate.primal, rtol=1e-10)
        np.testing.assert_allclose(each.W, other.W, atol=1e-6)
        np.testing.assert_allclose(each.U, other.U, atol=1e-6)
        if not loss.is_joint:  # a common shift of all scores says nothing
            np.testing.assert_allclose(each.b, other.b, atol=1e-6)


@given(seed=seeds(), form=st.sampled_from(FORMS), intercept=st.sampled_from(list(Intercept)))
def test_a_problem_in_coordinates_of_its_rows_is_the_same_problem(seed, form, intercept):
    """P(Q a, b) = P'(a, b) for every a, and every dual point has the same bound in both."""
    loss, K = form
    problem = wide(loss, intercept, K, seed % 100)
    space = RowSpace.of(problem)
    rng = np.random.default_rng(seed)
    inner, b = rng.normal(size=space.problem.weight_shape), rng.normal(size=K)
    b = b if intercept is not Intercept.NONE else np.zeros(K)
    iterate = space.brought_back(Iterate(lambda: (inner, b)))
    W = iterate.weights()[0]
    assert np.isclose(problem.primal(W, b), space.problem.primal(inner, b), rtol=1e-12)
    U = problem.losses.slopes(problem.scores(W, b))
    bounds = (feasible(problem, U, W, b).dual, feasible(space.problem, U, inner, b).dual)
    assert np.isclose(*bounds, rtol=1e-11)
    np.testing.assert_allclose(space.start(Start(W, b)).W, inner, atol=1e-12)


def test_coordinates_of_rows_are_taken_where_they_are_cheaper():
    """Of few dense rows under a ridge; not of sparse ones, of other penalties, or of nearly as many rows."""
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(15, 50)), np.ones((15, 1)), np.ones(15)

    def asked(X, penalty=L2(1.0), loss=Log()):
        A = native_csr(X, 1) if sp.issparse(X) else native_dense(X, 1)
        n = A.n_rows
        return is_in_row_space(Problem.of_rows(A, y[:n], s[:n], loss, penalty, Intercept.FREE, 1))

    assert asked(X)
    assert asked(X.astype(np.float32))
    assert not asked(sp.csr_array(X))
    assert not asked(X, NoPenalty())
    assert not asked(X, Lp(1.0, 1.5))
    assert not asked(X, loss=Hinge())
    assert not asked(np.ascontiguousarray(X[:, :18]))


@pytest.mark.parametrize("n_rows", [1, 2, 15])
def test_rows_that_are_combinations_of_others_have_coordinates_too(n_rows):
    """Rows twice, and rows of zeros, are no trouble: they have fewer coordinates than there are rows."""
    problem = wide(Log(), Intercept.FREE, 1, n=15)
    X = np.repeat(problem.X.dense[:n_rows], 2, axis=0)
    X[-1] = 0.0
    y = np.where(np.arange(len(X)) % 2, 1.0, -1.0)[:, None]
    posed = Problem.of_rows(native_dense(X, 1), y, np.ones(len(y)), Log(), L2(0.7), Intercept.FREE, 1)
    assert is_in_row_space(posed)
    found = minimise(posed, [Newton()], tol=1e-10)
    assert found.certificate.converged
    assert np.isfinite(found.W).all()
