"""Heads of kernel machines: scores are sums of kernel values with support vectors, and intercepts.

Support vectors are rows of the training data: unlike other models these keep some of what they learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.data.rows import Arrays
from lineal.errors import ParameterError
from lineal.model.answers import FloatArray
from lineal.model.heads import Head
from lineal.model.kernel_sums import KernelSums
from lineal.model.labels import put_labels, read_labels
from lineal.model.linear import MOST_SPREAD, LinearScores, Scores
from lineal.model.machine_answers import MachineAnswers
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows

_FEW = 8


@dataclass(frozen=True, eq=False)
class KernelHead(Head):
    """What both have: sums and intercepts.

    Attributes
    ----------
    sums : KernelSums
    intercepts : (n_scores,) finite
    """

    sums: KernelSums
    intercepts: FloatArray

    @property
    def n_columns(self) -> int:
        return self.sums.vectors.n_columns

    @property
    def width(self) -> int:
        return len(self.intercepts)

    def raw(self, rows: MatrixRows) -> FloatArray:
        Z = np.empty((rows.n_rows, self.width))
        for part, sums in self.sums.pieces(rows):
            Z[part] = self._scores_of(sums) + self.intercepts
        return Z

    def _scores_of(self, sums: FloatArray) -> FloatArray:
        """(n, n_scores) from (n, n_segments, n_outputs)."""
        return sums[:, 0]

    @property
    def is_linear(self) -> bool:
        """Whether scores are sums of weights after all."""
        n_weights = self.n_columns * len(self.sums.coefficients)
        is_sum = self.sums.profile.kind == "linear" and self.sums.n_segments == 1
        return is_sum and n_weights <= MOST_SPREAD

    @property
    def scores(self) -> list[Scores]:
        if not self.is_linear:
            return []
        W = self.sums.vectors.dot(self.sums.coefficients)
        return [Scores(LinearScores(W, np.array(self.intercepts)))]

    @property
    def has_weights(self) -> bool:
        return self.is_linear

    def _weights(self, output: int) -> tuple[FloatArray, float]:
        if not self.is_linear:
            raise ParameterError(
                f"a score of the kernel {self.sums.profile} is no sum of weights of columns, so it cannot be "
                "taken apart. kernel='linear', LinearClassifier and LinearRegressor give answers that can."
            )
        W = self.sums.vectors.dot(self.sums.coefficients[output : output + 1])
        return W[:, 0], float(self.intercepts[output])

    def column_sizes(self) -> FloatArray:
        return self.sums.column_sizes()

    def telling_rows(self) -> Arrays | None:
        # Support vectors: elsewhere all kernel values may be 0.
        return self.sums.vectors.first(_FEW) if len(self.sums.vectors) else None

    def rounding(self, rows: MatrixRows) -> float:
        return self.sums.rounding(rows)

    def _put(self, draft: Draft, place: str) -> dict[str, Any]:
        draft.put(place, "intercepts", np.array(self.intercepts, dtype=np.float64))
        return {"kind": self.kind, "sums": self.sums.put(draft, f"{place}.sums")}


def _read_intercepts(spec: Spec, n_scores: int) -> FloatArray:
    intercepts = spec.tensor("intercepts", (np.float64,), (n_scores,))
    if not np.isfinite(intercepts).all():
        spec.refuse("intercepts", "finite numbers", "some that are not")
    return intercepts


@dataclass(frozen=True, eq=False)
class KernelNumbersHead(KernelHead):
    """A number for each row: f(x) + b."""

    kind: ClassVar[str] = "kernel_numbers"
    classes: ClassVar[None] = None  # type: ignore[misc]

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        return raw[:, 0]

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        return self._weights(place)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        return self._put(draft, place)

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> KernelNumbersHead:
        """What ``put`` kept."""
        intercepts = _read_intercepts(spec, 1)
        return cls(KernelSums.read(spec.child("sums"), n_columns, 1, 1), intercepts)


@dataclass(frozen=True, eq=False)
class KernelClassesHead(KernelHead):
    """The label that machines decide for.

    Attributes
    ----------
    classes : the labels
    answers : what scores of machines mean
        Pairs of classes share support vectors: they are in order of their classes, and each has a coefficient
        for every other class, in LIBSVM's order.
    """

    kind: ClassVar[str] = "kernel_classes"

    classes: NDArray[Any]
    answers: MachineAnswers

    def _scores_of(self, sums: FloatArray) -> FloatArray:
        if self.answers.strategy != "pairs":
            return sums[:, 0]
        return scores_of_pairs(sums)

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        return np.asarray(self.classes[self.answers.winners(raw)])

    @property
    def has_decision(self) -> bool:
        return True

    def decision(self, raw: FloatArray) -> FloatArray:
        return self.answers.decision(raw)

    @property
    def has_probabilities(self) -> bool:
        return self.answers.temperatures is not None

    def probabilities(self, raw: FloatArray) -> FloatArray:
        return self.answers.probabilities(raw)

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        if self.answers.strategy == "rest":
            return self._weights(place)
        weights, intercept = self._weights(0)
        sign = 1.0 if (place == 1) != self.answers.is_for_first else -1.0
        return sign * weights, sign * intercept

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        return {
            **self._put(draft, place),
            "classes": put_labels(draft, f"{place}.classes", self.classes),
            "answers": self.answers.put(draft, f"{place}.answers"),
        }

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> KernelClassesHead:
        """What ``put`` kept."""
        classes = read_labels(spec.child("classes"))
        answers, K = MachineAnswers.read(spec.child("answers"), len(classes)), len(classes)
        n_segments, n_outputs = {"two": (1, 1), "pairs": (K, K - 1), "rest": (1, K)}[answers.strategy]
        intercepts = _read_intercepts(spec, answers.n_machines)
        sums = KernelSums.read(spec.child("sums"), n_columns, n_segments, n_outputs)
        return cls(sums, intercepts, classes, answers)


def scores_of_pairs(sums: FloatArray) -> FloatArray:
    """(n, K (K - 1) / 2) scores of pairs i < j, without intercepts, from (n, K, K - 1) sums by class.

    A class has a sum for every other one, which stand in order of classes.
    """
    K = sums.shape[1]
    first, second = np.triu_indices(K, 1)
    flat = sums.reshape(len(sums), -1)
    Z = flat.take(first * (K - 1) + second - 1, axis=1)
    Z += flat.take(second * (K - 1) + first, axis=1)
    return np.asarray(Z)
