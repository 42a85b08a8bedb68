"""From a learner to its text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lineal.errors import ParameterError
from lineal.learners.spelling.names import REQUIRED, name_of, parameters

_MAX_DEPTH = 24
TYPES: dict[str, type] = {"float32": np.float32, "float64": np.float64}


def spell(learner: Any) -> str:
    """The text of a learner: its class and the parameters that differ from the defaults.

    Parameters
    ----------
    learner : an estimator, a transformer, a loss, a penalty, a solver or a kind of column
        Fitted or not; only its parameters are told.

    Returns
    -------
    str
        What :func:`build` makes an equal learner from.

    Raises
    ------
    ParameterError
        For what has no text, with its name: functions, generators, arrays, classes that are not public.

    Examples
    --------
    >>> from lineal import LinearClassifier
    >>> from lineal.objective import L2, Hinge
    >>> spell(LinearClassifier(loss=Hinge(), penalty=L2(0.5)))
    'LinearClassifier(loss=Hinge(), penalty=L2(strength=0.5))'
    """
    return _spelled(learner, type(learner).__name__, 0)


def _spelled(value: Any, place: str, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise ParameterError(f"{place} is nested more than {_MAX_DEPTH} deep, or holds itself.")
    literal = _literal(value)
    if literal is not None:
        return literal
    if type(value) in (list, tuple, set, frozenset) or isinstance(value, Mapping):
        return _collection(value, place, depth + 1)
    kind: type = type(value)
    name = None if isinstance(value, type) else name_of(kind)
    if name is None:
        raise ParameterError(
            f"{place} is {_shown(value)}, which has no text. Numbers, words, lists, tuples, dicts, sets and "
            "public classes of lineal have."
        )
    written = []
    known = getattr(value, "_follows", ())  # from the others: both are not to be told
    for parameter, default in parameters(kind).items():
        own = getattr(value, parameter)
        if own is default or parameter in known:
            continue
        text = _spelled(own, f"{parameter} of {type(value).__name__}", depth + 1)
        if default is REQUIRED or text != _default_text(default, depth):
            written.append(f"{parameter}={text}")
    return f"{name}({', '.join(written)})"


def _default_text(default: Any, depth: int) -> str | None:
    try:
        return _spelled(default, "the default", depth + 1)
    except ParameterError:  # a function, which no text equals
        return None


def _literal(value: Any) -> str | None:
    """Numbers, words and None as Python writes them; NumPy's scalars as Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return repr(value) if type(value) in (type(None), bool, int) else None
    if type(value) is float:
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return repr(str(value))
    for name, one in TYPES.items():
        if value is one or (isinstance(value, np.dtype) and value == np.dtype(one)):
            return name
    return None


def _collection(value: Any, place: str, depth: int) -> str:
    if isinstance(value, Mapping):
        pairs = (
            f"{_spelled(key, f'a key of {place}', depth)}: {_spelled(one, f'{place}[{key!r}]', depth)}"
            for key, one in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    parts = [_spelled(one, f"{place}[{k}]", depth) for k, one in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        # In order of their text, so that equal sets have one text.
        return "{" + ", ".join(sorted(parts)) + "}" if parts else "set()"
    if isinstance(value, tuple):
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    return f"[{', '.join(parts)}]"


def _shown(value: Any) -> str:
    """What a value is, for a message: never a dump of an array."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    return f"of type {type(value).__name__}"
