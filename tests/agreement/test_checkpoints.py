"""A fit that goes on from a checkpoint ends where the undisturbed one does: with a state, to the bit."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from agreement.test_own_objective import ChainLosses, PoissonLosses, counts
from agreement.test_ranking import ranking
from lineal.objective import (
    L1,
    L2,
    Absolute,
    CrammerSinger,
    ElasticNet,
    GroupL2,
    Hinge,
    Log,
    Lp,
    Quantile,
    Softmax,
    Squared,
    SquaredHinge,
)
from lineal.objective.linear_maps import NumpyRows, native_dense
from lineal.objective.pair_losses import PairLosses
from lineal.objective.problem import Intercept, Problem
from lineal.objective.ranking_pairs import Pairs
from lineal.solvers import dual_cd, interior
from lineal.solvers.base import Iterate, Solver, Start
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.checkpoint import Checkpoint
from lineal.solvers.descent import GD, Adam, Annealed
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.iterative_scaling import IterativeScaling
from lineal.solvers.newton import is_direct, is_sampled
from lineal.solvers.planner import plan
from lineal.solvers.row_space import is_in_row_space
from strategies import every_solver, grid, small, stated, takes

SOLVERS_IN_ALL = [
    *every_solver(),
    GD(batch_size=7),
    Adam(batch_size=7, schedule=Annealed(0.1)),
    IterativeScaling(kind="iis"),
]
LOSSES = [Log(), Hinge(), Squared(), Absolute(), Softmax(), CrammerSinger()]
PENALTIES = [L2(0.1), L1(0.5), ElasticNet(0.3, 0.2), GroupL2([0, 0, 1, 1], 0.3), Lp(0.3, 1.5)]
TOL, SEED = 1e-7, 3
every_one = pytest.mark.parametrize(
    "solver", SOLVERS_IN_ALL, ids=[f"{each.name}-{place}" for place, each in enumerate(SOLVERS_IN_ALL)]
)


@pytest.fixture(autouse=True)
def one_step_an_epoch(monkeypatch):
    """As they are, problems as small as these take the interior a single epoch."""
    monkeypatch.setattr(interior, "_BURST", 0.0)


def told(solution):
    """All that a solution says, but the time it took."""
    U = [solution.U] if isinstance(solution.U, np.ndarray) else vars(solution.U).values()
    arrays = [np.asarray(each).tobytes() for each in (solution.W, solution.b, *U)]
    points = [replace(point, seconds=0.0) for point in solution.trace]
    return arrays, replace(solution.certificate, seconds=0.0), points


def cut(problem, solvers, max_epochs=None, every=1, tol=TOL, **options):
    """An undisturbed fit and its checkpoints."""
    kept = []
    budget = Budget(max_epochs=max_epochs, checkpoint=kept.append, checkpoint_every=every)
    whole = minimise(problem, solvers, tol=tol, budget=Budget(max_epochs=max_epochs), seed=SEED, **options)
    heard = minimise(problem, solvers, tol=tol, budget=budget, seed=SEED, **options)
    assert told(heard) == told(whole)  # listening changes nothing
    return whole, kept


def go_on(problem, solvers, checkpoint, max_epochs=None, tol=TOL):
    """The rest of that fit."""
    budget = Budget(max_epochs=max_epochs)
    return minimise(problem, solvers, tol=tol, budget=budget, start=checkpoint, seed=SEED)


def check_every_cut(problem, solvers, max_epochs=None, every=1, **options):
    """Cut anywhere, the fit has the same end; returns how often it was cut."""
    whole, kept = cut(problem, solvers, max_epochs, every, **options)
    options.pop("start", None)
    for checkpoint in kept:
        assert checkpoint.state is not None
        ended = go_on(problem, solvers, checkpoint, max_epochs, **options)
        assert told(ended) == told(whole), f"cut after epoch {checkpoint.epochs}"
    return len(kept)


# ---- solvers with a state -------------------------------------------------------------------------


@every_one
def test_a_fit_cut_at_any_epoch_ends_with_the_same_bits(solver):
    """Weights, dual point, certificate and trace are those of the undisturbed fit, wherever it was cut."""
    cases = list(product(LOSSES, PENALTIES))
    shift = SOLVERS_IN_ALL.index(solver)
    n_cuts = 0
    for place, (loss, penalty) in enumerate(cases):
        intercept = list(Intercept)[(place + shift) % 3]
        problem = small(loss, penalty, intercept, solver=solver, n=30, d=4, seed=place)
        if takes(solver, problem):
            # The first solution of closed_form would be certified: no gap is below -1.
            tol = -1.0 if solver.name == "closed_form" else TOL
            n_cuts += check_every_cut(problem, [solver], max_epochs=9, tol=tol)
    assert n_cuts > 0


@pytest.mark.slow
@every_one
def test_a_fit_of_any_objective_can_be_cut(solver):
    """The same for every loss, penalty and intercept of the library."""
    for place, (loss, penalty, intercept) in enumerate(grid()):
        problem = small(loss, penalty, intercept, solver=solver, n=30, d=4, seed=place)
        if takes(solver, problem):
            check_every_cut(problem, [solver], max_epochs=30, every=4)


@pytest.mark.parametrize("name", ["lbfgs", "dual_cd", "nesterov", "sgd", "cg", "newton"])
def test_a_long_fit_decides_the_same(name):
    """Certificates that fall due, closer looks, doubts and stalls come at the same epochs in what goes on."""
    solver, n_cuts = SOLVERS[name](), 0
    for loss, penalty in product([Hinge(), Log()], [L2(1e-3), L1(0.3)]):
        problem = small(loss, penalty, Intercept.FREE, n=40, d=5)
        if takes(solver, problem):
            n_cuts += check_every_cut(problem, [solver], max_epochs=150, every=31, tol=1e-10)
    assert n_cuts > 0


def test_steps_with_the_hessian_of_a_sample_can_be_cut():
    """Factors that serve several steps are made again where they were made."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    y = (X @ rng.normal(size=(30, 5)) + 3 * rng.normal(size=(4000, 5))).argmax(axis=1).astype(np.int32)
    rows = native_dense(X, 1)
    problem = Problem.of_rows(rows, y, np.ones(4000), Softmax(), L2(1.0), Intercept.FREE, 5)
    assert is_sampled(problem)
    assert check_every_cut(problem, [SOLVERS["newton"]()], tol=1e-10) >= 4


