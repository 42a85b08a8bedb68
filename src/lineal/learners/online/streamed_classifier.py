"""Classifiers that learn from a stream."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data import checked_rows
from lineal.errors import InputError, ParameterError
from lineal.learners.online.arrivals import Arrivals
from lineal.learners.online.model import StreamedModel
from lineal.learners.online.recipe import Recipe
from lineal.learners.online.stream import Stream
from lineal.learners.reading import read_growing
from lineal.learners.scoring import ScoringClassifier
from lineal.learners.targets import named_labels, require_targets, weights_of_rows
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray, Log


@dataclass(frozen=True)
class _Labels:
    """The labels of the rows of a piece.

    Attributes
    ----------
    arrivals : Arrivals
        All labels by the end of the piece.
    codes : (n,) int32
        The number of each row's label by arrival; -1 for a row of weight 0.
    known_from : (n_labels,) int64
        The row from which each label is known; -1: from the start.
    s : (n,) weights
    """

    arrivals: Arrivals
    codes: NDArray[np.int32]
    known_from: NDArray[np.int64]
    s: FloatArray

    def n_known_after(self, n_met: int) -> int:
        """How many labels are known when so many rows of weight > 0 were met."""
        last = np.flatnonzero(self.s > 0)[n_met - 1] if n_met else -1
        return int(np.count_nonzero(self.known_from <= last))


class StreamedClassifier(ScoringClassifier, StreamedModel):
    """Labels that may come at any time: a score for two of them, one each for more."""

    _arrivals: Arrivals
    class_weight: Any = None
    online_accuracy_: float

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Meets more rows, in their order: predicts each, is judged by it, and learns from it.

        Pieces of any size give the model of one pass, bit for bit. After ``fit`` it goes on from the weights
        that were fitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            New columns may come at any time, behind the known ones.
        y : sequence of n_rows labels
            New labels may come at any time, too.
        classes : sequence of labels, optional
            Labels that are known from the start. None need be named.
        sample_weight : sequence of n_rows numbers >= 0, optional
            How often a row's loss counts; rows of weight 0 are not met.

        Returns
        -------
        self
        """
        require_targets(self, y)
        stream, (array, shape) = self._begun(), read_growing(self, X)
        rows = checked_rows(array, 1, shape.get("feature_names_in_"), as_stored=True)
        return self._learn_from(stream, rows, shape, y, classes, sample_weight)

    def _learn_from(
        self,
        stream: Stream,
        rows: NativeRows,
        shape: dict[str, Any],
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: Any,
        order: NDArray[np.int64] | None = None,
    ) -> Self:
        """Learns from rows that were checked; ``shape`` is what they make of the columns.

        Dense rows may be met in an order, which is that of y and of the weights then.
        """
        labels = self._labels_of_stream(y, rows.n_rows, classes, sample_weight)
        self._meet_labels(stream, labels, shape, lambda steps: stream.learn(rows, steps, labels.s, order))
        return self

    def _learn_texts(
        self, texts: _core.HashedTexts, y: ArrayLike, classes: ArrayLike | None, sample_weight: Any
    ) -> None:
        """Learns from texts while they are hashed, without a matrix."""
        stream = self._begun()
        labels = self._labels_of_stream(y, len(texts), classes, sample_weight)
        shape = {"n_features_in_": self._width_of(texts)}
        self._meet_labels(stream, labels, shape, lambda steps: stream.learn_texts(texts, steps, labels.s))

    def _labels_of_stream(
        self, y: ArrayLike, n_rows: int, classes: ArrayLike | None, sample_weight: Any
    ) -> _Labels:
        """What the rows of a piece say, and how much they count."""
        labels, s = self._labels_that_count(y, n_rows, sample_weight)
        arrivals = self._arrivals if self._stream is not None else self._fitted_arrivals()
        if classes is not None:
            arrivals = arrivals.named(named_labels(classes))
        is_met = s > 0
        if not (is_met.any() or len(arrivals)):
            raise InputError("class_weight leaves no row any weight, so there is no label to learn yet.")
        if is_met.all():
            arrivals, codes, known_from = arrivals.met(labels)
        else:
            arrivals, codes_met, known_from = arrivals.met(labels[is_met])
            codes = np.full(n_rows, -1, dtype=np.int32)  # no label: none need be known where they stand
            codes[is_met] = codes_met
            rows_met = np.append(np.flatnonzero(is_met), n_rows)
            known_from = np.where(known_from >= 0, rows_met[known_from], -1)
        factors = np.append(self._factors(arrivals), 0.0)  # the last one is that of code -1
        return _Labels(arrivals, codes, known_from, s * factors[codes])

    def _meet_labels(
        self, stream: Stream, labels: _Labels, shape: dict[str, Any], learn: Callable[[Any], None]
    ) -> None:
        """Calls learn(steps); a piece that is broken off leaves the labels of the rows that were met."""
        recipe, arrivals = stream.recipe, labels.arrivals
        steps = _core.RowSteps.of_classes(
            recipe.native_loss, recipe.joint, labels.codes, labels.known_from, arrivals.order
        )
        stream.make_room(shape["n_features_in_"], _n_scores(arrivals))
        before = stream.n_met
        try:
            self._meet(stream, {**shape, **self._told_by(recipe, arrivals)}, lambda: learn(steps))
        except BaseException:
            arrivals = arrivals.first(labels.n_known_after(stream.n_met - before))
            self.__dict__.update(self._told_by(recipe, arrivals))
            raise

    def _told_by(self, recipe: Recipe, arrivals: Arrivals) -> dict[str, Any]:
        """What labels make of this model."""
        attributes: dict[str, Any] = {"classes_": arrivals.known.values, "_arrivals": arrivals}
        if self._is_stream_likelihood(recipe, len(arrivals)):
            attributes["temperature_"] = 1.0
        return attributes

    def _is_stream_likelihood(self, recipe: Recipe, n_classes: int) -> bool:
        """Whether scores are those of probabilities."""
        return isinstance(recipe.loss, Log) and (n_classes <= 2 or recipe.joint == "softmax")

    def _fitted_arrivals(self) -> Arrivals:
        """The labels of a fit, as its weights stand in a stream: of two, the second has the score."""
        if "coef_" not in self.__dict__:
            return Arrivals()
        classes = self.classes_
        return (
            Arrivals().named(classes)
            if len(classes) != 2
            else Arrivals().named(classes[1:]).named(classes[:1])
        )

    def _fitted_stream(self, recipe: Recipe) -> Stream:
        n_rows = len(getattr(self, "dual_", ())) or self._n_fitted
        return Stream.from_fit(recipe, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_), n_rows)

    def _labels_that_count(
        self, y: ArrayLike, n_rows: int, sample_weight: Any
    ) -> tuple[NDArray[Any], FloatArray]:
        """Labels and weights of rows, 0 where the factor of the label is: a row of weight 0 is no row."""
        labels, s = self._labels(y, n_rows), weights_of_rows(sample_weight, n_rows)
        given = self.class_weight
        left_out = (
            {label for label, factor in given.items() if factor == 0} if isinstance(given, dict) else ()
        )
        if left_out:
            s = np.where([label in left_out for label in labels.tolist()], 0.0, s)
        return labels, s

    def _factors(self, arrivals: Arrivals) -> FloatArray:
        """What the rows of each label, by arrival, count."""
        given = self.class_weight
        if given is None:
            return np.ones(len(arrivals))
        if not isinstance(given, dict):
            raise ParameterError(
                f"class_weight={given!r} needs all rows at once: give a stream a dict, or none."
            )
        for label, weight in given.items():
            if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
                raise ParameterError(f"class_weight must be finite and >= 0, got {weight!r} for {label!r}.")
        return np.array([float(given.get(label, 1.0)) for label in arrivals.labels.tolist()])

    def _tell(self, stream: Stream) -> None:
        super()._tell(stream)
        weight = stream.total("weight")
        self.online_accuracy_ = stream.total("right") / weight if weight > 0 else float(np.nan)

    # ---- as users know them -------------------------------------------------------------------

    def _parted(self, scores: FloatArray) -> FloatArray:
        """(..., n_scores) by arrival becomes (..., 1) for two classes, (..., K) in the order of classes_."""
        assert self._stream is not None
        order = self._arrivals.order
        if len(order) > 2 and scores.shape[-1] == 1:  # the third label is known, but no row of it was met
            half = scores * (0.5 if self._stream.recipe.joint else 1.0)
            rest = np.zeros((*scores.shape[:-1], len(order) - 2))
            scores = np.concatenate([half, -half, rest], axis=-1)
        if scores.shape[-1] < len(order) and len(order) > 2:
            missing = np.zeros((*scores.shape[:-1], len(order) - scores.shape[-1]))
            scores = np.concatenate([scores, missing], axis=-1)
        if len(order) > 2:
            return scores[..., order]
        # The one score speaks for the label that came first; users have it speak for the upper one.
        return scores if len(order) == 2 and order[1] == 0 else -scores

    def _public(self, W: FloatArray, b: FloatArray) -> tuple[FloatArray, Any]:
        return np.ascontiguousarray(self._parted(W.T).T), self._parted(b)

    def _scores(self, X: Any) -> FloatArray:
        Z = super()._scores(X)
        return Z if self._stream is None else self._parted(Z)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        places = super().predict(X) if not self._has_one_label() else None
        return np.repeat(self.classes_, len(self._scores(X))) if places is None else places

    def _probabilities_of(self, Z: FloatArray) -> FloatArray:
        return np.ones((len(Z), 1)) if self._has_one_label() else super()._probabilities_of(Z)

    def _has_one_label(self) -> bool:
        """Whether a stream has brought one label so far."""
        return self._stream is not None and len(self._arrivals) == 1


def _n_scores(arrivals: Arrivals) -> int:
    return len(arrivals) if len(arrivals) > 2 else 1
