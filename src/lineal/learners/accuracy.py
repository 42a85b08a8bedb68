"""The share of labels that is right, whatever the labels are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import protocol
from lineal.errors import InputError
from lineal.learners.targets import labels_of_rows, plain_array, weights_of_rows


class ClassifierMixin(protocol.ClassifierMixin):
    """A classifier of the library, whose score takes all labels that its ``fit`` takes.

    scikit-learn's score refuses labels of several types, tuples and bytes.
    """

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows whose label is predicted, by weight where there are weights."""
        return accuracy(self.predict(X), y, sample_weight)


def accuracy(predicted: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """The share of labels that are as predicted."""
    said = plain_array(predicted)
    wanted = labels_of_rows(y, len(said))
    if "O" not in (kinds := {said.dtype.kind, wanted.dtype.kind}) and len(kinds & set("US")) == 1 < len(
        kinds
    ):
        raise InputError(
            f"y has labels of type {wanted.dtype}, but {said.dtype} is predicted: none can be right."
        )
    return float(np.average(_are_equal(said, wanted), weights=weights_of_rows(sample_weight, len(said))))


def _are_equal(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    if a.dtype.kind == b.dtype.kind != "O":
        return np.asarray(a == b)
    # NumPy would make text of numbers beside text, and rows of tuples.
    return np.fromiter((x == y for x, y in zip(a.tolist(), b.tolist(), strict=True)), bool, len(a))
