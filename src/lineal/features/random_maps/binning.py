"""Random binning features: the cells of random grids (Rahimi and Recht 2007)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data import thread_count
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.random_maps.base import BaseRandomMap, refuse_too_large, whole_number
from lineal.features.random_maps.blocks import for_each_block, row_blocks
from lineal.features.random_maps.bounds import deviation
from lineal.features.random_maps.widths import difference, kind_of
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing

Codes = NDArray[np.uint64]
_MOST_COLUMNS = 2**31 - 1
_UNKNOWN = -1


class RandomBinningFeatures(BaseRandomMap):
    """Cells of random grids as columns; two rows share a cell with the probability exp(-gamma |x - z|_1).

    A grid has a pitch for each column, drawn from Gamma(2, 1 / gamma), and a shift, uniform within a pitch.
    Each of P grids gives a row one entry 1/sqrt(P), in the column of the cell where it lies:

        phi(x) . phi(z) = the share of grids in which x and z lie in one cell,    expectation k(x, z),

    the Laplacian kernel. The error of one pair is ``sqrt(k (1 - k) / P)`` in the root of the mean square, and
    exceeds e with a probability of at most ``2 exp(-2 P e^2)`` (Hoeffding): a grid is worth more than a
    cosine. The features are sparse, P entries a row, and constant between the walls of cells: a linear
    learner on them is a sum of P histograms.

    Parameters
    ----------
    gamma : "scale", "auto", a number > 0, or lineal.kernels.Laplacian(...)
        "auto" is 1 / d, "scale" 1 / (d s), s the deviation of all numbers of X.
    n_grids : int
        P.
    n_buckets : int, optional
        Hashes the cells of each grid into so many columns, so that nothing need be kept of the training rows;
        two cells then share a column with the probability 1 / n_buckets, which adds (1 - k) / n_buckets to
        the expectation. If not given, ``fit`` keeps the cells of the training rows, 8 bytes each.
    dtype, n_threads, random_state
        As for :class:`RandomFourierFeatures`.
    max_bytes : int
        The largest table of cells or of features to make.

    Attributes
    ----------
    pitches_, shifts_ : (P, d)
    kernel_ : the kernel, with its gamma
    n_output_features_ : number of cells, or P n_buckets
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The Gaussian kernel has no such map: a grid's pitch would need a density proportional to t k''(t), which
    is below 0 where that kernel bends downwards. A cell where no training row lies has no column: two *new*
    rows in it have no entry for that grid, while products with training rows, and so predictions, are those
    of all cells. Cells are told apart by 64-bit hashes, in which a sparse row costs its stored numbers only;
    sparse and dense rows give the same features, bit for bit. ``transform`` costs P d hashes a row.

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, 2007, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import RandomBinningFeatures
    >>> X = [[0.0, 0.0], [1.0, 0.5]]
    >>> phi = RandomBinningFeatures(0.5, n_grids=20_000).fit_transform(X)
    >>> phi.format, np.round((phi @ phi.T).toarray(), 2)[0, 1].item(), round(float(np.exp(-0.5 * 1.5)), 2)
    ('csr', 0.47, 0.47)
    """

    def __init__(
        self,
        gamma: Any = "scale",
        *,
        n_grids: int = 100,
        n_buckets: int | None = None,
        dtype: Any = None,
        max_bytes: int = 2**33,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.n_grids = n_grids
        self.n_buckets = n_buckets
        self.dtype = dtype
        self.max_bytes = max_bytes
        self.n_threads = n_threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the grids and, without ``n_buckets``, keeps the cells in which rows lie.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """The features of the training rows, whose cells are found once."""
        if options:
            raise TypeError(f"fit_transform takes X and y, got {', '.join(options)} too.")
        items, codes = self._fit(X)
        return self._rows(self._cells(items) if codes is None else codes, self._precision(items.dtype))

    @all_or_nothing
    def _fit(self, X: Any) -> tuple[Any, Codes | None]:
        gamma = self._check_options()
        items = self._items(X, reset=True)
        n_columns, n_grids = items.shape[1], int(self.n_grids)
        # Three numbers a column, and a fourth in passing.
        remedy = "Take fewer grids, or raise max_bytes."
        refuse_too_large(32 * n_grids * n_columns, self.max_bytes, "the grids", remedy)
        if self.n_buckets is None:
            self._refuse_cells(items.shape[0], n_grids)
        rng = self._generator()
        found = difference("laplacian", gamma, items)
        self.pitches_ = rng.gamma(2.0, 1.0 / found.gamma, (n_grids, n_columns))
        self.shifts_ = self.pitches_ * rng.random((n_grids, n_columns))
        self._keys = rng.integers(0, 2**64, (n_grids, n_columns), dtype=np.uint64)
        self.kernel_ = found.kernel
        codes = None
        if self.n_buckets is None:
            codes = self._cells(items)
            self._known = [np.unique(column) for column in codes.T]
            self._starts = np.concatenate([[0], np.cumsum([len(known) for known in self._known])])
        else:
            self._known, self._starts = [], np.arange(n_grids + 1) * int(self.n_buckets)
        if self._starts[-1] > _MOST_COLUMNS:
            raise InputError(
                f"{n_grids} grids have {self._starts[-1]:,} cells; at most {_MOST_COLUMNS:,} can be "
                "numbered. Lower n_grids, or give n_buckets."
            )
        self.n_output_features_ = int(self._starts[-1])
        return items, codes

    def _check_options(self) -> float | str:
        kernel = self.gamma if not isinstance(self.gamma, (str, int, float, np.number)) else "laplacian"
        kind, gamma = kind_of(type(self).__name__, kernel, "scale" if kernel is self.gamma else self.gamma)
        if kind != "laplacian":
            raise ParameterError(
                f"RandomBinningFeatures has grids for the Laplacian kernel only, got {self.gamma!r}. For the "
                "Gaussian kernel use RandomFourierFeatures."
            )
        whole_number("n_grids", self.n_grids)
        if self.n_buckets is not None:
            whole_number("n_buckets", self.n_buckets)
        self._precision(np.float64)
        thread_count(self.n_threads)
        return gamma

    def transform(self, X: Any) -> Any:
        """(n_rows, n_output_features_) CSR array with an entry 1/sqrt(P) for each grid."""
        return super().transform(X)

    def _features(self, items: Any, dtype: np.dtype[Any]) -> Any:
        return self._rows(self._cells(items), dtype)

    # ---- cells ------------------------------------------------------------------------------------

    def _cells(self, items: Any) -> Codes:
        """(n_rows, P): the hash of the cell of every row in every grid."""
        n_rows, n_grids = items.shape[0], len(self.pitches_)
        self._refuse_cells(n_rows, n_grids)
        codes = np.empty((n_rows, n_grids), dtype=np.uint64)
        of = self._of_sparse if sp.issparse(items) else self._of_dense
        width = items.shape[1] if not sp.issparse(items) else max(1, items.nnz // max(1, n_rows))
        blocks = row_blocks(n_rows, 4 * width)
        for_each_block(lambda rows: of(items[rows], codes[rows]), blocks, thread_count(self.n_threads))
        return codes

    def _refuse_cells(self, n_rows: int, n_grids: int) -> None:
        remedy = "Take fewer grids or, to transform, transform_blocks; or raise max_bytes."
        refuse_too_large(20 * n_rows * n_grids, self.max_bytes, "the cells of all rows", remedy)

    def _of_dense(self, X: NDArray[Any], codes: Codes) -> None:
        for grid, (pitch, shift, keys) in enumerate(
            zip(self.pitches_, self.shifts_, self._keys, strict=True)
        ):
            codes[:, grid] = _mixed(_bins(X, pitch, shift), keys).sum(axis=1, dtype=np.uint64)

    def _of_sparse(self, X: Any, codes: Codes) -> None:
        """A hash is a sum over columns: that of a row of zeros, and what its stored numbers change."""
        stored = np.concatenate([[0], np.cumsum(np.diff(X.indptr))])
        for grid, (pitch, shift, keys) in enumerate(
            zip(self.pitches_, self.shifts_, self._keys, strict=True)
        ):
            empty = _mixed(_bins(np.zeros(len(pitch)), pitch, shift), keys)
            j = X.indices
            changes = _mixed(_bins(X.data, pitch[j], shift[j]), keys[j]) - empty[j]
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(changes, dtype=np.uint64)])
            codes[:, grid] = empty.sum(dtype=np.uint64) + sums[stored[1:]] - sums[stored[:-1]]

    def _rows(self, codes: Codes, dtype: np.dtype[Any]) -> Any:
        """Rows whose entries are in the columns of their cells."""
        n_rows, n_grids = codes.shape
        columns = np.empty(codes.shape, dtype=np.int32)
        for grid in range(n_grids):
            columns[:, grid] = self._numbered(codes[:, grid], grid)
        is_there = columns != _UNKNOWN
        starts = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        values = np.full(int(starts[-1]), np.sqrt(1.0 / n_grids), dtype=dtype)
        shape = (n_rows, self.n_output_features_)
        # Columns of a later grid come later, so every row is sorted.
        return sp.csr_array((values, columns[is_there], starts), shape=shape)

    def _numbered(self, codes: Codes, grid: int) -> NDArray[np.int64]:
        """The columns of cells of one grid; -1 for cells that are not known."""
        first = int(self._starts[grid])
        if not self._known:
            return first + (codes % np.uint64(self.n_buckets or 1)).astype(np.int64)
        known = self._known[grid]
        place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        return np.where(known[place] == codes, first + place, _UNKNOWN)

    def error_bound(self, confidence: float = 0.95, n_pairs: int = 1) -> float:
        """How far phi(x) . phi(z) is from k(x, z) at most, for so many pairs at once (Hoeffding).

        ``sqrt(ln(2 n_pairs / (1 - confidence)) / (2 P))``, as for
        :meth:`RandomFourierFeatures.error_bound`; ``n_buckets`` adds at most 1 / n_buckets.
        """
        check_is_fitted(self)
        shared = 0.0 if self.n_buckets is None else 1.0 / self.n_buckets
        return deviation(confidence, n_pairs, n_draws=len(self.pitches_), width=1.0) + shared

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``grid0 cell0``, ``grid0 cell1``, .."""
        check_is_fitted(self)
        counts = np.diff(self._starts)
        return self._names(
            [f"grid{g} cell{c}" for g, n in enumerate(counts) for c in range(n)], input_features
        )


def _bins(x: Any, pitch: FloatArray, shift: FloatArray) -> FloatArray:
    """The whole numbers of pitches below x, as floats: beyond 2^63 there are whole numbers, too."""
    with np.errstate(over="ignore"):
        bins = np.floor((np.asarray(x, dtype=np.float64) - shift) / pitch)
    if not np.isfinite(bins).all():
        raise InputError("a number is too large to be told from others by this gamma. Scale the columns.")
    return bins + 0.0  # -0 is 0


def _mixed(bins: FloatArray, keys: Codes) -> Codes:
    """A hash of each bin in its column: the finaliser of SplitMix64 (Steele et al. 2014) on its bits."""
    h = bins.view(np.uint64) ^ keys
    h ^= h >> np.uint64(30)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(27)
    h *= np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h
