"""What the classifier and the regressor of neighbours share: data, options, neighbours."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from lineal.data import checked_rows, documents, thread_count
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.learners.neighbors.voting import Weights, check_weights, shares, votes
from lineal.learners.reading import read_matrix
from lineal.learners.targets import plain_array, weights_of_rows
from lineal.neighbors import chosen_index, space_of
from lineal.neighbors.planner import checked_algorithm
from lineal.neighbors.spaces import Metric
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, check_is_fitted

# So many distances at a time where every point has a say: 32 MB.
_PIECE = 1 << 22
# Fifty weights of a tenth are five, whatever their sum rounds to.
_ROUNDING = 1e-12


class BaseNeighbors(BaseEstimator):
    """Training rows in an index, and the neighbours of queries among them."""

    _scores_of_columns: tuple[str, ...]

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Weights = "uniform",
        bandwidth: float = 1.0,
        metric: Metric = "euclidean",
        algorithm: str = "auto",
        feature_weights: str | ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.bandwidth = bandwidth
        self.metric = metric
        self.algorithm = algorithm
        self.feature_weights = feature_weights
        self.n_threads = n_threads

    # ---- what subclasses say ------------------------------------------------------------------

    def _column_scores(self, name: str, X: Any, targets: NDArray[Any], s: FloatArray) -> FloatArray:
        """How much each column tells about the targets."""
        raise NotImplementedError

    # ---- options ------------------------------------------------------------------------------

    def _check_options(self) -> None:
        self._count(self.n_neighbors)
        check_weights(self.weights, self.bandwidth)
        checked_algorithm(self.algorithm)
        thread_count(self.n_threads)
        asked = self.feature_weights
        if isinstance(asked, str) and asked not in self._scores_of_columns:
            raise ParameterError(
                f"feature_weights of {type(self).__name__} must be one of "
                f"{', '.join(map(repr, self._scores_of_columns))}, an array, or None; got {asked!r}."
            )
        space_of(self.metric, None if asked is None else np.ones(1))

    @staticmethod
    def _count(n_neighbors: Any) -> int | None:
        """k, or None for all."""
        if isinstance(n_neighbors, str) and n_neighbors == "all":
            return None
        if not isinstance(n_neighbors, numbers.Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
            raise ParameterError(f"n_neighbors must be a whole number >= 1 or 'all', got {n_neighbors!r}.")
        return int(n_neighbors)

    # ---- fitting ------------------------------------------------------------------------------

    def _fit(self, data: Any, targets: NDArray[Any], sample_weight: ArrayLike | None) -> None:
        """Learns the space and builds the index; rows of weight 0 are as if they were not there."""
        n = len(targets)
        s = weights_of_rows(sample_weight, n)
        rows = np.flatnonzero(s > 0)
        if len(rows) < n:
            data = [data[i] for i in rows] if isinstance(data, list) else data[rows]
        s, targets = s[rows], targets[rows]
        k = self._count(self.n_neighbors)
        if k is not None and float(s.sum()) < k * (1 - _ROUNDING):
            raise InputError(
                f"n_neighbors={k} needs rows of total weight {k} at least, but n_samples = {len(s)} rows "
                f"weigh {s.sum():g}. Give more rows, or a smaller n_neighbors."
            )
        weights = self._learnt_weights(data, targets, s)
        space = space_of(self.metric, weights)
        space.learn(data, s)
        self.index_, plan = chosen_index(space, space.place(data), self.algorithm)
        self.plan_ = str(plan)
        self.feature_weights_ = weights
        self.n_samples_fit_ = n
        self._rows, self._s, self._targets = rows, s, targets

    def _learnt_weights(self, X: Any, targets: NDArray[Any], s: FloatArray) -> FloatArray | None:
        asked = self.feature_weights
        if asked is None:
            return None
        if isinstance(asked, str):
            scores = self._column_scores(asked, X, targets, s)
            # The mean is 1, so distances keep their size; where nothing tells anything, nothing is stretched.
            return scores / scores.mean() if scores.mean() > 0 else np.ones_like(scores)
        try:
            weights = np.array(plain_array(asked), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"feature_weights must be numbers: {error}.") from error
        if weights.shape != (X.shape[1],):
            raise InputError(
                f"feature_weights must hold one number for each of {X.shape[1]} columns, "
                f"got shape {weights.shape}."
            )
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise InputError("feature_weights must be finite and >= 0, and some of them positive.")
        return weights

    # ---- data ---------------------------------------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> Any:
        """X as the space takes it: a list of strings, an array of categories, or finite numbers."""
        if self.metric == "levenshtein":
            texts = documents(X)
            found = [texts[i] for i in range(len(texts))]
            if not found:
                raise InputError("There are no strings: n_samples = 0, a minimum of 1 is required.")
            return found
        if self.metric == "hamming" and (categories := self._categories(X, reset=reset)) is not None:
            return categories
        array = read_matrix(self, X, reset=reset)
        rows = checked_rows(array, thread_count(self.n_threads), getattr(self, "feature_names_in_", None))
        return rows.csr() if rows.dense is None else rows.dense

    def _categories(self, X: Any, *, reset: bool) -> NDArray[Any] | None:
        """X as an array of objects, if its values are not all numbers."""
        if sp.issparse(X):
            return None
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if array.dtype.kind not in "OUS":
            return None
        array = array.astype(object)
        missing = np.array([[value is None or value != value for value in row] for row in array.tolist()])
        if missing.any():
            row, column = np.argwhere(missing)[0]
            raise InputError(
                f"X has a missing value at row {row}, column {column}. Fill it, perhaps with a word for it."
            )
        return array

    # ---- neighbours ---------------------------------------------------------------------------

    def kneighbors(
        self, X: Any = None, n_neighbors: int | str | None = None, return_distance: bool = True
    ) -> tuple[FloatArray, NDArray[np.int64]] | NDArray[np.int64]:
        """The nearest training rows, nearest first, of equal distances the lower row first.

        Parameters
        ----------
        X : as for ``predict``, optional
            If not given, the training rows (those of positive weight), and none is its own neighbour.
        n_neighbors : int or "all", optional
            That of the learner if not given.
        return_distance : bool
            Whether to return the distances too.

        Returns
        -------
        distances, rows : (n_queries, n_neighbors) each, or rows alone
        """
        check_is_fitted(self, "index_")
        k = self._count(self.n_neighbors if n_neighbors is None else n_neighbors)
        n_points, is_own = len(self._rows), X is None
        most = n_points - is_own
        k = most if k is None else k
        if k > most or most == 0:
            raise InputError(
                f"n_neighbors={k} neighbours were asked for, but n_samples_fit={n_points} training rows have "
                f"{most} to give{' besides themselves' if is_own else ''}."
            )
        threads = thread_count(self.n_threads)
        if is_own:
            D, R = self._without_themselves(*self.index_.search(self.index_.points, k + 1, threads))
        else:
            D, R = self.index_.search(self._placed(X), k, threads)
        R = self._rows[R]
        return (D, R) if return_distance else R

    @staticmethod
    def _without_themselves(D: FloatArray, R: NDArray[Any]) -> tuple[FloatArray, NDArray[Any]]:
        """Row i of k + 1 neighbours without i; if i is not there, lower rows tie with it: the last goes."""
        keep = np.arange(len(R))[:, None] != R
        keep[keep.all(axis=1), -1] = False
        shape = (len(R), R.shape[1] - 1)
        return D[keep].reshape(shape), R[keep].reshape(shape)

    def _placed(self, X: Any) -> Any:
        return self.index_.space.place(self._read(X, reset=False))

    def _neighborhoods(self, X: Any) -> Iterator[tuple[NDArray[Any], FloatArray]]:
        """(targets' rows, votes) of the queries, a piece of them at a time; rows None: all of them."""
        check_is_fitted(self, "index_")
        placed = self._placed(X)
        k, threads = self._count(self.n_neighbors), thread_count(self.n_threads)
        if k is None:
            everyone = np.arange(len(self._s))[None, :]
            for piece in _pieces(placed, max(1, _PIECE // len(self._s))):
                D = self.index_.distances(piece, threads)
                share = np.broadcast_to(self._s, D.shape)
                yield np.broadcast_to(everyone, D.shape), votes(D, share, self.weights, self.bandwidth)
            return
        # So many rows weigh k at least, whichever they are.
        enough = int(np.searchsorted(np.cumsum(np.sort(self._s)), k * (1 - _ROUNDING))) + 1
        enough = min(max(enough, 1), len(self._s))
        for piece in _pieces(placed, max(1, _PIECE // enough)):
            D, R = self.index_.search(piece, enough, threads)
            yield R, votes(D, shares(self._s[R], float(k)), self.weights, self.bandwidth)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric in ("euclidean", "cosine")
        tags.input_tags.string = self.metric == "levenshtein"
        tags.input_tags.two_d_array = self.metric != "levenshtein"
        tags.input_tags.categorical = self.metric == "hamming"
        tags.target_tags.required = True
        return tags


def _pieces(placed: Any, size: int) -> Iterator[Any]:
    """The same queries, at most so many at a time."""
    n = len(placed) if not sp.issparse(placed) else placed.shape[0]
    for first in range(0, n, size):
        yield placed if n <= size else placed[first : first + size]
