"""Every solver's certificate is a proof: it converges and bounds all other solvers."""

import numpy as np
import pytest

from lineal.errors import CombinationError, NoMinimumError, ParameterError
from lineal.objective.certificate import Stop
from lineal.objective.dual_points import gradient_point
from lineal.objective.joint import CrammerSinger, JointPerceptron, Softmax
from lineal.objective.losses import Hinge, Log, Perceptron, Squared, SquaredHinge
from lineal.objective.penalties import L1, L2, Lp, NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers import interior
from lineal.solvers.base import Start
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.planner import plan
from strategies import (
    every_solver,
    grid,
    kinds_of,
    named,
    objectives,
    penalties,
    small,
    solvers,
    stated,
    takes,
    woven,
)

# Sums of 60 x 5 terms at most; two orders above their rounding.
ROUNDING = 1e-12
TOL, SLOW_TOL = 1e-4, 1e-2


def first_of_each_kind(members):
    """One member per class, with its default parameters."""
    return list({type(member): member for member in reversed(members)}.values())[::-1]


def tolerance(solver, problem):
    """Smoothing K kinks at once takes many stages: a looser proof keeps the tests short."""
    is_slow = isinstance(problem.losses.loss, CrammerSinger) and solver.name in ("lbfgs", "newton")
    is_slow |= solver.name == "prox_cd" and not problem.losses.loss.is_smooth and problem.n_outputs > 1
    is_slow |= solver.name == "nesterov"
    is_slow |= solver.name == "lbfgs" and not (problem.losses.loss.is_smooth or problem.penalty.is_smooth)
    return SLOW_TOL if is_slow else TOL


def prove(loss, penalty, intercept, seed):
    for kind in kinds_of(loss):
        problem = small(loss, penalty, intercept, kind, seed)
        found = {}
        # Under groups of weights the joint hinge is left to a first-order method.
        for solver in [each for each in solvers() if takes(each, problem)] or plan(problem).solvers:
            tol = tolerance(solver, problem)
            found[solver.name] = minimise(problem, [solver], tol=tol, budget=Budget(max_seconds=20))
        proofs = {name: solution.certificate for name, solution in found.items()}
        assert proofs
        for name, proof in proofs.items():
            said = f"{kind}, {name}: {proof}"
            assert proof.converged, said
            assert proof.relative_gap <= SLOW_TOL, said
            assert proof.gap >= -ROUNDING * abs(proof.primal), said
            assert proof.gap == pytest.approx(proof.primal - proof.dual, abs=1e-12 * abs(proof.primal)), said
            assert 0 <= proof.kkt_violation <= proof.gap + 1e-9 * abs(proof.primal), said
            solution = found[name]
            assert problem.primal(solution.W, solution.b) == pytest.approx(proof.primal, rel=1e-12), said
            assert intercept is not Intercept.NONE or not solution.b.any(), said
        highest = max(proof.dual for proof in proofs.values())
        lowest = min(proof.primal for proof in proofs.values())
        assert highest <= lowest + ROUNDING * abs(lowest), proofs
        for proof in proofs.values():
            assert proof.primal - lowest <= proof.gap + ROUNDING * abs(lowest), proofs


THIN = grid(
    first_of_each_kind(objectives()), first_of_each_kind(penalties()), (Intercept.NONE, Intercept.FREE)
)
# The joint hinge without a penalty is sure but slow; the whole grid has it.
THIN = [case for case in THIN if not (isinstance(case[0], CrammerSinger) and isinstance(case[1], NoPenalty))]
THIN += grid(first_of_each_kind(objectives()), [L2(1.0), L1(1.0)], (Intercept.PENALIZED,))


