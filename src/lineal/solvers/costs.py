"""What epochs and whole runs cost, counted before anything is run.

Work is counted in kinds of loops (numbers met in passes over X, numbers met row by row, multiplications of
Gram matrices and of factors, losses, calls) from the shape of a problem alone, and times rates that ship with
the package it becomes predicted seconds. Predictions choose and hand over between solvers; the clock never
does, so that the same data give the same bits on a busy machine.

The rates are those of one core of a machine of 2024; on another all of them change by about the same factor,
which no comparison feels.
"""

from __future__ import annotations

from dataclasses import dataclass

from lineal.objective.linear_maps import LinearMap
from lineal.objective.problem import Problem

# Seconds for a number: in a pass over dense and over sparse rows; row by row, where each waits for the last.
_PASSED, _PASSED_SPARSE = 1.0e-10, 7.0e-10
_STEPPED, _STEPPED_SPARSE = 1.2e-10, 1.5e-9
# For a multiplication of a Gram matrix of dense and of sparse rows, and of a triangular factor.
_GRAM, _GRAM_SPARSE, _FACTOR = 8.0e-11, 6.0e-10, 4.0e-11
# For a loss with a logarithm and for one without; for a step of one row on its own; for a call from Python.
_LOGARITHM, _LOSS, _LOG_STEP, _STEP = 4.0e-9, 5.0e-10, 2.0e-7, 2.0e-8
_CALL = 5.0e-6


@dataclass(frozen=True)
class Cost:
    """What a solver is predicted to take.

    Attributes
    ----------
    epoch : float
        Seconds of an epoch.
    expected : float
        Seconds of a usual run: what solvers are chosen by.
    total : float or None
        Seconds that are enough, for solvers whose number of steps is bounded whatever the data.
    """

    epoch: float
    expected: float
    total: float | None = None

    @classmethod
    def of_epochs(cls, epoch: float, usual: float, most: float | None = None) -> Cost:
        """So many epochs are usual and, where that is known, so many are enough."""
        return cls(epoch, usual * epoch, None if most is None else most * epoch)

    def __str__(self) -> str:
        each = f"{_told(self.epoch)} an epoch, some {_told(self.expected)} in all"
        return each if self.total is None else f"{each}, at most {_told(self.total)}"


def _told(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def passes(problem: Problem, count: float) -> float:
    """Passes over X, for all outputs."""
    rate = _PASSED_SPARSE if problem.X.is_sparse else _PASSED
    return count * (rate * problem.X.n_stored * problem.weight_shape[1] + _CALL)


def losses(problem: Problem, count: float) -> float:
    """Evaluations of all losses."""
    n, K = problem.losses.shape
    rate = _LOGARITHM if problem.losses.is_likelihood else _LOSS
    return count * (rate * n * K + _CALL)


def row_steps(problem: Problem) -> float:
    """One step on every row and output."""
    n, K = problem.losses.shape
    rate = _STEPPED_SPARSE if problem.X.is_sparse else _STEPPED
    each = _LOG_STEP if problem.losses.is_likelihood else _STEP
    return 2 * rate * problem.X.n_stored * K + each * n * K + _CALL


def gram(problem: Problem) -> float:
    """One Gram matrix of all columns."""
    return gram_of(problem.X, problem.X.n_rows)


def gram_of(X: LinearMap, n_rows: int) -> float:
    """The same of so many rows."""
    n, d, stored = X.n_rows, X.n_columns, X.n_stored
    if X.is_sparse:
        return _GRAM_SPARSE * stored * stored / max(n, 1) * (n_rows / max(n, 1)) + _CALL
    return _GRAM * n_rows * d * d / 2 + _CALL


def factor(size: int) -> float:
    """The triangular factor of a matrix."""
    return _FACTOR * size**3 / 3 + 2 * _CALL
