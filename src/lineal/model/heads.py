"""What a stored model makes of rows: numbers, or labels and probabilities.

A head takes rows to ``raw`` numbers, once, and answers every question from those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.data.rows import Arrays
from lineal.errors import ParameterError
from lineal.model.answers import (
    FloatArray,
    crowned,
    log_softmax,
    logs_of,
    own_probabilities,
    probabilities,
    softmax,
    winners,
)
from lineal.model.labels import put_labels, read_labels
from lineal.model.linear import Scores
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows

# The shares of classes: none are known, a softmax over a temperature, each class's own over their sum, or
# those of logarithms of joint probabilities, with the prior where no class is possible.
LINKS = ("none", "softmax", "own", "joint")


class Head(ABC):
    """From rows to answers."""

    kind: ClassVar[str]
    classes: NDArray[Any] | None  # None: numbers are predicted

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns rows have."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many raw numbers a row has."""

    @abstractmethod
    def raw(self, rows: MatrixRows) -> FloatArray:
        """(n_rows, width) numbers, from which all answers follow."""

    @abstractmethod
    def predict(self, raw: FloatArray) -> NDArray[Any]:
        """Labels or numbers."""

    @property
    def has_decision(self) -> bool:
        """Whether there are scores that decide."""
        return False

    def decision(self, raw: FloatArray) -> FloatArray:
        """Scores that decide."""
        raise NotImplementedError

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities."""
        return False

    def probabilities(self, raw: FloatArray) -> FloatArray:
        """(n_rows, n_classes)."""
        raise NotImplementedError

    def log_probabilities(self, raw: FloatArray) -> FloatArray:
        """(n_rows, n_classes), also of those that ``probabilities`` rounds to 0, where they are known."""
        return logs_of(self.probabilities(raw))

    @property
    def has_exact_logs(self) -> bool:
        """Whether logarithms of probabilities are -inf for what cannot be, and for nothing else."""
        return False

    @property
    @abstractmethod
    def scores(self) -> list[Scores]:
        """All linear scores, in the order of ``raw``."""

    @property
    def has_weights(self) -> bool:
        """Whether what speaks for a class, or an output, is a sum of weights: whether it can be explained."""
        return False

    def column_sizes(self) -> FloatArray:
        """(n_columns,) how much each column counts, at most."""
        size = np.zeros(self.n_columns)
        for scores in self.scores:
            for k in range(scores.n_scores):
                np.maximum(size, np.abs(scores.linear.W[:, k]), out=size)
        return size

    def telling_rows(self) -> Arrays | None:
        """A few rows that tell this model from others better than made-up ones; None where those do."""
        return None

    def rounding(self, rows: MatrixRows) -> float:
        """What raw numbers of rows may differ by between processors, beside a share of their own size."""
        return 0.0

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        """(n_columns,) weights and the intercept of what speaks for a class, or for an output."""
        raise ParameterError(
            f"an answer of {type(self).__name__} is no sum of weights, so it cannot be taken apart. "
            "LinearClassifier and OneVsRest give answers that can."
        )

    @abstractmethod
    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""


@dataclass(frozen=True, eq=False)
class NumbersHead(Head):
    """A number for each row, or several."""

    kind: ClassVar[str] = "numbers"

    linear: Scores
    is_one: bool
    classes: None = None

    @property
    def n_columns(self) -> int:
        return self.linear.n_columns

    @property
    def width(self) -> int:
        return self.linear.n_scores

    def raw(self, rows: MatrixRows) -> FloatArray:
        return self.linear(rows)

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        return raw[:, 0] if self.is_one else raw

    @property
    def scores(self) -> list[Scores]:
        return [self.linear]

    @property
    def has_weights(self) -> bool:
        return True

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        return self.linear.linear.W[:, place], float(self.linear.linear.b[place])

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        return {"kind": self.kind, "is_one": self.is_one, **self.linear.put(draft, place)}

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> NumbersHead:
        """What ``put`` kept."""
        scores, is_one = Scores.read(spec, n_columns), spec.flag("is_one")
        if is_one and scores.n_scores != 1:
            spec.refuse("is_one", "false for several numbers", is_one)
        return cls(scores, is_one)


@dataclass(frozen=True, eq=False)
class ClassesHead(Head):
    """The label of the highest score.

    Attributes
    ----------
    linear : scores, one for two classes, one for each of more (or of two, under the link "joint")
    classes : the labels
    link : one of ``LINKS``
    temperature : of the link "softmax"
    prior : (K,) logarithms, of the link "joint"
    """

    kind: ClassVar[str] = "classes"

    linear: Scores
    classes: NDArray[Any]
    link: str = "none"
    temperature: float = 1.0
    prior: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        return self.linear.n_columns

    @property
    def width(self) -> int:
        return self.linear.n_scores

    def raw(self, rows: MatrixRows) -> FloatArray:
        return self.linear(rows)

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        if len(self.classes) == 1:  # all that a stream has brought so far
            return np.repeat(self.classes, len(raw))
        return np.asarray(self.classes[self._best(raw)])

    def _best(self, raw: FloatArray) -> NDArray[np.intp]:
        return self._joint(raw).argmax(axis=1) if self.link == "joint" else winners(raw)

    def _joint(self, raw: FloatArray) -> FloatArray:
        """Log joint probabilities, with the prior where no class can give the row."""
        A = raw.copy()
        A[np.isneginf(A).all(axis=1)] = self.prior
        return A

    @property
    def has_decision(self) -> bool:
        return self.link != "joint"

    def decision(self, raw: FloatArray) -> FloatArray:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    @property
    def has_probabilities(self) -> bool:
        return self.link != "none"

    def probabilities(self, raw: FloatArray) -> FloatArray:
        if len(self.classes) == 1:
            return np.ones((len(raw), 1))
        if self.link == "joint":
            A = self._joint(raw)
            return crowned(softmax(A), A.argmax(axis=1))
        of = own_probabilities(raw) if self.link == "own" else probabilities(raw, self.temperature)
        return crowned(of, winners(raw))

    def log_probabilities(self, raw: FloatArray) -> FloatArray:
        return log_softmax(self._joint(raw)) if self.has_exact_logs else super().log_probabilities(raw)

    @property
    def has_exact_logs(self) -> bool:
        return self.link == "joint" and len(self.classes) > 1

    @property
    def scores(self) -> list[Scores]:
        return [self.linear]

    @property
    def has_weights(self) -> bool:
        return True

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        W, b = self.linear.linear.W, self.linear.linear.b
        if W.shape[1] > 1:
            return W[:, place], float(b[place])
        sign = 1.0 if place == 1 else -1.0
        return sign * W[:, 0], sign * float(b[0])

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        if self.prior is not None:
            draft.put(place, "prior", self.prior)
        return {
            "kind": self.kind,
            "classes": put_labels(draft, f"{place}.classes", self.classes),
            "link": self.link,
            "temperature": self.temperature,
            **self.linear.put(draft, place),
        }

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> ClassesHead:
        """What ``put`` kept."""
        scores = Scores.read(spec, n_columns)
        classes, link = read_labels(spec.child("classes")), spec.text("link", LINKS)
        K = len(classes)
        wanted = (K,) if link == "joint" else (1,) if K <= 2 else (K,)
        if K < 1 or scores.n_scores not in wanted:
            spec.refuse("W", f"weights of the scores of {K} classes", f"those of {scores.n_scores} scores")
        if link == "own" and K <= 2:
            spec.refuse("link", "'own' for more than two classes alone", link)
        temperature = spec.number("temperature", 0.0, is_above=True)
        prior = spec.tensor("prior", (np.float64,), (K,)) if link == "joint" else None
        return cls(scores, classes, link, temperature, prior)
