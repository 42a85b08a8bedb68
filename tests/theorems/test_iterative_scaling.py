"""Iterative scaling: the published update, the duality of maximum entropy, and what it refuses."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, softmax

from lineal import LinearClassifier
from lineal.errors import InputError, ParameterError
from lineal.objective.certificate import Stop
from lineal.objective.joint import Softmax, one_hot
from lineal.objective.losses import Log
from lineal.objective.penalties import L2, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers import Budget, IterativeScaling, Newton, minimise
from reference.scaling import scaling_step
from strategies import kinds_of, named, sample, stated

SCALING = [IterativeScaling("gis"), IterativeScaling("iis")]
both_kinds = pytest.mark.parametrize("solver", SCALING, ids=lambda solver: solver.kind)
CASES = [
    (loss, kind, penalty, intercept)
    for loss in (Log(), Softmax())
    for kind in kinds_of(loss)
    for penalty in (L2(1.0), NoPenalty())
    for intercept in Intercept
    if not (isinstance(penalty, NoPenalty) and intercept is Intercept.PENALIZED)
]
every_case = pytest.mark.parametrize(("loss", "kind", "penalty", "intercept"), CASES, ids=map(named, CASES))


def counts(loss, kind, penalty, intercept, seed=0):
    """A problem of weighted rows with features >= 0, a third of them 0."""
    X, y = sample(kind, seed)
    rng = np.random.default_rng(seed + 1)
    X = np.where(rng.random(X.shape) < 0.3, 0.0, np.abs(X))
    return stated(X, y, loss, penalty, intercept, rng.choice([0.5, 1.0, 2.0], size=len(y)))


def weights_after(solver, problem, n_steps):
    """(W, b) after each of the first steps."""
    return [it.weights() for it in islice(solver.iterates(problem, None, 0.0, 0), n_steps + 1)]


@both_kinds
@every_case
def test_a_step_is_the_published_one(solver, loss, kind, penalty, intercept):
    """Each of the first steps solves its equations one by one, two classes as a softmax of w/2 and -w/2."""
    problem = counts(loss, kind, penalty, intercept)
    X = problem.X.dense
    if intercept is not Intercept.NONE:
        X = np.column_stack([X, np.ones(len(X))])
    lam = np.full(X.shape[1], penalty.strength if isinstance(penalty, L2) else 0.0)
    if intercept is Intercept.FREE:
        lam[-1] = 0.0
    found = weights_after(solver, problem, 3)
    for k in range(1 if loss.is_joint else problem.n_outputs):
        codes = problem.losses.y if loss.is_joint else (problem.losses.y[:, k] < 0).astype(int)
        M = np.zeros((X.shape[1], problem.n_outputs if loss.is_joint else 2))
        for W, b in found:
            rows = W if intercept is Intercept.NONE else np.vstack([W, b])
            wanted = M if loss.is_joint else (M[:, 0] - M[:, 1])[:, None]
            np.testing.assert_allclose(rows if loss.is_joint else rows[:, k : k + 1], wanted, atol=1e-10)
            M = scaling_step(X, codes, problem.losses.s, M, lam if loss.is_joint else 2 * lam, solver.kind)


def test_the_generalised_step_without_a_penalty_is_a_logarithm():
    """delta = log(observed / expected) / C, with the intercept's 1 counted in C."""
    problem = counts(Softmax(), "classes", NoPenalty(), Intercept.FREE)
    X = np.column_stack([problem.X.dense, np.ones(60)])
    gold = one_hot(problem.losses.y, 5)
    observed, expected = (
        X.T @ (problem.losses.s[:, None] * gold),
        X.T @ (problem.losses.s[:, None] * np.full((60, 5), 0.2)),
    )
    delta = np.log(observed / expected) / X.sum(axis=1).max()
    W, b = weights_after(IterativeScaling(), problem, 1)[1]
    np.testing.assert_allclose(np.vstack([W, b]), delta - delta.mean(axis=1, keepdims=True), atol=1e-12)


def test_both_kinds_are_one_where_rows_sum_to_one_number():
    """With t_i = C for all rows the improved equation is the generalised one; else its steps are longer."""
    X, y = sample("classes", 0)
    X = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    problem = stated(X, y, Softmax(), L2(0.1), Intercept.FREE)
    for a, b in zip(*(weights_after(solver, problem, 5) for solver in SCALING), strict=True):
        np.testing.assert_allclose(np.vstack(a), np.vstack(b), atol=1e-12)
    problem = counts(Softmax(), "classes", NoPenalty(), Intercept.NONE)
    gis, iis = (weights_after(solver, problem, 1)[1][0] for solver in SCALING)
    assert problem.primal(iis, np.zeros(5)) < problem.primal(gis, np.zeros(5))


@both_kinds
@every_case
def test_every_step_gains(solver, loss, kind, penalty, intercept):
    """The equations minimise an upper bound of P that touches it, so P never rises, from anywhere."""
    problem = counts(loss, kind, penalty, intercept)
    values = np.array([it.value for it in islice(solver.iterates(problem, None, 0.0, 0), 60)])
    assert np.all(np.diff(values) <= 1e-13 * values[0])
    assert values[-1] < values[0]


