"""Scores of any classifier become probabilities, by what they are worth on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import IsotonicRegression

from lineal.compose.answers import scores_of
from lineal.compose.base import CompositeClassifier, Lesson
from lineal.compose.fitting import fit_parts
from lineal.compose.folds import require_folds, splits_of
from lineal.compose.inputs import take
from lineal.compose.seeds import require_seed
from lineal.errors import InputError, ParameterError
from lineal.learners.calibration import fitted_temperature
from lineal.learners.classifier import LinearClassifier
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, expit, probabilities, winners
from lineal.model.composed import CalibratedHead, settled
from lineal.model.heads import Head
from lineal.objective import L2, Log, NoPenalty, SquaredHinge
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if

_METHODS = ("temperature", "platt", "isotonic")


class Calibrated(CompositeClassifier):
    """A classifier whose probabilities are learned from its scores on held-out folds.

    ==================  ======================================================================================
    ``"temperature"``   softmax(z / T), one number T: keeps the order of classes, so it changes no label
    ``"platt"``         1 / (1 + exp(-(a z + b))) for each class against the rest, over their sum (Platt 1999)
    ``"isotonic"``      the best non-decreasing function of z for each class against the rest, over their sum
    ==================  ======================================================================================

    Parameters
    ----------
    learner : any classifier
        ``LinearClassifier(loss=SquaredHinge(), penalty=L2(1.0))``, a support vector machine, if not given.
    method : "temperature", "platt" or "isotonic"
        In the order of how many rows they need: one number, two for each class, a step function for each.
    folds : int, splitter or list of (train, test)
        How rows are held out: every row once.
    n_threads : int, optional
        Models that are fitted at the same time; changes the time, never a bit.
    random_state : int or generator, optional
        Deals the rows into folds.

    Attributes
    ----------
    classes_ : the labels, sorted
    learner_ : the learner, fitted to all rows; its scores are what is calibrated
    temperature_ : T, of the first method
    maps_ : one function for each class (one for the second of two), of the others

    Notes
    -----
    ``predict`` is the label of the largest probability, and of equal ones that of the higher score. A
    temperature leaves the learner's labels as they are. The other two may move the threshold between
    classes, where the held-out rows say that the learner's is off. Both ``predict`` and ``predict_proba``
    follow; there is no ``decision_function`` then, since it would not.

    Scores are the learner's decision values, else the log odds or logarithms of its probabilities.

    Examples
    --------
    >>> from lineal import Calibrated
    >>> X, y = [[float(k)] for k in range(20)], [0] * 8 + [1, 0, 1, 0] + [1] * 8
    >>> model = Calibrated(folds=4).fit(X, y)
    >>> model.predict_proba([[8.0], [9.5], [11.0]]).round(1)
    array([[0.7, 0.3],
           [0.5, 0.5],
           [0.3, 0.7]])
    """

    learner_: Any

    def __init__(
        self,
        learner: Any = None,
        method: str = "temperature",
        *,
        folds: Any = 5,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.method = method
        self.folds = folds
        self.n_threads = n_threads
        self.random_state = random_state

    def _made_of(self) -> Sequence[Any]:
        usual = LinearClassifier(loss=SquaredHinge(), penalty=L2(1.0))
        return (usual if self.learner is None else self.learner,)

    def _check_options(self) -> None:
        super()._check_options()
        if self.method not in _METHODS:
            raise ParameterError(f"method must be one of {', '.join(_METHODS)}, got {self.method!r}.")
        require_folds(self.folds)
        require_seed(self.random_state)

    # ---- learning -----------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fits the learner to all rows, and the probabilities to scores of rows that it had not seen.

        Parameters
        ----------
        X : whatever the learner takes
        y : sequence of n_rows labels
            At least two of each: one to learn from, one to hold out.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Passed on to the learner, which must take it, and to the fit of the probabilities.
        groups : sequence of n_rows names, optional
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        lesson, codes = self._lesson_in_classes(X, y, sample_weight, groups)
        Z = self._held_out_scores(lesson, codes)
        s = lesson.counts
        for name in ("temperature_", "maps_"):
            self.__dict__.pop(name, None)
        if self.method == "temperature":
            self.temperature_ = fitted_temperature(Z, codes, s)
            return self
        fitted = Sigmoid if self.method == "platt" else Steps
        targets = [codes == 1] if Z.shape[1] == 1 else [codes == k for k in range(Z.shape[1])]
        self.maps_ = [fitted(z, is_in, s) for z, is_in in zip(Z.T, targets, strict=True)]
        return self

    def _held_out_scores(self, lesson: Lesson, codes: NDArray[np.int32]) -> FloatArray:
        (learner,) = self._made_of()
        rare = np.bincount(codes).argmin()
        if np.bincount(codes)[rare] < 2:
            raise InputError(
                "Calibrated needs at least 2 rows of every class, to hold some out, but there is one of "
                f"{self.classes_.tolist()[rare]!r}."
            )
        splits = splits_of(self.folds, lesson, codes, self.random_state)
        jobs = [*(lesson.job(learner, train) for train, _ in splits), lesson.job(learner)]
        *parts, self.learner_ = fit_parts(lesson.X, jobs, self.n_threads)
        K = len(self.classes_)
        Z = np.empty((lesson.n_rows, 1 if K == 2 else K))
        for part, (_, test) in zip(parts, splits, strict=True):
            if len(part.classes_) < K:
                raise InputError(
                    "a fold holds out all rows of a class, so nothing can be learnt about it. Use more "
                    "folds, or a splitter that stratifies."
                )
            Z[test] = scores_of(part, take(lesson.X, test))
        return Z

    # ---- prediction ---------------------------------------------------------------------------

    @available_if(lambda self: self.method == "temperature")
    def decision_function(self, X: Any) -> FloatArray:
        """The learner's scores: (n,) for two classes, (n, K) for more."""
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest probability; of equal ones that of the higher score."""
        return self._named(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest is the prediction's."""
        Z = self._scores(X)
        best = winners(Z)
        if self.method == "temperature":
            return crowned(probabilities(Z, self.temperature_), best)
        P = np.column_stack([fitted(z) for fitted, z in zip(self.maps_, Z.T, strict=True)])
        return settled(P, best)

    def _frozen_head(self, head_of: Callable[[Any], Head]) -> CalibratedHead:
        """What a stored model answers with."""
        inner, labels = head_of(self.learner_), np.array(self.classes_)
        if self.method == "temperature":
            return CalibratedHead(inner, labels, float(self.temperature_))
        if not all(isinstance(fitted, Sigmoid) for fitted in self.maps_):
            raise ParameterError(
                "isotonic maps cannot be stored in a model file: method='temperature' and 'platt' can."
            )
        slopes, shifts = (
            np.array([getattr(fitted, name) for fitted in self.maps_]) for name in ("slope", "shift")
        )
        return CalibratedHead(inner, labels, None, slopes, shifts)

    _part_names = ("learner_",)

    def _stored_parts(self) -> dict[str, Any]:
        """The learners inside that a model file keeps."""
        return {"learner_": self.learner_}

    def _take_parts(self, stored: dict[str, list[Any]], head: Any, read: Callable[[Any, Any], Any]) -> None:
        """Takes the learner back that a model file kept, and its sigmoids, with the weights of a head."""
        (learner,) = stored["learner_"]
        self.learner_ = read(learner, head.inner)
        if head.slopes is not None:
            self.maps_ = [Sigmoid.of(*line) for line in zip(head.slopes, head.shifts, strict=True)]

    def _scores(self, X: Any) -> FloatArray:
        X = self._asked(X)
        return scores_of(self.learner_, X)