# Every loss meets every penalty, with or without an intercept in turn.
TURNS = [case for k, case in enumerate(THIN) if case[2] is Intercept.PENALIZED or (k // 2 + k % 2) % 2 == 0]


@pytest.mark.parametrize(("loss", "penalty", "intercept"), TURNS, ids=map(named, TURNS))
def test_solvers_prove_what_they_found(loss, penalty, intercept):
    """Certificates converge, no dual is above any primal, all solvers agree within their gaps."""
    prove(loss, penalty, intercept, seed=11)


FULL = grid()


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "penalty", "intercept"), FULL, ids=map(named, FULL))
@pytest.mark.parametrize("seed", [0, 1])
def test_solvers_prove_what_they_found_on_the_whole_grid(loss, penalty, intercept, seed):
    """The same for every loss, penalty and intercept with more than one parameter and seed."""
    prove(loss, penalty, intercept, seed)


@pytest.mark.parametrize(("loss", "penalty", "intercept"), THIN, ids=map(named, THIN))
def test_a_plan_exists(loss, penalty, intercept):
    """The planner has a choice for every loss and penalty that make a problem."""
    problem = small(loss, penalty, intercept, n=20, d=3)
    chosen = plan(problem)
    assert all(solver.refusal(problem) is None for solver in chosen.solvers)
    assert chosen.reason
    assert str(chosen).startswith(chosen.solvers[0].name)


class _Untouchable:
    """Rows of a known size whose numbers must not be read."""

    n_rows, n_columns, n_scores, n_threads, is_sparse = 30, 4, 1, 1, False
    native_rows = direction = property(lambda self: self)

    def __getattr__(self, name):
        raise AssertionError(f"a refusal read the data: {name}")


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_refusals_come_before_the_data_are_touched(solver):
    """Each incompatible pair raises CombinationError, and the message names another way."""
    refused = 0
    for loss, penalty, intercept in grid():
        stub = small(loss, penalty, intercept, n=30, d=4)
        problem = Problem.of_rows(
            _Untouchable(), stub.losses.y, stub.losses.s, loss, penalty, intercept, stub.n_outputs
        )
        if solver.refusal(problem) is None:
            continue
        refused += 1
        with pytest.raises(CombinationError, match=r"use |only"):
            minimise(problem, [solver], tol=TOL)
        with pytest.raises(CombinationError, match="auto"):
            plan(problem, solver.name)
    takes_everything = solver.name in ("gd", "nesterov", "svrg")
    assert (refused == 0) == takes_everything


@pytest.mark.parametrize("loss", [Perceptron(), JointPerceptron()], ids=named)
def test_the_perceptron_is_no_objective(loss):
    """w = 0 minimises it under every penalty, so the planner refuses and says why."""
    with pytest.raises(NoMinimumError, match="w = 0"):
        plan(small(loss, L2(1.0), Intercept.NONE))


def test_unknown_solvers_are_refused():
    """A misspelt name is answered with the names there are."""
    with pytest.raises(ParameterError, match="dual_cd"):
        plan(small(Log(), L2(1.0), Intercept.NONE), "sag")


def test_newton_refuses_powers_near_1():
    """Lp with p < 1.2 has a curvature that explodes at 0; lbfgs takes it, newton does not."""
    problem = small(Squared(), Lp(1.0, 1.1), Intercept.FREE)
    assert [solver.name for solver in solvers() if solver.refusal(problem) is None] == ["lbfgs"]


