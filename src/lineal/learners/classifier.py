"""The linear classifier, and what its presets share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.errors import InputError, NoMinimumError, ParameterError
from lineal.learners.model import LinearModel, Task
from lineal.learners.online.recipe import Recipe, joint_name
from lineal.learners.online.streamed_classifier import StreamedClassifier
from lineal.learners.targets import classes_and_codes, require_targets, weights_of_rows
from lineal.learners.weighting import weigh_classes
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective import L2, Log, Loss, Penalty, Problem
from lineal.objective.block_penalty import as_penalty
from lineal.objective.linear_maps import LinearMap
from lineal.objective.losses import FloatArray
from lineal.solvers import Solution, Solver
from lineal.solvers.driver import Callback


class BaseLinearClassifier(StreamedClassifier, LinearModel):
    """Shared by the classifier and its presets."""

    _needs_tol = 1e-3
    _n_classes = 2
    class_weight: Any = None

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the weights and proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            Numbers; zeros of sparse data stay unstored.
        y : sequence of n_rows labels
            Anything hashable: text, numbers, booleans.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        task = self._task(X, y, sample_weight)
        with cancellable():  # one Ctrl-C ends the fit and the folds behind it
            self._learn(task, self._solve(task.problem, self._start(task.problem)))
            if self._is_calibrated(task.problem):
                self._calibrate(X, task.targets, task.s, began=began)
        self._warn_unless_certified()
        return self

    def _is_calibrated(self, problem: Problem) -> bool:
        return bool(self.probability) and not self._is_likelihood(problem)

    def _seconds(self, problem: Problem) -> float | None:
        # The folds that calibrate have what is left of the other half.
        if self.max_seconds is None or not self._is_calibrated(problem):
            return self.max_seconds
        return self.max_seconds / 2

    def _task(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Task:
        require_targets(self, y)
        self._check_options()
        array = self._read(X, reset=True)
        labels = self._labels(y, array.shape[0])
        s = weights_of_rows(sample_weight, array.shape[0])
        self.classes_, codes, weight = self._weighed(labels, s)
        sums = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        if np.count_nonzero(sums) < 2:
            known = self.classes_.tolist()
            left = (
                f"only one class with weight: {known[int(np.argmax(sums))]!r}" if sums.any() else "no weight"
            )
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has {left}. "
                "Check the labels, the split, sample_weight and class_weight."
            )
        problem = self._pose(self._built(array, reset=True), codes, weight)
        self._require_bounded_scores(problem, sums)
        return Task(problem, labels, s)

    def _require_bounded_scores(self, problem: Problem, sums: NDArray[Any]) -> None:
        """Refuses named classes without rows whose scores nothing keeps up."""
        losses = problem.losses
        is_apart = losses.is_likelihood and not losses.is_by_score and not problem.has_shared_weights
        if is_apart and problem.penalty.is_zero and not sums.all():
            empty = self.classes_.tolist()[int(np.argmin(sums))]
            raise NoMinimumError(
                f"no row of class {empty!r} has a weight, and without a penalty "
                "nothing keeps its scores from falling for ever. Leave its rows out, or take a penalty."
            )

    def _learn(self, task: Task, solution: Solution) -> None:
        super()._learn(task, solution)
        if self._is_likelihood(task.problem):
            self.temperature_ = 1.0
        elif hasattr(self, "temperature_"):
            del self.temperature_

    def _weighed(
        self, labels: NDArray[Any], s: FloatArray
    ) -> tuple[NDArray[Any], NDArray[np.int32], FloatArray]:
        """The labels to choose from, sorted, each row's place among them, and its weight in the objective."""
        return weigh_classes(self.class_weight, *classes_and_codes(labels), s)

    def _pose(self, rows: LinearMap, codes: NDArray[np.int32], s: FloatArray) -> Problem:
        """Labels as scores: one for two classes; K for more or a joint map, jointly where the loss can."""
        K = len(self.classes_)
        loss, penalty = self._objective(float(s.sum()), K)
        if K == 2 and rows.n_scores == 1:
            y = np.where(codes == 1, 1.0, -1.0)[:, None]
            return self._posed(rows, y, s, loss, penalty, 1)
        if loss.joint is not None and not self._one_vs_rest():
            return self._posed(rows, codes, s, loss.joint(), penalty, K)
        y = np.where(codes[:, None] == np.arange(K), 1.0, -1.0)
        return self._posed(rows, y, s, loss, penalty, K)

    def _recipe(self) -> Recipe:
        recipe = super()._recipe()
        if self.probability and not isinstance(recipe.loss, Log):
            raise ParameterError(
                "probability=True holds rows out, which a stream does not: take loss=Log(), or fit."
            )
        return recipe

    def _joint_name(self, loss: Loss) -> str:
        return joint_name(loss, is_one_vs_rest=self._one_vs_rest())

    def _one_vs_rest(self) -> bool:
        """Whether to ignore a loss's joint form."""
        return False

    def _has_probabilities(self) -> bool:
        if hasattr(self, "certificate_") or self._stream is not None:
            return hasattr(self, "temperature_")
        loss, _ = self._objective(1.0, 2)
        return isinstance(loss, Log) or self.probability

    @staticmethod
    def _is_likelihood(problem: Problem) -> bool:
        losses = problem.losses
        return losses.is_likelihood and (not losses.is_by_score or problem.n_outputs == 1)


