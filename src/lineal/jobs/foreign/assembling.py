"""Weights from elsewhere become models that answer as the other library does, ties included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import lineal
from lineal.learners.freezing import model_of
from lineal.model import Model
from lineal.model.composed import CodedHead
from lineal.model.features.base import Features
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.linear import LinearScores, Scores

FloatArray = NDArray[np.float64]

# The smallest number there is. Where an intercept is 0, a row of zeros has scores that are equal, and so
# small a difference decides between them as the other library does, and changes no other score.
_LEAST = 5e-324


def assemble(features: Features, head: Head, *, learner: str, notes: dict[str, Any]) -> Model:
    """A model that says where it comes from."""
    about = {"learner": learner, "version": lineal.__version__, "notes": {"imported": notes}}
    return model_of(features, head, about=about)


def numbers(W: ArrayLike, b: ArrayLike, *, is_one: bool = True) -> NumbersHead:
    """Predictions x . w + b, of weights (n_columns, n_outputs)."""
    return NumbersHead(_scores(W, b), is_one)


def two_classes(w: ArrayLike, b: float, above: Any, below: Any, link: str = "none") -> ClassesHead:
    """One score, for ``above`` where it is above 0 and for ``below`` elsewhere, 0 included."""
    W = np.asarray(w).reshape(-1, 1)
    classes = _array([below, above])
    if bool(classes[0] < classes[1]):
        # Scores of 0 go to the second class here, so that of a row of zeros is put below it.
        return ClassesHead(_scores(W, [-_LEAST if b == 0.0 else b]), classes, link)
    return ClassesHead(_scores(-W, [-b]), classes[::-1].copy(), link)


def many_classes(
    W: ArrayLike, b: ArrayLike, labels: Sequence[Any] | NDArray[Any], link: str = "none"
) -> ClassesHead:
    """A score for each label, (n_columns, K) weights; of equal scores the first label's wins."""
    classes = _array(labels)
    order = np.argsort(classes, kind="stable")
    b = np.array(b, dtype=np.float64)
    b = np.where(b == 0.0, -_LEAST * np.arange(len(b)), b) if (order != np.arange(len(b))).any() else b
    return ClassesHead(_scores(np.asarray(W)[:, order], b[order]), classes[order], link)


def voting_classes(W: ArrayLike, b: ArrayLike, labels: Sequence[Any] | NDArray[Any]) -> CodedHead:
    """A score for each pair i < j of labels, for i above 0 and for j elsewhere; the first of most votes wins.

    The labels stay in the order they come in, which ties of votes are decided by.
    """
    W, b, K = np.asarray(W), np.asarray(b, dtype=np.float64), len(labels)
    first, second = np.triu_indices(K, 1)
    code = np.zeros((K, len(first)), dtype=np.int8)
    code[first, np.arange(len(first))] = -1
    code[second, np.arange(len(first))] = 1
    pair = np.array([0, 1])
    parts = tuple(ClassesHead(_scores(-W[:, k : k + 1], [-b[k]]), pair) for k in range(len(first)))
    return CodedHead(parts, _array(labels), "code", code)


def _scores(W: ArrayLike, b: ArrayLike) -> Scores:
    W = np.ascontiguousarray(W)
    W = W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)
    return Scores(LinearScores(W, np.array(b, dtype=np.float64)))


def _array(labels: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    return labels if isinstance(labels, np.ndarray) else np.array(labels)
