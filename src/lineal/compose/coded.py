"""What strategies for many classes share: one two-class learner for each column of a code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.compose.answers import probabilities_of, scores_of
from lineal.compose.base import CompositeClassifier, Lesson
from lineal.compose.codes import Code
from lineal.compose.fitting import Job, fit_parts, weights_at
from lineal.compose.threads import are_few, in_threads
from lineal.data import thread_count
from lineal.learners.catalogue import Catalogue
from lineal.learners.classifier import LinearClassifier
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import winners
from lineal.model.composed import CodedHead
from lineal.model.heads import Head
from lineal.model.simplex import agreeing
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if, check_is_fitted

# Two classes need one question, whatever the strategy.
_TWO: Code = np.array([[-1], [1]], dtype=np.int8)
_BITS = Catalogue(np.array([0, 1]))


class Strategy(NamedTuple):
    """What a stored model needs to know of a strategy; see ``lineal.model.composed.CodedHead``."""

    name: str
    decoding: str = "hamming"
    margin: float = 1.0


class CodedClassifier(CompositeClassifier):
    """One learner for each column of a code, taught 1 for classes with +1 and 0 for those with -1.

    A strategy says what its code is (``_code``), how scores of the parts become scores of classes
    (``_decoded``) and how their probabilities become those of classes (``_combined``).
    """

    code_: Code
    parts_: list[Any]

    def __init__(self, learner: Any = None, *, n_threads: int | None = None) -> None:
        self.learner = learner
        self.n_threads = n_threads

    def _made_of(self) -> Sequence[Any]:
        return (LinearClassifier() if self.learner is None else self.learner,)

    def _code(self, K: int) -> Code:
        """(K, L) of -1, +1 and 0, for K > 2."""
        raise NotImplementedError

    def _decoded(self, Z: FloatArray) -> FloatArray:
        """(n, K) scores of classes from (n, L) scores of parts."""
        raise NotImplementedError

    def _combined(self, R: FloatArray) -> FloatArray:
        """(n, K) probabilities from (n, L) probabilities of +1."""
        raise NotImplementedError

    # ---- learning -----------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teaches every part its question.

        Parameters
        ----------
        X : whatever the learner takes
            Numbers are read and checked once, not once for each part; sparse ones stay sparse.
        y : sequence of n_rows labels
            Anything hashable: text, numbers, booleans.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Passed on to a learner that takes it. A weight of 0 means no row at all.

        Returns
        -------
        self
        """
        before = (
            getattr(self, "classes_", None),
            getattr(self, "code_", None),
            getattr(self, "parts_", None),
        )
        lesson, codes = self._lesson_in_classes(X, y, sample_weight)
        K = len(self.classes_)
        code = _TWO if K == 2 else self._code(K)
        (learner,) = self._made_of()
        jobs = self._jobs(lesson, codes, code, learner, before)
        self.parts_ = fit_parts(lesson.X, jobs, self.n_threads)
        self.code_ = code
        return self

    def _jobs(
        self, lesson: Lesson, codes: NDArray[np.int32], code: Code, learner: Any, before: tuple[Any, ...]
    ) -> list[Job]:
        classes, old_code, parts = before
        is_same = parts is not None and np.array_equal(old_code, code) and _are_same(classes, self.classes_)
        jobs = []
        for l, column in enumerate(code.T):
            asked = column[codes]
            rows = None if column.all() else np.flatnonzero(asked)
            targets = ((asked if rows is None else asked[rows]) > 0).astype(np.int64)
            jobs.append(
                Job(learner, targets, rows, weights_at(lesson.s, rows), parts[l] if is_same else None)
            )
        return jobs

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        scores = self._scores(self._asked(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        return self._named(winners(self._scores(self._asked(X))))

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        X = self._asked(X)
        known = [partial(probabilities_of, part, X, _BITS) for part in self.parts_]
        found = in_threads(known, thread_count(self.n_threads), are_short=are_few(X))
        R = np.column_stack([p[:, 1] for p in found])
        P = np.column_stack([1.0 - R, R]) if len(self.classes_) == 2 else self._combined(R)
        return agreeing(P, winners(self._scores(X)))

    def _part_scores(self, X: Any) -> FloatArray:
        """(n, L)."""
        calls = [partial(scores_of, part, X) for part in self.parts_]
        return np.column_stack(in_threads(calls, thread_count(self.n_threads), are_short=are_few(X)))

    def _scores(self, X: Any) -> FloatArray:
        Z = self._part_scores(X)
        return Z if len(self.classes_) == 2 else self._decoded(Z)

    def _has_probabilities(self) -> bool:
        parts = getattr(self, "parts_", None) or self._made_of()
        return all(hasattr(part, "predict_proba") for part in parts)

    def _strategy(self) -> Strategy:
        """How a stored model decodes."""
        raise NotImplementedError

    def _frozen_head(self, head_of: Callable[[Any], Head]) -> CodedHead:
        """What a stored model answers with."""
        name, decoding, margin = self._strategy()
        parts = tuple(head_of(part) for part in self.parts_)
        return CodedHead(parts, np.array(self.classes_), name, self.code_, decoding, margin)

    _part_names = ("parts_",)

    def _stored_parts(self) -> dict[str, Any]:
        """The learners inside that a model file keeps."""
        return {"parts_": self.parts_}

    def _take_parts(self, stored: dict[str, list[Any]], head: Any, read: Callable[[Any, Any], Any]) -> None:
        """Takes learners back that a model file kept, with the weights of a head."""
        pairs = zip(stored["parts_"], head.parts, strict=True)
        self.parts_ = [read(part, own) for part, own in pairs]

    @property
    def certificates_(self) -> list[Any]:
        """The certificates of the parts, in their order, where they have any."""
        check_is_fitted(self)
        if not all(hasattr(part, "certificate_") for part in self.parts_):
            raise AttributeError(f"the parts of this {type(self).__name__} have no certificates.")
        return [part.certificate_ for part in self.parts_]


def _are_same(a: Any, b: NDArray[Any]) -> bool:
    return a is not None and a.tolist() == b.tolist()