def test_wide_least_squares_can_be_cut():
    """Between conjugate gradients and the factor, which is taken where no gap is small enough."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(640, 2400)), rng.normal(size=(640, 1))
    problem = Problem.of_rows(native_dense(X, 1), y, np.ones(640), Squared(), L2(1.0), Intercept.FREE, 1)
    assert check_every_cut(problem, [SOLVERS["closed_form"]()], tol=-1.0) >= 1


@pytest.mark.parametrize("loss", [Log(), Hinge(), Absolute(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("penalty", [L2(1e-4), L1(0.3)], ids=repr)
def test_a_plan_can_be_cut(loss, penalty):
    """The planner's own solvers, hand-overs included, end with the same bits."""
    problem = small(loss, penalty, Intercept.FREE, n=60, d=5)
    check_every_cut(problem, plan(problem).solvers, every=11, max_epochs=120)


@pytest.mark.parametrize("names", [("dual_cd", "newton"), ("sgd", "lbfgs")], ids="+".join)
def test_a_plan_can_be_cut_in_each_of_its_solvers(names):
    """Before a hand-over the present solver goes on and hands over when it would have; after it the next."""
    problem = small(Log(), L2(1e-3), Intercept.FREE, n=60, d=5)
    solvers = [SOLVERS[name]() for name in names]
    whole, kept = cut(problem, solvers, tol=1e-14)
    assert whole.certificate.solver == "+".join(names)
    assert {checkpoint.place for checkpoint in kept} == set(range(len(names)))
    check_every_cut(problem, solvers, every=2, tol=1e-14)


