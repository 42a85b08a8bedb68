"""What the grid goes through: every public loss, penalty and solver, discovered, on three small tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

import lineal.objective
from lineal import LinearClassifier, LinearRegressor
from lineal.objective import (
    L1,
    L2,
    Blocks,
    CustomLoss,
    ElasticNet,
    GroupL2,
    Hinge,
    Loss,
    Lp,
    NoPenalty,
    Penalty,
)
from lineal.solvers import GD, SOLVERS, Backtracking, IterativeScaling, Solver

SEED = 20
N_ROWS, N_COLUMNS, N_CLASSES = 120, 8, 5

# Solvers that the planner chooses are held to STRICT. First-order methods are asked for the two or three
# digits that they are made for.
STRICT, MIDDLE, LOOSE = 1e-4, 1e-3, 1e-2
_STRICT = ("closed_form", "dual_cd", "lbfgs", "newton", "prox_cd")
_MIDDLE = ("cg", "nesterov", "iterative_scaling")
_TOLERANCES = {**dict.fromkeys(_STRICT, STRICT), **dict.fromkeys(_MIDDLE, MIDDLE)}

# A penalty needs a strength; one that is not here stops the grid.
_EXAMPLES: dict[type[Penalty], tuple[Penalty, ...]] = {
    NoPenalty: (NoPenalty(),),
    L2: (L2(1.0),),
    L1: (L1(1.0),),
    ElasticNet: (ElasticNet(0.5, 0.5),),
    Lp: (Lp(1.0, 1.5), Lp(1.0, 3.0)),
    Blocks: (Blocks({0: NoPenalty(), range(1, 4): L1(1.0), ...: L2(1.0)}),),
    GroupL2: (GroupL2((0, 0, 1, 1, 1, 2, 3, 3), 1.0),),
}


@dataclass(frozen=True)
class Column:
    """A solver as the grid runs it."""

    label: str
    solver: Solver
    tol: float


@dataclass(frozen=True)
class Task:
    """A learner and its data."""

    name: str
    title: str
    learner: type[LinearClassifier] | type[LinearRegressor]
    X: Any = field(repr=False)
    y: Any = field(repr=False)


def losses(task: Task) -> list[Loss]:
    """One of every loss of the library, joint ones too; with classes also a hinge that stays one-vs-rest."""
    kinds = [kind for kind in _public(Loss) if kind is not Loss and not issubclass(kind, CustomLoss)]
    extra = [Hinge(margin=2.0)] if task.name == "classes" else []
    return [kind() for kind in kinds] + extra


def penalties() -> list[Penalty]:
    """One of every public penalty, Lp on both sides of 2."""
    return [example for kind in _public(Penalty) if kind is not Penalty for example in _EXAMPLES[kind]]


def columns() -> list[Column]:
    """Every solver by its name, with its defaults, then other forms of some."""
    by_name = [Column(name, kind(), _TOLERANCES.get(name, LOOSE)) for name, kind in SOLVERS.items()]
    return [
        *by_name,
        Column("gd, backtracking", GD(schedule=Backtracking()), LOOSE),
        Column("gd, batches", GD(batch_size=32), LOOSE),
        Column("iterative_scaling, iis", IterativeScaling(kind="iis"), MIDDLE),
    ]


def tasks() -> list[Task]:
    """Counts, as words in short texts are, with two columns that nearly agree and one in larger units."""
    rng = np.random.default_rng(SEED)
    X = rng.poisson(rng.uniform(0.8, 1.6, size=N_COLUMNS), size=(N_ROWS, N_COLUMNS)).astype(np.float64)
    X[:, 1] = X[:, 0]
    X[::4, 1] += 1.0  # rows of every class: nothing separates them
    X[:, 2] *= 10.0
    scores = (X / X.std(axis=0)) @ rng.normal(size=(N_COLUMNS, N_CLASSES)) / 2
    codes = (0.5 * scores + 1.5 * rng.gumbel(size=scores.shape)).argmax(axis=1)
    binary = scores[:, 0] - np.median(scores[:, 0]) + rng.logistic(size=N_ROWS) > 0
    numbers = scores[:, 1] + rng.standard_t(3, size=N_ROWS)
    rows = sp.csr_array(X)
    return [
        Task("binary", "Two classes", LinearClassifier, rows, binary),
        Task("classes", "Five classes", LinearClassifier, rows, codes),
        Task("regression", "Regression", LinearRegressor, X, numbers),
    ]


def _public(base: type) -> list[type]:
    members = (getattr(lineal.objective, name) for name in lineal.objective.__all__)
    return [member for member in members if isinstance(member, type) and issubclass(member, base)]
