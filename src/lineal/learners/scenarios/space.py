"""Where the rows of a scenario live: among the columns, or in the space of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, ParameterError
from lineal.kernels import Kernel, Linear, resolved
from lineal.kernels.domains import Vectors
from lineal.learners.reading import SHAPE
from lineal.learners.scenarios.machines import Fit, LinearEngine
from lineal.learners.scoring import ScoringClassifier
from lineal.model.heads import Head
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if, check_is_fitted
from lineal.solvers.group_smo import Groups, solve

# Rows whose kernel matrix is held: 800 MB.
GRAM_LIMIT = 10_000


class KernelEngine:
    """Machines in the space of a kernel, whose matrix is held.

    Attributes
    ----------
    kernel : Kernel
    items : the training rows as the kernel reads them
    K : (n, n)
    """

    def __init__(self, kernel: Kernel, items: Any, K: FloatArray, *, tol: float) -> None:
        self.kernel, self.items, self.K, self._tol = kernel, items, K, tol

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.K)

    def solve(self, y: FloatArray, cost: FloatArray, start: Fit | None, max_seconds: float | None) -> Fit:
        """The machine of these signs and costs."""
        used = np.flatnonzero(cost > 0)
        begin = None
        if start is not None:
            # A row that changed sides starts where its loss has its slope.
            u = np.where(start.u * y > 0, np.where(y * start.z < 1, -y, 0.0), start.u)
            begin = (-cost * y * u)[used]
        part = self.K[np.ix_(used, used)] if len(used) < self.n_rows else self.K
        groups = Groups.of_rows(y[used], cost[used])
        found = solve(part, groups, tol=self._tol, start=begin, max_seconds=max_seconds)
        beta, u = np.zeros(self.n_rows), np.zeros(self.n_rows)
        beta[used] = found.a * y[used]
        u[used] = -found.a * y[used] / cost[used]
        f = self.K[:, used] @ beta[used]
        half = float(beta[used] @ f[used]) / 2
        return Fit(f + found.b, half, beta, found.b, u, found.certificate)

    def block(self, rows: NDArray[np.intp]) -> FloatArray:
        """The kernel matrix of some rows."""
        return self.K[np.ix_(rows, rows)]

    def expanded(self, rows: NDArray[np.intp], beta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f = sum_j beta_j k(x_j, .) on all rows, and the coefficient of each row."""
        weights = np.zeros(self.n_rows)
        weights[rows] = beta
        return self.K[:, rows] @ beta, weights


ScenarioEngine = LinearEngine | KernelEngine


class KernelScorer(ScoringClassifier):
    """Shared by scenarios with ``kernel``: reading, and scores of new rows.

    A linear machine leaves ``coef_`` and ``intercept_`` behind; one of a kernel ``support_``, ``dual_coef_``,
    ``intercept_`` and the support vectors as the kernel reads them.
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    kernel_: Kernel
    support_: NDArray[np.intp]
    dual_coef_: FloatArray
    _support_items: Any

    def _is_linear(self) -> bool:
        return isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")

    def _engine(self, X: Any, tol: float) -> ScenarioEngine:
        """Reads X and makes it ready to be learned from."""
        threads = thread_count(self.n_threads)
        if self._is_linear():
            array = self._read(X, reset=True)
            rows = checked_rows(array, threads, getattr(self, SHAPE[1], None))
            return LinearEngine(rows, tol=tol, seed=self._seed())
        kernel, items = self._items(X)
        n = kernel.size(items)
        if n > GRAM_LIMIT:
            raise InputError(
                f"{type(self).__name__} holds the kernel matrix, possible up to {GRAM_LIMIT:,} rows, "
                f"but there are {n:,}. Use kernel='linear', on lineal.Nystroem or "
                "lineal.RandomFourierFeatures of the rows for a kernel's space, or take fewer rows."
            )
        return KernelEngine(kernel, items, finite(kernel, kernel.compute(items, None, threads)), tol=tol)

    def _items(self, X: Any) -> tuple[Kernel, Any]:
        """The kernel, and X as it reads it."""
        if isinstance(self.kernel, Kernel) and not isinstance(self.kernel.domain, Vectors):
            for name in SHAPE:
                self.__dict__.pop(name, None)
            return self.kernel, self.kernel.checked(X)
        array = self._read(X, reset=True)
        checked = Vectors().checked(array)
        kernel = resolved(self.kernel, checked, gamma=self.gamma, degree=self.degree, c=self.coef0)
        return kernel, kernel.checked(checked)

    def _keep(self, engine: ScenarioEngine, fits: Sequence[Fit]) -> None:
        """Machines, one for two classes, become what predicts."""
        for name in ("coef_", "kernel_", "support_", "dual_coef_", "_support_items"):
            self.__dict__.pop(name, None)
        self.intercept_ = np.array([fit.b for fit in fits])
        weights = np.stack([fit.weights for fit in fits])
        if isinstance(engine, LinearEngine):
            self.coef_ = weights
            return
        self.kernel_ = engine.kernel
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0))
        self.dual_coef_ = weights[:, self.support_]
        self._support_items = engine.kernel.take(engine.items, self.support_)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if hasattr(self, "coef_"):
            return super()._scores(X)
        kernel = self.kernel_
        if SHAPE[0] in self.__dict__:
            X = Vectors().checked(self._read(X, reset=False))
        items = kernel.checked(X)
        kernel.domain.compare(items, self._support_items)
        K = finite(kernel, kernel.compute(items, self._support_items, thread_count(self.n_threads)))
        return np.asarray(K @ self.dual_coef_.T + self.intercept_)

    @available_if(lambda self: not hasattr(self, "coef_"))
    def _frozen_head(self, head_of: Callable[[Any], Head]) -> Head:
        """Linear machines are stored as all linear scores are; those of kernels are not."""
        raise ParameterError(
            f"{type(self).__name__} with kernel={self.kernel!r} cannot be stored in a model file: linear "
            "scores can. Keep it with pickle."
        )


def finite(kernel: Kernel, K: FloatArray) -> FloatArray:
    """K, refused where it is beyond float64."""
    if not np.isfinite(K).all():
        raise InputError(f"{kernel} is beyond float64 on these rows. Scale the data (lineal.ColumnScaler).")
    return K
