"""Random Fourier features: cosines and sines of random projections (Rahimi and Recht 2007)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.features.random_maps.base import BaseRandomMap, refuse_too_large, whole_number
from lineal.features.random_maps.blocks import for_each_block, row_blocks
from lineal.features.random_maps.bounds import deviation
from lineal.features.random_maps.widths import Difference, difference, kind_of
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing

# Turns beyond this have lost 11 of the 53 digits that tell where in a turn one is: half a thousandth is left.
_MOST_TURNS = 2.0**42


class RandomFourierFeatures(BaseRandomMap):
    """Cosines and sines of random projections, whose dot products are a Gaussian or Laplacian kernel, nearly.

    With frequencies w_1 .. w_P drawn from the kernel's Fourier transform, P = D / 2,

        phi(x) = sqrt(1/P) (cos w_1.x, .., cos w_P.x, sin w_1.x, .., sin w_P.x),
        phi(x) . phi(z) = (1/P) sum_j cos w_j.(x - z),    a mean of P draws whose expectation is k(x, z).

    So the error of one pair is ``(1 - k^2) / sqrt(D)`` in the root of the mean square for the Gaussian
    kernel, ``sqrt(1 - k^2) / sqrt(D)`` for the Laplacian, and by Hoeffding's inequality it exceeds e with a
    probability of at most ``2 exp(-D e^2 / 4)``. |phi(x)| is 1 exactly, as k(x, x) is. A linear learner on
    phi is a kernel machine whose cost grows with the rows and not with their square.

    Parameters
    ----------
    kernel : "gaussian" (or "rbf"), "laplacian", or lineal.kernels.Gaussian(...) or Laplacian(...)
        exp(-gamma |x - z|^2), or exp(-gamma |x - z|_1).
    gamma : "scale", "auto" or a number > 0
        "auto" is 1 / d. "scale" is 1 / (d v), v the variance of all numbers of X, or its root for the
        Laplacian kernel.
    n_features : int
        D, even: half of the columns are cosines, the other half sines of the same projections.
    orthogonal : bool
        Whether frequencies are orthogonal in groups of d (Yu et al. 2016), Gaussian kernel only. Each is
        drawn as without, so the expectation is the same, and the mean square error is smaller for near rows.
    dtype : None, "float32" or "float64"
        Of the features; that of X if not given. Projections are computed in float64 either way.
    max_bytes : int
        The largest table of frequencies (8 d D / 2 bytes) or of features to make.
    n_threads : int, optional
        They change the time, never the bits.
    random_state : int or generator, optional
        The same seed draws the same features.

    Attributes
    ----------
    frequencies_ : (d, D / 2) float64
    kernel_ : the kernel, with its gamma
    n_output_features_ : D
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    ``transform`` works on blocks of rows and costs D / 2 products of rows and 1 cosine for each feature;
    besides the answer it holds less than 2 MB a thread. ``transform_blocks`` yields the answer in pieces.

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, 2007. Sutherland and Schneider, On the
    error of random Fourier features, 2015. Yu et al., Orthogonal random features, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import RandomFourierFeatures
    >>> X = [[0.0, 0.0], [1.0, 0.5]]
    >>> phi = RandomFourierFeatures(gamma=0.5, n_features=20_000).fit_transform(X)
    >>> np.round(phi @ phi.T, 2), round(float(np.exp(-0.5 * 1.25)), 2)
    (array([[1.  , 0.54],
           [0.54, 1.  ]]), 0.54)
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: Any = "scale",
        n_features: int = 500,
        orthogonal: bool = False,
        dtype: Any = None,
        max_bytes: int = 2**33,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_features = n_features
        self.orthogonal = orthogonal
        self.dtype = dtype
        self.max_bytes = max_bytes
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the frequencies; of X it needs the number of columns, and with gamma="scale" the variance.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        kind, gamma = self._check_options()
        items = self._items(X, reset=True)
        n_columns, n_pairs = items.shape[1], int(self.n_features) // 2
        remedy = "Lower n_features, use fewer columns, or raise max_bytes."
        refuse_too_large(8 * n_columns * n_pairs, self.max_bytes, "the table of frequencies", remedy)
        found = difference(kind, gamma, items)
        self.frequencies_ = _frequencies(
            self._generator(), found, n_columns, n_pairs, is_orthogonal=bool(self.orthogonal)
        )
        self.kernel_ = found.kernel
        self.n_output_features_ = 2 * n_pairs
        return self

    def _check_options(self) -> tuple[Any, float | str]:
        kind, gamma = kind_of(type(self).__name__, self.kernel, self.gamma)
        if whole_number("n_features", self.n_features, 2) % 2:
            raise ParameterError(
                f"n_features must be even, since every cosine has its sine, got {self.n_features}."
            )
        if self.orthogonal and kind != "gaussian":
            raise ParameterError(
                "orthogonal=True needs the Gaussian kernel, whose frequencies have no preferred direction; "
                "those of the Laplacian kernel have. Set orthogonal=False."
            )
        self._precision(np.float64)
        thread_count(self.n_threads)
        return kind, gamma

    def transform(self, X: Any) -> NDArray[Any]:
        """(n_rows, D) cosines, then sines; an array, for sparse rows too."""
        return super().transform(X)

    def _features(self, items: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
        n_rows, n_pairs = items.shape[0], self.frequencies_.shape[1]
        remedy = "Take transform_blocks, dtype='float32' or fewer features, or raise max_bytes."
        refuse_too_large(2 * n_rows * n_pairs * dtype.itemsize, self.max_bytes, "the features", remedy)
        features = np.empty((n_rows, 2 * n_pairs), dtype=dtype)
        # In turns instead of radians, so that whole turns can be dropped without rounding.
        per_turn = self.frequencies_ / (2 * np.pi)

        def work(rows: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                turns = np.asarray(items[rows] @ per_turn)
            _refuse_lost(turns, rows.start)
            turns -= np.rint(turns)
            angles = np.multiply(turns, 2 * np.pi, out=turns).astype(dtype, copy=False)
            part = features[rows]
            np.cos(angles, out=part[:, :n_pairs])
            np.sin(angles, out=part[:, n_pairs:])
            part *= dtype.type(np.sqrt(1.0 / n_pairs))

        for_each_block(work, row_blocks(n_rows, n_pairs), thread_count(self.n_threads))
        return features

    def error_bound(self, confidence: float = 0.95, n_pairs: int = 1) -> float:
        """How far phi(x) . phi(z) is from k(x, z) at most, for so many pairs at once (Hoeffding).

        It holds with the probability ``confidence`` over the draw of the frequencies, for pairs that were
        chosen before it: ``sqrt(4 ln(2 n_pairs / (1 - confidence)) / D)``. Typical errors are a quarter of it
        or less. Orthogonal frequencies are not independent, so the inequality does not speak of them.

        Examples
        --------
        >>> from lineal import RandomFourierFeatures
        >>> round(RandomFourierFeatures(n_features=10_000).fit([[0.0], [1.0]]).error_bound(0.99), 3)
        0.046
        """
        check_is_fitted(self)
        if self.orthogonal:
            raise ParameterError(
                "Hoeffding's inequality needs independent frequencies: set orthogonal=False."
            )
        return deviation(confidence, n_pairs, n_draws=self.frequencies_.shape[1], width=2.0)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``cos0``, ``cos1``, .. and ``sin0``, ``sin1``, .."""
        check_is_fitted(self)
        n_pairs = self.frequencies_.shape[1]
        return self._names([f"{f}{j}" for f in ("cos", "sin") for j in range(n_pairs)], input_features)


def _frequencies(
    rng: np.random.Generator, kernel: Difference, n_columns: int, n_pairs: int, *, is_orthogonal: bool
) -> FloatArray:
    """(d, P) draws from the kernel's Fourier transform: normal, or Cauchy of width gamma."""
    shape = (n_columns, n_pairs)
    if kernel.kind == "laplacian":
        return kernel.gamma * rng.standard_cauchy(shape)
    if not is_orthogonal:
        return np.sqrt(2 * kernel.gamma) * rng.standard_normal(shape)
    groups = []
    for first in range(0, n_pairs, n_columns):
        size = min(n_columns, n_pairs - first)
        Q, R = np.linalg.qr(rng.standard_normal((n_columns, size)))
        # Signs make the directions uniform (Mezzadri 2007); lengths are those of normal vectors.
        groups.append(Q * (np.sign(np.diagonal(R)) * np.sqrt(rng.chisquare(n_columns, size))))
    return np.sqrt(2 * kernel.gamma) * np.hstack(groups)


def _refuse_lost(turns: FloatArray, first_row: int) -> None:
    """Refuses rows so large that float64 cannot tell where in a turn they are."""
    if not np.abs(turns).max(initial=0.0) <= _MOST_TURNS:
        row = first_row + int(np.flatnonzero(~(np.abs(turns) <= _MOST_TURNS).all(axis=1))[0])
        raise InputError(
            f"row {row} is too large for this gamma: its projections exceed {_MOST_TURNS:.1e} turns, beyond "
            "which cosines are noise. Scale the columns, with lineal.ColumnScaler, or lower gamma."
        )
