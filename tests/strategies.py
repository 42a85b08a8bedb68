"""What theorems quantify over: members that are discovered, numbers that hypothesis supplies, small problems.

A new loss, penalty or solver appears in ``losses()``, ``penalties()`` or ``solvers()`` by being defined,
and so arrives with all its tests.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from lineal.errors import ParameterError
from lineal.objective import group_penalty, joint
from lineal.objective import losses as single
from lineal.objective import penalties as penalty_module
from lineal.objective.linear_maps import native_csr, native_dense
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.conjugate_gradient import CG
from lineal.solvers.descent import Descent
from lineal.solvers.planner import SOLVERS
from lineal.solvers.stochastic import SGD

# ---- members ------------------------------------------------------------------------------------

# A second value for each parameter that members have; one that is not named here keeps its default.
_OTHER = {
    "margin": 0.5,
    "delta": 0.3,
    "epsilon": 0.7,
    "q": 0.8,
    "strength": 0.4,
    "p": 3.0,
    "l1": 0.2,
    "l2": 1.5,
}
_WIDTH = 0.3


def concrete(module, base):
    """The public classes of a module below ``base``."""
    return [
        kind
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, base) and kind is not base and not name.startswith("_")
    ]


def _made(kinds):
    """Each kind with its defaults, and once more with every parameter changed."""
    made = []
    for kind in kinds:
        try:
            made.append(kind())
        except TypeError:
            continue
        changed = {f.name: _OTHER[f.name] for f in fields(kind) if f.name in _OTHER}
        with contextlib.suppress(ParameterError):
            made.append(replace(made[-1], **changed))
    return list(dict.fromkeys(made))


def _with_smoothed(members):
    return members + [rounded for loss in members if (rounded := loss.smoothed(_WIDTH)) != loss]


def losses():
    """Every loss of one score, smoothed ones included."""
    return _with_smoothed(_made(concrete(single, single.Loss)))


def joint_losses():
    """Every loss of K scores, smoothed ones included."""
    return _with_smoothed(_made(concrete(joint, joint.JointLoss)))


def penalties():
    """Every penalty."""
    modules = (penalty_module, group_penalty)
    return _made([kind for module in modules for kind in concrete(module, penalty_module.Penalty)])


def every_solver():
    """Every solver."""
    return [kind() for kind in SOLVERS.values()]


def first_order():
    """The solvers that creep: gradient methods, certified to a few digits."""
    return [s for s in every_solver() if isinstance(s, (Descent, SGD, CG))]


def solvers():
    """The solvers that prove strict tolerances."""
    return [s for s in every_solver() if not isinstance(s, (Descent, SGD, CG))]


def needs_counts(solver):
    """Whether a solver takes features >= 0 only."""
    return solver is not None and solver.name == "iterative_scaling"


def suited(X, solver):
    """Features that a solver takes: their sizes where it needs features >= 0."""
    return np.abs(X) if needs_counts(solver) else X


def takes(solver, problem):
    """Whether a solver takes a problem of dense rows, numbers included."""
    return solver.refusal(problem) is None and not (needs_counts(solver) and problem.X.dense.min() < 0)


def objectives():
    """The losses that a fit may minimise: not the perceptrons, not the smoothed."""
    degenerate = (single.Perceptron, joint.JointPerceptron)
    every = _made(concrete(single, single.Loss)) + _made(concrete(joint, joint.JointLoss))
    return [loss for loss in every if not isinstance(loss, degenerate)]


# ---- numbers ------------------------------------------------------------------------------------


def seeds():
    """Seeds of a NumPy generator."""
    return st.integers(0, 2**32 - 1)


def reals(size=50.0):
    """Numbers up to a size; multiples of 0.1 are frequent, because kinks sit on them."""
    return st.floats(-size, size, allow_subnormal=False) | st.integers(-30, 30).map(lambda k: k / 10)


def target_of(loss, number):
    """A legal target made from any number: its sign for a margin loss, else itself."""
    return (1.0 if number >= 0 else -1.0) if loss.is_margin else number


# ---- problems -----------------------------------------------------------------------------------


def rows(X, n_threads=1):
    """A NumPy or SciPy matrix as the core holds it."""
    return native_csr(sp.csr_array(X), n_threads) if sp.issparse(X) else native_dense(X, n_threads)


def stated(X, y, loss, penalty, intercept=Intercept.FREE, s=None, n_threads=1):
    """The problem of (X, y): y holds numbers for regression, labels for classification."""
    s = np.ones(X.shape[0]) if s is None else np.asarray(s, dtype=float)
    X = rows(X, n_threads)
    if not loss.is_margin:
        y = np.asarray(y, dtype=float)
        y = y[:, None] if y.ndim == 1 else y
        return Problem.of_rows(X, y, s, loss, penalty, intercept, y.shape[1])
    codes = np.asarray(y)
    K = int(codes.max()) + 1
    if loss.is_joint:
        return Problem.of_rows(X, codes.astype(np.int32), s, loss, penalty, intercept, K)
    if K == 2:
        return Problem.of_rows(X, np.where(codes == 1, 1.0, -1.0)[:, None], s, loss, penalty, intercept, 1)
    return Problem.of_rows(
        X, np.where(codes[:, None] == np.arange(K), 1.0, -1.0), s, loss, penalty, intercept, K
    )


def sample(kind, seed, n=60, d=6):
    """A small data set (X, y): 'regression', 'binary' or 'classes' (five, noisy enough not to separate)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=d)
    signal = X @ rng.normal(size=d)
    if kind == "regression":
        return X, signal + rng.standard_t(3, size=n) + 0.7
    if kind == "binary":
        return X, (signal + 1.5 * rng.normal(size=n) > 0.3).astype(int)
    scores = X @ rng.normal(size=(d, 5)) * 0.7 + 1.5 * rng.gumbel(size=(n, 5))
    codes = scores.argmax(axis=1)
    codes[:10] = np.arange(10) % 5  # every class has members
    return X, codes


