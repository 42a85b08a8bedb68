"""Naive Bayes for features that are there or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data import thread_count
from lineal.learners.bayes.base import class_weights
from lineal.learners.bayes.counts import CountingNaiveBayes, stored, with_values
from lineal.learners.bayes.options import real
from lineal.model.linear import LinearScores
from lineal.objective.linear_maps import NativeRows, native_dense
from lineal.objective.losses import FloatArray


class BernoulliNB(CountingNaiveBayes):
    """Naive Bayes for features that are there or not; what is not there counts as well.

    Feature i is there, x_i = 1, where its number is above ``threshold``, with

        mu_ki = p(x_i = 1 | C_k) = (N_ki + l) / (N_k + 2 l),

    N_ki the rows of class k that have it. ln p(C_k) + sum_i [x_i ln mu_ki + (1 - x_i) ln(1 - mu_ki)] is
    linear in x: weights ln(mu / (1 - mu)), intercept ln p(C_k) + sum_i ln(1 - mu_ki). So a sparse row costs
    what it stores, though all features that it lacks are weighed.

    Parameters
    ----------
    smoothing : float
        l: 0 is maximum likelihood, 1 Laplace's rule.
    threshold : float
        Numbers above it are there.
    smooth_prior : bool
        Whether l is added to the counts of classes too: (N_k + l) / (N + l K), the estimate under the same
        prior. ``False`` takes N_k / N, as scikit-learn does.
    class_prior : None, "uniform" or K probabilities in the order of ``classes_``
        None estimates them.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    alpha, binarize, fit_prior : optional
        scikit-learn's names: ``alpha`` is taken instead of ``smoothing``, ``binarize`` instead of
        ``threshold``; ``fit_prior=False`` means ``class_prior="uniform"``.

    Attributes
    ----------
    classes_ : the labels, sorted
    coef_, intercept_ : (K, d) and (K,) the linear score of zeros and ones
    feature_log_prob_ : (K, d) ln mu
    class_log_prior_ : (K,) ln p(C_k)
    feature_count_, class_count_ : (K, d) and (K,) what was counted
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Under maximum likelihood a feature that all or none of a class's rows have gives an infinite weight, and
    ``log_joint`` is -inf where it is broken, else finite: 0 times infinity is 0 there.

    There are K rows of weights for two classes too: one row, their difference, would decide but not weigh.

    Examples
    --------
    >>> from lineal import BernoulliNB
    >>> rows = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]
    >>> BernoulliNB().fit(rows, ["a", "a", "b", "b"]).predict([[1, 0, 1], [0, 1, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        threshold: float = 0.0,
        smooth_prior: bool = True,
        class_prior: str | ArrayLike | None = None,
        n_threads: int | None = None,
        alpha: float | None = None,
        binarize: float | None = None,
        fit_prior: bool = True,
    ) -> None:
        self.smoothing = smoothing
        self.threshold = threshold
        self.smooth_prior = smooth_prior
        self.class_prior = class_prior
        self.n_threads = n_threads
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior

    @property
    def _threshold(self) -> float:
        owner = type(self).__name__
        if self.binarize is None:
            return real(owner, "threshold", self.threshold)
        return real(owner, "binarize", self.binarize)

    def _check_options(self) -> None:
        super()._check_options()
        _ = self._threshold

    def _count(self, rows: NativeRows, codes: NDArray[np.int32], s: FloatArray, n_classes: int) -> FloatArray:
        V = np.empty((n_classes, rows.n_columns))
        _core.class_counts_above(rows.given, codes, s, self._threshold, V, rows.n_threads)
        if self._threshold < 0 and rows.is_sparse:  # zeros that are not stored are above it too
            written = np.empty_like(V)
            _core.class_counts_above(rows.given, codes, s, -np.inf, written, rows.n_threads)
            V += class_weights(codes, s, n_classes)[:, None] - written
        return V

    def _learn(self, counts: FloatArray) -> None:
        K, d = counts.shape
        l, n = self._pseudo_count, self.class_count_
        with np.errstate(divide="ignore", invalid="ignore"):  # without rows mu is 1/2, in the limit of l -> 0
            at_zero = np.where(n > 0, np.log(l) - np.log(n + l), 0.0)
            log_absent = np.where(n + l > 0, np.log(n + l), np.log(0.5))
            log_total = np.where(n + l > 0, np.log(n + 2 * l), 0.0)
        W, found = np.empty((d, K)), np.empty((K, 3))
        n_threads = thread_count(self.n_threads)
        _core.log_odds(counts, l, n, at_zero, W, n_threads)
        _core.absences(counts, l, n, found, n_threads)
        log_sum, n_met, is_always = found.T
        b = (d - n_met) * log_absent + log_sum - (d - is_always) * log_total + self.class_log_prior_
        self.intercept_ = np.where(is_always > 0, -np.inf, b)
        if l > 0:
            self._show(LinearScores(W, b), W)
        else:
            # Broken where a feature that no row of the class has is there, or one that all have is not.
            never, always = np.isneginf(W), np.isposinf(W)
            barrier = (never.astype(np.float64) - always, is_always)
            self._show(LinearScores(np.where(never | always, 0.0, W), b, barrier), W)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """(K, d) ln mu_ki."""
        l, n = self._pseudo_count, self.class_count_[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(n + l > 0, np.log(self.feature_count_ + l) - np.log(n + 2 * l), np.log(0.5))

    def _scores(self, rows: NativeRows) -> FloatArray:
        threshold, scores = self._threshold, self._linear
        if rows.dense is not None:
            return scores(native_dense((rows.dense > threshold).astype(np.float64), rows.n_threads))
        there = (stored(rows)[2] > threshold).astype(np.float64)
        if threshold < 0:  # zeros that are not stored are there: say what is taken away from a row of ones
            there -= 1.0
            scores = scores.from_ones()
        return scores(with_values(rows, there))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
