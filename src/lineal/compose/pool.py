"""Rows with and without labels, and the rounds in which labels are added."""

from __future__ import annotations

import copy
import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.confidence import Mask, Proposals, believed, surest
from lineal.compose.fitting import Job, fit_parts
from lineal.compose.inputs import take
from lineal.errors import InputError, ParameterError
from lineal.learners.targets import (
    classes_and_codes,
    codes_among,
    labels_of_rows,
    one_column,
    plain_array,
)
from lineal.objective.losses import FloatArray
from lineal.solvers.driver import Interruption


@dataclass(frozen=True, eq=False)
class Added:
    """Rows that one round added to a training set.

    Attributes
    ----------
    round : from 1 on
    rows : (n,) their places in the data of ``fit``
    labels : (n,) the labels they got
    confidences : (n,) how sure the model was; of two models the less sure
    learner : None if all models learn from the rows; else which one does, 0 or 1
    """

    round: int
    rows: NDArray[np.intp]
    labels: NDArray[Any]
    confidences: FloatArray
    learner: int | None = None

    def __str__(self) -> str:
        labels, counts = np.unique(self.labels.astype(str), return_counts=True)
        of = ", ".join(f"{label}: {count}" for label, count in zip(labels, counts, strict=True))
        to = "" if self.learner is None else f" for learner {self.learner}"
        return f"round {self.round}: {len(self.rows)} rows added{to} ({of})"