@pytest.mark.parametrize("solver", solvers(), ids=lambda solver: solver.name)
def test_a_warm_start_at_the_optimum_is_recognised(solver):
    """Started from its own solution, a solver is certified at once or within a few epochs."""
    penalty = L1(1.0) if solver.name == "prox_cd" else L2(1.0)
    loss = {"closed_form": Squared(), "interior": Hinge()}.get(solver.name, Log())
    problem = small(loss, penalty, Intercept.FREE, solver=solver)
    first = minimise(problem, [solver], tol=1e-8)
    again = minimise(problem, [solver], tol=1e-7, start=Start(first.W, first.b, first.U))
    assert again.certificate.converged
    assert again.certificate.epochs <= max(2, first.certificate.epochs // 2)


def slower(case):
    """The same case; a slow one if it is the joint hinge, which takes lbfgs many stages of smoothing."""
    solver, loss, _ = case.values
    is_slow = solver.name == "lbfgs" and isinstance(loss, CrammerSinger)
    return pytest.param(*case.values, marks=pytest.mark.slow, id=case.id) if is_slow else case


STARTED = woven(
    solvers(),
    [Squared(), Log(), SquaredHinge(), Hinge(), Softmax(), CrammerSinger()],
    list(Intercept),
    one_in=3,
    ids=lambda part: getattr(part, "name", None) or named(part),
)


@pytest.mark.parametrize(("solver", "loss", "intercept"), [slower(case) for case in STARTED])
def test_any_start_leads_to_the_same_optimum(solver, intercept, loss):
    """From far weights, with or without a dual point, a solver proves the same optimum as from 0."""
    for penalty in (L2(1.0), L1(1.0)):
        for kind in kinds_of(loss):
            problem = small(loss, penalty, intercept, kind, solver=solver)
            if solver.refusal(problem) is not None:
                continue
            rng = np.random.default_rng(0)
            W, b = rng.normal(size=(6, problem.n_outputs)), rng.normal(size=problem.n_outputs)
            b = np.zeros_like(b) if intercept is Intercept.NONE else b
            U = gradient_point(problem, problem.scores(W, b))
            tol = max(tolerance(solver, problem), 1e-3 if kind == "classes" else TOL)
            proofs = [
                minimise(problem, [solver], tol=tol, start=start, budget=Budget(max_epochs=3000)).certificate
                for start in (None, Start(W, b), Start(W, b, U))
            ]
            assert all(proof.converged for proof in proofs), proofs
            assert max(proof.dual for proof in proofs) <= min(proof.primal for proof in proofs) * (
                1 + ROUNDING
            )


@pytest.mark.parametrize(
    "solver", [s for s in every_solver() if s.name != "closed_form"], ids=lambda solver: solver.name
)
def test_a_budget_ends_a_run_with_an_honest_certificate(solver, monkeypatch):
    """Cut short, the answer is the best so far; its gap is true and `converged` is false."""
    monkeypatch.setattr(interior, "_BURST", 0.0)  # one step: so small a problem is solved in an epoch
    penalty = L1(0.01) if solver.name == "prox_cd" else L2(0.01)
    loss = Hinge() if solver.name == "interior" else Log()
    problem = small(loss, penalty, Intercept.FREE, solver=solver)
    good = minimise(problem, plan(problem).solvers, tol=1e-9).certificate
    cut = minimise(problem, [solver], tol=0.0, budget=Budget(max_epochs=1)).certificate
    assert cut.converged == (cut.gap == 0.0)  # an epoch from the inside may be a whole run
    assert cut.converged or "max_epochs" in cut.reason
    assert cut.epochs == 1
    assert cut.dual <= good.primal * (1 + ROUNDING)
    assert cut.primal >= good.dual * (1 - ROUNDING)


def test_traces_never_rise_and_callbacks_stop():
    """Along a trace the primal never rises and the bound never falls; a callback's True ends the run."""
    problem = small(Log(), L2(0.1), Intercept.FREE)
    seen = []
    budget = Budget(callbacks=[lambda event: seen.append(event) or len(seen) == 3])
    solution = minimise(problem, plan(problem, "lbfgs").solvers, tol=1e-12, budget=budget)
    assert [event.epoch for event in seen] == [1, 2, 3]
    assert solution.trace[-1].epoch == 3  # what is returned is certified, also where nobody planned to
    assert solution.certificate.stop is Stop.CALLBACK
    full = minimise(problem, plan(problem, "lbfgs").solvers, tol=1e-9, budget=Budget(certify_every=1))
    assert len(full.trace) == full.certificate.epochs
    primal = np.array([point.primal for point in full.trace])
    dual = np.array([point.dual for point in full.trace])
    assert np.all(np.diff(primal) <= 0)
    assert np.all(np.diff(dual) >= 0)


def test_separable_likelihoods_without_a_penalty_are_recognised():
    """Separable classes and no penalty: no minimiser, and the fit says so instead of claiming one."""
    X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    problem = stated(X, np.array([0, 0, 1, 1]), Log(), NoPenalty(), Intercept.FREE)
    certificate = minimise(problem, plan(problem).solvers, tol=1e-6).certificate
    assert not certificate.converged
    assert "separable" in certificate.reason