@pytest.mark.parametrize(
    "name", ["dual_cd", "lbfgs", "interior", "prox_cd", "sgd", "gd", "newton", "closed_form"]
)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_warm_start_can_be_cut(name, layout):
    """A fit that began at weights and a dual point goes on as it did; sparse, and with two threads."""
    solver, rng = SOLVERS[name](), np.random.default_rng(0)
    X = np.where(rng.random((50, 8)) < 0.4, rng.normal(size=(50, 8)), 0.0)
    for loss, penalty in product([Squared(), Hinge()], [L2(0.2), L1(0.2)]):
        y = rng.normal(size=50) if loss == Squared() else rng.integers(0, 3, 50)
        problem = stated(layout(X), y, loss, penalty, n_threads=2)
        if takes(solver, problem) if layout is np.asarray else solver.refusal(problem) is None:
            K = problem.n_outputs
            start = Start(
                0.1 * rng.normal(size=(8, K)), rng.normal(size=K), 0.01 * np.sign(problem.losses.rows.y)
            )
            check_every_cut(problem, [solver], max_epochs=9, start=start)


@pytest.mark.parametrize("loss", [Log(), Softmax(), CrammerSinger(), Hinge()], ids=repr)
@pytest.mark.parametrize("n_classes", [3, 40])
def test_dual_ascent_in_single_precision_and_in_groups_can_be_cut(loss, n_classes):
    """Blocks of float32 weights, and groups of outputs, keep all that later epochs depend on."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 20_000), density=2e-3, rng=rng, format="csr")
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, 300 - n_classes))
    problem = stated(X, y, loss, L2(0.01), n_threads=2)
    assert check_every_cut(problem, [SOLVERS["dual_cd"]()], max_epochs=12, every=2, tol=1e-5) > 0


@pytest.mark.parametrize("loss", [Log(), Hinge()], ids=repr)
def test_dual_ascent_over_float32_rows_can_be_cut(loss, monkeypatch):
    """What goes on walks over the same copy of the rows."""
    monkeypatch.setattr(dual_cd, "_MANY_NUMBERS", 0)
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 20_000), density=2e-3, rng=rng, format="csr")
    problem = stated(X, rng.integers(0, 2, 300), loss, L2(10.0), n_threads=2)
    assert check_every_cut(problem, [SOLVERS["dual_cd"]()], max_epochs=12, every=2, tol=1e-5) > 0


@pytest.mark.parametrize("name", ["lbfgs", "dual_cd", "newton", "interior"])
def test_columns_far_from_zero_can_be_cut(name):
    """Where the problem was moved the checkpoint is of the moved one, and the fit ends with the same bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + np.array([0.0, 1e7, 0.0, -3e6])
    y, solver = X @ np.array([1.0, 0.5, -1.0, 0.2]) + rng.normal(size=60), SOLVERS[name]()
    problems = [stated(X, y, loss, L2(0.1)) for loss in (Squared(), Absolute())]
    assert sum(check_every_cut(problem, [solver], max_epochs=12) for problem in problems) > 0


