"""What searching learners of labels share, whatever they read."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.calibration import fitted_temperature
from lineal.learners.searched.folds import Fold, folds_of_labels, part_of_labels
from lineal.learners.searched.model import SearchedModel
from lineal.learners.searched.search import Found, Search, Trial, is_broken_off
from lineal.learners.targets import (
    classes_and_codes,
    codes_among,
    plain_array,
    require_targets,
    weights_of_rows,
)
from lineal.model.explanation import TopFeature
from lineal.protocol import check_is_fitted

_MANY_SCORES = 5_000_000


def _say_nothing(trial: Trial) -> None:
    """Nobody asked for a search."""


class SearchedClassifier(ClassifierMixin, SearchedModel):
    """Labels, held out in their proportions; probabilities by one temperature."""

    classes_: NDArray[Any]

    def _fit_labels(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        require_targets(self, y)
        labels = self._labels(y)
        weights = weights_of_rows(sample_weight, len(labels)) if len(labels) else np.empty(0)
        self.classes_, _ = classes_and_codes(labels[weights > 0])
        if len(self.classes_) < 2:
            name = type(self).__name__
            raise InputError(
                f"{name} needs at least 2 classes, but y has only one class: {self.classes_.tolist()[0]!r}."
                if len(self.classes_)
                else f"{name} needs at least 2 classes, but there are no labels."
            )
        found = self._fit(X, labels, sample_weight, groups)
        if not hasattr(self.model_, "temperature_"):
            self.model_.temperature_ = self._temperature(found)

    def _labels(self, y: ArrayLike) -> NDArray[Any]:
        labels = plain_array(y)
        if labels.ndim != 1:
            raise InputError(
                f"y should be a 1d array of labels, got an array of shape {labels.shape} instead."
            )
        return labels

    def _held_out(self, read: Any, y: NDArray[Any], groups: NDArray[Any] | None) -> Found | None:
        """One part held out, for the temperature of scores that are no likelihood."""
        is_likelihood = hasattr(self.model_, "temperature_")
        if is_likelihood or not hasattr(self.model_, "decision_function") or is_broken_off(self.model_):
            return None
        is_free = groups is None
        fold = part_of_labels(y, self.n_folds, self.random_state) if is_free else self._folds(y, groups)[:1]
        if not fold:
            return None
        search = Search(
            [self.strength_], self._folds, partial(self._learner, is_trial=True), self._score, _say_nothing
        )
        trial, held_out = search.tried(read, y, fold, self.strength_)
        return Found(read.recipe, trial, read, [], y, held_out)

    def _temperature(self, found: Found | None) -> float:
        # Where nothing was held out, or not of all labels, a margin of 1 is a chance of 73 %.
        if found is None or not hasattr(self.model_, "decision_function"):
            return 1.0
        shaped = [(rows, np.reshape(scores, (len(rows), -1))) for rows, scores in found.held_out]
        # A fold without any row of a label has no score for it, and tells nothing of this model's.
        n_scores = self._n_scores()
        shaped = [(rows, Z) for rows, Z in shaped if Z.shape[1] == n_scores]
        if not shaped:
            return 1.0
        rows, Z = (np.concatenate(parts) for parts in zip(*shaped, strict=True))
        known = set(self.classes_.tolist())
        has_class = np.array([label in known for label in found.y[rows].tolist()], dtype=bool)
        rows, Z = rows[has_class], Z[has_class]
        if not len(rows):
            return 1.0
        codes = codes_among(self.classes_, found.y[rows])
        # However well held-out rows are told apart, a usual margin is no surer than one error in them.
        ordered = np.sort(np.abs(Z) if Z.shape[1] == 1 else Z, axis=1)
        margins = ordered[:, -1] - (ordered[:, -2] if Z.shape[1] > 1 else 0.0)
        least = float(np.median(margins)) / np.log(len(rows) + 1.0)
        return max(fitted_temperature(Z, codes, np.ones(len(rows))), least, 1e-300)

    def _has_probabilities(self) -> bool:
        if hasattr(self, "model_") and not hasattr(self.model_, "predict_proba"):
            raise AttributeError(
                f"a stream gives probabilities where its loss is a likelihood, not with {self.model_!r}: "
                "take learner=OnlineClassifier() or LinearClassifier(Log()), or use fit."
            )
        return True

    def _place(self, label: Any) -> tuple[int, float]:
        """The score that speaks for a label, and its sign."""
        places = np.flatnonzero(self.classes_ == label)
        if len(places) != 1:
            raise InputError(f"{label!r} is not one of the labels: {list(self.classes_)!r}.")
        if len(self.classes_) <= 2:
            return 0, 1.0 if places[0] == 1 else -1.0
        return int(places[0]), 1.0

    def top_features(self, k: int = 10) -> dict[Any, list[TopFeature]]:
        """For each label the k features that speak most for it, with their weights."""
        check_is_fitted(self, "model_")
        coef = np.atleast_2d(self.model_.coef_)
        if len(self.classes_) <= 2:
            coef = np.concatenate([-coef, coef])[: len(self.classes_)]
        found = {}
        for label, weights in zip(self.classes_.tolist(), coef, strict=True):
            found[label] = self._top(weights, k)
        return found

    def _score_name(self) -> str:
        return "share right" if self.scoring is None else "score"

    def _n_scores(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _folds(self, y: NDArray[Any], groups: NDArray[Any] | None) -> list[Fold]:
        folds = folds_of_labels(y, groups, self.n_folds, self.random_state)
        # Of very many labels a fit costs as many scores for each row: one part is held out, and once.
        return folds[:1] if len(y) * self._n_scores() > _MANY_SCORES else folds

    def _score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        return float(np.mean(y == predicted)) if self.scoring is None else self._own_score(y, predicted)
