"""Where the rows of a scenario live: among the columns, or in the space of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, ParameterError
from lineal.kernels import Linear
from lineal.kernels.domains import Vectors
from lineal.learners.kernel.machine import certificate_of
from lineal.learners.kernel.reading import KernelModel
from lineal.learners.reading import SHAPE
from lineal.learners.scenarios.machines import Fit, LinearEngine
from lineal.learners.scoring import ScoringClassifier
from lineal.model.heads import Head
from lineal.objective.certificate import Certificate, yardstick
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if, check_is_fitted
from lineal.solvers import Budget
from lineal.solvers.group_smo import Groups, feasible, solve
from lineal.solvers.kernel_dual import KernelMachine, KernelValues, classification, expanded
from lineal.solvers.kernel_dual.duals import Dual

# Up to so many rows a tolerance below the reach of float32 is met by a solver that holds the kernel matrix.
_FINE = 2000
# Up to so many rows linear machines that would be solved by columns, whose hinges must be rounded for that,
# are solved by pairs of rows instead: with 1,500 rows of 100 columns that was 50 times faster.
_FEW, _VERY_FEW = 20_000, 500
# k(x, x) times a cost beyond which scores are sums that cancel to nothing.
_FAR = 1e30


class KernelEngine:
    """Machines in the space of a kernel, whose values are computed when they are needed.

    Attributes
    ----------
    values : the kernel, with the training rows as it reads them
    """

    def __init__(self, values: KernelValues, *, tol: float) -> None:
        self.values, self._tol = values, tol

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.values.n_rows

    def solve(self, y: FloatArray, cost: FloatArray, start: Fit | None, max_seconds: float | None) -> Fit:
        """The machine of these signs and costs."""
        used = np.flatnonzero(cost > 0).astype(np.int64)
        signs, bound = y[used], cost[used]
        begin = np.zeros(len(used))
        if start is not None:
            # A row that changed sides starts where its loss has its slope.
            u = np.where(start.u * y > 0, np.where(y * start.z < 1, -y, 0.0), start.u)
            begin = feasible((-cost * y * u)[used], Groups.of_rows(signs, bound))
        beta, b, found = self._solved(used, signs, bound, begin, max_seconds)
        f, weights = self.expanded(used, beta)
        u = np.zeros(self.n_rows)
        u[used] = -beta / bound
        half = float(beta @ f[used]) / 2
        # All of f is in float64 now: so is the proof.
        primal = half + float(bound @ np.maximum(0.0, 1 - signs * (f[used] + b)))
        dual = float(signs @ beta) - half
        size = yardstick(primal, float(bound.sum()))
        return Fit(f + b, half, weights, b, u, found.proved_again(primal, dual, size=size, tol=self._tol))

    def _solved(
        self,
        used: NDArray[np.int64],
        y: FloatArray,
        bound: FloatArray,
        begin: FloatArray,
        max_seconds: float | None,
    ) -> tuple[FloatArray, float, Certificate]:
        posed = classification(y, bound, used)
        dual = Dual(posed.item, posed.group, posed.c, posed.lo, posed.hi, begin * y)
        machine = KernelMachine(self.values, dual, n_threads=self.values.n_threads)
        found = machine.run(0.9 * self._tol, budget=Budget(max_seconds))
        proof = certificate_of(found, found.gap, 0.9 * self._tol, 1.0, found.violation)
        if proof.converged or len(used) > _FINE or max_seconds is not None:
            return found.beta, float(found.b[0]), proof
        groups = Groups.of_rows(y, bound)
        finer = solve(self.block(used), groups, tol=self._tol, start=found.beta * y)
        return finer.a * y, finer.b, finer.certificate

    def block(self, rows: NDArray[np.intp]) -> FloatArray:
        """The kernel matrix of some rows."""
        kernel = self.values.kernel
        return kernel.compute(kernel.take(self.values.items, rows), None, self.values.n_threads)

    def expanded(self, rows: NDArray[np.intp], beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f = sum_j beta_j k(x_j, .) on all rows, in float64, and the coefficient of each row."""
        weights = np.zeros(self.n_rows)
        weights[rows] = beta
        support = np.flatnonzero(weights).astype(np.int64)
        f = expanded(self.values, self.values.items, support, weights[None, support])[:, 0, 0]
        return np.asarray(f), weights


