"""Learners of other scenarios than classes and numbers, with the options and the certificate of a fit."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lineal.data import thread_count
from lineal.errors import NotCertifiedWarning, ParameterError
from lineal.learners.matrix import MatrixModel
from lineal.learners.progress import GapBar
from lineal.learners.scenarios.options import checked_seconds, checked_tolerance
from lineal.objective import Certificate, Loss, Penalty, Problem
from lineal.objective.losses import FloatArray
from lineal.solvers import Budget, Solution, Start, minimise
from lineal.solvers.base import Solver
from lineal.solvers.driver import Callback


class CertifiedLearner(MatrixModel):
    """Options of a fit that ends on its certified gap: checked, and made into a run of solvers."""

    loss: Loss
    penalty: Penalty
    tol: float | None
    max_seconds: float | None
    max_epochs: int | None
    progress: bool
    callbacks: Sequence[Callback]
    certificate_: Certificate
    dual_: FloatArray

    @property
    def _tolerance(self) -> float:
        return checked_tolerance(self.tol)

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        _ = self._tolerance, self._seed(), thread_count(self.n_threads)
        checked_seconds(self.max_seconds)
        limit = self.max_epochs
        if limit is not None and not (isinstance(limit, numbers.Integral) and limit >= 1):
            raise ParameterError(f"the limit on epochs must be a whole number >= 1 or None, got {limit!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")
        if not isinstance(self.penalty, Penalty):
            raise ParameterError(f"penalty must be a Penalty such as L2(1.0), got {self.penalty!r}.")
        if not isinstance(self.loss, Loss) or self.loss.is_joint:
            raise ParameterError(f"loss must be a loss of one score such as Log(), got {self.loss!r}.")

    def _minimised(
        self,
        problem: Problem,
        solvers: Sequence[Solver],
        start: Start | None = None,
        tol: float | None = None,
        max_seconds: float | None = None,
    ) -> Solution:
        """Runs solvers within the budget; another tolerance or less time may be asked for."""
        tol = self._tolerance if tol is None else tol
        bar = GapBar(tol) if self.progress else None
        callbacks: list[Callback] = [*self.callbacks, *([bar] if bar else [])]
        seconds = self.max_seconds if max_seconds is None else max_seconds
        budget = Budget(seconds, self.max_epochs, callbacks)
        try:
            return minimise(problem, solvers, tol=tol, budget=budget, start=start, seed=self._seed())
        finally:
            if bar:
                bar.close()

    def _warn_unless_certified(self) -> None:
        if not self.certificate_.converged:
            message = f"{type(self).__name__} is {self.certificate_}."
            warnings.warn(message, NotCertifiedWarning, stacklevel=4)

    # ---- what verify asks ---------------------------------------------------------------------

    def _numpy_problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The problem that was solved, over NumPy and SciPy alone."""
        raise NotImplementedError

    @property
    def _dual_point(self) -> Any:
        """The dual point that the fit kept, as the problem knows it."""
        return self.dual_

    def _problem_weights(self) -> tuple[FloatArray, FloatArray]:
        """(W, b) as the problem knows them."""
        return np.atleast_2d(self.coef_).T.astype(np.float64), np.atleast_1d(self.intercept_)
