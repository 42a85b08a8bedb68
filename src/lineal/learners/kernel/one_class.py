"""One class: where most of the data lie, and what lies elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.errors import ParameterError
from lineal.learners.kernel.machine import KernelMachineModel, certificate_of, with_bar
from lineal.learners.kernel.problems import Claim, KernelProducts, KernelRows, region
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.kernel_heads import KernelClassesHead
from lineal.model.machine_answers import MachineAnswers
from lineal.objective.losses import FloatArray
from lineal.protocol import OutlierMixin
from lineal.solvers.driver import Callback
from lineal.solvers.kernel_dual import KernelMachine, KernelSolution, one_class

# The gap is small long before the threshold has settled (coefficients sum to nu n): slopes must agree, too,
# to so many tolerances of what scores differ by.
_SETTLED = 10.0
# The optimum may be 0 (the data surround the origin): then the gap is compared with so much of what all the
# weight in one place would be worth.
_FLOOR = 1e-6
# A coefficient that is this near to its bound, as a share of it, is at it.
_AT_THE_BOUND = 1e-12
# Sums of the same kernel values in another order differ by less, as a share of the largest sum there can be.
_ROUNDING = 1e-12


class OneClassSVM(OutlierMixin, KernelMachineModel):
    """The smallest region of its kind that holds all but a share nu of the data (Schoelkopf et al. 2001).

    Minimises ``|f|^2 / 2 - rho + sum_i s_i max(0, rho - f(x_i)) / (nu S)``, S the sum of weights. At most a
    share nu of the rows lies outside (``predict`` -1), and at least a share nu are support vectors.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As for :class:`lineal.SVC`.
    tol : float
        The relative duality gap to certify, in float64: as a share of the objective, and at least of 1e-6
        times the largest k(x, x). The threshold has settled to about ten times tol, as a share of what scores
        of the rows differ by.
    nu : float
        Between 0 and 1.
    max_iter, max_seconds, n_threads, progress, callbacks
        As for :class:`lineal.SVC`.

    Attributes
    ----------
    offset_ : rho, in scikit-learn's units: ``decision_function = score_samples - offset_``
    support_, support_vectors_, dual_coef_, intercept_, certificate_, kernel_, trace_, n_iter_

    Examples
    --------
    >>> from lineal import OneClassSVM
    >>> model = OneClassSVM(nu=0.25, gamma=1.0).fit([[0.0], [0.1], [0.2], [5.0]])
    >>> model.predict([[0.1], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-4,
        nu: float = 0.5,
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
        self.nu = nu
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the region.

        Parameters
        ----------
        X : array, sparse matrix or data frame; or whatever the kernel compares
        y : ignored
        sample_weight : sequence of n numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        self._check_options()
        if not isinstance(self.nu, (int, float, np.number)) or not 0 < self.nu <= 1:
            raise ParameterError(f"OneClassSVM needs nu in (0, 1], got {self.nu!r}.")
        values, s = self._values_of(X, sample_weight)
        dual, total = one_class(float(self.nu), s), float(self.nu) * float(s.sum())
        tol, threads = float(self.tol), thread_count(self.n_threads)
        machine = KernelMachine(values, dual, n_threads=threads)
        size = float(np.abs(values.diagonal()).max(initial=0.0)) * total
        floor = _FLOOR * size * total
        solution: KernelSolution = with_bar(
            self.progress, tol,
            lambda bar: machine.run(
                tol, budget=self._budget(bar), unit=1.0 / total**2, settled=_SETTLED * tol, size=size,
                floor=floor,
            ),
        )  # fmt: skip
        rho, gap = -float(solution.b[0]), solution.gap
        inside = solution.beta < dual.hi * (1 - _AT_THE_BOUND)
        if inside.any():
            # Those outside have all the coefficient they may have, so that they weigh at most nu: rho is the
            # lowest f of all others, less rounding.
            lowest = min(rho, float(np.min(solution.f[inside])) - _ROUNDING * size)
            gap_at_lowest = machine.gap_at([-lowest])
            if gap_at_lowest <= max(gap, tol * max(abs(solution.dual), floor)):
                rho, gap = lowest, gap_at_lowest
        support = np.flatnonzero(solution.beta)
        self._keep_support(values, support)
        self.dual_coef_ = solution.beta[None, support]
        self.offset_, self.intercept_ = rho, np.array([-rho])
        terms = dual.terms(solution.beta, solution.f, np.array([-rho]))
        self.certificate_ = certificate_of(
            solution, gap, tol, 1.0 / total**2, float(terms.max(initial=0.0)), floor
        )
        self.trace_, self.n_iter_ = solution.trace, max(1, solution.epochs)
        self._warn_unless_certified([self.certificate_])
        return self

    def _pose(self, products: KernelProducts, y: Any, s: FloatArray) -> list[Claim]:
        total = float(self.nu) * float(s.sum())
        largest = float(np.abs(self.kernel_.compute_diagonal(products.items)).max(initial=0.0))
        X = KernelRows(products, np.arange(len(s), dtype=np.int64))
        beta = self._coefficients(len(s))[0]
        return [region(X, s, total, beta, float(self.offset_), _FLOOR * largest)]

    def _frozen_head(self, head_of: Any) -> KernelClassesHead:
        """What a model file answers with: a classification into -1 and 1."""
        return KernelClassesHead(
            self._frozen_sums(), self.intercept_, np.array([-1, 1]), MachineAnswers(2, "two")
        )

    def score_samples(self, X: Any) -> FloatArray:
        """f(x): the higher, the more usual."""
        return self._sums(X)

    def decision_function(self, X: Any) -> FloatArray:
        """f(x) - rho: below 0 outside."""
        f = self.score_samples(X)
        return f - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 inside and on the border, -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
