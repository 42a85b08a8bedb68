"""The linear classifier over a joint map phi(x, y)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import CombinationError
from lineal.features.joint import JointMap, block_map
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.joint.model import JointModel
from lineal.learners.model import Task
from lineal.learners.weighting import class_factors, weigh_classes
from lineal.objective import L2, Intercept, Log, Loss, Penalty, Problem
from lineal.objective.linear_maps import JointRows, NumpyRows
from lineal.objective.losses import FloatArray
from lineal.solvers import Solution, Solver
from lineal.solvers.driver import Callback


class JointClassifier(JointModel, BaseLinearClassifier):
    """A linear classifier over your own features of input and label: the label of the highest w . phi(x, y).

    The objective is stated in :class:`lineal.objective.Problem`, for the joint forms of ``Log`` (softmax,
    maximum entropy) and ``Hinge`` (Crammer-Singer). A feature has one weight. It may fire for several labels,
    which then share what is learnt from it; features named after a label (``block_map``) share nothing, and
    make this the model of ``LinearClassifier``.

    Parameters
    ----------
    phi : callable
        ``phi(x, y)`` gives a dict from names (anything hashable) to numbers; what it leaves out is 0. It is
        called once for every x and label. ``block_map``, if not given: features of x for each label.
    loss : Loss
        ``Log()`` or ``Hinge()``.
    penalty : Penalty
        ``L2(strength)``, ``L1(strength)``, ``ElasticNet(l1, l2)``, ``Lp(strength, p)``, ``NoPenalty()``.
    labels : iterable, optional
        The labels to choose from; those in y, if not given. More than y holds may be named: shared features
        score them too.
    solver : "auto", a solver's name, or a Solver
        Those that need weights of its own for each label (dual_cd, prox_cd, sgd ...) refuse.
    fit_intercept : bool
        Whether each label has a free intercept besides phi. A penalised one is a feature: ``("bias", y): 1``.
    tol, class_weight, probability, max_seconds, max_epochs, n_threads, random_state, progress, callbacks, \
warm_start
        As in ``LinearClassifier``.

    Attributes
    ----------
    coef_ : (d,), a weight for each feature
    feature_names_ : the d names, in the order in which phi first gave them
    weights_ : dict from names to weights
    intercept_ : (K,)
    classes_ : the labels, sorted
    certificate_, trace_, plan_, dual_, n_iter_ : as in ``LinearClassifier``

    Notes
    -----
    ``fit``, ``predict`` and the others take a sequence of any things that phi understands where
    ``LinearClassifier`` takes X. Names that no training example had are ignored in prediction. There is no
    ``partial_fit``: ``JointPerceptron`` and ``JointPassiveAggressive`` learn from streams.

    Examples
    --------
    >>> from lineal import JointClassifier
    >>> def phi(x, y):
    ...     return {(word, y): 1 for word in x.split()}
    >>> texts = ["interest rates rise", "the cup final", "a rise in interest", "the final whistle"]
    >>> model = JointClassifier(phi).fit(texts, ["financial", "sports", "financial", "sports"])
    >>> model.predict(["no interest", "cup whistle"])
    array(['financial', 'sports'], dtype='<U9')
    >>> model.weights_["interest", "financial"] > 0 > model.weights_["interest", "sports"]
    True
    """

    def __init__(
        self,
        phi: JointMap = block_map,
        loss: Loss = Log(),
        penalty: Penalty = L2(1.0),
        *,
        labels: Iterable[Any] | None = None,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
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
        self.phi = phi
        self.loss = loss
        self.penalty = penalty
        self.labels = labels
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    @property
    def partial_fit(self) -> Any:
        """There is none: ``JointPerceptron`` and ``JointPassiveAggressive`` learn from streams."""
        raise AttributeError(
            "JointClassifier has no partial_fit: use fit, or JointPerceptron or JointPassiveAggressive for "
            "streams."
        )

    # ---- what the fit of a linear model asks --------------------------------------------------

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        return {"penalty": self.penalty.at_strength(strength)}

    def _weighed(
        self, labels: NDArray[Any], s: FloatArray
    ) -> tuple[NDArray[Any], NDArray[np.int32], FloatArray]:
        classes, codes = self._classes(labels)
        if self.labels is None:
            return weigh_classes(self.class_weight, classes, codes, s)
        return classes, codes, s * class_factors(self.class_weight, classes, codes, s)

    def _check_options(self) -> None:
        self._require_joint_options()
        super()._check_options()

    def _smallest(self, loss: Loss, penalty: Penalty) -> Problem:
        if loss.joint is None:
            raise CombinationError(
                f"a joint map needs a loss of all scores together, which {loss} is not: use Log() or Hinge()."
            )
        rows = JointRows(NumpyRows(np.zeros((2, 1))), 2)
        return Problem.of_rows(
            rows, np.zeros(1, dtype=np.int32), np.ones(1), loss.joint(), penalty, Intercept.NONE, 2
        )

    def _learn(self, task: Task, solution: Solution) -> None:
        super()._learn(task, solution)
        self.feature_names_ = list(self._columns)
        self.coef_: FloatArray = solution.W[:, 0]
