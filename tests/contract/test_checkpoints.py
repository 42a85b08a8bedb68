"""Checkpoints are plain values; they are taken when they were asked for, and wrong ones are refused."""

from dataclasses import replace

import numpy as np
import pytest

from lineal.errors import InputError, LinealError, ModelFileError, ParameterError
from lineal.kernels import Gaussian
from lineal.model import container
from lineal.objective import L1, L2, Hinge, Log, Squared
from lineal.objective.certificate import Stop
from lineal.objective.problem import Intercept
from lineal.solvers.base import Iterate, Solver
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.checkpoint import Checkpoint
from lineal.solvers.descent import Adam
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.kernel_dual import KernelMachine, KernelValues, classification
from strategies import every_solver, small, takes


def posed(**options):
    """A problem that takes dual_cd some twenty epochs."""
    return small(Hinge(), L2(0.1), Intercept.FREE, **{"kind": "classes", "n": 40, "d": 4} | options)


def taken(problem, solvers, seed=3, tol=1e-7, **options):
    """The checkpoints of a fit."""
    kept = []
    budget = Budget(**{"max_epochs": 30, "checkpoint": kept.append} | options)
    minimise(problem, solvers, tol=tol, budget=budget, seed=seed)
    return kept


def dual_cd():
    """A plan of one solver."""
    return [SOLVERS["dual_cd"]()]


def is_plain(value):
    """Whether there is nothing but numbers, strings, None and arrays, and dicts and tuples of them."""
    if isinstance(value, dict):
        return all(isinstance(name, str) and is_plain(each) for name, each in value.items())
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in "fiub"
    return value is None or type(value) in (bool, int, float, str)


# ---- what they are --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_a_checkpoint_is_made_of_plain_values(solver):
    """No object of the library is in one, and nothing that the fit goes on to change."""
    posable = [
        small(loss, penalty, Intercept.FREE, solver=solver)
        for loss in (Log(), Hinge(), Squared())
        for penalty in (L2(0.1), L1(0.1))
    ]
    problem = next(each for each in posable if takes(solver, each))
    kept = taken(problem, [solver], max_epochs=6)
    before = [np.asarray(each.W).tobytes() for each in kept]
    assert all(is_plain(vars(each)) for each in kept)
    taken(problem, [solver], max_epochs=6)
    assert before == [np.asarray(each.W).tobytes() for each in kept]


def test_a_state_of_other_values_is_an_error():
    """A solver whose state holds an object is told so, and no such checkpoint is given."""

    class Odd(Solver):
        name = "odd"

        def iterates(self, problem, start, tol, seed):
            W, b = np.zeros(problem.weight_shape), np.zeros(problem.n_outputs)
            while True:
                yield Iterate(lambda: (W, b), state=lambda: {"self": self})

    with pytest.raises(TypeError, match="Odd is no plain value"):
        taken(posed(), [Odd()])


def test_checkpoints_come_as_often_as_asked():
    """Every so many epochs, every so many seconds, both, or each epoch if neither is said."""
    problem = posed()

    def epochs(**options):
        return [each.epochs for each in taken(problem, dual_cd(), **options)]

    last = epochs()[-1]
    assert epochs() == list(range(1, last + 1))
    assert epochs(checkpoint_every=4) == list(range(4, last + 1, 4))
    assert epochs(checkpoint_seconds=0.0) == epochs()
    assert epochs(checkpoint_seconds=60.0) == []
    assert epochs(checkpoint_every=5, checkpoint_seconds=60.0) == list(range(5, last + 1, 5))


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
def test_taking_checkpoints_changes_no_bit(solver):
    """At each epoch, or when the clock says so, the fit is the one without."""
    for loss in (Log(), Hinge()):
        problem = small(loss, L2(0.1), Intercept.FREE, solver=solver, n=40)
        if not takes(solver, problem):
            continue
        alone = minimise(problem, [solver], tol=1e-7, budget=Budget(max_epochs=40), seed=3)
        for options in ({}, {"checkpoint_seconds": 1e-4}):
            budget = Budget(max_epochs=40, checkpoint=lambda checkpoint: None, **options)
            heard = minimise(problem, [solver], tol=1e-7, budget=budget, seed=3)
            assert alone.W.tobytes() == heard.W.tobytes()
            assert np.asarray(alone.U).tobytes() == np.asarray(heard.U).tobytes()
            assert replace(alone.certificate, seconds=0.0) == replace(heard.certificate, seconds=0.0)
            assert [point.gap for point in alone.trace] == [point.gap for point in heard.trace]


def test_an_error_of_the_listener_is_the_callers():
    """An exception of whoever takes checkpoints comes out as it is."""

    def broken(checkpoint):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        minimise(posed(), dual_cd(), tol=1e-7, budget=Budget(checkpoint=broken))


# ---- going on -------------------------------------------------------------------------------------


