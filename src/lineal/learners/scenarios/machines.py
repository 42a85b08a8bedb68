"""Hinge machines that are solved again and again with other signs and other costs of the same rows.

::

    F(f, b; y, cost) = |f|^2 / 2 + sum_i cost_i max(0, 1 - y_i z_i),      z_i = f(x_i) + b

is convex in (f, b) for given signs y. Scenarios that choose signs as well (transduction, instances of bags)
go back and forth between the two, and F must never rise: ``improved`` sees to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import CancellationToken
from lineal.deferred import sparse as sp
from lineal.objective import L2, Hinge, Intercept, Problem
from lineal.objective.certificate import Certificate, Stop, relative_gap, yardstick
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray
from lineal.solvers import Budget, Newton, Start, minimise, plan


@dataclass(frozen=True, eq=False)
class Fit:
    """A machine.

    Attributes
    ----------
    z : (n,) scores of all rows
    half_norm : |f|^2 / 2
    weights : (d,) for a linear machine, (n,) coefficients of the rows for a kernel machine
    b : the intercept
    u : (n,) slopes of the losses, the dual point of the proof
    certificate : how far F is above its minimum over (f, b), for the signs and costs that it was solved for
    """

    z: FloatArray
    half_norm: float
    weights: FloatArray
    b: float
    u: FloatArray
    certificate: Certificate

    def objective(self, y: FloatArray, cost: FloatArray) -> float:
        """F of this machine for any signs and costs."""
        return self.half_norm + float(cost @ np.maximum(0.0, 1 - y * self.z))


class Engine(Protocol):
    """Rows that machines are solved on."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    def solve(self, y: FloatArray, cost: FloatArray, start: Fit | None, max_seconds: float | None) -> Fit:
        """The machine of these signs and costs; rows of cost 0 take no part but get their scores."""

    def block(self, rows: NDArray[np.intp]) -> FloatArray:
        """The kernel matrix of some rows."""

    def expanded(self, rows: NDArray[np.intp], beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f = sum_j beta_j k(x_j, .) on all rows, and its weights as a Fit holds them."""


class LinearEngine:
    """Linear machines by the planner's solvers: sparse rows of any number."""

    def __init__(self, rows: NativeRows, *, tol: float, seed: int) -> None:
        self.rows, self._tol, self._seed = rows, tol, seed

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.rows.n_rows

    @property
    def is_by_columns(self) -> bool:
        """Whether the planner would take Newton's method for these rows."""
        n = self.n_rows
        problem = Problem.of_rows(self.rows, np.ones((n, 1)), np.ones(n), Hinge(), L2(1.0), Intercept.FREE, 1)
        return isinstance(plan(problem).solvers[0], Newton)

    def solve(self, y: FloatArray, cost: FloatArray, start: Fit | None, max_seconds: float | None) -> Fit:
        """The machine of these signs and costs."""
        problem = Problem.of_rows(self.rows, y[:, None], cost, Hinge(), L2(1.0), Intercept.FREE, 1)
        begin = None
        if start is not None:
            # A slope of the other sign belongs to rows that changed sides: there the loss tells a new one.
            u = np.where(start.u * y > 0, Hinge().derivative(y, start.z), start.u)
            begin = Start(start.weights[:, None].astype(np.float64), np.array([start.b]), u[:, None])
        found = minimise(
            problem, plan(problem).solvers, tol=self._tol, budget=Budget(max_seconds), start=begin,
            seed=self._seed,
        )  # fmt: skip
        w, b = found.W[:, 0], float(found.b[0])
        half = float(w.astype(np.float64) @ w.astype(np.float64)) / 2
        z = self.rows.dot(found.W)[:, 0] + b
        return Fit(z, half, w, b, found.U[:, 0], found.certificate)

    @cached_property
    def _matrix(self) -> Any:
        return self.rows.csr() if self.rows.dense is None else self.rows.dense

    def block(self, rows: NDArray[np.intp]) -> FloatArray:
        """Dot products among some rows."""
        part = self._matrix[rows].astype(np.float64)
        products = part @ part.T
        return np.asarray(products.toarray() if sp.issparse(products) else products)

    def expanded(self, rows: NDArray[np.intp], beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f = sum_j beta_j x_j . x on all rows, and the weights of it."""
        w = np.asarray(self._matrix[rows].T @ beta, dtype=np.float64)
        return self.rows.dot(w[:, None])[:, 0], w


def improved(
    engine: Engine, y: FloatArray, cost: FloatArray, start: Fit, max_seconds: float | None = None
) -> Fit:
    """The machine of these signs and costs, whose F is never above the start's.

    A solver stops within its tolerance of the minimum, which may lie above a start that was closer. Then the
    start is kept, with the bound that was found: it proves even more about it.
    """
    found = engine.solve(y, cost, start, max_seconds)
    before = start.objective(y, cost)
    if found.objective(y, cost) <= before:
        return found
    proof, size = found.certificate, yardstick(before, float(cost.sum()))
    # Below what was certified, so it is certified too; and no further off where it was not.
    tol = relative_gap(proof.gap, size) if proof.converged else -np.inf
    kept = proof.proved_again(before, proof.dual, size=size, tol=tol)
    return replace(start, u=found.u, certificate=kept)


class Clock:
    """Whether there is time for another round."""

    def __init__(self, max_seconds: float | None, token: CancellationToken) -> None:
        self._max_seconds, self._token = max_seconds, token
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float | None:
        """Seconds for the next machine, at least a few milliseconds; None without a limit."""
        return None if self._max_seconds is None else max(self._max_seconds - self.seconds, 1e-3)

    @property
    def stop(self) -> Stop | None:
        """Why to stop, or None."""
        if self._token.is_over:
            return Stop.CANCELLED
        is_late = self._max_seconds is not None and self.seconds >= self._max_seconds
        return Stop.SECONDS if is_late else None

    def words(self, stop: Stop | None, otherwise: str) -> str:
        """Why there was no further round."""
        if stop is None:
            return otherwise
        return "interrupted" if stop is Stop.CANCELLED else stop.sentence(self._max_seconds)