def kinds_of(loss):
    """The kinds of sample that a loss can meet."""
    if not loss.is_margin:
        return ["regression"]
    return ["classes"] if loss.is_joint else ["binary", "classes"]


def small(loss, penalty, intercept, kind=None, seed=0, n=60, d=6, n_threads=1, weighted=True, solver=None):
    """A small random problem; rows have weights 1/2, 1 and 2 unless told otherwise."""
    X, y = sample(kind or kinds_of(loss)[0], seed, n, d)
    s = np.random.default_rng(seed + 1).choice([0.5, 1.0, 2.0], size=n) if weighted else None
    return stated(suited(X, solver), y, loss, penalty, intercept, s, n_threads)


def grid(loss_list=None, penalty_list=None, intercepts=tuple(Intercept)):
    """Every loss x penalty x intercept that makes a problem."""
    return [
        (loss, penalty, intercept)
        for loss in (objectives() if loss_list is None else loss_list)
        for penalty in (penalties() if penalty_list is None else penalty_list)
        for intercept in intercepts
        if not (isinstance(penalty, penalty_module.NoPenalty) and intercept is Intercept.PENALIZED)
    ]


def named(case):
    """A readable test id."""
    parts = case if isinstance(case, tuple) else (case,)
    return "-".join(part.value if isinstance(part, Intercept) else repr(part) for part in parts)


def woven(*axes, one_in, ids=None):
    """The product of lists as parameters of a test: one case in so many by default, the rest marked slow.

    The cases by default are those whose places in the lists add up to a multiple of ``one_in``. So each value
    meets one in so many of every other list, and every pair of values of two lists is met where a third has
    at least ``one_in``.
    """
    cases = []
    for places in itertools.product(*(range(len(axis)) for axis in axes)):
        chosen = [axis[place] for axis, place in zip(axes, places, strict=True)]
        values = [part for each in chosen for part in (each if isinstance(each, tuple) else (each,))]
        marks = [] if sum(places) % one_in == 0 else [pytest.mark.slow]
        cases.append(pytest.param(*values, marks=marks, id="-".join(map(ids or str, values))))
    return cases