def wide(loss, penalty, d, n=80, seed=0):
    """More columns than a working set, a factorised Hessian or a system of columns has."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, :5].sum(axis=1) + rng.standard_t(3, size=n)
    y = signal if not loss.is_margin else rng.integers(0, 3, n) if loss.is_joint else (signal > 0).astype(int)
    return stated(X, y, loss, penalty, s=rng.choice([0.0, 1.0, 2.0], n))


@pytest.mark.parametrize("loss", [Log(), Softmax(), Squared(), Quantile(0.3)], ids=repr)
@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("prox_cd", GroupL2((np.arange(160) // 4).tolist(), 3.0)),
        ("prox_cd", L1(3.0)),
        ("newton", L2(1.0)),
        ("interior", ElasticNet(0.2, 0.1)),
        ("interior", L2(0.1)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wide_problems_can_be_cut(name, penalty, loss):
    """Working sets, trust regions and systems of rows are a part of the state, or are made again."""
    n_columns = {"newton": 700, "interior": 120}.get(name, 160 if isinstance(penalty, GroupL2) else 600)
    problem, solver = wide(loss, penalty, d=n_columns), SOLVERS[name]()
    if solver.refusal(problem) is None:
        check_every_cut(problem, [solver], max_epochs=12, every=3)


@pytest.mark.parametrize("loss", [Log(), Softmax(), SquaredHinge()], ids=repr)
def test_a_fit_in_coordinates_of_its_rows_can_be_cut(loss):
    """What is kept are those coordinates: weights of the columns would not give them back to the bit."""
    problem = wide(loss, L2(0.1), d=200)
    assert is_direct(problem)
    assert is_in_row_space(problem)
    assert check_every_cut(problem, [SOLVERS["newton"]()]) > 2


@pytest.mark.parametrize("name", ["lbfgs", "newton"])
def test_losses_of_ones_own_can_be_cut(name):
    """A sum of losses, or a map, that the library has never heard of is cut as its own are."""
    rng = np.random.default_rng(4)
    labels, transitions = rng.integers(0, 3, size=22), rng.normal(size=(3, 3))
    problems = [
        Problem(NumpyRows(counts()[0]), PoissonLosses(counts()[1]), L2(0.1), Intercept.FREE),
        Problem(
            NumpyRows(rng.normal(size=(22, 4))),
            ChainLosses(labels, (5, 7, 4, 6), transitions),
            L2(0.5),
            Intercept.NONE,
        ),
    ]
    solver = SOLVERS[name]()
    posable = [problem for problem in problems if solver.refusal(problem) is None]
    assert sum(check_every_cut(problem, [solver], max_epochs=20) for problem in posable) > 0


class Finite(Solver):
    """A stream that ends, after iterates that expect nothing of a certificate."""

    name = "finite"

    def iterates(self, problem, start, tol, seed):
        first = 0 if start is None else start.state["n"]
        for n in range(first, 5):
            W, b = np.full(problem.weight_shape, 0.01 * n), np.zeros(problem.n_outputs)
            yield Iterate(lambda W=W, b=b: (W, b), expected_gap=np.inf, state=lambda n=n: {"n": n})


def test_the_last_iterate_is_certified_wherever_the_fit_was_cut():
    """A stream's last iterate is proved at its end, though the checkpoint was taken at it."""
    problem = small(Log(), L2(0.1), Intercept.FREE, n=40, d=4)
    assert check_every_cut(problem, [Finite()]) == 5


def test_a_resumed_fit_gives_the_same_checkpoints():
    """What is taken after going on is what would have been taken without: cuts may be cut again."""
    problem = small(Hinge(), L2(0.1), Intercept.FREE, kind="classes", n=40, d=4)
    solver = [SOLVERS["dual_cd"]()]
    whole, kept = cut(problem, solver, max_epochs=30)
    again = []
    minimise(
        problem,
        solver,
        tol=TOL,
        seed=SEED,
        start=kept[4],
        budget=Budget(max_epochs=30, checkpoint=again.append),
    )
    assert [each.epochs for each in again] == [each.epochs for each in kept[5:]]
    assert told(go_on(problem, solver, again[3], 30)) == told(whole)
    for one, other in zip(kept[5:], again, strict=True):
        assert one.decisions == other.decisions
        np.testing.assert_equal(one.state, other.state)
    # A checkpoint is a value: to go on from it leaves it as it was.
    assert told(go_on(problem, solver, kept[4], 30)) == told(whole)


# ---- solvers without one --------------------------------------------------------------------------