@both_kinds
@every_case
def test_scaling_ends_where_newton_ends(solver, loss, kind, penalty, intercept):
    """The certified optimum is that of newton, and neither bound is above the other's objective."""
    problem = counts(loss, kind, penalty, intercept)
    slow = minimise(problem, [solver], tol=1e-4, budget=Budget(max_epochs=20_000)).certificate
    fast = minimise(problem, [Newton()], tol=1e-9).certificate
    assert slow.converged, slow
    assert slow.solver == "iterative_scaling"
    assert slow.dual <= fast.primal * (1 + 1e-12)
    assert fast.dual <= slow.primal * (1 + 1e-12)
    assert slow.primal - fast.primal <= 1e-4 * slow.primal


@both_kinds
@pytest.mark.parametrize("loss", [Log(), Softmax()], ids=named)
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(0.5)], ids=named)
def test_expected_counts_are_the_observed_ones(solver, loss, penalty):
    """At the optimum X'S(p - gold) is 0 without a penalty and -lam w under L2: duality of maximum entropy."""
    problem = counts(loss, kinds_of(loss)[0], penalty, Intercept.FREE)
    tol = 1e-10
    found = minimise(problem, [solver], tol=tol, budget=Budget(max_epochs=20_000))
    assert found.certificate.converged, found.certificate
    Z = problem.scores(found.W, found.b)
    if loss.is_joint:
        p, gold = softmax(Z, axis=1), one_hot(problem.losses.y, problem.n_outputs)
    else:
        p, gold = expit(Z), (problem.losses.y > 0).astype(float)
    X, s = np.column_stack([problem.X.dense, np.ones(60)]), problem.losses.s[:, None]
    expected, observed = X.T @ (s * p), X.T @ (s * gold)
    lam = 0.0 if isinstance(penalty, NoPenalty) else 0.5
    pull = lam * np.vstack([found.W, np.zeros_like(found.b)])
    # A gap of tol P leaves a slope of at most sqrt(2 curvature tol P), and the curvature is below |X|^2.
    slope = np.sqrt(tol * found.certificate.primal * np.linalg.norm(np.sqrt(s) * X, 2) ** 2)
    assert np.abs(expected - observed + pull).max() <= slope
    assert np.abs(observed).min() > 100 * slope


@both_kinds
def test_a_feature_that_never_meets_a_class_does_no_harm(solver):
    """Its weight wants minus infinity without a penalty; steps stay finite and the end is honest."""
    X, y = sample("classes", 0)
    X = np.column_stack([np.abs(X), y == 2, np.zeros(60)]).astype(float)
    for penalty in (NoPenalty(), L2(1.0)):
        problem = stated(X, y, Softmax(), penalty, Intercept.FREE)
        found = minimise(problem, [solver], tol=1e-4, budget=Budget(max_epochs=600))
        assert np.isfinite(found.W).all()
        assert found.certificate.gap >= 0
        assert not found.W[-1].any()
        if penalty.is_zero:
            assert found.certificate.stop is Stop.NO_MINIMUM
            continue
        assert found.certificate.primal <= minimise(problem, [Newton()], tol=1e-6).certificate.primal * 1.01


def test_layouts_are_one():
    """Dense and sparse rows, in float64 and float32, make the same improved steps."""
    X, y = sample("binary", 0)
    X = np.where(X > 0, X, 0.0).astype(np.float32)
    layouts = [X, X.astype(np.float64), sp.csr_array(X), sp.csr_array(X.astype(np.float64))]
    steps = [
        weights_after(SCALING[1], stated(data, y, Log(), L2(1.0), Intercept.FREE), 3)[-1] for data in layouts
    ]
    for W, b in steps:
        np.testing.assert_allclose(W, steps[0][0], atol=1e-12)
        np.testing.assert_allclose(b, steps[0][1], atol=1e-12)


@both_kinds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_negative_features_are_refused_with_their_column(solver, layout, dtype):
    """Counts cannot be negative: the first column that is so is named, and what to do about it."""
    X, y = sample("binary", 0)
    X = np.abs(X)
    X[7, 3] = X[2, 5] = -0.25
    with pytest.raises(InputError, match=r"column 3 goes down to -0\.25.*newton"):
        LinearClassifier(solver=solver).fit(layout(X.astype(dtype)), y)


def test_unknown_kinds_are_refused():
    """There are two kinds, and a value object of a third cannot be made."""
    with pytest.raises(ParameterError, match="gis"):
        IterativeScaling("sgis")


@both_kinds
def test_data_without_a_number_end_at_once(solver):
    """Nothing but zeros and no intercept: W = 0 is the optimum, and certified."""
    problem = stated(np.zeros((4, 2)), np.array([0, 1, 0, 1]), Log(), L2(1.0), Intercept.NONE)
    certificate = minimise(problem, [solver], tol=1e-9).certificate
    assert certificate.converged
    assert certificate.epochs == 1
