"""Heads made of heads: strategies for many classes, and calibrated scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.data.rows import Arrays
from lineal.model.answers import (
    FloatArray,
    crowned,
    expit,
    possible,
    probabilities,
    score_columns,
    winners,
)
from lineal.model.heads import ClassesHead, Head
from lineal.model.labels import put_labels, read_labels
from lineal.model.linear import LinearScores, Scores
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows
from lineal.model.simplex import agreeing, normalised
from lineal.model.strategies import (
    BIT_LOSSES,
    Code,
    classes_of_bits,
    coupled_pairs,
    scores_of_bits,
    scores_of_votes,
)

STRATEGIES = ("rest", "pairs", "code")
MOST_DEEP = 4  # heads inside heads
_BITS = np.array([0, 1])
_BITS.flags.writeable = False


def scores_of(head: Head, raw: FloatArray) -> FloatArray:
    """(n, 1) for two classes, (n, K) for more, whatever the head answers with."""
    if head.has_decision:
        return score_columns(head.decision(raw))
    return score_columns(possible(head.log_probabilities(raw), are_exact=head.has_exact_logs))


@dataclass(frozen=True, eq=False)
class CodedHead(Head):
    """One two-class head for each column of a code.

    Attributes
    ----------
    parts : heads that answer 0 or 1
    classes : the labels
    strategy : "rest", "pairs" or "code"
    code : (K, L) of -1, 0 and +1
    decoding : "hamming", or the name of a loss, of the strategy "code"
    margin : of that loss
    """

    kind: ClassVar[str] = "coded"

    parts: tuple[Head, ...]
    classes: NDArray[Any]
    strategy: str
    code: Code
    decoding: str = "hamming"
    margin: float = 1.0

    @property
    def n_columns(self) -> int:
        return self.parts[0].n_columns

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)

    def raw(self, rows: MatrixRows) -> FloatArray:
        return np.hstack([part.raw(rows) for part in self.parts])

    def _shares(self, raw: FloatArray) -> list[tuple[Head, FloatArray]]:
        ends = np.cumsum([part.width for part in self.parts])
        # Each on its own, as it was when it was a part's: sums over rows that lie apart may round otherwise.
        pieces = [np.ascontiguousarray(piece) for piece in np.split(raw, ends[:-1], axis=1)]
        return list(zip(self.parts, pieces, strict=True))

    def _scores(self, raw: FloatArray) -> FloatArray:
        Z = np.column_stack([scores_of(part, own) for part, own in self._shares(raw)])
        if len(self.classes) == 2 or self.strategy == "rest":
            return Z
        if self.strategy == "pairs":
            return scores_of_votes(Z, self.code)
        loss = None if self.decoding == "hamming" else BIT_LOSSES[self.decoding](self.margin)
        return scores_of_bits(Z, self.code, loss)

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        return np.asarray(self.classes[winners(self._scores(raw))])

    @property
    def has_decision(self) -> bool:
        return True

    def decision(self, raw: FloatArray) -> FloatArray:
        Z = self._scores(raw)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    @property
    def has_probabilities(self) -> bool:
        return all(part.has_probabilities for part in self.parts)

    def probabilities(self, raw: FloatArray) -> FloatArray:
        R = np.column_stack([part.probabilities(own)[:, 1] for part, own in self._shares(raw)])
        best = winners(self._scores(raw))
        if len(self.classes) == 2:
            return agreeing(np.column_stack([1.0 - R, R]), best)
        if self.strategy == "rest":
            return agreeing(normalised(R), best)
        combined = (
            coupled_pairs(R, len(self.classes)) if self.strategy == "pairs" else classes_of_bits(R, self.code)
        )
        return agreeing(combined, best)

    @property
    def scores(self) -> list[Scores]:
        return [scores for part in self.parts for scores in part.scores]

    @property
    def has_weights(self) -> bool:
        is_of_parts = len(self.classes) == 2 or self.strategy == "rest"
        return is_of_parts and all(part.has_weights for part in self.parts)

    def column_sizes(self) -> FloatArray:
        return np.max([part.column_sizes() for part in self.parts], axis=0)

    def telling_rows(self) -> Arrays | None:
        return self.parts[0].telling_rows()

    def rounding(self, rows: MatrixRows) -> float:
        return max(part.rounding(rows) for part in self.parts)

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        if len(self.classes) == 2:
            return self.parts[0].weights_for(place)
        return self.parts[place].weights_for(1) if self.strategy == "rest" else super().weights_for(place)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        draft.put(place, "code", np.array(self.code, dtype=np.int8))
        kept = {
            "kind": self.kind,
            "classes": put_labels(draft, f"{place}.classes", self.classes),
            "strategy": self.strategy,
            "decoding": self.decoding,
            "margin": self.margin,
        }
        if (stack := stacked(self.parts)) is not None:
            return {**kept, "stack": put_stack(draft, f"{place}.stack", stack)}
        return {**kept, "parts": [part.put(draft, f"{place}.parts.{k}") for k, part in enumerate(self.parts)]}

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> CodedHead:
        """What ``put`` kept."""
        classes, strategy = read_labels(spec.child("classes")), spec.text("strategy", STRATEGIES)
        K = len(classes)
        if spec.has("stack"):
            parts: tuple[Head, ...] = read_stack(spec.child("stack"), n_columns)
        else:
            parts = tuple(read_part(child, n_columns) for child in spec.children("parts"))
        code = spec.tensor("code", (np.int8,), (K, len(parts)))
        needed = {"rest": K, "pairs": K * (K - 1) // 2}.get(strategy, len(parts)) if K != 2 else 1
        if K < 2 or len(parts) != needed or not len(parts):
            spec.refuse("parts", f"{needed} parts for {K} classes", f"{len(parts)} parts")
        if not all(part.classes is not None and len(part.classes) == 2 for part in parts):
            spec.refuse("parts", "parts that answer 0 or 1", "others")
        if not np.isin(code, (-1, 0, 1)).all():
            spec.refuse("code", "-1, 0 and 1", "other numbers")
        decoding = spec.text("decoding", ("hamming", *BIT_LOSSES))
        return cls(parts, classes, strategy, code, decoding, spec.number("margin"))


@dataclass(frozen=True, eq=False)
class CalibratedHead(Head):
    """Probabilities that were fitted to held-out scores of another head.

    Attributes
    ----------
    inner : whose scores are taken
    classes : the labels
    temperature : of a softmax, or None
    slopes, shifts : (K,) of sigmoids, one for two classes, or None
    """

    kind: ClassVar[str] = "calibrated"

    inner: Head
    classes: NDArray[Any]
    temperature: float | None = None
    slopes: FloatArray | None = None
    shifts: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        return self.inner.n_columns

    @property
    def width(self) -> int:
        return self.inner.width

    def raw(self, rows: MatrixRows) -> FloatArray:
        return self.inner.raw(rows)

    def predict(self, raw: FloatArray) -> NDArray[Any]:
        return np.asarray(self.classes[self.probabilities(raw).argmax(axis=1)])

    @property
    def has_decision(self) -> bool:
        return self.temperature is not None

    def decision(self, raw: FloatArray) -> FloatArray:
        Z = scores_of(self.inner, raw)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    @property
    def has_probabilities(self) -> bool:
        return True

    def probabilities(self, raw: FloatArray) -> FloatArray:
        Z = scores_of(self.inner, raw)
        best = winners(Z)
        if self.temperature is not None:
            return crowned(probabilities(Z, self.temperature), best)
        assert self.slopes is not None
        assert self.shifts is not None
        lines = zip(self.slopes.tolist(), self.shifts.tolist(), Z.T, strict=True)
        P = np.column_stack([expit(slope * z + shift) for slope, shift, z in lines])
        return settled(P, best)

    @property
    def scores(self) -> list[Scores]:
        return self.inner.scores

    @property
    def has_weights(self) -> bool:
        return self.inner.has_weights

    def column_sizes(self) -> FloatArray:
        return self.inner.column_sizes()

    def telling_rows(self) -> Arrays | None:
        return self.inner.telling_rows()

    def rounding(self, rows: MatrixRows) -> float:
        return self.inner.rounding(rows)

    def weights_for(self, place: int) -> tuple[FloatArray, float]:
        return self.inner.weights_for(place)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        for name, array in (("slopes", self.slopes), ("shifts", self.shifts)):
            if array is not None:
                draft.put(place, name, array)
        return {
            "kind": self.kind,
            "classes": put_labels(draft, f"{place}.classes", self.classes),
            "temperature": self.temperature,
            "inner": self.inner.put(draft, f"{place}.inner"),
        }

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> CalibratedHead:
        """What ``put`` kept."""
        classes, inner = read_labels(spec.child("classes")), read_part(spec.child("inner"), n_columns)
        K = len(classes)
        if K < 2 or inner.classes is None or len(inner.classes) != K:
            spec.refuse("inner", f"a head of {K} classes, two at least", inner.kind)
        if spec.has("temperature"):
            return cls(inner, classes, spec.number("temperature", 0.0, is_above=True))
        shape = (1 if K == 2 else K,)
        slopes, shifts = (spec.tensor(name, (np.float64,), shape) for name in ("slopes", "shifts"))
        return cls(inner, classes, None, slopes, shifts)


def settled(P: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """Probabilities of classes against the rest over their sum, ties going to the higher score."""
    P = np.column_stack([1.0 - P, P]) if P.shape[1] == 1 else normalised(P)
    is_tied = P[np.arange(len(P)), best] == P.max(axis=1)
    return crowned(P, np.where(is_tied, best, P.argmax(axis=1)))


def stacked(parts: Sequence[Head]) -> list[ClassesHead] | None:
    """Parts that differ in their weights and temperatures alone; None if they are not such."""
    alike = [part for part in parts if isinstance(part, ClassesHead)]
    if len(alike) < len(parts) or len({(part.link, _shape(part)) for part in alike}) > 1:
        return None
    is_plain = alike[0].link != "joint" and alike[0].width == 1 and _shape(alike[0])[0] == "dot"
    are_bits = all(
        part.classes.dtype == _BITS.dtype and np.array_equal(part.classes, _BITS) for part in alike
    )
    return alike if is_plain and are_bits else None


def _shape(part: ClassesHead) -> tuple[Any, ...]:
    scores = part.linear
    return scores.way, scores.threshold, scores.linear.barrier is None, scores.linear.W.dtype.str


def put_stack(draft: Draft, place: str, parts: Sequence[ClassesHead]) -> dict[str, Any]:
    """Keeps parts as one array, a row of weights for each: many pairs of classes are few arrays."""
    draft.put(place, "W", np.array([part.linear.linear.W[:, 0] for part in parts]))
    draft.put(place, "b", np.array([part.linear.linear.b[0] for part in parts], dtype=np.float64))
    draft.put(place, "temperatures", np.array([part.temperature for part in parts], dtype=np.float64))
    return {"link": parts[0].link}


def read_stack(spec: Spec, n_columns: int) -> tuple[Head, ...]:
    """Parts that ``put_stack`` kept."""
    W = spec.tensor("W", (np.float64, np.float32), (None, n_columns))
    b, temperatures = (spec.tensor(name, (np.float64,), (len(W),)) for name in ("b", "temperatures"))
    if not (np.isfinite(W).all() and np.isfinite(b).all() and (temperatures > 0).all()):
        spec.refuse("W", "finite numbers, and temperatures above 0", "others")
    link = spec.text("link", ("none", "softmax", "own"))
    return tuple(
        ClassesHead(Scores(LinearScores(W[k][:, None], b[k : k + 1])), _BITS, link, float(temperatures[k]))
        for k in range(len(W))
    )


def read_part(spec: Spec, n_columns: int) -> Head:
    """A head inside a head."""
    from lineal.model.parts import read_head

    if spec.place.count("parts") + spec.place.count("inner") > MOST_DEEP:
        spec.refuse("kind", f"nested at most {MOST_DEEP} deep", "deeper")
    head = read_head(spec, n_columns)
    if head.classes is None:
        spec.refuse("kind", "a head of classes", head.kind)
    return head
