"""Wide tables in coordinates of their rows: under a ridge optimal weights are combinations of rows.

What a weight vector has at right angles to all rows moves no score and costs, so that the optimum has none.
With X' = Q R, columns of Q orthonormal, every combination of rows is w = Q a, and then::

    X w = R'a,      |w| = |a|,      |X'g| = |R g|

so that the problem of the rows R', which has as many columns as rows, has the same objective, the same dual
points and the same bounds. Unlike the Gram matrix of the rows, R has all of their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lineal.objective.linear_maps import native_dense
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Problem
from lineal.solvers.base import Iterate, Start, Weights
from lineal.solvers.costs import factor

# The share of its columns that a table's rows may be: with more of them Q takes longer than it saves.
_WIDE = 0.75


def is_in_row_space(problem: Problem) -> bool:
    """Whether a factorised Hessian of the rows' coordinates is cheaper than that of the columns.

    Of kinks that are rounded in stages each would make its own Q.
    """
    losses, X = problem.losses, problem.X
    is_wide = 0 < X.n_rows <= _WIDE * X.n_columns
    if not (is_wide and problem.penalty.is_ridge and losses.is_smooth) or losses.is_rounded:
        return False
    return X.native_rows is not None and X.native_rows.dense is not None and not problem.has_shared_weights


def basis_cost(problem: Problem) -> float:
    """Seconds that Q and R take, some six times as many multiplications as a factor of as many unknowns."""
    n, d = problem.X.n_rows, problem.X.n_columns
    return 12 * factor(n) * d / n


def gram_in_row_space(problem: Problem) -> float:
    """Seconds of a Gram matrix of R', which takes three times as many multiplications as its factor."""
    return 3 * factor(problem.X.n_rows)


@dataclass(frozen=True)
class RowSpace:
    """A problem in coordinates of its rows, and the way back.

    Attributes
    ----------
    problem : Problem
        That of the rows R'.
    basis : array
        Q, (n_columns, n_rows).
    """

    problem: Problem
    basis: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> RowSpace:
        """Of a problem that ``is_in_row_space``."""
        X = problem.X.native_rows
        assert X is not None
        assert X.dense is not None
        Q, R = np.linalg.qr(X.dense.T.astype(np.float64))
        return cls(replace(problem, X=native_dense(np.ascontiguousarray(R.T), X.n_threads)), Q)

    def start(self, start: Start | None) -> Start | None:
        """The nearest weights that are combinations of rows; a state is of these coordinates already."""
        if start is None:
            return None
        V = None if start.V is None else self.basis.T @ start.V
        return replace(start, W=self.basis.T @ start.W, V=V)

    def brought_back(self, iterate: Iterate) -> Iterate:
        """The same with weights of the columns."""
        return replace(iterate, weights=self._of_columns(iterate.weights))

    def _of_columns(self, weights: Callable[[], Weights]) -> Callable[[], Weights]:
        def moved() -> Weights:
            W, b = weights()
            return self.basis @ W, b

        return moved
