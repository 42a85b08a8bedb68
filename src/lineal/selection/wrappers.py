"""What selectors that ask a learner share: options, data, and the columns that are worth trying."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import checked_rows, thread_count
from lineal.data.targets import groups_as_given
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.learners.reading import read_matrix
from lineal.learners.targets import (
    classes_and_codes,
    labels_of_rows,
    numbers_of_rows,
    require_targets,
    weights_of_rows,
)
from lineal.learners.weighting import weight_argument
from lineal.protocol import is_classifier, is_regressor
from lineal.selection.base import ColumnSelector
from lineal.selection.judge import Columns, Examples, Trainer, folds_of
from lineal.selection.measures import are_numbers, measured, read_question, require_measure
from lineal.selection.ranking import best, names_of_columns


@dataclass(frozen=True)
class Lesson:
    """Data that were read, for a learner to be tried on.

    Attributes
    ----------
    examples : Examples
    learner : not fitted
    are_classes : whether targets are classes
    pool : the columns that may be chosen, rising
    names : of all columns, if they have any
    groups : (n,) which rows are held out together, or None
    """

    examples: Examples
    learner: Any
    are_classes: bool
    pool: Columns
    names: NDArray[np.object_] | None
    groups: NDArray[Any] | None = None

    def fitted(self, columns: Columns) -> Any:
        """The learner with the options it came with, fitted to these columns of all rows."""
        return Trainer(self.learner, warm_start=False).fitted(self.examples, columns)


class LearnerSelector(ColumnSelector):
    """A selector that asks a learner; subclasses say which one by default, and how they search."""

    learner: Any
    n_columns: int | None
    cv: Any
    scoring: Any
    candidates: int | None
    measure: str
    warm_start: bool
    random_state: Any
    progress: bool

    def _default_learner(self, *, are_classes: bool) -> Any:
        raise NotImplementedError

    def _check_options(self) -> None:
        learner, name = self.learner, type(self).__name__
        if isinstance(learner, type) or (learner is not None and not hasattr(learner, "fit")):
            raise ParameterError(f"{name} needs a learner with fit, such as Ridge(), got {learner!r}.")
        for option in ("n_columns", "candidates"):
            require_count(option, getattr(self, option), "None")
        if isinstance(self.cv, numbers.Integral) and int(self.cv) < 2:
            raise ParameterError(f"cv must be a number of folds >= 2 or a splitter, got {self.cv!r}.")
        require_measure(self.measure)
        self._seed()

    def _seed(self) -> int:
        """The seed of the folds; the same data give the same columns, unless another one is asked for."""
        if self.random_state is None:
            return 0
        if not isinstance(self.random_state, numbers.Integral) or isinstance(self.random_state, bool):
            raise ParameterError(f"random_state must be None or a whole number, got {self.random_state!r}.")
        return int(self.random_state) % 2**32

    def _lesson(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Lesson:
        require_targets(self, y)
        self._check_options()
        array = read_matrix(self, X, reset=True)
        checked_rows(array, thread_count(None), getattr(self, "feature_names_in_", None))
        n_rows, n_columns = array.shape
        if self.n_columns is not None and int(self.n_columns) > n_columns:
            raise ParameterError(f"n_columns={self.n_columns} were asked for, but X has {n_columns}.")
        learner, are_classes = self._learner_for(y)
        targets = labels_of_rows(y, n_rows) if are_classes else numbers_of_rows(y, n_rows, str(learner))
        s = None if sample_weight is None else weights_of_rows(sample_weight, n_rows)
        if s is not None and weight_argument(learner) is None:
            raise InputError(
                f"{type(self).__name__} was given sample_weight, but {type(learner).__name__} has no weights "
                "of rows. Leave them out, or take a learner whose fit has sample_weight."
            )
        examples = Examples(sp.csc_array(array) if sp.issparse(array) else array, targets, s)
        self._require_two(examples, are_classes=are_classes)
        names = names_of_columns(getattr(self, "feature_names_in_", None), None, n_columns)
        whole = None if groups is None else groups_as_given(groups, n_rows)
        pool = self._pool(examples, are_classes=are_classes)
        return Lesson(examples, learner, are_classes, pool, names, whole)

    def _learner_for(self, y: ArrayLike) -> tuple[Any, bool]:
        """The learner, and whether the targets are classes: it says so, or else they do."""
        learner = self.learner
        if learner is not None and (is_classifier(learner) or is_regressor(learner)):
            return learner, bool(is_classifier(learner))
        are_classes = not are_numbers(y, "auto", "pass a regressor or a classifier as learner")
        return self._default_learner(are_classes=are_classes) if learner is None else learner, are_classes

    def _require_two(self, examples: Examples, *, are_classes: bool) -> None:
        y = examples.y if examples.s is None else examples.y[examples.s > 0]
        if len(y) < 2:
            raise InputError(f"{type(self).__name__} needs at least 2 rows, got n_samples = {len(y)}.")
        if are_classes and len(classes_and_codes(y)[0]) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has only one class: "
                f"{y[:1].tolist()[0]!r}. Check the labels or the split."
            )

    def _pool(self, examples: Examples, *, are_classes: bool) -> Columns:
        """The columns that are worth trying, by these rows."""
        d = examples.X.shape[1]
        if self.candidates is None or int(self.candidates) >= d:
            return np.arange(d)
        least = self.n_columns or 1
        if int(self.candidates) < least:
            raise ParameterError(
                f"candidates={self.candidates} are fewer than the n_columns={self.n_columns} to choose."
            )
        question = read_question(
            examples.X, examples.y, self.measure, examples.s, target="classes" if are_classes else "numbers",
            asker=type(self).__name__,
        )  # fmt: skip
        found = measured(question, int(self.candidates))
        picked = found.order if found.order is not None else best(found.scores, int(self.candidates))
        return np.sort(picked)

    def _folds(self, lesson: Lesson) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        return folds_of(
            self.cv, lesson.examples, are_classes=lesson.are_classes, seed=self._seed(), groups=lesson.groups
        )


def require_count(name: str, value: Any, otherwise: str) -> None:
    """Refuses what is no whole number >= 1, nor None."""
    is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
    if value is not None and not is_count:
        raise ParameterError(f"{name} must be a whole number >= 1 or {otherwise}, got {value!r}.")