def test_budgets_count_from_where_the_fit_began():
    """Epochs and seconds are those of the whole fit: limits mean the same however often it was cut."""
    problem = posed()
    kept = taken(problem, dual_cd())[9]
    assert (kept.epochs, kept.epochs_here) == (10, 10)
    few = minimise(problem, dual_cd(), tol=1e-7, budget=Budget(max_epochs=12), start=kept, seed=3)
    assert (few.certificate.epochs, few.certificate.stop) == (12, Stop.EPOCHS)
    none = minimise(problem, dual_cd(), tol=1e-7, budget=Budget(max_epochs=10), start=kept, seed=3)
    assert (none.certificate.epochs, none.certificate.stop) == (10, Stop.EPOCHS)
    assert none.certificate.solver == "dual_cd"
    assert none.certificate.dual <= none.certificate.primal < np.inf
    late = replace(kept, seconds=100.0)
    over = minimise(problem, dual_cd(), tol=1e-7, budget=Budget(max_seconds=50.0), start=late, seed=3)
    assert over.certificate.stop is Stop.SECONDS
    assert over.certificate.seconds >= 100.0


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"problem": posed(n=41)}, "the shape of the scores was .40, 5., and is .41, 5."),
        ({"problem": posed(d=5)}, "the shape of the weights was .4, 5."),
        ({"problem": posed(seed=1)}, "made-up scores"),
        ({"problem": posed(weighted=False)}, "objective"),
        ({"problem": replace(posed(), penalty=L2(0.2))}, "objective"),
        ({"solvers": [SOLVERS["lbfgs"]()]}, r"solvers was \('dual_cd',\), and is \('lbfgs',\)"),
        ({"solvers": [SOLVERS["dual_cd"](), SOLVERS["newton"]()]}, "solvers"),
        ({"tol": 1e-6}, "tol was 1e-07, and is 1e-06"),
        ({"seed": 4}, "seed was 3, and is 4"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value[:12],
)
def test_a_checkpoint_of_another_fit_is_refused(other, match):
    """Other data, objective, plan, tol or seed: refused before work starts, and what differs is said."""
    kept = taken(posed(), dual_cd())[5]
    terms = {"problem": posed(), "solvers": dual_cd(), "tol": 1e-7, "seed": 3} | other
    problem, solvers = terms.pop("problem"), terms.pop("solvers")
    began = []
    with pytest.raises(InputError, match=match):
        minimise(problem, solvers, start=kept, budget=Budget(callbacks=[began.append]), **terms)
    assert not began


def test_parameters_of_solvers_are_terms_too():
    """The same solver with another step is another fit."""
    problem = small(Log(), L2(0.1), Intercept.FREE, n=40, d=4)
    kept = taken(problem, [Adam()])[3]
    with pytest.raises(InputError, match=r"learning_rate=0\.5"):
        minimise(problem, [Adam(learning_rate=0.5)], tol=1e-7, start=kept, seed=3)


def test_who_gives_no_checkpoints_says_so():
    """Kernel machines, which prove by themselves, refuse a listener and a checkpoint before work starts."""
    rng = np.random.default_rng(0)
    kernel, y = Gaussian(0.5), np.repeat([1.0, -1.0], 10)
    values = KernelValues(kernel, kernel.checked(rng.normal(size=(20, 3))), 1)
    machine = KernelMachine(values, classification(y, np.ones(20), np.arange(20)), n_threads=1)
    with pytest.raises(InputError, match="kernel_dual gives no checkpoints"):
        machine.run(1e-3, budget=Budget(checkpoint=print))
    assert machine.run(1e-3, budget=Budget()).gap < np.inf


# ---- files ----------------------------------------------------------------------------------------


def test_damaged_files_are_refused(tmp_path):
    """A file that was cut short or changed anywhere is refused by an error of the library, in words."""
    path, broken = tmp_path / "checkpoint", tmp_path / "broken"
    taken(posed(), dual_cd())[5].save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for length in [0, 7, 8, *rng.integers(9, len(whole), 20)]:
        broken.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            Checkpoint.load(broken)
    for place in [*rng.integers(0, len(whole), 200), len(whole) - 1]:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        broken.write_bytes(changed)
        with pytest.raises(LinealError):
            Checkpoint.load(broken)
    with pytest.raises(ModelFileError, match="There is no file"):
        Checkpoint.load(tmp_path / "nowhere")


def test_a_model_is_no_checkpoint(tmp_path):
    """A model file is told from a checkpoint."""
    container.write(tmp_path / "model", {"W": np.eye(4)}, {"format": "another"})
    with pytest.raises(ModelFileError, match="is no checkpoint"):
        Checkpoint.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["certify_every", "checkpoint_every"])
def test_no_epochs_in_between_are_refused(name):
    """Every so many epochs is every one at least; said before work starts."""
    with pytest.raises(ParameterError, match=f"{name} must be at least 1, got 0"):
        Budget(**{name: 0})
