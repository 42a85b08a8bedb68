"""What machines with kernels share: data, options, and a sum of kernel values that predicts."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.deferred import sparse as sp
from lineal.errors import NotCertifiedWarning, ParameterError
from lineal.kernels import Kernel, Linear, Precomputed, resolved
from lineal.kernels.domains import Vectors
from lineal.learners.kernel.kernel_values import require_training_data
from lineal.learners.kernel.problems import Claim, KernelProducts
from lineal.learners.kernel.reading import KernelModel
from lineal.learners.progress import GapBar
from lineal.learners.targets import weights_of_rows
from lineal.model.kernel_heads import KernelHead
from lineal.model.kernel_profile import MOST_DEGREE
from lineal.model.kernel_sums import KernelSums, SupportVectors
from lineal.objective.certificate import Certificate, Stop
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted
from lineal.solvers.driver import Budget, Callback
from lineal.solvers.kernel_dual import KernelSolution, KernelValues, expanded

IntArray = NDArray[np.int64]

FLOOR = "the floor of the arithmetic"


class KernelMachineModel(KernelModel):
    """Shared by SVC, SVR, NuSVR and OneClassSVM.

    After a fit there are ``kernel_``, ``support_`` (places of the support vectors in the training data),
    ``support_vectors_`` (as the kernel reads them; for vectors an array or a sparse matrix), ``dual_coef_``,
    ``intercept_``, ``certificate_``, ``trace_`` and ``n_iter_``.
    """

    tol: float
    max_iter: int | None
    max_seconds: float | None
    progress: bool
    callbacks: Sequence[Callback]

    support_: IntArray
    dual_coef_: FloatArray
    intercept_: FloatArray
    certificate_: Certificate
    _support: KernelValues

    # ---- options ------------------------------------------------------------------------------

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        name = type(self).__name__
        if not isinstance(self.tol, numbers.Real) or not 0.0 < float(self.tol) < np.inf:
            raise ParameterError(f"tol is a relative duality gap and must be > 0, got {self.tol!r}.")
        if self.max_seconds is not None and not (
            isinstance(self.max_seconds, numbers.Real) and float(self.max_seconds) > 0
        ):
            raise ParameterError(f"max_seconds must be a number > 0 or None, got {self.max_seconds!r}.")
        if self.max_iter is not None and not isinstance(self.max_iter, numbers.Integral):
            raise ParameterError(f"{name} needs a whole number of blocks as max_iter, got {self.max_iter!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")
        if self.gamma is None:  # which means "auto" to kernel ridge regression, and nothing here
            raise ParameterError("gamma must be 'scale', 'auto' or a number > 0, got None.")
        thread_count(self.n_threads)
        if isinstance(self.kernel, str) and self.kernel not in ("rbf", "poly", "laplacian"):
            resolved(self.kernel)  # which refuses names that nobody knows

    def _positive(self, name: str) -> float:
        value = getattr(self, name)
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or not float(value) > 0:
            raise ParameterError(f"{type(self).__name__} needs {name} > 0, got {value!r}.")
        return float(value)

    def _budget(self, extra: Sequence[Callback] = (), seconds: float | None = None) -> Budget:
        limit = None if self.max_iter is None or self.max_iter < 1 else int(self.max_iter)
        return Budget(self.max_seconds if seconds is None else seconds, limit, [*self.callbacks, *extra])

    # ---- data ---------------------------------------------------------------------------------

    def _values_of(self, X: Any, sample_weight: ArrayLike | None) -> tuple[KernelValues, FloatArray]:
        """The kernel with X as it reads it, and the weights of rows."""
        values = self._read_values(X, sample_weight)
        self.kernel_ = values.kernel
        return values, weights_of_rows(sample_weight, values.n_rows)

    def _items_of(self, X: Any) -> Any:
        """X to predict, as the kernel reads it."""
        check_is_fitted(self, "support_")
        items = self._known_items(X)
        support = self._support.items
        if isinstance(self.kernel_.domain, Vectors) and sp.issparse(items) != sp.issparse(support):
            # One layout meets itself in the core; the support vectors' is the one that fits into memory.
            items = items.toarray() if sp.issparse(items) else sp.csr_array(items)
        if not isinstance(self.kernel_, Precomputed):
            self.kernel_.domain.compare(items, support)
        return items

    # ---- what was learned ---------------------------------------------------------------------

    def _keep_support(self, values: KernelValues, support: IntArray) -> None:
        self.support_ = support
        self._support = KernelValues(
            values.kernel, values.kernel.take(values.items, support), values.n_threads
        )

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, as the kernel reads them."""
        check_is_fitted(self, "support_")
        return self._support.items

    @property
    def coef_(self) -> FloatArray:
        """Weights of the columns, for the linear kernel alone."""
        if not hasattr(self, "support_") or not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is there after a fit with kernel='linear' only.")
        return np.asarray(self._support.items.T.dot(self._coefficients_of_machines().T).T)

    def _coefficients_of_machines(self) -> FloatArray:
        """(n_machines, n_support) what each machine multiplies its kernel values with."""
        return self.dual_coef_

    def _sums(self, X: Any) -> FloatArray:
        """(n,) sums over the support vectors, of the one machine there is."""
        items = self._items_of(X)
        support = KernelValues(self.kernel_, self._support.items, thread_count(self.n_threads))
        rows = np.arange(len(self.support_), dtype=np.int64)
        return np.asarray(expanded(support, items, rows, self.dual_coef_)[:, 0, 0])

    # ---- model files --------------------------------------------------------------------------

    def _require_storable(self) -> None:
        """Refuses kernels that a model file does not hold, by name."""
        profile = self.kernel_.profile
        if profile is None or profile.degree > MOST_DEGREE:
            raise ParameterError(
                f"{type(self).__name__} with the kernel {self.kernel_!r:.200} cannot be stored in a model "
                "file, which holds linear, polynomial and Gaussian kernels of rows (and polynomials up to "
                f"degree {MOST_DEGREE}). Keep it with pickle."
            )

    def _frozen_sums(self, ends: ArrayLike | None = None) -> KernelSums:
        """The sums that a model file predicts with, in parts of the support vectors that end there."""
        self._require_storable()
        profile, items = self.kernel_.profile, self._support.items
        assert profile is not None
        if sp.issparse(items):
            sparse = (items.indptr.astype(np.int64), items.indices.astype(np.int32), items.data.copy())
            vectors = SupportVectors(items.shape[1], None, sparse)
        else:
            vectors = SupportVectors(items.shape[1], items.copy())
        all_of_them = np.array([0, len(vectors)] if ends is None else ends, dtype=np.int64)
        coefficients = np.array(self.dual_coef_)
        return KernelSums(
            profile, vectors, coefficients, all_of_them, self._support.scale, self._support.unit
        )

    def _take_head(self, head: Any) -> None:
        """What was learned, from a head that ``_frozen_head`` gave."""
        if not isinstance(head, KernelHead):
            raise TypeError("the support vectors of a kernel machine are needed")
        sums, vectors = head.sums, head.sums.vectors
        named = {"linear": "linear", "polynomial": "poly", "gaussian": "rbf"}[sums.profile.kind]
        given = self.kernel if isinstance(self.kernel, Kernel) else named
        profile = sums.profile
        self.kernel_ = resolved(given, gamma=profile.gamma, degree=profile.degree, c=profile.c)
        items: Any = vectors.dense
        if vectors.sparse is not None:
            starts, columns, values = vectors.sparse
            items = sp.csr_array((values, columns, starts), shape=(len(vectors), vectors.n_columns))
        support = KernelValues(self.kernel_, self.kernel_.checked(items), thread_count(self.n_threads))
        self._support, self.dual_coef_ = support, np.array(sums.coefficients)
        self.intercept_ = np.array(head.intercepts)

    # ---- proofs -------------------------------------------------------------------------------

    @property
    def _tolerance(self) -> float:
        return float(self.tol)

    def _claims(self, X: Any, y: Any, sample_weight: Any) -> list[Claim]:
        """The machines' problems over NumPy and SciPy alone, and the weights that solve them."""
        check_is_fitted(self, "support_")
        items = self._items_of(X)
        require_training_data(self.kernel_, items, self.support_, self._support.items)
        s = weights_of_rows(sample_weight, self.kernel_.size(items))
        products = KernelProducts(self.kernel_, items)
        claims = self._pose(products, y, s)
        # All that proofs will ask for, in one pass.
        products.of(np.hstack([each.columns for each in claims if each.columns is not None]))
        return claims

    def _pose(self, products: KernelProducts, y: Any, s: FloatArray) -> list[Claim]:
        """The problems that the machines were to solve, and their coefficients."""
        raise NotImplementedError

    def _coefficients(self, n_rows: int) -> FloatArray:
        """(n_machines, n_rows) ``dual_coef_``, with 0 for the rows that are no support vectors."""
        every = np.zeros((len(self.dual_coef_), n_rows))
        every[:, self.support_] = self.dual_coef_
        return every

    def _warn_unless_certified(self, certificates: Sequence[Certificate]) -> None:
        bad = [each for each in certificates if not each.converged]
        if bad:
            warnings.warn(f"{type(self).__name__} is {bad[0]}.", NotCertifiedWarning, stacklevel=4)


def certificate_of(
    solution: KernelSolution, gap: float, tol: float, unit: float, worst: float, floor: float = 0.0
) -> Certificate:
    """A solution's certificate in units of the objective as it is written, at a gap of its own."""
    primal = solution.dual + gap
    found = Certificate.of_proof(
        unit * primal, unit * solution.dual, gap=unit * gap, size=unit * max(abs(primal), floor),
        tol=tol if solution.stop is Stop.CERTIFIED else -np.inf, worst=unit * worst, solver="kernel_dual",
        epochs=solution.epochs, seconds=solution.seconds, stop=solution.stop, detail=FLOOR,
    )  # fmt: skip
    return found if solution.stop is Stop.CERTIFIED else replace(found, reason=solution.reason)


def with_bar(progress: bool, tol: float, run: Callable[[list[Callback]], Any]) -> Any:
    """Runs with a bar that shows the gap falling, where one is wanted."""
    bar = GapBar(tol) if progress else None
    try:
        return run([bar] if bar else [])
    finally:
        if bar:
            bar.close()
