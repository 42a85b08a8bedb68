"""Data and kernels of learners: what ``kernel``, ``gamma``, ``degree`` and ``coef0`` mean for given data."""

from __future__ import annotations

from typing import Any

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError
from lineal.kernels import Kernel, Precomputed, resolved
from lineal.kernels.domains import Vectors
from lineal.kernels.given import is_given
from lineal.learners.reading import SHAPE, read_matrix
from lineal.learners.targets import weights_of_rows
from lineal.protocol import BaseEstimator
from lineal.solvers.kernel_dual import KernelValues
from lineal.solvers.kernel_ridge import SymmetricMatrix, refuse_indefinite


class KernelModel(BaseEstimator):
    """A learner with a kernel: by name with its options, as an object, or as a function.

    Kernels of vectors read matrices as all learners do, with names and numbers of columns; others, such as
    those of strings and trees, read what they compare.
    """

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_threads: int | None
    kernel_: Kernel

    def _learnt_items(self, X: Any, sample_weight: Any = None) -> tuple[Kernel, Any]:
        """The kernel for these training data, and the data as it reads them.

        Weights count where gamma is found from the data.
        """
        given = self._given(self.kernel, X, reset=True)
        gamma = "auto" if self.gamma is None else self.gamma
        s = None if sample_weight is None else weights_of_rows(sample_weight, _count(given))
        kernel = resolved(self.kernel, given, gamma=gamma, degree=self.degree, c=self.coef0, sample_weight=s)
        items = kernel.checked(given)
        n = kernel.size(items)
        if n == 0:
            raise InputError(f"There are no items: {type(self).__name__} needs at least one (n_samples=0).")
        if kernel == Precomputed() and items.values.shape[1] != n:
            raise InputError(
                "kernel='precomputed' needs a square matrix, k(x, z) for every two rows, got shape "
                f"{items.values.shape}."
            )
        return kernel, items

    def _read_values(self, X: Any, sample_weight: Any = None) -> KernelValues:
        """The kernel on these training data, for machines: what proofs rest on is that it is one.

        A kernel that comes from outside gives its Gram matrix, which is refused unless Cholesky's factors of
        it exist: n^3 / 3 multiplications.
        """
        kernel, items = self._learnt_items(X, sample_weight)
        values = KernelValues(kernel, items, thread_count(self.n_threads))
        if is_given(kernel):
            refuse_indefinite(SymmetricMatrix(values.gram.copy()), values.n_rows)
        return values

    def _known_items(self, X: Any) -> Any:
        """Other data, as the fitted kernel reads them."""
        return self.kernel_.checked(self._given(self.kernel_, X, reset=False))

    def _given(self, kernel: Any, X: Any, *, reset: bool) -> Any:
        if isinstance(kernel, Kernel) and not isinstance(kernel.domain, Vectors) and kernel != Precomputed():
            if reset:
                for name in SHAPE:
                    self.__dict__.pop(name, None)
            return X
        array = read_matrix(self, X, reset=reset)
        rows = checked_rows(array, thread_count(self.n_threads), getattr(self, "feature_names_in_", None))
        return rows.csr() if rows.dense is None else rows.dense

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        is_name = isinstance(self.kernel, str)
        tags.input_tags.pairwise = self.kernel == "precomputed" if is_name else self.kernel == Precomputed()
        return tags


def _count(given: Any) -> int:
    return int(given.shape[0]) if hasattr(given, "shape") else len(given)