class Forgetful(Solver):
    """Another solver, whose state nobody is told."""

    name = "forgetful"

    def __init__(self, solver):
        self.solver = solver

    def refusal(self, problem):
        return self.solver.refusal(problem)

    def iterates(self, problem, start, tol, seed):
        assert start is None or start.state is None
        for iterate in self.solver.iterates(problem, start, tol, seed):
            yield replace(iterate, state=None)


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_without_a_state_a_fit_goes_on_to_the_same_optimum(solver):
    """From the best weights and the best dual point: certified at the optimum, within the tolerance."""
    tol, n_cuts = (1e-2 if solver.name in ("sgd", "adadelta", "iterative_scaling") else 1e-4), 0
    for loss, penalty in product([Log(), Squared()], [L2(1.0), L1(1.0)]):
        problem = small(loss, penalty, Intercept.FREE, solver=solver, n=40, d=4)
        if not takes(solver, problem):
            continue
        whole, kept = cut(problem, [Forgetful(solver)], tol=tol)
        assert whole.certificate.converged
        for checkpoint in kept[:: max(1, len(kept) // 3)]:
            assert checkpoint.state is None
            ended = go_on(problem, [Forgetful(solver)], checkpoint, tol=tol)
            n_cuts += 1
            assert ended.certificate.converged
            assert ended.certificate.epochs > checkpoint.epochs
            # Both are within tol of one optimum.
            assert ended.certificate.primal == pytest.approx(whole.certificate.primal, rel=1.01 * tol)
    assert n_cuts > 0 or solver.name in ("closed_form",)


def test_a_dual_point_that_is_no_array_is_found_again():
    """Pairs of a ranking: checkpoints hold the weights alone, and the fit is certified all the same."""
    X, grades, queries = ranking(5, n=60, d=4)
    codes = np.unique(queries, return_inverse=True)[1]
    pairs = Pairs.of(grades, codes, np.ones(60), np.ones(codes.max() + 1), is_by_query=False)
    problem = Problem(NumpyRows(X), PairLosses(pairs, Hinge()), L2(0.01), Intercept.NONE)
    solvers = plan(problem).solvers
    whole, kept = cut(problem, solvers, tol=1e-6)
    assert len(kept) > 2
    for checkpoint in kept:
        assert checkpoint.U is None
        assert checkpoint.state is None
        ended = go_on(problem, solvers, checkpoint, tol=1e-6)
        assert ended.certificate.converged
        assert ended.certificate.primal == pytest.approx(whole.certificate.primal, rel=1.01e-6)


# ---- files and processes --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dual_cd", "lbfgs", "prox_cd", "interior", "svrg", "sgd", "newton"])
def test_a_saved_checkpoint_is_the_same(name, tmp_path):
    """load(save(c)) goes on to the same bits, and the same checkpoint gives the same bytes."""
    solver, path = SOLVERS[name](), tmp_path / "checkpoint"
    penalty = L1(0.3) if name == "prox_cd" else L2(0.3)
    problem = small(SquaredHinge(), penalty, Intercept.FREE, kind="classes", n=40, d=4)
    whole, kept = cut(problem, [solver], max_epochs=10)
    for checkpoint in kept:
        checkpoint.save(path)
        loaded = Checkpoint.load(path)
        np.testing.assert_equal(vars(loaded), vars(checkpoint))
        assert told(go_on(problem, [solver], loaded, 10)) == told(whole)
        loaded.save(tmp_path / "again")
        assert path.read_bytes() == (tmp_path / "again").read_bytes()


FIT = """
    import os, sys
    import numpy as np
    from lineal.objective import L2, Hinge, Intercept, Problem
    from lineal.objective.linear_maps import native_dense
    from lineal.solvers.catalogue import SOLVERS
    from lineal.solvers.checkpoint import Checkpoint
    from lineal.solvers.driver import Budget, minimise

    name, path, how = sys.argv[1:]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    problem = Problem.of_rows(
        native_dense(X, 1), y[:, None], np.ones(300), Hinge(), L2(0.01), Intercept.FREE, 1
    )

    def keep(checkpoint):
        checkpoint.save(path)
        print(checkpoint.epochs, flush=True)

    start = Checkpoint.load(path) if how == "go on" else None
    budget = Budget(max_epochs=400, checkpoint=keep if how == "be killed" else None)
    found = minimise(problem, [SOLVERS[name]()], tol=1e-12, budget=budget, start=start, seed=1)
    print(found.W.tobytes().hex(), found.b, found.U.tobytes().hex())
    print(found.certificate.dual, found.certificate.epochs)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["dual_cd", "lbfgs"])
def test_a_killed_fit_goes_on_from_its_file(name, tmp_path):
    """kill -9 at any moment, in the middle of a write too, leaves a checkpoint that has the same end."""
    script, path = tmp_path / "fit.py", tmp_path / "checkpoint"
    script.write_text(textwrap.dedent(FIT))

    def command(how):
        return [sys.executable, script, name, path, how]

    whole = subprocess.run(command("whole"), capture_output=True, text=True, check=True).stdout
    fit = subprocess.Popen(command("be killed"), stdout=subprocess.PIPE, text=True)
    for _ in range(25):
        assert fit.stdout.readline()
    os.kill(fit.pid, signal.SIGKILL)
    rest, _ = fit.communicate()
    assert fit.returncode == -signal.SIGKILL
    assert whole not in rest  # it was not at its end
    assert Checkpoint.load(path).epochs >= 25
    assert subprocess.run(command("go on"), capture_output=True, text=True, check=True).stdout == whole
