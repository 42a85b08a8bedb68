"""The linear classifier over a joint map phi(x, y)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows, thread_count
from lineal.errors import CombinationError, InputError, InputTypeError, ParameterError
from lineal.features.joint import JointMap, block_map, stacked
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.model import Task
from lineal.learners.targets import classes_and_codes, codes_among, plain_array
from lineal.objective import L2, Intercept, Log, Loss, Penalty, Problem
from lineal.objective.losses import FloatArray
from lineal.objective.rows import JointRows, NumpyRows, Rows
from lineal.solvers import Solution, Solver
from lineal.solvers.driver import Callback


class JointClassifier(BaseLinearClassifier):
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
    ``LinearClassifier`` takes X. Names that no training example had are ignored in prediction.

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

    _columns: dict[Hashable, int]

    @property
    def weights_(self) -> dict[Hashable, float]:
        """The weight of every feature by its name."""
        return dict(zip(self.feature_names_, self.coef_.tolist(), strict=True))

    def top_features(self, k: int = 10) -> list[tuple[Hashable, float]]:
        """The k features whose weights are largest in size, with their weights."""
        order = np.argsort(-np.abs(self.coef_), kind="stable")[:k]
        return [(self.feature_names_[j], float(self.coef_[j])) for j in order]

    @property
    def partial_fit(self) -> Any:
        """There is none: a joint map gives a row K rows of features, which streams are not learned with."""
        raise AttributeError("JointClassifier has no partial_fit: use fit, or LinearClassifier for streams.")

    # ---- what the fit of a linear model asks --------------------------------------------------

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        return {"penalty": self.penalty.at_strength(strength)}

    def _check_options(self) -> None:
        if not callable(self.phi):
            raise ParameterError(f"phi must be a function of x and y, got {self.phi!r}.")
        if self.labels is not None and (
            isinstance(self.labels, str) or not isinstance(self.labels, Iterable)
        ):
            raise ParameterError(f"labels must be a collection of labels or None, got {self.labels!r}.")
        super()._check_options()

    def _smallest(self, loss: Loss, penalty: Penalty) -> Problem:
        if loss.joint is None:
            raise CombinationError(
                f"a joint map needs a loss of all scores together, which {loss} is not: use Log() or Hinge()."
            )
        rows = JointRows(NumpyRows(np.zeros((2, 1))), 2)
        return Problem(
            rows, np.zeros(1, dtype=np.int32), np.ones(1), loss.joint(), penalty, Intercept.NONE, 2
        )

    def _classes(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
        if self.labels is None:
            return super()._classes(labels)
        classes, _ = classes_and_codes(plain_array(list(self.labels)))
        return classes, codes_among(classes, labels, "Add them to labels=, or drop their rows.")

    def _read(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """The things in X as an array of objects."""
        if isinstance(X, (str, bytes, Mapping)) or hasattr(X, "columns") or not isinstance(X, Iterable):
            raise InputTypeError(
                f"X must be a sequence of things that phi takes, got {type(X).__name__}: put a single one "
                "into a list; of a data frame pass the rows, such as frame.to_dict('records')."
            )
        things = list(X)
        if not things:
            raise InputError("X is empty: at least one x is needed.")
        return np.fromiter(things, dtype=object, count=len(things))

    def _built(self, array: NDArray[Any], *, reset: bool) -> Rows:
        matrix = self._stacked(array, is_learning=reset)
        return JointRows(checked_rows(matrix, thread_count(self.n_threads)), len(self.classes_))

    def _numpy_rows(self, X: Any) -> Rows:
        matrix = self._stacked(self._read(X, reset=False), is_learning=False)
        return JointRows(NumpyRows(matrix), len(self.classes_))

    def _stacked(self, things: NDArray[Any], *, is_learning: bool) -> Any:
        columns: dict[Hashable, int] = {} if is_learning else self._columns
        matrix = stacked(self.phi, things, self.classes_.tolist(), columns, is_learning=is_learning)
        if not columns:
            raise InputError("phi gives no features for any x and label, so there is nothing to learn.")
        self._columns = columns
        return matrix

    def _learn(self, task: Task, solution: Solution) -> None:
        super()._learn(task, solution)
        self.feature_names_ = list(self._columns)
        self.coef_: FloatArray = solution.W[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = False
        return tags