class Sigmoid:
    """z -> 1 / (1 + exp(-(a z + b))), fitted by maximum likelihood to smoothed targets.

    Platt's targets, (n_in + 1) / (n_in + 2) and 1 / (n_out + 2), are chances rather than labels: a row counts
    as in its class with one of them, and as out of it with the rest.
    """

    def __init__(self, z: FloatArray, is_in: NDArray[np.bool_], s: FloatArray) -> None:
        n_in, n_out = float(s[is_in].sum()), float(s[~is_in].sum())
        chance = np.where(is_in, (n_in + 1.0) / (n_in + 2.0), 1.0 / (n_out + 2.0))
        weights = np.concatenate([s * chance, s * (1.0 - chance)])
        labels = np.repeat([1, 0], len(z))
        model = LinearClassifier(Log(), NoPenalty(), tol=1e-9)
        model.fit(np.tile(z, 2)[:, None], labels, sample_weight=weights)
        self.slope, self.shift = float(model.coef_[0, 0]), float(model.intercept_[0])

    @classmethod
    def of(cls, slope: float, shift: float) -> Sigmoid:
        """With numbers that were fitted before."""
        made = cls.__new__(cls)
        made.slope, made.shift = float(slope), float(shift)
        return made

    def __call__(self, z: FloatArray) -> FloatArray:
        """Probabilities."""
        return expit(self.slope * z + self.shift)


class Steps:
    """The non-decreasing function of least squared error; straight lines between its steps."""

    def __init__(self, z: FloatArray, is_in: NDArray[np.bool_], s: FloatArray) -> None:
        self.steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.steps.fit(z, is_in.astype(np.float64), sample_weight=s)

    def __call__(self, z: FloatArray) -> FloatArray:
        """Probabilities."""
        return np.asarray(self.steps.predict(z), dtype=np.float64)
