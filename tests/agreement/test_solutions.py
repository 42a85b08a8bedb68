"""Two roads to one optimum: layouts, threads, precisions, slow twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from lineal.objective.dual_points import feasible
from lineal.objective.joint import CrammerSinger, Softmax
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import Hinge, Huber, Log, Quantile, Squared, SquaredHinge
from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty
from lineal.objective.problem import Intercept
from lineal.solvers import dual_cd
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.dual_cd import DualCD
from lineal.solvers.planner import plan
from lineal.solvers.prox_cd import ProxCD
from reference.descent import lasso, proximal_descent
from reference.dual_ascent import dual_ascent, joint_dual_ascent, one_coordinate
from strategies import every_solver as all_solvers
from strategies import kinds_of, named, objectives, sample, small, solvers, stated, suited

CASES = [
    (Squared(), L2(0.7), "regression"),
    (Squared(), NoPenalty(), "regression"),
    (Squared(), L1(1.0), "regression"),
    (Quantile(0.3), L2(0.7), "regression"),
    (Log(), L2(0.7), "binary"),
    (Log(), L1(1.0), "binary"),
    (Log(), ElasticNet(0.5, 0.5), "binary"),
    (Hinge(), L2(0.7), "binary"),
    (Hinge(), L2(0.7), "classes"),
    (SquaredHinge(), L1(1.0), "classes"),
    (Softmax(), L2(0.7), "classes"),
    (Softmax(), L1(1.0), "classes"),
    (CrammerSinger(), L2(0.7), "classes"),
    (Huber(0.5), Lp(0.7, 1.5), "regression"),
]
every_solver = pytest.mark.parametrize("solver", solvers(), ids=lambda solver: solver.name)
any_solver = pytest.mark.parametrize("solver", all_solvers(), ids=lambda solver: solver.name)
every_case = pytest.mark.parametrize(("loss", "penalty", "kind"), CASES, ids=map(named, CASES))


def sparse_sample(kind, seed, n=60, d=20):
    """A sample two thirds of whose entries are 0."""
    X, y = sample(kind, seed, n, d)
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.35, X, 0.0), y


def loose(problem, solver, tol):
    """Kinks that a solver smooths in stages take long; two digits prove the agreement as well."""
    return tol if problem.losses.loss.is_smooth or solver.name == "dual_cd" else 1e-2


@any_solver
@every_case
def test_threads_change_no_bit_of_a_fit(solver, loss, penalty, kind):
    """Sparse or dense, weights, intercept and bound have the same bits with 1, 2 and 3 threads."""
    X, y = sparse_sample(kind, 3)
    X = suited(X, solver)
    for data in (X, sp.csr_array(X)):
        one, *more = (stated(data, y, loss, penalty, n_threads=k) for k in (1, 2, 3))
        if solver.refusal(one) is not None:
            pytest.skip(solver.refusal(one))
        budget = Budget(max_epochs=8)
        first = minimise(one, [solver], tol=loose(one, solver, 1e-4), budget=budget)
        for problem in more:
            other = minimise(problem, [solver], tol=loose(one, solver, 1e-4), budget=budget)
            assert first.W.tobytes() == other.W.tobytes()
            assert first.b.tobytes() == other.b.tobytes()
            assert first.certificate.dual == other.certificate.dual


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        *((Hinge(), "binary"), (Log(), "binary"), (SquaredHinge(), "classes")),
        *((Softmax(), "classes"), (CrammerSinger(), "classes"), (Squared(), "regression")),
    ],
    ids=named,
)
def test_two_threads_share_long_rows_bit_by_bit(loss, kind, layout):
    """Rows of 150 numbers are walked by two threads, half of the columns each, to the bits of one."""
    X, y = sparse_sample(kind, 5, n=400, d=430)
    fits = [
        minimise(
            stated(layout(X), y, loss, L2(1.0), n_threads=k),
            [DualCD()],
            tol=1e-9,
            budget=Budget(max_epochs=5),
        )
        for k in (1, 2, 3)
    ]
    assert np.any(fits[0].W)
    for other in fits[1:]:
        assert fits[0].W.tobytes() == other.W.tobytes()
        assert fits[0].U.tobytes() == other.U.tobytes()
        assert fits[0].b.tobytes() == other.b.tobytes()


@every_solver
@every_case
def test_sparse_and_dense_data_give_one_model(solver, loss, penalty, kind):
    """CSR in float64 and in float32-representable float32, and dense: one optimum within the gaps."""
    X, y = sparse_sample(kind, 4)
    X = suited(X, solver).astype(np.float32).astype(np.float64)  # so that all layouts hold the same numbers
    layouts = [X, sp.csr_array(X), X.astype(np.float32), sp.csr_array(X.astype(np.float32))]
    proofs = []
    for data in layouts if loose(stated(X, y, loss, penalty), solver, 0.0) == 0.0 else layouts[:2]:
        problem = stated(data, y, loss, penalty)
        if solver.refusal(problem) is not None:
            pytest.skip(solver.refusal(problem))
        proofs.append(minimise(problem, [solver], tol=loose(problem, solver, 1e-4)).certificate)
        assert proofs[-1].converged, proofs[-1]
    assert max(p.dual for p in proofs) <= min(p.primal for p in proofs) * (1 + 1e-12)


@every_solver
def test_a_seed_gives_one_model(solver):
    """The same seed, the same bits; another seed, another order but the same optimum."""
    penalty = L1(1.0) if solver.name == "prox_cd" else L2(1.0)
    loss = {"closed_form": Squared(), "iterative_scaling": Log()}.get(solver.name, Huber())
    problem = small(loss, penalty, Intercept.FREE, solver=solver)
    a, b, c = (minimise(problem, [solver], tol=1e-8, seed=seed) for seed in (5, 5, 6))
    assert a.W.tobytes() == b.W.tobytes()
    assert a.certificate.dual == b.certificate.dual
    assert c.certificate.primal == pytest.approx(a.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("penalty", [L2(0.7), ElasticNet(0.5, 0.5)], ids=named)
@pytest.mark.parametrize(
    "loss", [k for k in objectives() if not k.is_joint and k.native is not None], ids=named
)
def test_epochs_over_float32_rows_prove_what_is_said_of_the_float64_ones(loss, penalty, monkeypatch):
    """The walked copy is rounded, the certificate is not: its bound is below the optimum of the given rows.

    Threads change no bit, and a tolerance that float32 could not reach walks over the rows themselves.
    """
    X, y = sparse_sample(kinds_of(loss)[0], 4)
    given = sp.csr_array(X)
    walked = []
    in_float32 = NativeRows.in_float32
    monkeypatch.setattr(NativeRows, "in_float32", lambda rows: walked.append(in_float32(rows)) or walked[-1])
    problem = stated(given, y, loss, penalty)
    exact = minimise(problem, plan(problem).solvers, tol=1e-9, budget=Budget(max_epochs=20_000)).certificate
    monkeypatch.setattr(dual_cd, "_MANY_NUMBERS", 0)
    budget = Budget(max_epochs=20_000)
    one, two = (
        minimise(stated(given, y, loss, penalty, n_threads=k), [DualCD()], tol=1e-4, budget=budget)
        for k in (1, 2)
    )
    assert one.W.tobytes() == two.W.tobytes()
    assert one.certificate.dual == two.certificate.dual
    assert one.certificate.converged
    assert one.certificate.dual <= exact.primal * (1 + 1e-12)
    assert one.certificate.primal >= exact.dual * (1 - 1e-12)
    assert len(walked) == 2 * (problem.n_outputs == 1)
    minimise(problem, [DualCD()], tol=1e-6, budget=Budget(max_epochs=2))
    assert len(walked) == 2 * (problem.n_outputs == 1)


# ---- slow twins ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", [k for k in objectives() if not k.is_joint and k.native is not None], ids=named
)
def test_dual_ascent_by_search_meets_the_core(loss):
    """Coordinate ascent with a scalar search a row ends where the native epochs end."""
    problem = small(loss, L2(10.0), Intercept.NONE, n=15, d=3)
    X, y = problem.X.dense, problem.losses.y[:, 0]
    w, u = dual_ascent(loss, X, y, problem.losses.s, 10.0, 15, one_coordinate)
    slow = feasible(problem, u[:, None], w[:, None], np.zeros(1)).dual
    fast = minimise(problem, [DualCD()], tol=1e-9, budget=Budget(max_epochs=20_000)).certificate
    assert slow <= fast.primal * (1 + 1e-12)
    # 15 epochs on 15 rows: the twin is near, not at, the optimum when the loss has kinks.
    assert fast.dual - slow <= (1e-4 if loss.is_smooth else 2e-2) * abs(fast.primal)


@pytest.mark.parametrize(
    "loss", [k for k in objectives() if not k.is_joint and k.native is not None], ids=named
)
def test_one_epoch_of_the_core_climbs_as_the_twin_does(loss):
    """With the core's own steps the twin's dual rises at every row and ends within the native gap."""
    problem = small(loss, L2(20.0), Intercept.NONE, n=30, d=4)
    X, y = problem.X.dense, problem.losses.y[:, 0]
    before = -np.inf
    for epochs in (0, 1, 2, 5, 20, 100):
        w, u = dual_ascent(loss, X, y, problem.losses.s, 20.0, epochs, lambda k, *at: k.native.dual_step(*at))
        dual = feasible(problem, u[:, None], w[:, None], np.zeros(1)).dual
        assert dual >= before - 1e-12 * abs(dual)
        before = dual
    fast = minimise(problem, plan(problem).solvers, tol=1e-6, budget=Budget(max_epochs=20_000)).certificate
    assert before <= fast.primal * (1 + 1e-12)
    assert fast.dual - before <= (1e-9 if loss.is_smooth else 2e-2) * abs(fast.primal)


@pytest.mark.parametrize("loss", [Softmax(), CrammerSinger()], ids=named)
def test_block_ascent_by_a_general_solver_meets_the_core(loss):
    """Simplex steps by sequential quadratic programming end where the native block steps end."""
    X, y = sample("classes", 1, n=12, d=2)
    problem = stated(X, y, loss, L2(3.0), Intercept.NONE)
    W, U = joint_dual_ascent(loss, X, problem.losses.y, problem.losses.s, 3.0, 8)
    slow = feasible(problem, U, W, np.zeros(5)).dual
    fast = minimise(problem, [DualCD()], tol=1e-9, budget=Budget(max_epochs=20_000)).certificate
    assert slow <= fast.primal * (1 + 1e-12)
    # The general solver works to 1e-6 a row, and the joint hinge has kinks.
    assert fast.dual - slow <= (1e-5 if loss.is_smooth else 1e-2) * fast.primal


@pytest.mark.parametrize(("l1", "l2"), [(2.0, 0.0), (1.0, 0.5), (8.0, 1.0)])
def test_the_lasso_by_hand_meets_the_core(l1, l2):
    """Cyclic coordinate descent on least squares, 500 sweeps, gives the same weights."""
    problem = small(Squared(), ElasticNet(l1, l2) if l2 else L1(l1), Intercept.NONE)
    w = lasso(problem.X.dense, problem.losses.y[:, 0], problem.losses.s, l1, l2, 500)
    fast = minimise(problem, [ProxCD()], tol=1e-12)
    np.testing.assert_allclose(fast.W[:, 0], w, atol=1e-6)
    np.testing.assert_array_equal(fast.W[:, 0] == 0, w == 0)


CONVEX = [
    (k, p)
    for k in (Log(), SquaredHinge(), Huber(), Softmax())
    for p in (L2(1.0), L1(1.0), ElasticNet(0.5, 0.5))
]
CONVEX += [(Log(), Lp(1.0, 3.0))]


@pytest.mark.parametrize(("loss", "penalty"), CONVEX, ids=map(named, CONVEX))
def test_proximal_descent_meets_every_planned_solver(loss, penalty):
    """One formula for all losses and penalties, a few hundred plain steps: the same objective."""
    problem = small(loss, penalty, Intercept.NONE, kinds_of(loss)[-1], n=40, d=4)
    W = proximal_descent(problem, 400)
    fast = minimise(problem, plan(problem).solvers, tol=1e-8).certificate
    assert fast.converged
    slow = problem.primal(W, np.zeros(problem.n_outputs))
    assert fast.dual <= slow * (1 + 1e-12)
    # Plain steps converge linearly on four columns; six digits are asked of them.
    assert slow - fast.primal <= 1e-6 * slow
