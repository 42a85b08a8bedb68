"""What learners made of learners share: how they are declared, taught, and asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.fitting import Job, require_weights, weights_at
from lineal.compose.inputs import count_rows, read_once, reads_numbers, take
from lineal.data import thread_count
from lineal.data.targets import groups_as_given
from lineal.errors import InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.catalogue import Catalogue
from lineal.learners.targets import labels_of_rows, require_targets, weights_of_rows
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, check_is_fitted, get_tags


@dataclass(frozen=True)
class Lesson:
    """Data that were read and checked, for parts to learn from.

    Attributes
    ----------
    X : rows of the kind that the parts take
    targets : (n,) labels or numbers as they came
    s : (n,) weights > 0, or None: nobody gave any
    n_rows : how many rows there are
    groups : (n,) which rows are to be held out together, or None
    kept : (n,) where these rows are among those that came, or None: none had weight 0
    n_given : how many rows came, where ``kept`` says which are left
    """

    X: Any
    targets: NDArray[Any]
    s: FloatArray | None
    n_rows: int
    groups: NDArray[Any] | None = None
    kept: NDArray[np.intp] | None = None
    n_given: int = 0

    def as_given(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Places of rows among those that came."""
        return rows if self.kept is None else self.kept[rows]

    def for_all(self, values: FloatArray) -> FloatArray:
        """Numbers about these rows as numbers about all that came, NaN for those of weight 0."""
        if self.kept is None:
            return values
        whole = np.full((self.n_given, *values.shape[1:]), np.nan)
        whole[self.kept] = values
        return whole

    @property
    def counts(self) -> FloatArray:
        """(n,) how often each row counts where numbers of rows matter: weights may be in units of their sum.

        1 without weights; else the weights, scaled up where they sum to less than there are rows.
        """
        s = np.ones(self.n_rows) if self.s is None else self.s
        return s * max(1.0, self.n_rows / float(s.sum()))

    def job(self, learner: Any, rows: NDArray[Any] | None = None) -> Job:
        """A part to be fitted to some of the rows; None: to all."""
        targets = self.targets if rows is None else self.targets[rows]
        return Job(learner, targets, rows, weights_at(self.s, rows))


class Composite(BaseEstimator):
    """A learner made of learners.

    A subclass says what it is made of (``_made_of``), refuses impossible options before data are looked at
    (``_check_options``) and fits its parts to a ``Lesson``.
    """

    n_threads: int | None = None
    # Whether the learners inside must take weights of rows for this one to take them.
    _passes_weights_on = True

    def _made_of(self) -> Sequence[Any]:
        """The learners inside, not fitted, with defaults where none were given."""
        raise NotImplementedError

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        thread_count(self.n_threads)
        for learner in self._made_of():
            if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
                hint = f"; write {learner.__name__}()" if isinstance(learner, type) else ""
                raise ParameterError(
                    f"{type(self).__name__} is made of learners with fit and get_params, got {learner!r}"
                    f"{hint}."
                )

    def _reads_numbers(self) -> bool:
        return all(reads_numbers(learner) for learner in self._made_of())

    def _read(self, X: Any, *, reset: bool) -> Any:
        return read_once(self, X, self._made_of(), reset=reset)

    def _asked(self, X: Any) -> Any:
        """X for parts that are fitted."""
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _targets(self, y: Any, n_rows: int) -> NDArray[Any]:
        """y, checked."""
        raise NotImplementedError

    def _lesson(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Lesson:
        """Everything checked; rows of weight 0 are no rows."""
        require_targets(self, y)
        self._check_options()
        if sample_weight is not None and self._passes_weights_on:
            require_weights(self, self._made_of())
        X = self._read(X, reset=True)
        n = count_rows(X)
        targets = self._targets(y, n)
        groups = None if groups is None else groups_as_given(groups, n)
        if sample_weight is None:
            return Lesson(X, targets, None, n, groups)
        s = weights_of_rows(sample_weight, n)
        kept = np.flatnonzero(s)
        if len(kept) < n:
            left = None if groups is None else groups[kept]
            return Lesson(take(X, kept), targets[kept], s[kept], len(kept), left, kept, n)
        return Lesson(X, targets, s, n, groups)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(learner) for learner in self._made_of() if hasattr(learner, "__sklearn_tags__")]
        for name in ("sparse", "two_d_array", "allow_nan"):
            setattr(tags.input_tags, name, all(getattr(tag.input_tags, name) for tag in inner))
        for name in ("string", "categorical", "positive_only"):
            setattr(tags.input_tags, name, any(getattr(tag.input_tags, name) for tag in inner))
        tags.target_tags.required = True
        return tags


def require_kind(owner: Any, learner: Any, kind: str) -> None:
    """Refuses a learner that says of itself that it is of another kind: "classifier" or "regressor"."""
    own = get_tags(learner).estimator_type if hasattr(learner, "__sklearn_tags__") else None
    if own in ("classifier", "regressor") and own != kind:
        raise ParameterError(
            f"{type(owner).__name__} is made of {kind}s, but {type(learner).__name__} is a {own}."
        )


class CompositeClassifier(ClassifierMixin, Composite):
    """A classifier made of learners; it has ``classes_``, sorted."""

    classes_: NDArray[Any]

    def _check_options(self) -> None:
        super()._check_options()
        for learner in self._made_of():
            require_kind(self, learner, "classifier")

    def _targets(self, y: Any, n_rows: int) -> NDArray[Any]:
        return labels_of_rows(y, n_rows)

    def _lesson_in_classes(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None
    ) -> tuple[Lesson, NDArray[np.int32]]:
        """A lesson, and the place of each row's label in ``classes_``, which are set."""
        lesson = self._lesson(X, y, sample_weight, groups)
        known = Catalogue.of(lesson.targets)
        if len(known) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has only one class: "
                f"{known.values.tolist()[0]!r}. Check the labels or the split."
            )
        self.classes_ = known.values
        return lesson, known.places(lesson.targets).astype(np.int32)

    def _known(self) -> Catalogue:
        return Catalogue(self.classes_)

    def _named(self, places: NDArray[np.intp]) -> NDArray[Any]:
        return np.asarray(self.classes_[places])
