"""CONFIDENT: when a model may label a row for itself or for another."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lineal.compose.answers import decision_values, log_probabilities, places_among, raw_logs
from lineal.errors import InputError, ParameterError
from lineal.learners.catalogue import Catalogue
from lineal.objective.losses import FloatArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Proposals:
    """Rows without a label, and the labels that a model would give them.

    This is what a function for ``confident=`` is called with; it answers with n truth values.

    Attributes
    ----------
    model : the model of this round, fitted
    X : the n rows, as the model takes them
    rows : (n,) their places in the data of ``fit``
    labels : (n,) what the model predicts; its refusal where it names no class
    classes : the labels to choose from, sorted
    round : which round it is, from 1 on
    """

    model: Any
    X: Any
    rows: NDArray[np.intp]
    labels: NDArray[Any]
    classes: NDArray[Any]
    round: int

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """(n,) each label's place among the classes; -1 where the model refused to name one."""
        places = places_among(Catalogue(self.classes), self.labels, self.model)
        return np.where(places < len(self.classes), places, -1).astype(np.int32)

    @cached_property
    def probabilities(self) -> FloatArray:
        """(n, K) of the model's ``predict_proba``."""
        return np.asarray(self.model.predict_proba(self.X), dtype=np.float64)

    @cached_property
    def probability(self) -> FloatArray:
        """(n,) of the proposed labels."""
        return np.asarray(self.probabilities[np.arange(len(self.codes)), self.codes])

    @cached_property
    def _logs(self) -> FloatArray:
        """(n, K) logarithms of probabilities."""
        return log_probabilities(self.model, self.X)

    @cached_property
    def margin(self) -> FloatArray:
        """(n,) the proposed label's score less the highest of the others'.

        Scores are those of ``decision_function``; the logarithms of probabilities where there is none.
        """
        if not hasattr(self.model, "decision_function"):
            return _lead(self._logs, self.codes)
        Z = decision_values(self.model, self.X)
        return np.where(self.codes == 1, Z, -Z) if Z.ndim == 1 else _lead(Z, self.codes)

    @cached_property
    def confidence(self) -> FloatArray:
        """(n,) the probability of the proposed label; its margin for models without probabilities."""
        return self.probability if hasattr(self.model, "predict_proba") else self.margin

    @cached_property
    def sureness(self) -> FloatArray:
        """(n, 2) what proposals are ordered by: the label's log odds, and its margin where those are inf.

        They order as ``confidence`` does, and tell apart what it rounds to 1. Of models without probabilities
        it is the margin alone.
        """
        if not hasattr(self.model, "predict_proba"):
            return np.column_stack([self.margin, np.zeros(len(self.codes))])
        rows, logs = np.arange(len(self.codes)), raw_logs(self.model, self.X).copy()  # which may be its own
        own = logs[rows, self.codes]
        logs[rows, self.codes] = -np.inf
        rest = np.logaddexp.reduce(logs, axis=1)
        odds = np.where(np.isneginf(rest), np.inf, own - np.where(np.isneginf(rest), 0.0, rest))
        is_tied = np.isinf(odds).any() and hasattr(self.model, "decision_function")
        return np.column_stack([odds, self.margin if is_tied else np.zeros(len(odds))])


def _lead(Z: FloatArray, codes: NDArray[np.int32]) -> FloatArray:
    rows = np.arange(len(codes))
    others = Z.copy()
    others[rows, codes] = -np.inf
    return np.asarray(Z[rows, codes] - others.max(axis=1))


class Confident(ABC):
    """A rule that says which proposals to believe; ``a & b``, one of them a function maybe, what both do."""

    @abstractmethod
    def __call__(self, proposals: Proposals) -> Mask:
        """(n,) whether each proposal is believed."""

    def refusal(self, learner: Any) -> str | None:
        """Why the rule cannot judge this learner; None if it can."""
        return None

    def __and__(self, other: Callable[[Proposals], Any]) -> Confident:
        return Both(self, other) if _is_rule(other) else NotImplemented

    def __rand__(self, other: Callable[[Proposals], Any]) -> Confident:
        return Both(other, self) if _is_rule(other) else NotImplemented


