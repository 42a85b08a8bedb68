"""Classes of which one alone is labelled: positive and unlabelled rows."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import CombinationError, InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.classifier import LinearClassifier
from lineal.learners.scenarios.certified import CertifiedLearner
from lineal.learners.scenarios.pu_descent import descend
from lineal.learners.scenarios.pu_nonnegative import ShareSearch
from lineal.learners.scenarios.pu_prior import PriorEstimate, estimate_prior
from lineal.learners.scenarios.pu_risk import NonNegativeLosses, PURisk, PURows, SharedDual
from lineal.learners.targets import classes_and_codes, labels_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, logs_of, probabilities, winners
from lineal.model.heads import ClassesHead
from lineal.model.linear import LinearScores, Scores
from lineal.objective import L2, Certificate, Intercept, Log, Loss, Penalty, Problem, Stop
from lineal.objective.linear_maps import LinearMap
from lineal.objective.loss_sums import LossSum
from lineal.objective.losses import FloatArray
from lineal.objective.soft import softened
from lineal.protocol import available_if, check_is_fitted
from lineal.solvers import LBFGS, Budget, Newton, Solution, Solver, minimise
from lineal.solvers.driver import Callback
from lineal.solvers.newton import is_direct


class PUClassifier(ClassifierMixin, CertifiedLearner):
    """A linear classifier from positive and unlabelled rows: no negative one is known.

    Unlabelled rows are a mixture of positives, a share pi of them (the prior), and negatives. So the risk
    over both classes can be estimated without a single negative row::

        R = pi E_P[l(z, +)] + E_U[l(z, -)] - pi E_P[l(z, -)]                 risk="unbiased"
        R = pi E_P[l(z, +)] + max(0, E_U[l(z, -)] - pi E_P[l(z, -)])         risk="nonnegative"

    What is minimised is R times the weight of the unlabelled rows, plus the penalty: a strength means what it
    would in ``LinearClassifier`` if those rows were labelled.

    Parameters
    ----------
    prior : float between 0 and 1, optional
        pi. Estimated if not given, by the best bin of held-out scores; see ``prior_estimate_``.
    risk : "unbiased" or "nonnegative"
        The unbiased risk may fall below 0 where a model overfits; the other does not reward that.
    loss : Loss
        ``Log()``, ``Squared()`` and ``ModifiedHuber()``, whose sides differ by a line, make both risks
        convex: fits are certified. Any other margin loss needs ``risk="nonnegative"``, which is then not
        convex and has no certificate.
    penalty : L2
        ``L2(strength)``. Without one, or under L1, the unbiased risk may have no minimum.
    positive : label, optional
        What labelled rows are called; the greater of the two labels in y if not given.
    negative : label, optional
        What ``predict`` calls rows that are not positive; the label of unlabelled rows if not given.
    fit_intercept : bool
    tol : float, optional
        The relative duality gap to certify; 1e-3 if not given.
    max_seconds, max_epochs, n_threads, random_state, progress, callbacks
        As in ``LinearClassifier``; ``random_state`` deals the folds that the prior is estimated on.

    Attributes
    ----------
    coef_ : (1, d)
    intercept_ : (1,)
    classes_ : the negative label and the positive one
    prior_ : float
    prior_estimate_ : PriorEstimate, or None if the prior was given
    risk_ : PURisk
        The parts of the estimated risk, under the model's loss, on the training rows.
    share_ : float
        How much of the negative part takes part in the proof: 1 where the two risks agree at the optimum.
    certificate_ : Certificate, or None where the objective is not convex
    objective_ : tuple of float
        The objective after each stage; where it is not convex, all there is to go by. It never rises.
    trace_, dual_, n_iter_ : as in ``LinearClassifier``

    Notes
    -----
    Labelled rows must be drawn from all positives at random, and unlabelled rows from the whole population
    (the labelled ones apart from it). ``score`` needs true labels; ``risk`` does not.

    Published: Elkan and Noto 2008; du Plessis, Niu and Sugiyama 2014, 2015; Kiryo et al. 2017; for the prior
    Garg et al. 2021.

    Examples
    --------
    >>> from lineal import PUClassifier
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [8.5], [9.5]]
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1]  # 1: known to be positive; 0: not known
    >>> model = PUClassifier(prior=0.5).fit(X, y)
    >>> model.predict([[1.5], [9.0]])
    array([0, 1])
    >>> model.certificate_.converged
    True
    """

    classes_: NDArray[Any]
    certificate_: Certificate | None  # type: ignore[assignment]

    def __init__(
        self,
        prior: float | None = None,
        risk: Literal["unbiased", "nonnegative"] = "nonnegative",
        loss: Loss = Log(),
        penalty: Penalty = L2(1.0),
        *,
        positive: Any = None,
        negative: Any = None,
        fit_intercept: bool = True,
        tol: float | None = None,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.prior = prior
        self.risk = risk
        self.loss = loss
        self.penalty = penalty
        self.positive = positive
        self.negative = negative
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks

    # ---- options and labels -------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        if self.risk not in ("unbiased", "nonnegative"):
            raise ParameterError(f"risk must be 'unbiased' or 'nonnegative', got {self.risk!r}.")
        is_number = isinstance(self.prior, numbers.Real) and not isinstance(self.prior, bool)
        if self.prior is not None and not (is_number and 0 < float(self.prior) < 1):
            raise ParameterError(f"prior must lie between 0 and 1, or be None, got {self.prior!r}.")
        if type(self.penalty) is not L2:
            raise CombinationError(
                f"PUClassifier needs penalty=L2(strength), not {self.penalty}: the risk has a linear part "
                "that falls for ever along some directions, and only a penalty that grows faster holds it."
            )
        if softened(self.loss) is None and self.risk == "unbiased":
            raise CombinationError(
                f"the unbiased risk of {self.loss} is not convex, since its sides do not differ by a line, "
                "and may fall for ever: use Log(), Squared() or ModifiedHuber(), or risk='nonnegative'."
            )
        if softened(self.loss) is None and not self.loss.is_margin:
            raise CombinationError(
                f"{self.loss} is a loss of numbers, not of two sides: use Log(), Squared() or a margin loss."
            )

    def _labelled(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The label of unlabelled rows and that of labelled ones, and which rows are labelled."""
        labels = labels_of_rows(y, n_rows)
        classes, codes = classes_and_codes(labels)
        if len(classes) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(classes)} labels, but rows are either positive or unlabelled. Give the rest one label."
            )
        place = len(classes) - 1
        if self.positive is not None:
            found = [k for k, label in enumerate(classes.tolist()) if label == self.positive]
            if not found:
                raise InputError(f"no row of y has the label positive={self.positive!r}.")
            place = found[0]
        if len(classes) < 2:
            raise InputError(
                "PUClassifier needs labelled and unlabelled rows, but y has only one class: "
                f"{classes.tolist()[0]!r}."
            )
        return classes[[1 - place, place]], codes == place

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the weights and, where the risk is convex, proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels
            Two of them: rows known to be positive, and rows of which nothing is known.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        array = self._read(X, reset=True)
        pair, is_positive = self._labelled(y, array.shape[0])
        rows = self._built(array, reset=True)
        s = weights_of_rows(sample_weight, rows.n_rows)
        if not (s[is_positive].any() and s[~is_positive].any()):
            raise InputError(
                "PUClassifier needs labelled and unlabelled rows, but those with weight are of one class."
            )
        self.classes_ = pair if self.negative is None else np.array([self.negative, pair[1]])
        self.prior_estimate_ = self._estimate(array, is_positive, s) if self.prior is None else None
        self.prior_ = float(self.prior or 0) if self.prior_estimate_ is None else self.prior_estimate_.prior
        data = PURows(rows, is_positive, s, self.prior_)
        if softened(self.loss) is None:
            self._descend(data)
        else:
            self._learn(self._solved(data, self.loss, self._tolerance))
            self._warn_unless_certified()
        self.risk_ = data.risk(self.loss, rows.dot(self.coef_.T) + self.intercept_)
        return self

    def _estimate(self, array: Any, is_positive: NDArray[np.bool_], s: FloatArray) -> PriorEstimate:
        indexed = array.tocsr() if hasattr(array, "tocsr") else array

        def scored(train: NDArray[np.intp], test: NDArray[np.intp]) -> FloatArray:
            model = LinearClassifier(penalty=self.penalty, n_threads=self.n_threads)
            model.fit(indexed[train], is_positive[train], s[train])
            return model.decision_function(indexed[test])

        return estimate_prior(is_positive, s, scored, self._seed())

    def _solved(self, data: PURows, loss: Loss, tol: float) -> Solution:
        """The certified fit of a loss that softens; says which share of the negative part proved it."""
        soft = softened(loss)
        assert soft is not None
        problem = Problem(data.rows, data.losses(soft), self.penalty, self._intercept)
        solvers: tuple[Solver, ...] = (Newton(), LBFGS()) if is_direct(problem) else (LBFGS(), Newton())
        if self.risk == "unbiased":
            self.share_ = 1.0
            return self._minimised(problem, solvers, tol=tol)

        search = ShareSearch(lambda mixture, start, tol: self._minimised(mixture, solvers, start, tol))
        whole = replace(problem, losses=NonNegativeLosses(data, loss, soft))
        # Callbacks hear of the fits that the search is made of.
        found = minimise(whole, (search,), tol=tol, budget=Budget(self.max_seconds), seed=self._seed())
        self.share_ = found.U.share
        certificate = found.certificate
        if search.last is not None and certificate.stop is Stop.STALLED:
            ended = search.last.certificate
            why = ended if not ended.converged else certificate
            certificate = replace(certificate, stop=why.stop, reason=why.reason)
        return replace(found, U=found.U.U, certificate=certificate)

    def _learn(self, solution: Solution) -> None:
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.objective_ = tuple(point.primal for point in solution.trace)
        self.n_iter_ = max(1, solution.certificate.epochs)
        self.dual_ = solution.U
        self.coef_ = solution.W.T
        self.intercept_ = solution.b

    def _descend(self, data: PURows) -> None:
        """From the convex fit of Log, downhill in the risk of another loss; nothing is proved."""
        assert isinstance(self.penalty, L2)
        start = self._solved(data, Log(), max(self._tolerance, 1e-3))
        found = descend(
            data, self.loss, self.penalty.strength, has_intercept=bool(self.fit_intercept),
            start=(start.W[:, 0], float(start.b[0])), tol=self._tolerance, max_seconds=self.max_seconds,
        )  # fmt: skip
        for name in ("trace_", "dual_", "share_"):
            self.__dict__.pop(name, None)
        self.certificate_ = None
        self.objective_ = tuple(found.values)
        self.n_iter_ = max(1, found.n_steps)
        self.coef_, self.intercept_ = found.w[None, :], np.array([found.b])

    @property
    def _intercept(self) -> Intercept:
        return Intercept.FREE if self.fit_intercept else Intercept.NONE

    def _numpy_problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        soft = softened(self.loss)
        if soft is None:
            raise ParameterError(f"the risk of {self.loss} is not convex: there is nothing to verify.")
        data = self._data(self._numpy_rows(X), y, sample_weight)
        losses: LossSum = data.losses(soft)
        if self.risk == "nonnegative":
            losses = NonNegativeLosses(data, self.loss, soft)
        return Problem(data.rows, losses, self.penalty, self._intercept)

    @property
    def _dual_point(self) -> Any:
        return SharedDual(self.share_, self.dual_) if self.risk == "nonnegative" else self.dual_

    def _data(self, rows: LinearMap, y: Any, sample_weight: Any) -> PURows:
        _, is_positive = self._labelled(y, rows.n_rows)
        return PURows(rows, is_positive, weights_of_rows(sample_weight, rows.n_rows), self.prior_)

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """(n,) scores; >= 0 means positive."""
        check_is_fitted(self)
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of labelled rows, or what rows that are not positive are called."""
        places = winners(self.decision_function(X)[:, None])
        return np.asarray(self.classes_[places])

    @available_if(lambda self: isinstance(self.loss, Log))
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, 2) probabilities of being negative and positive, for ``Log()``.

        The risk is that of the log loss in a population with the prior, so these are the probabilities there,
        not those of being labelled; with an intercept they average to the prior over the unlabelled training
        rows (where ``share_`` is 1).
        """
        Z = self.decision_function(X)[:, None]
        return crowned(probabilities(Z, 1.0), winners(Z))

    @available_if(lambda self: isinstance(self.loss, Log))
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``."""
        return logs_of(self.predict_proba(X))

    def estimated_risk(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, loss: Loss | None = None
    ) -> PURisk:
        """What the risk is on positive and unlabelled rows, such as held-out ones, without true labels.

        ``loss`` may be another one; ``ZeroOne()`` estimates the share of wrong predictions.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        data = self._data(rows, y, sample_weight)
        return data.risk(self.loss if loss is None else loss, rows.dot(self.coef_.T) + self.intercept_)

    def _frozen_head(self, head_of: Any) -> ClassesHead:
        """How a model file answers: as any linear model of two classes."""
        linear = LinearScores(np.ascontiguousarray(self.coef_.T), np.asarray(self.intercept_, dtype=float))
        link = "softmax" if isinstance(self.loss, Log) else "none"
        return ClassesHead(Scores(linear), np.array(self.classes_), link, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # The checks' other label means negative, not unlabelled.
        tags.classifier_tags.poor_score = True
        return tags
