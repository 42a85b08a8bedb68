"""Classification by nearest neighbours."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.features.relevance import SCORES, information_gain, score_columns
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.neighbors.base import BaseNeighbors
from lineal.learners.targets import classes_and_codes, labels_of_rows, require_targets, weights_of_rows
from lineal.learners.weighting import weigh_classes
from lineal.learners.whole_fits import all_or_nothing
from lineal.neighbors.spaces import HammingSpace
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted


class KNeighborsClassifier(ClassifierMixin, BaseNeighbors):
    """The label that most of the nearest training rows have, weighted by nearness if you like.

    Neighbours are exact, and the same for every ``algorithm`` and number of threads: equal distances go to
    the lower training row, equal votes to the first class.

    Parameters
    ----------
    n_neighbors : int or "all"
        How many neighbours vote; "all": every training row, for kernel-weighted votes.
    weights : "uniform", "distance", "inverse_square", "gaussian", "epanechnikov", "tricube" or a function
        What a neighbour at distance d weighs: 1, 1/d, 1/d^2, a kernel of d / ``bandwidth``, or what your
        function of the array of distances returns. Neighbours at distance 0 decide alone under 1/d and 1/d^2;
        where all weights are 0, the nearest decide.
    bandwidth : float
        Width of the kernels: the standard deviation of the Gaussian, the radius of the others.
    metric : "euclidean", "mahalanobis", "hamming", "cosine", "levenshtein" or a function of two rows
        "hamming" counts columns that differ, also of categories; "levenshtein" takes strings for X.
    algorithm : "auto", "kd_tree", "brute" or "inverted"
        Changes the time, never the answer; ``plan_`` says which was taken and why.
    feature_weights : "information_gain", "chi2", "pearson", "signal_to_noise", "t", an array or None
        Weights of the columns in the distance, sum_j w_j (a_j - b_j)^2 for the Euclidean one; a name learns
        them from the training data (:mod:`lineal.features.relevance`), with mean 1.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.

    Attributes
    ----------
    classes_ : the labels, sorted
    plan_ : which index was taken, and why
    index_ : the index, and in it the space
    feature_weights_ : (n_columns,) or None
    n_samples_fit_ : how many training rows there were

    Examples
    --------
    >>> from lineal import KNeighborsClassifier
    >>> model = KNeighborsClassifier(1, metric="levenshtein")
    >>> model.fit(["athens", "sparta", "corinth"], ["A", "S", "C"]).predict(["hints"])
    array(['A'], dtype='<U1')
    >>> model.kneighbors(["hints"])
    (array([[4.]]), array([[0]]))
    """

    _scores_of_columns = tuple(SCORES)

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keeps the training rows in an index.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or strings
        y : sequence of n_rows labels
            Anything hashable.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A row of weight 2 takes two of the ``n_neighbors`` places and votes twice, as the row twice would;
            of the last neighbour only what is left of its weight votes.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        data = self._read(X, reset=True)
        labels = labels_of_rows(y, len(data) if isinstance(data, list) else data.shape[0])
        weights = weights_of_rows(sample_weight, len(labels))
        self.classes_, codes, _ = weigh_classes(None, *classes_and_codes(labels), weights)
        self._fit(data, codes, sample_weight)
        return self

    def _column_scores(self, name: str, X: Any, targets: NDArray[Any], s: FloatArray) -> FloatArray:
        if X.dtype.kind != "O":
            return score_columns(name, X, targets, s)
        if name != "information_gain":
            raise InputError(
                f"feature_weights={name!r} needs numbers, but X has categories. Use 'information_gain'."
            )
        categories = HammingSpace(None)
        categories.learn(X, s)
        return information_gain(categories.place(X), targets, s, max_values=len(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) shares of the votes; the first largest is the predicted label's."""
        check_is_fitted(self, "index_")
        K, found = len(self.classes_), []
        for rows, weights in self._neighborhoods(X):
            place = np.arange(len(rows))[:, None] * K + self._targets[rows]
            counted = np.bincount(place.ravel(), weights.ravel(), len(rows) * K).reshape(-1, K)
            found.append(counted / counted.sum(axis=1, keepdims=True))
        return np.concatenate(found)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with most votes; at a tie the first of ``classes_``."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])