class TrainingSet:
    """The rows with a label, D in the books, and those without, U.

    A row moves from U to D at most once, and its label never changes. ``since`` is 0 for rows that came with
    a label, the round for rows that were added, and -1 for those in U. Rows of weight 0 teach nothing: a
    class of such rows alone is no class.
    """

    def __init__(self, marked: NDArray[Any], is_given: Mask, s: FloatArray) -> None:
        self._marked = marked
        self.s = s
        given = labels_of_rows(_natural(marked[is_given]), int(is_given.sum()))
        self.classes, codes = classes_and_codes(given[s[is_given] > 0])
        self.since = np.where(is_given, 0, -1)
        self._codes = np.zeros(len(marked), dtype=np.int32)
        self._codes[is_given & (s > 0)] = codes
        weights = np.bincount(codes, weights=s[is_given & (s > 0)], minlength=len(self.classes))
        self.shares: FloatArray = np.asarray(weights / max(float(weights.sum()), 1e-300))

    @property
    def known(self) -> NDArray[np.intp]:
        """Rows with a label, in their order."""
        return np.flatnonzero(self.since >= 0)

    @property
    def unknown(self) -> NDArray[np.intp]:
        """Rows without one."""
        return np.flatnonzero(self.since < 0)

    def labels(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """The labels of some known rows of positive weight, or that were added."""
        return np.asarray(self.classes[self._codes[rows]])

    def train(self, learner: Any, data: Any, *, is_weighted: bool) -> Any:
        """TRAIN(A, D): a clone of the learner, fitted to the rows with a label and a weight."""
        rows = np.flatnonzero((self.since >= 0) & (self.s > 0))
        job = Job(learner, self.labels(rows), rows, self.s[rows] if is_weighted else None)
        return fit_parts(data, [job], 1)[0]

    def proposals(self, model: Any, data: Any, t: int) -> Proposals:
        """PREDICT(A, x) for all x in U."""
        unknown = self.unknown
        part = take(data, unknown)
        return Proposals(model, part, unknown, np.asarray(model.predict(part)), self.classes, t)

    def confident_rows(
        self,
        model: Any,
        data: Any,
        confident: Callable[[Proposals], Any],
        growth: float | None,
        t: int,
        learner: int | None = None,
    ) -> Added:
        """The rows of U that a model is confident of, as many as ``growth`` lets in."""
        made = self.proposals(model, data, t)
        chosen = np.flatnonzero(believed(confident, made))
        return self.surest_of(made, chosen, made.confidence[chosen], growth, learner)

    def surest_of(
        self,
        made: Proposals,
        chosen: NDArray[np.intp],
        confidence: FloatArray,
        growth: float | None,
        learner: int | None = None,
    ) -> Added:
        """Chosen proposals, as many as ``growth`` lets in."""
        is_within = self.within(growth, made.rows[chosen], made.codes[chosen], confidence)
        chosen = chosen[is_within]
        return Added(made.round, made.rows[chosen], made.labels[chosen], confidence[is_within], learner)

    def within(
        self, growth: float | None, rows: NDArray[np.intp], codes: NDArray[np.int32], confidence: FloatArray
    ) -> Mask:
        """Which rows may be added so that each class gains at most its share of ``growth``.

        The surest rows of a class are taken until they weigh growth x the weight of D x the class's share of
        the given labels; the row that reaches the limit is taken.
        """
        if growth is None:
            return np.ones(len(rows), dtype=bool)
        is_taken = np.zeros(len(rows), dtype=bool)
        quotas = growth * self.s[self.known].sum() * self.shares
        for code, quota in enumerate(quotas):
            members = np.flatnonzero(codes == code)
            members = members[surest(confidence[members])]
            weights = self.s[rows[members]]
            is_taken[members[np.cumsum(weights) - weights < quota]] = True
        return is_taken

    def add(self, found: Added) -> None:
        """Moves rows from U to D."""
        self._codes[found.rows] = codes_among(self.classes, found.labels)
        self.since[found.rows] = found.round

    def transduction(self) -> NDArray[Any]:
        """(n,) labels given and added; rows without one keep their mark."""
        result = self._marked.copy()
        added = np.flatnonzero(self.since > 0)
        result[added] = self.labels(added)
        return _natural(result) if (self.since >= 0).all() else result

    def joined(self, other: TrainingSet) -> TrainingSet:
        """The rows that either set knows, since the earlier round; without those whose labels differ."""
        if other is self:
            return self
        result = copy.copy(self)
        is_ours = (self.since >= 0) & ((other.since < 0) | (self.since <= other.since))
        result.since = np.where(is_ours, self.since, other.since)
        result._codes = np.where(is_ours, self._codes, other._codes)
        is_torn = (self.since >= 0) & (other.since >= 0) & (self._codes != other._codes)
        result.since[is_torn] = -1
        return result


def training_set(owner: Any, y: Any, unlabelled: Any, s: FloatArray) -> TrainingSet:
    """D and U from labels of which some are marks."""
    marked = _as_given(y)
    if marked.ndim != 1 or len(marked) != len(s):
        labels_of_rows(marked, len(s))  # which says what is wrong
    is_given = ~_are_marks(marked, unlabelled)
    mark = "None or NaN" if unlabelled is None else f"{unlabelled!r}, None or NaN"
    if not is_given.any():
        raise InputError(f"{type(owner).__name__} needs rows with a label, but all are marked by {mark}.")
    found = TrainingSet(marked, is_given, s)
    if np.count_nonzero(found.shares) < 2:
        raise InputError(
            f"{type(owner).__name__} needs at least 2 classes in the data, but y has only one class with "
            f"weight besides the marks of unlabelled rows ({mark}). If a mark is a label, change unlabelled=."
        )
    if is_given.all() and unlabelled is None and -1 in found.classes.tolist()[:1] and len(found.classes) > 2:
        message = (
            "every row has a label, and one label is -1: if it marks rows without one, say unlabelled=-1."
        )
        warnings.warn(message, UserWarning, stacklevel=3)
    return found


def _as_given(y: Any) -> NDArray[Any]:
    """Labels and marks side by side: NumPy must not make text of a mark, or a number of a label."""
    if isinstance(y, (list, tuple)) and not any(isinstance(each, list) for each in y):
        return np.fromiter(y, dtype=object, count=len(y))
    array = plain_array(y)
    return one_column(array) if array.ndim == 2 and array.shape[1] == 1 else array


def _are_marks(marked: NDArray[Any], unlabelled: Any) -> Mask:
    if marked.dtype.kind == "O":
        return np.fromiter((_is_mark(each, unlabelled) for each in marked.tolist()), bool, len(marked))
    is_missing = np.isnan(marked) if marked.dtype.kind == "f" else np.zeros(len(marked), dtype=bool)
    if unlabelled is None or (isinstance(unlabelled, str) != (marked.dtype.kind in "US")):
        return is_missing
    return np.asarray(is_missing | (marked == unlabelled))


def _is_mark(label: Any, unlabelled: Any) -> bool:
    if label is None or type(label).__name__ == "NAType" or label != label:  # NaN and its like
        return True
    if isinstance(label, bool) != isinstance(unlabelled, bool):
        return False  # True is no mark where 1 is one
    are_numbers = isinstance(label, numbers.Real) and isinstance(unlabelled, numbers.Real)
    return (are_numbers or type(label) is type(unlabelled)) and bool(label == unlabelled)


def _natural(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as NumPy would keep them had there been no marks among them."""
    if labels.dtype.kind != "O":
        return labels
    listed = labels.tolist()
    is_plain = all(isinstance(each, str) for each in listed) or all(
        isinstance(each, numbers.Real) for each in listed
    )
    return np.array(listed) if is_plain and listed else labels


# ---- rounds ---------------------------------------------------------------------------------------

Callback = Callable[[Sequence[Added]], object]


def check_rounds(rounds: Any, growth: Any, max_seconds: Any, callbacks: Any) -> None:
    """Refuses impossible limits."""
    if isinstance(rounds, bool) or not isinstance(rounds, numbers.Integral) or rounds < 1:
        raise ParameterError(f"rounds must be a whole number >= 1, got {rounds!r}.")
    if growth is not None and (not isinstance(growth, numbers.Real) or not 0 < float(growth) < np.inf):
        raise ParameterError(f"growth must be a number > 0, or None for no limit, got {growth!r}.")
    if max_seconds is not None and not (isinstance(max_seconds, numbers.Real) and float(max_seconds) > 0):
        raise ParameterError(f"max_seconds must be a number > 0 or None, got {max_seconds!r}.")
    if not isinstance(callbacks, Iterable) or not all(callable(each) for each in callbacks):
        raise ParameterError(f"callbacks must be a sequence of functions, got {callbacks!r}.")


@dataclass(frozen=True)
class Rounds:
    """What the rounds did, and why there was no other."""

    history: list[Added]
    n_rounds: int
    reason: str
    is_interrupted: bool


def run_rounds(
    train: Callable[[], None],
    extend: Callable[[int], list[Added]],
    has_more: Callable[[], bool],
    *,
    rounds: int,
    max_seconds: float | None,
    callbacks: Iterable[Callback],
) -> Rounds:
    """TRAIN, then ADD and REMOVE, ``rounds`` times; TRAIN once more on what there is in the end.

    A round that adds nothing is the last one: those after it would only repeat it.
    """
    history: list[Added] = []
    n_rounds, reason, began = 0, "", time.perf_counter()
    with Interruption() as interruption:
        while not reason:
            if not has_more():
                reason = "no unlabelled rows are left"
                break
            train()
            if interruption.requested:
                reason = "interrupted"
                break
            n_rounds += 1
            found = [each for each in extend(n_rounds) if len(each.rows)]
            history += found
            # The models know nothing of rows added now: the last training is on all of them.
            if any(callback(found) is True for callback in callbacks):
                reason = "a callback asked to stop"
            elif not found:
                reason = "no further row was confident"
            elif n_rounds == rounds:
                reason = f"rounds={rounds} reached"
            elif max_seconds is not None and time.perf_counter() - began >= max_seconds:
                reason = f"max_seconds={max_seconds} reached"
            elif interruption.requested:
                reason = "interrupted"
        is_up_to_date = n_rounds > 0 and reason == "no further row was confident"
        if not (interruption.requested or is_up_to_date):
            train()
        return Rounds(history, n_rounds, reason, interruption.requested)
