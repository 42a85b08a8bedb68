"""Single options of a learner, by dotted names and as text."""

from __future__ import annotations

import dataclasses
from typing import Any

from lineal.errors import LinealError, ParameterError
from lineal.learners.spelling.names import name_of, nearest, parameters
from lineal.learners.spelling.reading import NotAValueError, value_of
from lineal.learners.spelling.writing import spell

_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def options(learner: Any) -> dict[str, Any]:
    """The options of a learner and of what it holds, by dotted name: ``learner``, ``learner.C`` ...

    Examples
    --------
    >>> from lineal import Bagging, LinearSVC
    >>> options(Bagging(LinearSVC(C=10)))["learner.C"]
    10
    """
    found: dict[str, Any] = {}
    for name, value in _own(learner).items():
        found[name] = value
        found |= {f"{name}.{inner}": one for inner, one in options(value).items()}
    return found


def set_option(learner: Any, name: str, text: str) -> Any:
    """Sets one option of a learner from text, in place.

    Parameters
    ----------
    learner : an estimator or transformer
    name : str
        Dotted: ``C``, ``learner.C``, ``penalty.strength``, ``learners.0.C`` for the first of a list.
    text : str
        As in :func:`build`; what is not in that language is a word, so ``hinge`` needs no quotes.

    Returns
    -------
    the learner

    Raises
    ------
    ParameterError
        For an option that there is not, with those that there are.

    Examples
    --------
    >>> from lineal import Bagging, LinearSVC
    >>> set_option(Bagging(LinearSVC()), "learner.C", "10").learner
    LinearSVC(C=10)
    """
    if not isinstance(name, str) or not isinstance(text, str):
        raise ParameterError(f"an option and its value are text, but {name!r} and {text!r} came.")
    return _with(learner, name.replace("__", ".").split("."), text, "")


def _with(holder: Any, path: list[str], text: str, place: str) -> Any:
    """The holder with one option set: estimators and lists in place, value objects and tuples anew."""
    name, rest = path[0], path[1:]
    here = f"{place}{name}"
    if isinstance(holder, (list, tuple)):
        return _with_item(holder, path, text, place)
    own = _own(holder)
    if name not in own:
        whose = f"{place.removesuffix('.')} ({spell(holder)})" if place else type(holder).__name__
        raise ParameterError(
            f"{whose} has no option {name!r}.{nearest(name, own)} It has {', '.join(own) or 'none'}."
        )
    value = _with(own[name], rest, text, f"{here}.") if rest else _meant(text, name, own[name], here)
    if dataclasses.is_dataclass(holder) and not isinstance(holder, type):
        try:
            return dataclasses.replace(holder, **{name: value})
        except LinealError:
            raise
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{here} cannot be {text!r}: {error}.") from error
    holder.set_params(**{name: value})
    return holder


def _with_item(holder: Any, path: list[str], text: str, place: str) -> Any:
    name, rest = path[0], path[1:]
    if not name.isdecimal() or int(name) >= len(holder):
        raise ParameterError(
            f"{place.removesuffix('.')} is a list of {len(holder)}: name one by its place, from 0 on, as in "
            f"{place}0, not {name!r}."
        )
    items = list(holder)
    at = int(name)
    items[at] = (
        _with(items[at], rest, text, f"{place}{name}.") if rest else _meant(text, "", items[at], place)
    )
    if isinstance(holder, list):
        holder[:] = items
        return holder
    return tuple(items)


def _meant(text: str, name: str, current: Any, place: str) -> Any:
    """What a text means as an option's value; the current one tells whether yes is a truth value."""
    if isinstance(current, bool) and text.strip().lower() in _BOOLEANS:
        return _BOOLEANS[text.strip().lower()]
    try:
        return value_of(text, name)
    except NotAValueError as error:
        if any(mark in text for mark in "([{\"'"):  # meant to be more than a word
            raise ParameterError(f"{place}: {error}") from error
        return text


def _own(holder: Any) -> dict[str, Any]:
    """The options of an estimator or a value object; none of anything else."""
    kind: type = type(holder)
    if holder is None or isinstance(holder, type) or name_of(kind) is None:
        return {}
    return {name: getattr(holder, name) for name in parameters(kind)}
