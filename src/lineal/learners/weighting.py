"""How learners of any kind are told the weights of rows, and what classes make of them."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import is_a
from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray
from lineal.protocol import has_fit_parameter


def class_factors(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int32], s: FloatArray
) -> FloatArray:
    """(n,) what the weight of each row is multiplied with for its class.

    ``class_weight`` is a dict from labels to numbers, 1 for those that are not in it; "balanced", which gives
    all classes that have any weight the same in sum; or None.
    """
    K = len(classes)
    if class_weight is None:
        return np.ones(len(codes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(codes, weights=s, minlength=K)
        balanced = np.divide(s.sum(), np.count_nonzero(sums) * sums, out=np.ones(K), where=sums > 0)
        return np.asarray(balanced[codes])
    if not isinstance(class_weight, dict):
        raise ParameterError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}.")
    place = {label: i for i, label in enumerate(classes.tolist())}
    unknown = [label for label in class_weight if label not in place]
    if unknown:
        raise ParameterError(f"class_weight names labels that are not in y: {unknown}.")
    factors = np.ones(K)
    for label, weight in class_weight.items():
        if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
            raise ParameterError(f"class_weight must be finite and >= 0, got {weight!r} for {label!r}.")
        factors[place[label]] = float(weight)
    return np.asarray(factors[codes])


def weigh_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int32], s: FloatArray
) -> tuple[NDArray[Any], NDArray[np.int32], FloatArray]:
    """Classes with any weight, each row's place among them, and weights times the factors of the classes.

    A row of weight 0 is no row, so a class that has no others is no class; its rows get place 0, where their
    weight of 0 says nothing.
    """
    if class_weight is not None:
        s = s * class_factors(class_weight, classes, codes, s)
    has_weight = np.bincount(codes, weights=s, minlength=len(classes)) > 0
    if has_weight.all():
        return classes, codes, s
    place = np.where(has_weight, np.cumsum(has_weight) - 1, 0).astype(np.int32)
    return classes[has_weight], place[codes], s


def weight_argument(learner: Any) -> str | None:
    """What ``fit`` calls the weights of rows; None where it takes none."""
    if is_a(learner, "sklearn.pipeline:Pipeline"):
        name, last = learner.steps[-1]
        inner = weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    fit = getattr(getattr(learner, "fit", None), "__func__", None)
    has_weights = has_fit_parameter(learner, "sample_weight") if fit is None else _takes_weights(fit)
    return "sample_weight" if has_weights else None


@cache
def _takes_weights(fit: Callable[..., Any]) -> bool:
    """Whether a method ``fit`` takes weights of rows; to look at a signature takes a twentieth of a fit."""
    return "sample_weight" in inspect.signature(fit).parameters