ScenarioEngine = LinearEngine | KernelEngine


class KernelScorer(KernelModel, ScoringClassifier):
    """Shared by scenarios with ``kernel``: reading, and scores of new rows.

    A linear machine leaves ``coef_`` and ``intercept_`` behind; one of a kernel ``kernel_``, ``support_``,
    ``dual_coef_``, ``intercept_`` and the support vectors as the kernel reads them.
    """

    support_: NDArray[np.intp]
    dual_coef_: FloatArray
    _support: KernelValues

    def _is_linear(self) -> bool:
        return isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")

    def _engine(self, X: Any, cost: float, tol: float) -> ScenarioEngine:
        """Reads X and makes it ready to be learned from at costs up to this one."""
        if not self._is_linear():
            values = self._read_values(X)
            self._refuse_far(values, cost)
            return KernelEngine(values, tol=tol)
        array, threads = self._read(X, reset=True), thread_count(self.n_threads)
        rows = checked_rows(array, threads, getattr(self, SHAPE[1], None))
        linear = LinearEngine(rows, tol=tol, seed=self._seed())
        is_slower = rows.n_rows > _VERY_FEW and not linear.is_by_columns
        if rows.n_rows > _FEW or is_slower:
            return linear
        values = KernelValues(Linear(), Vectors().checked(array), threads)
        self._refuse_far(values, cost)
        return KernelEngine(values, tol=tol)

    def _refuse_far(self, values: KernelValues, cost: float) -> None:
        """Refuses rows so far out that no digit of a score would be left."""
        largest = float(values.diagonal().max(initial=0.0))
        if largest * cost > _FAR:
            raise InputError(
                f"k(x, x) is as large as {largest:.3g}, which at a cost of {cost:.3g} leaves no digit of the "
                "scores. Scale the columns (lineal.ColumnScaler), or lower the cost."
            )

    def _keep(self, engine: ScenarioEngine, fits: Sequence[Fit]) -> None:
        """Machines, one for two classes, become what predicts."""
        for name in ("coef_", "kernel_", "support_", "dual_coef_", "_support"):
            self.__dict__.pop(name, None)
        self.intercept_ = np.array([fit.b for fit in fits])
        weights = np.stack([fit.weights for fit in fits])
        if isinstance(engine, LinearEngine):
            self.coef_ = weights
        elif self._is_linear():
            self.coef_ = np.asarray(engine.values.items.T.dot(weights.T).T)
        else:
            self._keep_expansion(engine.values, weights)

    def _keep_expansion(self, values: KernelValues, weights: FloatArray) -> None:
        """(n_machines, n) coefficients of the training rows."""
        self.kernel_ = values.kernel
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0))
        self.dual_coef_ = weights[:, self.support_]
        items = values.kernel.take(values.items, self.support_)
        self._support = KernelValues(values.kernel, items, values.n_threads)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if hasattr(self, "coef_"):
            return super()._scores(X)
        items = self._known_items(X)
        support = KernelValues(self.kernel_, self._support.items, thread_count(self.n_threads))
        self.kernel_.domain.compare(items, support.items)
        rows = np.arange(len(self.support_), dtype=np.int64)
        return np.asarray(expanded(support, items, rows, self.dual_coef_)[:, 0, :] + self.intercept_)

    @available_if(lambda self: not hasattr(self, "coef_"))
    def _frozen_head(self, head_of: Callable[[Any], Head]) -> Head:
        """Linear machines are stored as all linear scores are; those of kernels are not."""
        raise ParameterError(
            f"{type(self).__name__} with kernel={self.kernel!r} cannot be stored in a model file: linear "
            "scores can. Keep it with pickle."
        )
