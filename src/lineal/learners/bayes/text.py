"""Naive Bayes for documents: counts of words, from their own class or from all others."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data import thread_count
from lineal.errors import ParameterError
from lineal.learners.bayes.counts import CountingNaiveBayes, refuse_negative, refuse_overflow
from lineal.model.linear import LinearScores
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray


class _Words(CountingNaiveBayes):
    """Counts of words by class."""

    def _count(self, rows: NativeRows, codes: NDArray[np.int32], s: FloatArray, n_classes: int) -> FloatArray:
        V = np.empty((n_classes, rows.n_columns))
        if _core.class_sums(rows.given, codes, s, V, rows.n_threads):
            refuse_negative(self, rows)
        return V

    def _scores(self, rows: NativeRows) -> FloatArray:
        refuse_negative(self, rows)
        return super()._scores(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on points in the plane, which are no counts
        return tags


class MultinomialNB(_Words):
    """Naive Bayes for documents as bags of words: how often, not only whether.

    A document of class k is words drawn one by one, with replacement, from the vocabulary: word i with

        p(w_i | C_k) = (n_ki + l) / (n_k + l d),

    n_ki the number of times it is in the documents of class k, n_k their number of words, d the number of
    columns. With x_i the count of word i, ln p(C_k) + sum_i x_i ln p(w_i | C_k) is linear in x.

    Parameters
    ----------
    smoothing : float
        l: 0 is maximum likelihood, 1 Laplace's rule.
    smooth_prior : bool
        Whether l is added to the counts of classes too: (N_k + l) / (N + l K).
    class_prior : None, "uniform" or K probabilities in the order of ``classes_``
        None takes the shares of the training rows.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    alpha, fit_prior : optional
        scikit-learn's names: ``alpha`` is taken instead of ``smoothing``; ``fit_prior=False`` means
        ``class_prior="uniform"``.

    Attributes
    ----------
    classes_ : the labels, sorted
    coef_, feature_log_prob_ : (K, d) ln p(w_i | C_k)
    intercept_, class_log_prior_ : (K,) ln p(C_k)
    feature_count_, class_count_ : (K, d) and (K,) what was counted
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    ``log_evidence`` is ln of the probability of the words in their order: there is no multinomial
    coefficient, which would be the same for all classes. It falls with every word, so ``typicality`` is per
    word; a document without words is as typical as can be, and never novel. Any numbers of at least 0 count,
    tf-idf too.

    There are K rows of weights for two classes too: one row, their difference, would decide but not weigh.

    References
    ----------
    McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.

    Examples
    --------
    >>> from lineal import MultinomialNB
    >>> counts = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]
    >>> model = MultinomialNB().fit(counts, ["ham", "ham", "spam"])
    >>> model.predict([[0, 0, 1], [1, 1, 0]])
    array(['spam', 'ham'], dtype='<U4')
    """

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        smooth_prior: bool = False,
        class_prior: str | ArrayLike | None = None,
        n_threads: int | None = None,
        alpha: float | None = None,
        fit_prior: bool = True,
    ) -> None:
        self.smoothing = smoothing
        self.smooth_prior = smooth_prior
        self.class_prior = class_prior
        self.n_threads = n_threads
        self.alpha = alpha
        self.fit_prior = fit_prior

    def _learn(self, counts: FloatArray) -> None:
        K, d = counts.shape
        l = self._pseudo_count
        total = counts.sum(axis=1) + l * d
        refuse_overflow(self, total)
        with np.errstate(divide="ignore"):
            # Without words, and without smoothing, shares are 0 / 0: the limit of l -> 0 makes them equal.
            log_total = np.where(total > 0, np.log(total), np.log(d))
            at_zero = np.where(total > 0, np.log(l), 0.0) - log_total
        W = np.empty((d, K))
        _core.log_shares(counts, l, log_total, at_zero, W, thread_count(self.n_threads))
        self.intercept_ = self.class_log_prior_
        if l > 0:
            self._show(LinearScores(W, self.intercept_), W)
        else:
            never = np.isneginf(W)
            barrier = (never.astype(np.float64), np.zeros(K))
            self._show(LinearScores(np.where(never, 0.0, W), self.intercept_, barrier), W)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """(K, d) ln p(w_i | C_k): the weights."""
        return self.coef_

    def _typicality(self, rows: NativeRows) -> FloatArray:
        """Per word; 0 for a document without words."""
        evidence = super()._typicality(rows)
        length = rows.dot(np.ones((rows.n_columns, 1)))[:, 0]
        return np.divide(evidence, length, out=np.zeros_like(evidence), where=length > 0)


class ComplementNB(_Words):
    """Naive Bayes for documents, judged by all the classes that a document is not in.

    Word i is not estimated from class k, which may be small, but from all others together:

        w_ki = -ln((n_~k,i + l) / (n_~k + l d)),    n_~k,i: how often word i is outside class k,

    and the class of the largest score sum_i x_i w_ki wins. Classes of unequal size bias it less than
    :class:`MultinomialNB`; of two classes it takes the one whose opposite fits worse.

    Parameters
    ----------
    smoothing : float
        l > 0. Without it, a word that one class alone has would be infinite evidence for it.
    norm : bool
        Whether each class's weights are divided by their sum: the weight-normalised form of the paper.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    alpha : float, optional
        scikit-learn's name for ``smoothing``, taken instead of it.

    Attributes
    ----------
    classes_ : the labels, sorted
    coef_, feature_log_prob_ : (K, d) the weights w
    intercept_ : (K,) zeros
    feature_count_, class_count_ : (K, d) and (K,) what was counted
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The scores are no logarithms of joint probabilities: ``log_joint`` returns them under the name they have
    in the other kinds, ``predict_proba`` is their softmax, and there is no evidence, so ``log_evidence`` and
    ``is_novel`` refuse. Priors have no part in them; how many rows a class has is left out on purpose.

    References
    ----------
    Rennie, Shih, Teevan and Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers.

    Examples
    --------
    >>> from lineal import ComplementNB
    >>> counts = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]
    >>> ComplementNB().fit(counts, ["ham", "ham", "spam"]).predict([[0, 0, 1], [1, 1, 0]])
    array(['spam', 'ham'], dtype='<U4')
    """

    _has_evidence = False

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        norm: bool = False,
        n_threads: int | None = None,
        alpha: float | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.norm = norm
        self.n_threads = n_threads
        self.alpha = alpha

    def _check_options(self) -> None:
        super()._check_options()
        if self._pseudo_count == 0:
            raise ParameterError(
                "ComplementNB needs smoothing > 0: without it a word that only one class has is infinite "
                "evidence for that class. Use a small number, or MultinomialNB(smoothing=0)."
            )

    def _learn(self, counts: FloatArray) -> None:
        K, d = counts.shape
        l = self._pseudo_count
        column_total, total = counts.sum(axis=0), counts.sum(axis=1)
        refuse_overflow(self, total.sum())
        log_total = np.log(np.maximum(column_total.sum() - total, 0.0) + l * d)
        W = np.empty((d, K))
        _core.complement_log_shares(counts, l, log_total, column_total, W, thread_count(self.n_threads))
        if self.norm:
            W /= W.sum(axis=0)
        self.intercept_ = np.zeros(K)
        self._show(LinearScores(W, self.intercept_), W)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """(K, d) the weights."""
        return self.coef_

    def _scores(self, rows: NativeRows) -> FloatArray:
        return np.minimum(super()._scores(rows), np.finfo(np.float64).max)  # huge counts overflow together

    def _typicality(self, rows: NativeRows) -> NoReturn:
        self.log_evidence(rows)

    @property
    def typical_(self) -> NoReturn:
        """There are no typical rows without evidence."""
        self.log_evidence(None)

    def log_evidence(self, X: Any) -> NoReturn:
        """There is none: the scores come from the classes that a document is not in, and are no p(x, C_k)."""
        raise ParameterError(
            "ComplementNB has no evidence p(x): its scores are no probabilities of documents. "
            "Use MultinomialNB, which learns from the same counts."
        )
