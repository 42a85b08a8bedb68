"""What a model says of some rows, found once and judged often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions for certain rows; to ``compare`` and ``evaluate`` it is a model that knows these rows.

    Attributes
    ----------
    labels : (n,) labels or numbers
    probabilities : (n, K) array or None
    classes_ : (K,) labels or None
    """

    labels: NDArray[Any]
    probabilities: NDArray[np.float64] | None = None
    classes_: NDArray[Any] | None = None

    def predict(self, X: Any) -> NDArray[Any]:
        """The predictions, whatever X is."""
        return self.labels

    def __getattr__(self, name: str) -> Any:
        # Only there if there are probabilities, so that nobody asks in vain.
        if name == "predict_proba" and self.__dict__.get("probabilities") is not None:
            return lambda X: self.probabilities
        raise AttributeError(f"answers have no {name!r}.")

    def confidence(self) -> NDArray[np.float64] | None:
        """The probability of each prediction."""
        return None if self.probabilities is None else self.probabilities.max(axis=1)

    @classmethod
    def joined(cls, parts: list[Self], rows: list[NDArray[Any]], n: int) -> Answers:
        """The answers of several models, each for the rows that are its own; together all n of them."""
        labels: NDArray[Any] = np.empty(n, dtype=np.result_type(*(part.labels for part in parts)))
        known = [part.classes_ for part in parts if part.classes_ is not None]
        classes = np.unique(np.concatenate(known)) if len(known) == len(parts) else None
        has_probabilities = classes is not None and all(part.probabilities is not None for part in parts)
        found = np.zeros((n, len(classes))) if has_probabilities and classes is not None else None
        for part, own in zip(parts, rows, strict=True):
            labels[own] = part.labels
            if found is not None and classes is not None and part.classes_ is not None:
                # A label that a fold had no row of has no chance there.
                found[np.ix_(own, np.searchsorted(classes, part.classes_))] = part.probabilities
        return Answers(labels, found, classes)


def answers_of(model: Any, X: Any) -> Answers:
    """A frozen model's answers, from one look at X."""
    labels, probabilities = model.answers(X)
    return Answers(labels, probabilities, model.classes_ if model.task == "classification" else None)


def always(
    y: NDArray[Any], n: int, task: str, sample_weight: NDArray[np.float64] | None
) -> tuple[str, Answers]:
    """The baseline that looks at nothing: its name, and what it says of n rows."""
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    if task == "regression":
        mean = float(np.average(y, weights=weights))
        return "always the mean", Answers(np.full(n, mean))
    classes, codes = np.unique(y, return_inverse=True)
    shares = np.bincount(codes, weights=weights) / weights.sum()
    best = int(shares.argmax())
    return f"always {classes[best]}", Answers(
        np.repeat(classes[best : best + 1], n), np.tile(shares, (n, 1)), classes
    )
