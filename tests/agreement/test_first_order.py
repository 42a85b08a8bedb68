"""First-order solvers: the printed rules step by step, and the optimum that the other solvers prove."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from lineal.errors import CombinationError, ParameterError
from lineal.objective.joint import Softmax
from lineal.objective.losses import Absolute, Hinge, Huber, Log, Squared, SquaredHinge
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers import (
    CG,
    GD,
    SGD,
    SVRG,
    Adadelta,
    Adagrad,
    Adam,
    Annealed,
    Backtracking,
    Constant,
    Momentum,
    Nesterov,
    RMSprop,
)
from lineal.solvers.base import Start
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.lbfgs import wolfe
from lineal.solvers.planner import plan
from lineal.solvers.primal import Objective
from reference import first_order as printed
from strategies import first_order, named, sample, small, stated

each = pytest.mark.parametrize("solver", first_order(), ids=lambda solver: solver.name)
# Learning rates at which no epoch rises on the problem below, so that nothing is undone.
RULES = [
    (GD(learning_rate=2e-3), printed.gd),
    (Momentum(learning_rate=5e-4), printed.momentum),
    (Momentum(learning_rate=5e-4, momentum=0.5), partial(printed.momentum, gamma=0.5)),
    (Nesterov(learning_rate=5e-4, momentum=0.8), partial(printed.nesterov, gamma=0.8)),
    (Adagrad(learning_rate=0.02), printed.adagrad),
    (RMSprop(learning_rate=3e-3), printed.rmsprop),
    (Adadelta(learning_rate=1.0), printed.adadelta),
    (Adam(learning_rate=5e-3), printed.adam),
    (Adam(learning_rate=5e-3, beta1=0.8, beta2=0.99), partial(printed.adam, beta1=0.8, beta2=0.99)),
]
EPOCHS = 5


def plain(loss=None, strength=2.0):
    """A weighted binary problem without an intercept, and the gradient that the printed rules use."""
    problem = small(loss or Log(), L2(strength), Intercept.NONE)
    X, y, s = problem.X.dense, problem.losses.y[:, 0], problem.losses.s
    return problem, partial(printed.gradient, problem.losses.loss, X, y, s, strength)


def stream(solver, problem, epochs, seed=0, tol=1e-3):
    """The weights after each of the first epochs."""
    iterates = islice(solver.iterates(problem, None, tol, seed), 1, epochs + 1)
    return [iterate.weights()[0][:, 0].copy() for iterate in iterates]


@pytest.mark.parametrize("schedule", [Constant(), Annealed(0.3)], ids=repr)
@pytest.mark.parametrize("size", [None, 16, 1])
@pytest.mark.parametrize(("solver", "rule"), RULES, ids=[repr(solver) for solver, _ in RULES])
def test_a_rule_is_the_printed_one(solver, rule, size, schedule):
    """Epoch by epoch the weights are those of the formula, on the same rows in the same order."""
    problem, g = plain()
    rate = solver.learning_rate / (10 if size == 1 else 1)  # single rows are noisy
    options = {**vars(solver), "learning_rate": rate, "batch_size": size, "schedule": schedule}
    solver = type(solver)(**options)
    rows = printed.batches(60, size, EPOCHS, seed=3)
    wanted = printed.descend(rule, g, np.zeros(6), rows, lambda epoch: rate * schedule.factor(epoch))
    found = stream(solver, problem, EPOCHS, seed=3)
    assert len(found) == EPOCHS
    # The twin sums row by row: rounding, carried through 300 steps.
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_annealing_divides_by_one_plus_decay_times_epoch():
    """eta_epoch = eta / (1 + decay epoch)."""
    assert [Annealed(0.5).factor(epoch) for epoch in range(3)] == [1.0, 1 / 1.5, 0.5]


def test_the_one_row_step_is_that_of_the_lectures():
    """w <- w - alpha (loss_i' x_i + lam w) is gd on single rows with alpha = n eta, lam = strength / n."""
    problem = small(Log(), L2(3.0), Intercept.NONE, weighted=False)
    X, y, w, alpha, lam = problem.X.dense, problem.losses.y[:, 0], np.zeros(6), 0.05, 3.0 / 60
    for i in np.random.default_rng(5).permutation(60):
        w = w - alpha * (-y[i] / (1 + np.exp(y[i] * (X[i] @ w))) * X[i] + lam * w)
    (found,) = stream(GD(learning_rate=alpha / 60, batch_size=1), problem, 1, seed=5)
    np.testing.assert_allclose(found, w, rtol=1e-10)


@pytest.mark.parametrize("loss", [Hinge(), Log()], ids=repr)
@pytest.mark.parametrize("averaged", [False, True])
def test_sgd_is_pegasos(loss, averaged):
    """With offset 0 the steps are 1 / (lam t) for lam = strength / n, and the mean is over the iterates."""
    problem, _ = plain(loss, strength=30.0)
    rows = printed.batches(60, 1, 2, seed=7)
    wanted = printed.pegasos(loss, problem.X.dense, problem.losses.y[:, 0], problem.losses.s, 0.5, rows)
    stream = islice(SGD(offset=0.0, averaged=averaged).iterates(problem, None, 1e-3, 7), 1, 3)
    # Epochs 1 and 2 are powers of two: each has a mean of its own.
    for iterate, (last, mean) in zip(stream, wanted, strict=True):
        np.testing.assert_allclose(iterate.weights()[0][:, 0], mean if averaged else last, rtol=1e-9)


def test_svrg_is_the_printed_rule():
    """Each step is g_B(w) - g_B(begin) + g(begin), and the begin moves once an epoch."""
    problem, g = plain()
    wanted = printed.svrg(g, np.zeros(6), printed.batches(60, 4, EPOCHS, seed=2), 1e-3, 60)
    found = stream(SVRG(learning_rate=1e-3, batch_size=4), problem, EPOCHS, seed=2)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_cg_follows_polak_and_ribiere():
    """Each move is along -M g+ + max(0, g+'M (g+ - g) / g'M g) d, d the last direction."""
    problem, _ = plain()
    objective = Objective(problem)
    M = 1 / (0.25 * (problem.losses.s[:, None] * problem.X.dense**2).sum(axis=0) + 2.0)
    thetas = [np.zeros(6), *stream(CG(), problem, 4)]
    g = [objective.point(theta).gradient for theta in thetas]
    d = -M * g[0]
    for k in range(4):
        move = thetas[k + 1] - thetas[k]
        assert move @ d == pytest.approx(np.linalg.norm(move) * np.linalg.norm(d), rel=1e-9)
        beta = max(0.0, float(g[k + 1] @ (M * (g[k + 1] - g[k])) / (g[k] @ (M * g[k]))))
        d = -M * g[k + 1] + beta * d


@pytest.mark.parametrize("first", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("flat", [0.1, 0.9])
def test_a_wolfe_search_ends_where_the_slope_is_flat_and_the_objective_lower(first, flat):
    """Whatever length it tries first, far too short ones too."""
    objective = Objective(plain()[0])
    point = objective.start(None)
    slope = -float(point.gradient @ point.gradient)
    line = objective.line(point, -point.gradient)
    t, there = wolfe(line, point.value, slope, first, flat)
    assert there == line.value(t) <= point.value + 1e-4 * t * slope
    assert abs(line.slope(t)) <= flat * abs(slope)


def test_fista_is_the_printed_rule():
    """Under L1: w+ = prox(v - eta g(v)), v = w + k / (k + 3) (w - w-), and ISTA without the momentum."""
    problem = small(Log(), L1(2.0), Intercept.NONE)
    X, y, s = problem.X.dense, problem.losses.y[:, 0], problem.losses.s
    for solver in (Nesterov(learning_rate=5e-3), GD(learning_rate=5e-3)):
        w, before, wanted = np.zeros(6), np.zeros(6), []
        for k in range(EPOCHS):
            v = w + (k / (k + 3) if solver.name == "nesterov" else 0.0) * (w - before)
            step = v - 5e-3 * printed.gradient(problem.losses.loss, X, y, s, 0.0, v, range(60))
            w, before = np.sign(step) * np.maximum(np.abs(step) - 5e-3 * 2.0, 0.0), w
            wanted.append(w)
        np.testing.assert_allclose(stream(solver, problem, EPOCHS), wanted, rtol=1e-9, atol=1e-12)


def test_backtracking_takes_the_first_step_that_falls_enough():
    """gd: the step is the largest rate * shrink^k with P(w - eta g) <= P(w) - decrease eta |g|^2."""
    problem, _ = plain()
    objective = Objective(problem)
    origin = objective.point(np.zeros(6))
    rate = 1.0
    square = float(origin.gradient @ origin.gradient)
    while objective.point(-rate * origin.gradient).value > origin.value - 0.3 * rate * square:
        rate *= 0.6
    solver = GD(learning_rate=1.0, schedule=Backtracking(shrink=0.6, decrease=0.3))
    np.testing.assert_allclose(stream(solver, problem, 1)[0], -rate * origin.gradient, rtol=1e-12)
    assert rate < 1


# ---- the same optimum -----------------------------------------------------------------------------

CASES = [(loss, L2(1.0), "binary", intercept) for loss in (Log(), SquaredHinge()) for intercept in Intercept]
CASES += [
    (loss, L2(1.0), "classes", intercept)
    for loss in (Softmax(), SquaredHinge())
    for intercept in (Intercept.NONE, Intercept.FREE)
]
CASES += [
    (Hinge(), L2(1.0), "binary", Intercept.FREE),
    (Absolute(), L2(1.0), "regression", Intercept.FREE),
    (Squared(), NoPenalty(), "regression", Intercept.FREE),
    (Huber(), Lp(1.0, 1.5), "regression", Intercept.FREE),
    (Huber(), Lp(1.0, 3.0), "regression", Intercept.NONE),
]
SPARSE = [
    (Log(), L1(1.0), "binary", Intercept.FREE),
    (Softmax(), ElasticNet(0.5, 0.5), "classes", Intercept.FREE),
    (Hinge(), L1(1.0), "binary", Intercept.NONE),
    (Huber(), L1(3.0), "regression", Intercept.PENALIZED),
]


def agrees(solver, loss, penalty, kind, intercept, tol):
    """Certified, and on the same side of every bound as the planner's own choice."""
    problem = small(loss, penalty, intercept, kind)
    exact = minimise(problem, plan(problem).solvers, tol=1e-6).certificate
    solution = minimise(problem, [solver], tol=tol, budget=Budget(max_seconds=20))
    proof = solution.certificate
    assert proof.converged, proof
    assert exact.dual * (1 - 1e-12) <= proof.primal <= exact.primal + tol * proof.primal
    assert proof.dual <= exact.primal * (1 + 1e-12)
    assert intercept is not Intercept.NONE or not solution.b.any()


def reachable(solver, loss):
    """Three digits; two where steps are noisy or kinks are smoothed."""
    return 1e-3 if loss.is_smooth and solver.name != "sgd" else 1e-2


@each
@pytest.mark.parametrize(("loss", "penalty", "kind", "intercept"), CASES, ids=map(named, CASES))
def test_the_optimum_is_that_of_the_other_solvers(solver, loss, penalty, kind, intercept):
    """Weighted rows, one output or five, any intercept: certified, within the gaps of newton or dual_cd."""
    agrees(solver, loss, penalty, kind, intercept, reachable(solver, loss))


@pytest.mark.parametrize("solver", [GD(), Nesterov(), SVRG(), GD(schedule=Backtracking())], ids=repr)
@pytest.mark.parametrize(("loss", "penalty", "kind", "intercept"), SPARSE, ids=map(named, SPARSE))
def test_proximal_steps_reach_what_prox_cd_proves(solver, loss, penalty, kind, intercept):
    """L1 and elastic net: the same optimum as working sets."""
    agrees(solver, loss, penalty, kind, intercept, reachable(solver, loss))


@pytest.mark.parametrize("kind", [GD, Momentum, Nesterov, Adagrad, Adadelta, RMSprop, Adam])
@pytest.mark.parametrize(
    "options",
    [{"batch_size": 8}, {"schedule": Annealed(0.02)}, {"schedule": Backtracking()}, {"batch_size": 100}],
    ids=str,
)
def test_batches_and_schedules_reach_the_optimum(kind, options):
    """Every rule with batches, an annealed step or a line search is certified to two digits."""
    agrees(kind(**options), Log(), L2(1.0), "binary", Intercept.FREE, 1e-2)
    agrees(kind(**options), Softmax(), L2(3.0), "classes", Intercept.FREE, 1e-2)


@each
def test_a_sparse_matrix_is_the_dense_one(solver):
    """Batches of sparse rows take the same steps, stored in 64 bits a number or in 32."""
    X, y = sample("binary", 4)
    X = np.where(np.random.default_rng(4).random(X.shape) < 0.5, X, 0.0).astype(np.float32)
    layouts = (X.astype(np.float64), X, sp.csr_array(X.astype(np.float64)), sp.csr_array(X))
    dense, *others = (
        minimise(stated(data, y, Log(), L2(1.0)), [solver], tol=0.0, budget=Budget(max_epochs=4))
        for data in layouts
    )
    for other in others:
        np.testing.assert_allclose(other.W, dense.W, rtol=1e-7, atol=1e-9)


# ---- robustness -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, 8])
@pytest.mark.parametrize("kind", [GD, Momentum, Nesterov, Adagrad, Adadelta, RMSprop, Adam, SVRG])
@pytest.mark.parametrize("loss", [Log(), Squared(), SquaredHinge()], ids=repr)
def test_a_learning_rate_that_is_too_large_is_cut(kind, size, loss):
    """1e6 is a million times too much: the objective never rises, nothing is NaN, the optimum is reached."""
    problem = small(loss, L2(5.0), Intercept.FREE)
    solver = kind(learning_rate=1e6, **({"batch_size": size} if size or kind is not SVRG else {}))
    solution = minimise(problem, [solver], tol=2e-2, budget=Budget(max_seconds=20, certify_every=1))
    seen = [point.primal for point in solution.trace]
    assert np.all(np.isfinite(solution.W))
    assert np.all(np.isfinite(seen))
    assert seen[0] <= problem.losses.at_zero * (1 + 1e-12)
    assert solution.certificate.converged, solution.certificate


def test_pegasos_that_leaves_float64_begins_again_with_smaller_steps():
    """Least squares with offset 0 and a weak penalty explodes at once; with smaller steps it is certified."""
    problem = small(Squared(), L2(0.1), Intercept.FREE)
    solution = minimise(problem, [SGD(offset=0.0)], tol=0.1, budget=Budget(max_epochs=500))
    assert np.all(np.isfinite(solution.W))
    assert solution.certificate.converged, solution.certificate


@pytest.mark.parametrize(
    "solver", [s for s in first_order() if s.name != "sgd"], ids=lambda solver: solver.name
)
def test_the_scale_of_a_column_does_not_matter(solver):
    """Columns from 1e-4 to 1e4, no penalty: certified in as many epochs as columns of size 1."""
    X, y = sample("binary", 2)
    uneven = X * 10.0 ** np.linspace(-4, 4, X.shape[1])
    even, proof = (
        minimise(stated(data, y, Log(), NoPenalty()), [solver], tol=1e-3).certificate for data in (X, uneven)
    )
    assert proof.converged, proof
    # Rounding may move a cut by an epoch, and ten of them pass between two looks at the gap.
    assert abs(proof.epochs - even.epochs) <= 20


@pytest.mark.parametrize("solver", [GD(), Momentum(), Nesterov(), CG()], ids=lambda solver: solver.name)
def test_columns_of_any_size_reach_the_same_objective(solver):
    """From 1e-8 to 1e8 the weights are as good as on columns of size 1."""
    X, y = sample("binary", 2)
    uneven = X * 10.0 ** np.linspace(-8, 8, X.shape[1])
    problems = [stated(data, y, Log(), NoPenalty()) for data in (X, uneven)]
    even, found = (minimise(p, [solver], tol=0.0, budget=Budget(max_epochs=300)) for p in problems)
    assert found.certificate.primal == pytest.approx(even.certificate.primal, rel=1e-9)


@each
def test_a_seed_gives_one_stream(solver):
    """The same seed, the same bits; another seed, the same optimum."""
    problem = small(Log(), L2(1.0), Intercept.FREE)
    a, b, c = (minimise(problem, [solver], tol=1e-2, seed=seed) for seed in (5, 5, 6))
    assert a.W.tobytes() == b.W.tobytes()
    assert a.certificate.dual == b.certificate.dual
    assert c.certificate.primal == pytest.approx(a.certificate.primal, rel=1e-2)
    is_random = solver.name in ("sgd", "svrg")
    assert (a.W.tobytes() == c.W.tobytes()) is not is_random


@each
def test_a_start_is_taken(solver):
    """From the optimum, the first epoch or two are certified."""
    problem = small(Log(), L2(1.0), Intercept.FREE)
    exact = minimise(problem, plan(problem).solvers, tol=1e-10)
    again = minimise(problem, [solver], tol=1e-2, start=Start(exact.W, exact.b, exact.U)).certificate
    assert again.converged
    assert again.epochs <= 3


# ---- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: GD(learning_rate=0.0), lambda: GD(learning_rate=np.nan), lambda: GD(learning_rate="fast"),
        lambda: Adam(batch_size=0), lambda: Adam(batch_size=2.5), lambda: Adam(batch_size=True),
        lambda: Momentum(momentum=1.0), lambda: Nesterov(momentum=-0.1), lambda: RMSprop(decay=1.5),
        lambda: Adam(beta1=1.0), lambda: Adam(beta2=-1.0), lambda: Adagrad(epsilon=0.0),
        lambda: Adadelta(decay=1.0), lambda: GD(schedule="annealed"), lambda: Annealed(0.0),
        lambda: Backtracking(shrink=1.0), lambda: Backtracking(decrease=0.0),
        lambda: GD(batch_size=8, schedule=Backtracking()), lambda: SVRG(batch_size=None),
        lambda: SGD(batch_size=0), lambda: SGD(offset=-1.0), lambda: SGD(averaged="yes"),
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused_when_they_are_given(make):
    """A solver with a bad parameter cannot be made."""
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize("penalty", [L1(1.0), ElasticNet(0.5, 0.5)], ids=repr)
@pytest.mark.parametrize("name", ["momentum", "adagrad", "adadelta", "rmsprop", "adam", "sgd", "cg"])
def test_penalties_with_kinks_are_refused_where_no_proximal_step_fits(name, penalty):
    """The refusal names prox_cd, before any work."""
    with pytest.raises(CombinationError, match="prox_cd"):
        plan(small(Log(), penalty, Intercept.FREE), name)


def test_sgd_refuses_what_it_could_not_prove():
    """Kinks without a penalty need a dual point that noisy slopes do not give."""
    with pytest.raises(CombinationError, match="lbfgs"):
        plan(small(Hinge(), NoPenalty(), Intercept.FREE), "sgd")


def test_a_name_is_a_solver_with_its_defaults():
    """solver='adam' means Adam(), and solvers are values."""
    problem = small(Log(), L2(1.0), Intercept.FREE)
    for solver in first_order():
        assert plan(problem, solver.name).solvers == (solver,)
    assert Adam() == Adam(learning_rate=None) != Adam(learning_rate=0.1)
    assert plan(problem, Adam(learning_rate=0.1)).solvers[0].learning_rate == 0.1
