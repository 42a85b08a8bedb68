"""Arguments of evaluation, checked before anything is computed."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.targets import groups_as_given, labels_as_given, plain_array
from lineal.errors import InputError, ParameterError
from lineal.objective.losses import FloatArray


def checked_confidence(confidence: Any) -> float:
    """A share strictly between 0 and 1."""
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, numbers.Real)
        or not 0 < float(confidence) < 1
    ):
        raise ParameterError(
            f"confidence must be a number between 0 and 1, such as 0.95, got {confidence!r}."
        )
    return float(confidence)


def checked_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number, at least so large."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(value)


def generator(random_state: Any) -> np.random.Generator:
    """Random numbers from a seed, a Generator, a RandomState, or, for None, from the machine."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31)))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is not None and (
        isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral) or random_state < 0
    ):
        raise ParameterError(
            "random_state must be a whole number >= 0, a Generator, a RandomState or None, "
            f"got {random_state!r}."
        )
    return np.random.default_rng(None if random_state is None else int(random_state))


def one_sample(name: str, values: Any, least: int = 2) -> FloatArray:
    """(n,) finite float64 numbers, at least so many."""
    try:
        array = np.array(plain_array(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from error
    if array.ndim != 1:
        raise InputError(f"{name} must be a list of numbers, got an array of shape {array.shape}.")
    if len(array) < least:
        raise InputError(f"{name} needs at least {least} numbers, got {len(array)}.")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name} contains NaN or infinity, first at place {place}. Fill or drop it.")
    return array


def two_samples(a: Any, b: Any, least: int = 2) -> tuple[FloatArray, FloatArray]:
    """Two lists of numbers of the same length: pairs."""
    first, second = one_sample("a", a, least), one_sample("b", b, least)
    if len(first) != len(second):
        raise InputError(
            f"pairs need lists of one length, got {len(first)} and {len(second)} numbers. "
            "Use t_test for samples that are not paired."
        )
    return first, second


def groups_of_rows(groups: Any, n_rows: int, sample_weight: Any) -> NDArray[Any]:
    """(n_rows,) groups of the rows that count: those of weight 0 are not there."""
    found = labels_as_given(groups)
    if sample_weight is not None and found.shape == np.shape(sample_weight):
        found = found[np.asarray(sample_weight) > 0]
    return groups_as_given(found, n_rows)


def score_table(scores: Any) -> FloatArray:
    """(N, k) finite scores: a row for each data set, a column for each model."""
    try:
        table = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be a table of numbers: {error}.") from error
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise InputError(
            "scores needs a row for each of two or more data sets and a column for each of two or more "
            f"models, got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0].tolist()
        raise InputError(f"scores contains NaN or infinity, first at row {row}, column {column}.")
    return table


def without_rounding(values: FloatArray, scale: Any) -> FloatArray:
    """Numbers to 13 digits of a scale, so that means of the same numbers in another order are tied."""
    unit = np.where(np.asarray(scale) > 0, scale, 1.0)
    return np.asarray(np.round(values / unit, 13) * unit)


def differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """(n,) the first less the second, 0 where only rounding sets them apart."""
    return without_rounding(first - second, max(np.abs(first).max(), np.abs(second).max()))


def takes_weights(function: Any) -> bool:
    """Whether a score can be told weights of rows: of functions those with an argument for them."""
    if not callable(function) or hasattr(function, "_score_func"):  # a name, or a scorer of scikit-learn's
        return True
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # one that was compiled does not say
        return False


def takes_arguments(function: Any, n: int) -> bool:
    """Whether a function can be called with so many things; one that was compiled does not say."""
    try:
        inspect.signature(function).bind(*range(n))
    except TypeError:
        return False
    except ValueError:
        return True
    return True
