"""What all naive Bayes learners share: the rule, the priors, learning in pieces, evidence, novelty.

A row is made in two steps: a class is drawn with p(C_k), then each feature by itself with p(x_i | C_k). So

    a_k(x)     = ln p(C_k) + sum_i ln p(x_i | C_k)     the log joint      (``log_joint``)
    ln p(x)    = ln sum_k exp a_k(x)                   the log evidence   (``log_evidence``)
    p(C_k | x) = exp(a_k(x) - ln p(x))                 the posterior      (``predict_proba``)

and ``predict`` takes the class of the largest a_k, at a tie the first. Nothing is ever multiplied: all sums
are of logarithms. Learning is counting: with N_k the weight of the rows of class k out of N,

    p(C_k) = N_k / N,  or (N_k + l) / (N + l K) with ``smooth_prior``,    l = ``smoothing``, K classes

and the probabilities of features are such shares too, in the modules of the kinds. l = 0 is maximum
likelihood; l > 0 is the most probable estimate under a Dirichlet prior with equal parameters, as if every
value had been met l times more often; l = 1 is Laplace's.

Guarantees. A fit is counts, and counts add up: ``partial_fit`` on pieces is one ``fit`` on all of them, to
the bit where weights and values are whole numbers. A row of weight 2 is the row twice, one of weight 0 is no
row. Any number of threads gives the same bits. Labels may arrive later. A row that has probability 0 in every
class (maximum likelihood alone gives those) has a log evidence of -inf and is answered with the prior: there
is no NaN, and ``predict`` is always the first of the largest entries of ``predict_proba``.

Costs. One pass over the data, and a few numbers for each class and column.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.deferred import special
from lineal.errors import InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.bayes.options import check_prior, log_prior, pseudo_count
from lineal.learners.catalogue import Catalogue
from lineal.learners.targets import labels_of_rows, plain_array, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, log_softmax, softmax
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, check_is_fitted


def class_weights(codes: NDArray[Any], s: FloatArray, n_classes: int) -> FloatArray:
    """(K,) the weight of the rows of each class."""
    return np.asarray(np.bincount(codes, weights=s, minlength=n_classes), dtype=np.float64)


# So many rows of a fit are kept until someone asks what is novel.
_ORDINARY = 400


class BaseNaiveBayes(ClassifierMixin, BaseEstimator):
    """Shared by the five kinds.

    A kind says how X is read (``_read``), what is counted (``_count``), how counts of pieces add up
    (``_merge``), what they mean (``_learn``), and what they make of a row (``_scores``).
    """

    smoothing: float = 1.0
    alpha: float | None = None
    smooth_prior: bool = False
    class_prior: Any = None
    fit_prior: bool = True
    n_threads: int | None = None
    _typical: FloatArray | None = None
    _ordinary: Any = None  # rows of the fit, until it is known how typical they are
    _has_evidence: ClassVar[bool] = True

    classes_: NDArray[Any]
    class_count_: FloatArray
    class_log_prior_: FloatArray
    _counts: Any

    # ---- what kinds say -----------------------------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> Any:
        """X, checked; has ``n_rows``."""
        raise NotImplementedError

    def _count(self, rows: Any, codes: NDArray[np.int32], s: FloatArray, n_classes: int) -> Any:
        """The counts of some rows."""
        raise NotImplementedError

    def _merge(self, counts: Any, places: NDArray[np.intp], more: Any, n: FloatArray, m: FloatArray) -> Any:
        """Counts before, whose classes have moved to ``places``, and more; n, m: weights of the classes."""
        raise NotImplementedError

    def _learn(self, counts: Any) -> None:
        """Counts become attributes."""
        raise NotImplementedError

    def _scores(self, rows: Any) -> FloatArray:
        """(n, K) log joint probabilities."""
        raise NotImplementedError

    def _some(self, rows: Any, places: NDArray[np.intp]) -> Any:
        """A copy of the rows at these places, that can be kept."""
        raise NotImplementedError

    def _placed(self, some: Any) -> Any:
        """Rows that were kept, as ``_scores`` takes them."""
        return some

    def _typicality(self, rows: Any) -> FloatArray:
        return np.asarray(special.logsumexp(self._scores(rows), axis=1))

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        _ = self._pseudo_count, thread_count(self.n_threads)
        check_prior(type(self).__name__, self._given_prior)

    # ---- learning -----------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Counts the rows of each class, and forgets any earlier ones.

        Parameters
        ----------
        X : (n_rows, n_columns)
        y : sequence of n_rows labels
            Anything hashable: text, numbers, booleans. One class is enough: its evidence tells what is novel.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice, a weight of 0 no row at all.

        Returns
        -------
        self
        """
        return self._take_in(X, y, None, sample_weight, is_first=True, keeps_some=self._has_evidence)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Counts more rows on top of those before: pieces in any number give the model of one fit.

        Parameters
        ----------
        X, y, sample_weight : as in ``fit``
        classes : sequence of labels, optional
            Labels that are known to come. None need be named: a label that y has for the first time becomes a
            class then, and ``classes_`` stays sorted.

        Returns
        -------
        self
        """
        return self._take_in(X, y, classes, sample_weight, is_first=not hasattr(self, "class_count_"))

    def _take_in(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        *,
        is_first: bool,
        keeps_some: bool = False,
    ) -> Self:
        """All of it or nothing: a refusal, or Ctrl-C, leaves the model as it was."""
        before = dict(self.__dict__)
        try:
            with np.errstate(over="ignore"):  # sums that overflow are refused in words
                self._absorb(X, y, classes, sample_weight, is_first, keeps_some)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _absorb(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, is_first: bool, keeps_some: bool
    ) -> None:
        """Reads, counts, adds what was counted before, and concludes."""
        require_targets(self, y)
        self._check_options()
        rows = self._read(X, reset=is_first)
        labels, s = labels_of_rows(y, rows.n_rows), weights_of_rows(sample_weight, rows.n_rows)
        own = Catalogue.of(labels if s.all() else labels[s > 0])
        known = own if is_first else Catalogue(self.classes_).joined(own)
        if classes is not None:
            known = known.joined(Catalogue.of(plain_array(classes)))
        codes = known.places(labels).astype(np.int32)
        codes[s == 0] = 0  # some class, to which they add nothing
        m, n = class_weights(codes, s, len(known)), np.zeros(len(known))
        if not is_first:
            places = known.places(self.classes_)
            n[places] = self.class_count_
        if not np.isfinite((n + m).sum()):
            raise InputError("the weights of rows add up to more than float64 can hold. Scale sample_weight.")
        counts = self._count(rows, codes, s, len(known))
        if not is_first:
            counts = self._merge(self._counts, places, counts, n, m)
        self.classes_, self.class_count_, self._counts = known.values, n + m, counts
        self.class_log_prior_ = self._log_prior()
        self._learn(counts)
        self._typical, self._ordinary = None, None  # evidence of another model
        if keeps_some:
            present = np.flatnonzero(s)
            places = np.linspace(0, len(present) - 1, min(_ORDINARY, len(present))).astype(np.intp)
            self._ordinary = self._some(rows, present[places])

    @property
    def _pseudo_count(self) -> float:
        return pseudo_count(type(self).__name__, self.smoothing, self.alpha)

    @property
    def _given_prior(self) -> Any:
        """What was said about the probabilities of classes; None: nothing."""
        return "uniform" if self.class_prior is None and not self.fit_prior else self.class_prior

    def _log_prior(self) -> FloatArray:
        smoothing = self._pseudo_count if self.smooth_prior else 0.0
        return log_prior(type(self).__name__, self._given_prior, self.class_count_, smoothing)

    # ---- prediction ---------------------------------------------------------------------------

    def log_joint(self, X: Any) -> FloatArray:
        """(n, K) numbers ln p(C_k) + ln p(x | C_k); -inf where class k cannot give x."""
        check_is_fitted(self)
        return self._scores(self._read(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest joint probability; at a tie the first."""
        best = self._answers(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) posteriors p(C_k | x), whose first largest is the predicted class.

        Features that repeat each other are counted as if each were news, so these are often far too sure;
        which of them is largest is the better part of what they say (Domingos and Pazzani 1997).
        """
        A = self._answers(X)
        return crowned(softmax(A), A.argmax(axis=1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """(n, K) logarithms of the posteriors, also of those too small for ``predict_proba``."""
        return log_softmax(self._answers(X))

    def _answers(self, X: Any) -> FloatArray:
        """Log joint probabilities, with the prior where no class can give the row."""
        A = self.log_joint(X)
        A[np.isneginf(A).all(axis=1)] = self.class_log_prior_
        return A

    # ---- evidence -----------------------------------------------------------------------------

    def log_evidence(self, X: Any) -> FloatArray:
        """(n,) numbers ln p(x), whatever the class: the smaller, the stranger the row to this model."""
        return np.asarray(special.logsumexp(self.log_joint(X), axis=1))

    def typicality(self, X: Any) -> FloatArray:
        """(n,) numbers that tell ordinary rows from novel ones: ln p(x), per word where rows have lengths."""
        check_is_fitted(self)
        return self._typicality(self._read(X, reset=False))

    @property
    def typical_(self) -> FloatArray:
        """How typical ordinary rows are, sorted: those of ``calibrate_novelty``, else some of the fit's."""
        check_is_fitted(self)
        if self._typical is None and self._ordinary is None:
            raise InputError(
                f"this {type(self).__name__} was taught in pieces and has no ordinary rows to compare with. "
                "Call calibrate_novelty(X) with some, best with rows that it was not fitted on."
            )
        if self._typical is None:
            self._typical, self._ordinary = np.sort(self._typicality(self._placed(self._ordinary))), None
        return np.asarray(self._typical)

    def __getstate__(self) -> dict[str, Any]:
        # A stored model holds no rows, only how typical they were.
        if self.__dict__.get("_ordinary") is not None:
            _ = self.typical_
        return dict(super().__getstate__())

    def calibrate_novelty(self, X: Any) -> Self:
        """Remembers how typical ordinary rows are, for ``is_novel``.

        Without it, rows are compared with some that ``fit`` has learnt from, which a model finds more typical
        than others of their kind: then somewhat more of those are called novel than was asked for.

        Parameters
        ----------
        X : rows known to be ordinary
            Best rows that were not learnt from.

        Returns
        -------
        self
            A later fit forgets them.
        """
        self._typical, self._ordinary = np.sort(self.typicality(X)), None
        return self

    def novelty_threshold(self, level: float = 0.05) -> float:
        """The typicality below which a row is novel.

        It is that of the m-th least typical of n calibration rows, m the whole part of level (n + 1). Where m
        is 0 there are too few rows to call anything so rare, and the threshold is -inf.
        """
        check_is_fitted(self)
        if not isinstance(level, (int, float, np.number)) or not 0 <= level < 1:
            raise ParameterError(f"level is a share of ordinary rows and must be in [0, 1), got {level!r}.")
        # The whole part of a product that rounding may have left just below a whole number.
        typical = self.typical_
        m = int(np.floor(float(level) * (len(typical) + 1) * (1 + 1e-12)))
        return float(typical[m - 1]) if m else -np.inf

    def is_novel(self, X: Any, level: float = 0.05) -> NDArray[np.bool_]:
        """(n,) whether each row is less typical than all but a share ``level`` of ordinary rows.

        At most that share of the calibration rows is novel by this rule. If they were not learnt from and
        rows come in no particular order, a further ordinary row is called novel with probability at most
        ``level``, whatever the data and however wrong the model (Vovk, Gammerman and Shafer 2005).
        """
        threshold = self.novelty_threshold(level)
        return np.asarray(self.typicality(X) < threshold)
