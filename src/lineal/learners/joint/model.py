"""What learners over a joint map phi(x, y) share, however they learn the weights of its features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.features.joint import LARGEST, JointMap, stacked
from lineal.learners.matrix import MatrixModel
from lineal.learners.targets import classes_and_codes, codes_among, plain_array
from lineal.objective.linear_maps import JointRows, LinearMap, NumpyRows


class JointModel(MatrixModel):
    """Things that phi takes, one weight for each feature that it names, and a score for each label."""

    phi: JointMap
    labels: Iterable[Any] | None
    classes_: NDArray[Any]
    feature_names_: list[Hashable]
    _columns: dict[Hashable, int]

    @property
    def weights_(self) -> dict[Hashable, float]:
        """The weight of every feature by its name."""
        return dict(zip(self.feature_names_, self.coef_.tolist(), strict=True))

    def top_features(self, k: int = 10) -> list[tuple[Hashable, float]]:
        """The k features whose weights are largest in size, with their weights."""
        names, coef = self.feature_names_, self.coef_
        order = np.argsort(-np.abs(coef), kind="stable")[:k]
        return [(names[j], float(coef[j])) for j in order]

    def _require_joint_options(self) -> None:
        """Refuses what is no map or no collection of labels."""
        if not callable(self.phi):
            raise ParameterError(f"phi must be a function of x and y, got {self.phi!r}.")
        if self.labels is not None and (
            isinstance(self.labels, str) or not isinstance(self.labels, Iterable)
        ):
            raise ParameterError(f"labels must be a collection of labels or None, got {self.labels!r}.")

    def _classes(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """The labels to choose from, sorted, and each row's place among them; those that are named stay."""
        if self.labels is None:
            return classes_and_codes(labels)
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

    def _built(self, array: NDArray[Any], *, reset: bool) -> LinearMap:
        matrix = self._stacked(array, is_learning=reset)
        return JointRows(checked_rows(matrix, thread_count(self.n_threads)), len(self.classes_))

    def _numpy_rows(self, X: Any) -> LinearMap:
        matrix = self._stacked(self._read(X, reset=False), is_learning=False)
        return JointRows(NumpyRows(matrix), len(self.classes_))

    def _stacked(self, things: NDArray[Any], *, is_learning: bool, largest: float = LARGEST) -> Any:
        columns: dict[Hashable, int] = {} if is_learning else self._columns
        matrix = stacked(
            self.phi, things, self.classes_.tolist(), columns, is_learning=is_learning, largest=largest
        )
        if is_learning and not columns:
            raise InputError("phi gives no features for any x and label, so there is nothing to learn.")
        self._columns = columns
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.sparse = False
        return tags
