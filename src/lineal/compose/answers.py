"""What fitted parts answer: scores, labels and probabilities, in one shape for learners of every origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.evaluation.predictions import are_class_scores, last_step
from lineal.learners.catalogue import Catalogue
from lineal.learners.targets import plain_array
from lineal.model.answers import logs_of, possible, score_columns
from lineal.objective.losses import FloatArray


def scores_of(part: Any, X: Any) -> FloatArray:
    """(n, 1) for two classes, (n, K) for more: decision values, else logs of probabilities, else votes.

    Of probabilities two classes have log odds, more have log probabilities.
    Votes of a part that has nothing but ``predict`` are -1 and +1, or 0 and 1.
    """
    if hasattr(part, "decision_function"):
        return score_columns(decision_values(part, X))
    if hasattr(part, "predict_proba"):
        return score_columns(log_probabilities(part, X))
    K = len(part.classes_)
    chosen = places_of(part, X, Catalogue(plain_array(part.classes_)))
    votes = np.asarray(chosen[:, None] == np.arange(K), dtype=np.float64)
    return votes[:, 1:] - votes[:, :1] if K == 2 else votes


def log_probabilities(part: Any, X: Any) -> FloatArray:
    """(n, K) finite, and told apart where the probabilities themselves round to 0 and 1."""
    return possible(raw_logs(part, X), are_exact=hasattr(last_step(part), "log_joint"))


def raw_logs(part: Any, X: Any) -> FloatArray:
    """(n, K) logarithms of probabilities as a part gives them, -inf for 0."""
    if not hasattr(part, "predict_log_proba"):
        return logs_of(np.asarray(part.predict_proba(X), dtype=np.float64))
    with np.errstate(divide="ignore"):
        return np.asarray(part.predict_log_proba(X), dtype=np.float64)


def decision_values(part: Any, X: Any) -> FloatArray:
    """(n,) or (n, K) of ``decision_function``; scores of anything but the classes are refused."""
    Z = np.asarray(part.decision_function(X), dtype=np.float64)
    if not are_class_scores(part, Z):
        raise InputError(
            f"{type(last_step(part)).__name__} has a score for each pair of classes, or {Z.shape[-1]} scores "
            f"for {len(part.classes_)} classes, where one for each class is needed. Set "
            "decision_function_shape='ovr' if it has that option."
        )
    return Z


def places_of(part: Any, X: Any, known: Catalogue) -> NDArray[np.intp]:
    """Where the labels that a part predicts stand among the known ones; behind them all where it refuses."""
    return places_among(known, plain_array(part.predict(X)), part)


def places_among(known: Catalogue, answers: NDArray[Any], part: Any) -> NDArray[np.intp]:
    """Where labels that a part has predicted stand among the known ones; behind them all if it refused."""
    places = known.places(answers)
    for stray in answers[places == len(known)].tolist():
        if not _is_same(stray, getattr(last_step(part), "refusal", object())):
            raise InputError(
                f"{type(part).__name__} predicts {stray!r}, which is not one of the labels it was given."
            )
    return places


def _is_same(a: Any, b: Any) -> bool:
    return a is b or bool(a == b) or (a != a and b != b)  # NaN is not equal to itself


def probabilities_of(part: Any, X: Any, known: Catalogue) -> FloatArray:
    """(n, K) probabilities of the known labels; 0 for those that the part has never met."""
    p = np.asarray(part.predict_proba(X), dtype=np.float64)
    places = known.places(plain_array(part.classes_))
    if len(places) == len(known) and (places == np.arange(len(known))).all():
        return p
    spread = np.zeros((len(p), len(known)))
    spread[:, places] = p
    return spread


def require_probabilities(owner: str, learner: Any, purpose: str) -> None:
    """Refuses a learner without probabilities where they are needed."""
    if not hasattr(learner, "predict_proba"):
        raise ParameterError(
            f"{owner} needs probabilities for {purpose}, but {type(learner).__name__} has no predict_proba "
            "as it is set. Set probability=True where it has that option, or wrap it in Calibrated."
        )
