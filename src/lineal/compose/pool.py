"""Rows with and without labels, and the rounds in which labels are added."""

from __future__ import annotations

import copy
import numbers
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import cancellable
from lineal.compose.confidence import Mask, Proposals, believed, surest
from lineal.compose.fitting import Job, fit_parts
from lineal.compose.inputs import take
from lineal.errors import ParameterError
from lineal.learners.marks import MarkedLabels, marked_labels
from lineal.learners.targets import codes_among
from lineal.objective.losses import FloatArray


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
    n_held_back : how many more rows were confident, which ``growth`` did not let in
    """

    round: int
    rows: NDArray[np.intp]
    labels: NDArray[Any]
    confidences: FloatArray
    learner: int | None = None
    n_held_back: int = 0

    def __str__(self) -> str:
        counts = Counter(str(label) for label in self.labels.tolist())
        of = ", ".join(f"{label}: {count}" for label, count in sorted(counts.items()))
        to = "" if self.learner is None else f" for learner {self.learner}"
        return f"round {self.round}: {len(self.rows)} rows added{to} ({of})"


class TrainingSet:
    """The rows with a label, D in the books, and those without, U.

    A row moves from U to D at most once, and its label never changes. ``since`` is 0 for rows that came with
    a label, the round for rows that were added, and -1 for those in U. Rows of weight 0 teach nothing: a
    class of such rows alone is no class.
    """

    def __init__(self, given: MarkedLabels, s: FloatArray) -> None:
        self._given = given
        self.s = s
        self.classes = given.classes
        self.since = np.where(given.is_given, 0, -1)
        self._codes = given.codes.copy()
        teaches = given.is_given & (s > 0)
        weights = np.bincount(given.codes[teaches], weights=s[teaches], minlength=len(self.classes))
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
        others: Proposals | None = None,
    ) -> Added:
        """Chosen proposals that ``growth`` lets in, the surest first; of two models by the less sure one."""
        is_within = np.ones(len(chosen), dtype=bool)
        if growth is not None:
            sureness = made.sureness if others is None else np.minimum(made.sureness, others.sureness)
            is_within = self.within(growth, made.rows[chosen], made.codes[chosen], sureness[chosen])
        kept = chosen[is_within]
        n_held_back = len(chosen) - len(kept)
        return Added(
            made.round, made.rows[kept], made.labels[kept], confidence[is_within], learner, n_held_back
        )

    def within(
        self, growth: float, rows: NDArray[np.intp], codes: NDArray[np.int32], sureness: FloatArray
    ) -> Mask:
        """Which rows may be added so that no class outgrows its share.

        The surest rows of a class are taken until it weighs (1 + growth) x the weight of D x its share of the
        given labels; the row that reaches the limit is taken.
        """
        is_taken = np.zeros(len(rows), dtype=bool)
        known = self.known
        held = np.bincount(self._codes[known], weights=self.s[known], minlength=len(self.classes))
        quotas = (1.0 + growth) * held.sum() * self.shares - held
        for code, quota in enumerate(quotas):
            members = np.flatnonzero(codes == code)
            members = members[surest(sureness[members])]
            weights = self.s[rows[members]]
            is_taken[members[np.cumsum(weights) - weights < quota]] = True
        return is_taken

    def add(self, found: Added) -> None:
        """Moves rows from U to D."""
        self._codes[found.rows] = codes_among(self.classes, found.labels)
        self.since[found.rows] = found.round

    def transduction(self) -> NDArray[Any]:
        """(n,) labels given and added; rows without one keep their mark."""
        added = np.flatnonzero(self.since > 0)
        return self._given.filled(added, self.labels(added))

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
    return TrainingSet(marked_labels(owner, y, unlabelled, s), s)


# ---- rounds ---------------------------------------------------------------------------------------

Callback = Callable[[Sequence[Added]], object]
_NOTHING = "no further row was confident"
_NOTHING_WITHIN = "growth let no further row in: classes of confident rows are ahead of their share"


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
    with cancellable() as token:
        while not reason:
            if not has_more():
                reason = "no unlabelled rows are left"
                break
            train()
            if token.is_over:
                reason = "interrupted"
                break
            n_rounds += 1
            tried = extend(n_rounds)
            found = [each for each in tried if len(each.rows)]
            history += found
            # The models know nothing of rows added now: the last training is on all of them.
            if any(callback(found) is True for callback in callbacks):
                reason = "a callback asked to stop"
            elif not found:
                is_held_back = any(each.n_held_back for each in tried)
                reason = _NOTHING_WITHIN if is_held_back else _NOTHING
            elif n_rounds == rounds:
                reason = f"rounds={rounds} reached"
            elif max_seconds is not None and time.perf_counter() - began >= max_seconds:
                reason = f"max_seconds={max_seconds} reached"
            elif token.is_over:
                reason = "interrupted"
        is_up_to_date = n_rounds > 0 and reason in (_NOTHING, _NOTHING_WITHIN)
        if not (token.is_over or is_up_to_date):
            train()
        return Rounds(history, n_rounds, reason, token.is_over)