class LinearClassifier(BaseLinearClassifier):
    """A linear classifier: any margin loss, any penalty, a certificate with every fit.

    The objective is stated in :class:`lineal.objective.Problem`. Two classes share one row of weights;
    K > 2 classes have a row each, fitted jointly for ``Log`` (softmax) and ``Hinge`` (Crammer-Singer),
    one-vs-rest for the other losses.

    Parameters
    ----------
    loss : Loss
        ``Log()``, ``Hinge()``, ``SquaredHinge()``, ``ModifiedHuber()``, ``Squared()`` ..., or your own:
        a subclass of ``CustomLoss``, or a ``CompiledLoss``.
    penalty : Penalty
        ``L2(strength)``, ``L1(strength)``, ``ElasticNet(l1, l2)``, ``Lp(strength, p)``, ``NoPenalty()``,
        ``GroupL2(groups, strength)``; or a dict of blocks of columns, each with a penalty of its own
        (:class:`lineal.objective.Blocks`).
    solver : "auto", a solver's name, or a Solver
        Changes the time, never the answer; ``plan_`` says which was taken and why.
    tol : float, optional
        The relative duality gap to certify; 1e-3 if not given.
    fit_intercept, penalize_intercept : bool
        The intercept is free unless ``penalize_intercept=True`` (LIBLINEAR's behaviour).
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows of each class.
    probability : bool
        Whether to calibrate probabilities for losses that are not likelihoods (costs five fits, which have
        half of ``max_seconds``).
    max_seconds, max_epochs : optional
        Budgets. A fit that runs out returns its best model, with its certificate and a warning.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    random_state : int or generator, optional
        Orders the rows of stochastic solvers; the same seed gives the same model.
    progress : bool
        Shows the gap falling, on a terminal.
    callbacks : sequence of callables
        Called with a :class:`lineal.solvers.Progress` after each epoch; returning True stops the fit.
        Listening changes no bit of the model: most events have an estimate of the gap, some a proof.
    warm_start : bool
        Whether ``fit`` starts from the last fit's weights.

    Attributes
    ----------
    coef_ : (1, d) for two classes, (K, d) for more
    intercept_ : (1,) or (K,)
    classes_ : the labels, sorted
    certificate_ : Certificate
    trace_ : the certified points on the way
    plan_ : which solver, and why
    dual_ : the dual point of the certificate
    n_iter_ : passes over the data

    Examples
    --------
    >>> from lineal import LinearClassifier
    >>> from lineal.objective import Hinge, L2
    >>> model = LinearClassifier(loss=Hinge(), penalty=L2(0.1))
    >>> model.fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]).predict([[0.5], [9.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        loss: Loss = Log(),
        penalty: Penalty | Mapping[Any, Penalty] = L2(1.0),
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        probability: bool = False,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, as_penalty(self.penalty)

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        return {"penalty": as_penalty(self.penalty).at_strength(strength)}
