"""Nyström's map: every row as a combination of a few landmarks, for any kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.features.random_maps.base import BaseRandomMap, refuse_too_large, whole_number
from lineal.features.random_maps.landmarks import RULES, chosen
from lineal.kernels import Kernel, Precomputed, resolved
from lineal.kernels.blocks import value_blocks, values
from lineal.kernels.domains import Vectors
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing

# So many kernel values at a time: they stay in a cache until they are multiplied.
_CACHED = 1 << 17
_ROUNDING = float(np.finfo(np.float64).eps)


class Nystroem(BaseRandomMap):
    """Features whose dot products are any kernel, seen through a few landmarks.

    With landmarks L and the eigenvectors U and eigenvalues of K_LL,

        phi(x) = eigenvalues^(-1/2) U' k_L(x),    phi(x) . phi(z) = k_L(x)' K_LL^+ k_L(z):

    the projection of x onto the landmarks in the kernel's space. So nothing is ever too large: K - phi phi'
    is positive semi-definite, exact (0) wherever a landmark is, and ``|k(x, z) - phi(x).phi(z)|`` is at most
    the square root of ``residuals`` of x times that of z, which is a proof and not an estimate.

    Parameters
    ----------
    kernel : "rbf", "poly", "linear", "laplacian", "precomputed", a lineal.kernels.Kernel, or a function
        Kernels of strings and trees take what they compare; a function (X, Z) gives the matrix.
    gamma : "scale", "auto" or a number > 0
        For kernels by name: as in ``lineal.SVC``.
    degree, coef0
        Of "poly": (gamma x.z + coef0)^degree.
    n_components : int
        The most landmarks; rows themselves if there are fewer.
    landmarks : "uniform", "kmeans++" or "leverage"
        How they are drawn: all rows alike; far from those before in the kernel's space; or by how little
        others say about a row (ridge leverage scores, estimated from a uniform sample).
    dtype, n_threads, random_state
        As for :class:`RandomFourierFeatures`.
    max_bytes : int
        The largest matrix of landmarks, or of features, to make.

    Attributes
    ----------
    landmarks_ : (m,) places of the landmarks among the training rows
    landmark_items_ : the landmarks themselves, as the kernel reads them
    normalization_ : (m, r) U eigenvalues^(-1/2)
    eigenvalues_ : (r,) of K_LL, greatest first
    kernel_ : the kernel
    n_output_features_ : r, the rank of K_LL up to rounding
    n_features_in_, feature_names_in_ : as in scikit-learn, for kernels of vectors

    Notes
    -----
    ``fit`` costs m^3 and, for "kmeans++" and "leverage", m or 2 m kernel values a row; ``transform`` m kernel
    values and m r multiplications a row, in blocks of 32 MB.

    References
    ----------
    Williams and Seeger, Using the Nyström method to speed up kernel machines, 2001. Alaoui and Mahoney, Fast
    randomized kernel ridge regression with statistical guarantees, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import Nystroem
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> phi = Nystroem("poly", gamma=1.0, coef0=1.0, degree=2).fit_transform(X)
    >>> np.round(phi @ phi.T, 6)
    array([[4., 1., 4.],
           [1., 4., 4.],
           [4., 4., 9.]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int = 100,
        landmarks: str = "uniform",
        dtype: Any = None,
        max_bytes: int = 2**33,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.landmarks = landmarks
        self.dtype = dtype
        self.max_bytes = max_bytes
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the landmarks and compares them with each other.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or what the kernel compares
        y : ignored

        Returns
        -------
        self
        """
        threads = self._check_options()
        given = self._given(X, reset=True)
        kernel = resolved(self.kernel, given, gamma=self.gamma, degree=self.degree, c=self.coef0)
        items = kernel.checked(given)
        n = kernel.size(items)
        if n == 0:
            raise InputError("There are no rows: Nystroem needs at least one to be a landmark.")
        n_landmarks = min(n, int(self.n_components))
        remedy = "Lower n_components, or raise max_bytes."
        refuse_too_large(24 * n_landmarks**2, self.max_bytes, "the matrix of the landmarks", remedy)
        places = chosen(self.landmarks, kernel, items, n_landmarks, self._generator(), threads)
        self.landmarks_, self.landmark_items_ = places, kernel.take(items, places)
        self.kernel_ = kernel
        K = values(kernel, self.landmark_items_, None, threads)
        self.eigenvalues_, self.normalization_ = _root(K, kernel)
        self.n_output_features_ = len(self.eigenvalues_)
        return self

    def _check_options(self) -> int:
        whole_number("n_components", self.n_components)
        if self.landmarks not in RULES:
            raise ParameterError(f"landmarks must be one of {', '.join(RULES)}, got {self.landmarks!r}.")
        self._precision(np.float64)
        return thread_count(self.n_threads)

    def _given(self, X: Any, *, reset: bool) -> Any:
        """X as numbers for kernels of vectors, with names of columns learned or compared; else as it is."""
        kernel = self.kernel_ if not reset else self.kernel
        if isinstance(kernel, Kernel) and not isinstance(kernel.domain, Vectors) and kernel != Precomputed():
            if reset:
                for name in ("n_features_in_", "feature_names_in_"):
                    self.__dict__.pop(name, None)
            return X
        return self._items(X, reset=reset)

    def _read(self, X: Any) -> tuple[Any, np.dtype[Any]]:
        given = self._given(X, reset=False)
        items = self.kernel_.checked(given)
        self.kernel_.domain.compare(items, self.landmark_items_)
        return items, self._precision(getattr(given, "dtype", np.float64))

    def _count(self, items: Any) -> int:
        return self.kernel_.size(items)

    def _part(self, items: Any, rows: slice) -> Any:
        return self.kernel_.take(items, np.arange(self.kernel_.size(items))[rows])

    def transform(self, X: Any) -> NDArray[Any]:
        """(n_rows, r) coordinates along the eigenvectors of K_LL, the greatest eigenvalue first."""
        return super().transform(X)

    def _features(self, items: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
        n = self.kernel_.size(items)
        remedy = "Take transform_blocks, dtype='float32' or fewer components, or raise max_bytes."
        refuse_too_large(n * self.n_output_features_ * dtype.itemsize, self.max_bytes, "the features", remedy)
        features = np.empty((n, self.n_output_features_), dtype=dtype)
        threads = thread_count(self.n_threads)
        for rows, block in value_blocks(self.kernel_, items, self.landmark_items_, threads, _CACHED):
            if dtype == np.float64:
                np.matmul(block, self.normalization_, out=features[rows])
            else:
                features[rows] = block @ self.normalization_
        return features

    def residuals(self, X: Any) -> FloatArray:
        """(n_rows,) k(x, x) - |phi(x)|^2 >= 0: what of each row the landmarks do not see.

        The error of every kernel value is bounded by it, |k(x, z) - phi(x).phi(z)| <= sqrt(r(x) r(z)).
        """
        check_is_fitted(self)
        items, _ = self._read(X)
        lengths = self.kernel_.compute_diagonal(items)
        threads = thread_count(self.n_threads)
        for rows, block in value_blocks(self.kernel_, items, self.landmark_items_, threads):
            lengths[rows] -= ((block @ self.normalization_) ** 2).sum(axis=1)
        return np.maximum(lengths, 0.0)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``nystroem0``, ``nystroem1``, .."""
        check_is_fitted(self)
        return self._names([f"nystroem{j}" for j in range(self.n_output_features_)], input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_given = (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        ) or self.kernel == Precomputed()
        tags.input_tags.pairwise = is_given
        return tags


def _root(K: FloatArray, kernel: Kernel) -> tuple[FloatArray, FloatArray]:
    """The positive eigenvalues of K, greatest first, and the map U eigenvalues^(-1/2)."""
    eigenvalues, U = np.linalg.eigh(K)
    eigenvalues, U = eigenvalues[::-1], U[:, ::-1]
    smallest = 64 * len(K) * _ROUNDING * float(np.abs(eigenvalues).max(initial=0.0))
    if len(eigenvalues) and eigenvalues[-1] < -smallest:
        raise InputError(
            f"{kernel} is no kernel: on the landmarks it has the eigenvalue {eigenvalues[-1]:.6g}, so it is "
            "not positive semi-definite. kernel.is_psd(X) gives the proof."
        )
    n_kept = max(1, int(np.count_nonzero(eigenvalues > smallest)))
    kept = eigenvalues[:n_kept]
    factors = np.divide(1.0, np.sqrt(np.maximum(kept, 0.0)), out=np.zeros(n_kept), where=kept > 0)
    return kept.copy(), U[:, :n_kept] * factors
