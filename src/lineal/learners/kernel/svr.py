"""Support vector regression with kernels, with a tube of given width or of given share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.learners.kernel.machine import KernelMachineModel, certificate_of, with_bar
from lineal.learners.kernel.problems import Claim, KernelProducts, KernelRows, tube
from lineal.learners.targets import numbers_of_rows, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.kernel_heads import KernelNumbersHead
from lineal.objective.losses import FloatArray
from lineal.protocol import RegressorMixin
from lineal.solvers.driver import Callback
from lineal.solvers.kernel_dual import Dual, KernelMachine, KernelSolution, regression, tube_regression


class _TubeModel(RegressorMixin, KernelMachineModel):
    """Shared by both regressions: data in, the solution of a dual out."""

    C: float

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the machine and proves how good it is.

        Parameters
        ----------
        X : array, sparse matrix or data frame; or whatever the kernel compares
        y : sequence of n numbers
        sample_weight : sequence of n numbers >= 0, optional
            Factors on C. A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        C = self._positive("C")
        if not np.isfinite(C):
            raise ParameterError(
                f"{type(self).__name__} needs a finite C, got {C!r}: noise must have its price."
            )
        values, s = self._values_of(X, sample_weight)
        t = numbers_of_rows(y, values.n_rows, type(self).__name__)
        if t.ndim != 1:
            raise InputError(f"y should be a 1d array of numbers, got an array of shape {t.shape} instead.")
        dual = self._dual(t, C * s)
        threads, tol = thread_count(self.n_threads), float(self.tol)
        machine = KernelMachine(values, dual, n_threads=threads)
        floor = _floor(t, C * s)
        solution: KernelSolution = with_bar(
            self.progress,
            tol,
            lambda bar: machine.run(tol, budget=self._budget(bar), unit=1.0 / C, floor=floor),
        )
        n = len(t)
        beta = solution.beta[:n] + solution.beta[n:]
        support = np.flatnonzero(beta)
        self._keep_support(values, support)
        self.dual_coef_ = beta[None, support]
        self.intercept_ = np.array([self._threshold(machine, dual, solution, tol)])
        gap = machine.gap_at(self._thresholds(solution))
        terms = dual.terms(solution.beta, solution.f, np.asarray(self._thresholds(solution)))
        self.certificate_ = certificate_of(solution, gap, tol, 1.0 / C, float(terms.max()), floor)
        self.trace_ = solution.trace
        self.n_iter_ = max(1, solution.epochs)
        self._warn_unless_certified([self.certificate_])
        return self

    def _dual(self, t: FloatArray, bound: FloatArray) -> Dual:
        raise NotImplementedError

    def _threshold(self, machine: KernelMachine, dual: Dual, solution: KernelSolution, tol: float) -> float:
        """The intercept; chooses the thresholds that the certificate is for."""
        raise NotImplementedError

    def _thresholds(self, solution: KernelSolution) -> list[float]:
        raise NotImplementedError

    def _pose(self, products: KernelProducts, y: Any, s: FloatArray) -> list[Claim]:
        t = numbers_of_rows(y, len(s), type(self).__name__)
        X = KernelRows(products, np.arange(len(s), dtype=np.int64))
        beta, (epsilon, nu) = self._coefficients(len(s))[0], self._width()
        return [tube(X, t, s, float(self.C), beta, float(self.intercept_[0]), epsilon, nu)]

    def _width(self) -> tuple[float, float | None]:
        """Epsilon, and the share that it was found for, if it was."""
        raise NotImplementedError

    def _frozen_head(self, head_of: Any) -> KernelNumbersHead:
        """What a model file answers with."""
        return KernelNumbersHead(self._frozen_sums(), self.intercept_)

    def predict(self, X: Any) -> FloatArray:
        """f(x) + b."""
        f = self._sums(X)
        return np.asarray(f + self.intercept_[0])


class SVR(_TubeModel):
    """Support vector regression: errors up to epsilon are free.

    Minimises ``C sum_i s_i max(0, |y_i - f(x_i) - b| - epsilon) + |f|^2 / 2`` by its dual. Parameters have
    scikit-learn's names and mean what they mean in :class:`lineal.SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As for ``SVC``.
    tol : float
        The relative duality gap to certify, in float64.
    C : float
    epsilon : float
        Half the width of the tube.
    max_iter, max_seconds, n_threads, progress, callbacks
        As for ``SVC``.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, certificate_, kernel_, trace_, n_iter_

    Examples
    --------
    >>> from lineal import SVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0]
    >>> model = SVR(kernel="linear", C=10, epsilon=0.1).fit(X, y)
    >>> model.predict([[4.0]]).round(2)
    array([7.83])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        epsilon: float = 0.1,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _dual(self, t: FloatArray, bound: FloatArray) -> Dual:
        return regression(t, float(self.epsilon), bound)

    def _check_options(self) -> None:
        super()._check_options()
        if not isinstance(self.epsilon, (int, float, np.number)) or not 0 <= self.epsilon < np.inf:
            raise ParameterError(f"SVR needs a finite epsilon >= 0, got {self.epsilon!r}.")

    def _threshold(self, machine: KernelMachine, dual: Dual, solution: KernelSolution, tol: float) -> float:
        # The mean over what lies on the tube's edge, where it is as good as the best (S3's rule for margins).
        b = float(solution.b[0])
        free = dual.free(solution.beta)
        if free.any():
            mean = float(np.mean((dual.c - solution.f)[free]))
            gap = machine.gap_at([mean])
            if gap <= max(solution.gap, tol * abs(solution.dual + gap)):
                b = mean
        self._b = b
        return b

    def _thresholds(self, solution: KernelSolution) -> list[float]:
        return [self._b]

    def _width(self) -> tuple[float, float | None]:
        return float(self.epsilon), None