@dataclass(frozen=True)
class Threshold(Confident):
    """The model gives the label a probability of at least ``probability``.

    Examples
    --------
    >>> from lineal.compose import Threshold, TopK
    >>> Threshold(0.8) & TopK(5)
    Both(first=Threshold(probability=0.8), second=TopK(k=5))
    """

    probability: float = 0.9

    def __post_init__(self) -> None:
        if not isinstance(self.probability, numbers.Real) or not 0 <= float(self.probability) <= 1:
            raise ParameterError(f"Threshold needs a probability from 0 to 1, got {self.probability!r}.")

    def __call__(self, proposals: Proposals) -> Mask:
        return np.asarray(proposals.probability >= self.probability)

    def refusal(self, learner: Any) -> str | None:
        if hasattr(learner, "predict_proba"):
            return None
        return (
            f"{self} needs probabilities, and {learner!r} gives none: use Margin(1.0) or TopK(5), or a "
            "learner with predict_proba, such as LogisticRegression() or LinearSVC(probability=True)."
        )


@dataclass(frozen=True)
class Margin(Confident):
    """The label's score is at least ``margin`` above the next best.

    For two classes that is the size of ``decision_function``. Without that method it is the logarithm of the
    ratio of the two largest probabilities.
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.margin, numbers.Real) or not np.isfinite(float(self.margin)):
            raise ParameterError(f"Margin needs a finite number, got {self.margin!r}.")

    def __call__(self, proposals: Proposals) -> Mask:
        return np.asarray(proposals.margin >= self.margin)

    def refusal(self, learner: Any) -> str | None:
        return _refusal_without_scores(self, learner)


@dataclass(frozen=True)
class TopK(Confident):
    """The label is among the ``k`` surest of its class in this round.

    Sure is what has high log odds, or a high margin where a learner has no probabilities; among equals the
    earlier row.
    """

    k: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, numbers.Integral) or self.k < 1:
            raise ParameterError(f"TopK needs a whole number k >= 1, got {self.k!r}.")

    def __call__(self, proposals: Proposals) -> Mask:
        is_chosen = np.zeros(len(proposals.rows), dtype=bool)
        for code in np.unique(proposals.codes):
            members = np.flatnonzero(proposals.codes == code)
            is_chosen[members[surest(proposals.sureness[members])[: self.k]]] = True
        return is_chosen

    def refusal(self, learner: Any) -> str | None:
        return _refusal_without_scores(self, learner)


@dataclass(frozen=True)
class Both(Confident):
    """Two rules that must agree; written ``first & second``."""

    first: Callable[[Proposals], Any]
    second: Callable[[Proposals], Any]

    def __call__(self, proposals: Proposals) -> Mask:
        return believed(self.first, proposals) & believed(self.second, proposals)

    def refusal(self, learner: Any) -> str | None:
        return _refusal(self.first, learner) or _refusal(self.second, learner)


def _is_rule(confident: Any) -> bool:
    return callable(confident) and not isinstance(confident, type)


def _refusal(confident: Callable[[Proposals], Any], learner: Any) -> str | None:
    """Why a rule cannot judge this learner; a function can judge any."""
    return confident.refusal(learner) if isinstance(confident, Confident) else None


def _refusal_without_scores(rule: Confident, learner: Any) -> str | None:
    if hasattr(learner, "decision_function") or hasattr(learner, "predict_proba"):
        return None
    return (
        f"{rule} needs scores, and {learner!r} has neither decision_function nor predict_proba: use another "
        "learner, or a function of your own for confident=."
    )


def surest(sureness: FloatArray) -> NDArray[np.intp]:
    """Places from the surest on, by the first of two numbers, then the second; among equals the earlier."""
    return np.lexsort((-sureness[:, 1], -sureness[:, 0]))


def checked_rule(confident: Any, learner: Any) -> Callable[[Proposals], Any]:
    """The rule, if it can judge the learner."""
    if not _is_rule(confident):
        raise ParameterError(
            "confident must be a rule such as Threshold(0.9), TopK(5) or Margin(1.0), or a function of "
            f"Proposals, got {confident!r}."
        )
    reason = _refusal(confident, learner)
    if reason is not None:
        raise ParameterError(reason)
    return cast("Callable[[Proposals], Any]", confident)


def believed(confident: Callable[[Proposals], Any], proposals: Proposals) -> Mask:
    """What a rule answers, checked."""
    answer = np.asarray(confident(proposals))
    if answer.shape != proposals.rows.shape or answer.dtype != bool:
        raise InputError(
            f"confident= must answer with {len(proposals.rows)} truth values, one for each row it is asked "
            f"about, but gave an array of shape {answer.shape} and type {answer.dtype}."
        )
    return answer & (proposals.codes >= 0)  # of a refusal nobody is confident
