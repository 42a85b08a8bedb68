"""Columns and targets far from 0: solved where they lie near it, and told of where they were.

The map says which columns are to be moved and by how much, and the losses of differences which targets are
(``near_zero``); with a free intercept that changes nothing but b. What is said of the result is said of the
data as they came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import Solution, Start

_ROUNDED = "scores of columns so far from 0 are rounded by more than that. Subtract the offsets"


@dataclass(frozen=True)
class Moved:
    """A problem whose columns lie near 0, and how its weights are those of the one it was made from."""

    origin: Problem
    problem: Problem
    by: FloatArray  # (d,) of the columns
    targets_by: FloatArray  # (K,)

    def intercept(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """That of this problem which gives the scores of b in the one it was made from."""
        return b + self.by @ W - self.targets_by

    def primal(self, W: FloatArray, b: FloatArray) -> float:
        """The objective of weights of the problem this one was made from.

        Their scores are rounded there as predictions will be; that may make it larger, not smaller.
        """
        return max(self.origin.primal(W, b), self.problem.primal(W, self.intercept(W, b)))

    def start(self, start: Start | None) -> Start | None:
        """Where a solver of this problem starts."""
        if start is None:
            return None
        Z = None if start.Z is None else start.Z - self.targets_by
        return replace(start, b=self.intercept(start.W, start.b), Z=Z)

    def solution(self, found: Solution, tol: float) -> Solution:
        """The same for the problem this one was made from."""
        W = np.asarray(found.W, dtype=np.float64)
        b = found.b - self.by @ W + self.targets_by
        primal = self.primal(W, b)
        certificate = found.certificate.proved_again(
            primal,
            found.certificate.dual,
            size=self.origin.yardstick(primal),
            tol=tol,
            detail=_ROUNDED,
            is_rounding=self.origin.is_rounding(primal, found.certificate.dual, W, b),
        )
        direction = found.separation
        if direction is not None:
            direction = replace(direction, b=direction.b - self.by @ direction.W)
        Z = None if found.Z is None else found.Z + self.targets_by
        return replace(found, b=b, certificate=certificate, separation=direction, Z=Z)


def near_zero(problem: Problem) -> Moved | None:
    """The problem with columns and targets near 0; None where they are, or where they cannot be moved."""
    if problem.intercept is not Intercept.FREE:
        return None
    columns, targets = problem.X.near_zero(), problem.losses.near_zero()
    if columns is None and targets is None:
        return None
    X, by = (problem.X, np.zeros(problem.X.n_columns)) if columns is None else columns
    losses, targets_by = (problem.losses, np.zeros(problem.n_outputs)) if targets is None else targets
    return Moved(problem, replace(problem, X=X, losses=losses), by, targets_by)