class NuSVR(_TubeModel):
    """Support vector regression that finds its own tube: at most a share nu of the rows lies outside.

    Minimises ``C (nu n epsilon + sum_i max(0, |y_i - f(x_i) - b| - epsilon)) + |f|^2 / 2`` over f, b and
    epsilon >= 0 (Schoelkopf et al. 2000; C is scikit-learn's, per row). Rows outside the tube are at most a
    share nu, support vectors at least.

    Parameters
    ----------
    nu : float
        Between 0 and 1.
    C, kernel, degree, gamma, coef0, tol, max_iter, max_seconds, n_threads, progress, callbacks
        As for :class:`lineal.SVR`.

    Attributes
    ----------
    epsilon_ : the width that was found
    support_, support_vectors_, dual_coef_, intercept_, certificate_, kernel_, trace_, n_iter_

    Examples
    --------
    >>> from lineal import NuSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.5]
    >>> model = NuSVR(kernel="linear", C=10, nu=0.5).fit(X, y)
    >>> 0 <= model.epsilon_ <= 0.5
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-4,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    def _check_options(self) -> None:
        super()._check_options()
        if not isinstance(self.nu, (int, float, np.number)) or not 0 < self.nu <= 1:
            raise ParameterError(f"NuSVR needs nu in (0, 1], got {self.nu!r}.")

    def _dual(self, t: FloatArray, bound: FloatArray) -> Dual:
        return tube_regression(t, float(self.nu), bound)

    def _threshold(self, machine: KernelMachine, dual: Dual, solution: KernelSolution, tol: float) -> float:
        above, below = float(solution.b[0]), float(solution.b[1])
        self.epsilon_ = max(0.0, 0.5 * (above - below))
        return 0.5 * (above + below)

    def _thresholds(self, solution: KernelSolution) -> list[float]:
        return [self.intercept_[0] + self.epsilon_, self.intercept_[0] - self.epsilon_]

    def _width(self) -> tuple[float, float | None]:
        return float(self.epsilon_), float(self.nu)


def _floor(t: FloatArray, bound: FloatArray) -> float:
    """Targets that a constant meets leave nothing to pay: rounding is measured against what 0 would pay."""
    return 1e-12 * float(bound @ np.abs(t - np.average(t, weights=bound)))
