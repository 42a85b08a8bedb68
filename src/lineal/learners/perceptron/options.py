"""Options of learners that meet rows epoch by epoch, and what is said where epochs ended early."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from lineal.errors import NotConvergedWarning, ParameterError
from lineal.learners.perceptron.sizes import LARGEST
from lineal.objective.certificate import Stop

_USUAL_EPOCHS, _MOST_EPOCHS = 10, 1000


def require_run_options(learner: Any) -> None:
    """Refuses impossible epochs, learning_rate, max_seconds and callbacks."""
    require_epochs(learner.epochs)
    rate = learner.learning_rate
    require_positive("learning_rate", rate)
    if not 1.0 / LARGEST <= float(rate) <= LARGEST:
        raise ParameterError(
            f"learning_rate must be between {1.0 / LARGEST:g} and {LARGEST:g}, got {rate!r}. It is a factor "
            "of all weights and changes no prediction."
        )
    if learner.max_seconds is not None:
        require_positive("max_seconds", learner.max_seconds)
    callbacks = learner.callbacks
    if not isinstance(callbacks, Iterable) or not all(callable(c) for c in callbacks):
        raise ParameterError(f"callbacks must be a sequence of functions, got {callbacks!r}.")


def require_epochs(epochs: Any) -> None:
    """Refuses what is no number of epochs."""
    is_whole = isinstance(epochs, numbers.Integral) and not isinstance(epochs, bool)
    if epochs is not None and not (is_whole and epochs >= 1):
        raise ParameterError(f"epochs must be a whole number >= 1 or None, got {epochs!r}.")


def require_positive(name: str, value: Any) -> None:
    """Refuses what is not a finite number > 0."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not 0 < float(value) < np.inf:
        raise ParameterError(f"{name} must be a finite number > 0, got {value!r}.")


def epoch_limit(learner: Any) -> int:
    """The most epochs that a fit may have."""
    if learner.epochs is not None:
        return int(learner.epochs)
    return _MOST_EPOCHS if learner.until_convergence else _USUAL_EPOCHS


def warn_unless_done(learner: Any, advice: str) -> None:
    """Warns of a fit that was broken off, or that still made mistakes where it was to make none."""
    name = type(learner).__name__
    if learner.stop_ in (Stop.CANCELLED, Stop.SECONDS):
        warnings.warn(f"{name}: {learner.reason_}.", NotConvergedWarning, stacklevel=4)
    elif learner.until_convergence and not learner.converged_:
        warnings.warn(
            f"{name} made {learner.mistakes_[-1]} mistakes in the last of {learner.n_iter_} epochs "
            f"({learner.reason_}). {advice}",
            NotConvergedWarning,
            stacklevel=4,
        )
