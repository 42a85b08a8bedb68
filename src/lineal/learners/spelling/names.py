"""The names there are: public classes that store their arguments, and nothing that runs code of its own."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import lineal

REQUIRED: Any = inspect.Parameter.empty

# Modules of value objects, in the order in which a bare name is looked for, and what their members are.
_VALUES = {
    "objective": ("lineal.objective:Loss", "lineal.objective:Penalty"),
    "features": ("lineal.features.kinds:Kind", "lineal.features.kinds:Bins"),
    "solvers": ("lineal.solvers:Solver", "lineal.solvers.descent:Schedule"),
    "compose": ("lineal.compose.confidence:Confident",),
    "kernels": ("lineal.kernels:Kernel",),
}
# Losses are asked for where an estimator or a penalty of the same name is not.
_HOMES_OF_PARAMETERS = {
    "loss": "objective",
    "penalty": "objective",
    "solver": "solvers",
    "kernel": "kernels",
}
_MADE_OF_FUNCTIONS = ("CompiledLoss", "FunctionKernel")


def public_class(name: str, parameter: str = "") -> type | None:
    """The class of a name, which may say its module: ``L2``, ``objective.L2``, ``lineal.objective.L2``.

    ``parameter`` is the one that the class is to be the value of; it decides where two modules have the name.
    """
    module, _, bare = name.removeprefix("lineal.").rpartition(".")
    if module:
        return _value(module, bare) if module in _VALUES else None
    preferred = _HOMES_OF_PARAMETERS.get(parameter)
    found = None if preferred is None else _value(preferred, bare)
    if found is not None:
        return found
    if bare in lineal.__all__:
        return _estimator(bare)
    return next((kind for one in _VALUES if (kind := _value(one, bare)) is not None), None)


def name_of(kind: type) -> str | None:
    """What a class is called; with its module where an estimator has the same name; None if it is no name."""
    name = kind.__name__
    if name in lineal.__all__ and getattr(lineal, name) is kind:
        return name if _estimator(name) is kind else None
    for module in _VALUES:
        if _value(module, name) is kind:
            return f"{module}.{name}" if public_class(name) is not kind else name
    return None


def all_names() -> list[str]:
    """Every name, sorted; this imports the whole package."""
    estimators = [name for name in lineal.__all__ if _estimator(name) is not None]
    values = [
        _value(module, name) for module in _VALUES for name in import_module(f"lineal.{module}").__all__
    ]
    return sorted({*estimators, *(name_of(kind) or "" for kind in values if kind is not None)} - {""})


@cache
def parameters(kind: type) -> Mapping[str, Any]:
    """The parameters of a class by name, with their defaults or REQUIRED."""
    if dataclasses.is_dataclass(kind):
        return {field.name: _default(field) for field in dataclasses.fields(kind) if field.init}
    return {name: one.default for name, one in inspect.signature(kind).parameters.items()}


def positional(kind: type) -> list[str]:
    """The parameters that need not be named, in order."""
    found = inspect.signature(kind).parameters.values()
    return [one.name for one in found if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]


def nearest(name: str, among: Iterable[str]) -> str:
    """A sentence that offers the most similar names; empty if none is similar."""
    folded = {one.lower(): one for one in among}
    found = difflib.get_close_matches(name.lower(), folded, n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(folded[one]) for one in found)}?" if found else ""


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def _estimator(name: str) -> type | None:
    member = getattr(lineal, name)
    return member if inspect.isclass(member) and hasattr(member, "fit") else None


@cache
def _value(module: str, name: str) -> type | None:
    """The class of a name in a module whose objects are options; nothing else of the module is loaded."""
    home = import_module(f"lineal.{module}")
    if name not in home.__all__ or name in _MADE_OF_FUNCTIONS:
        return None
    member, bases = getattr(home, name), tuple(_imported(place) for place in _VALUES[module])
    is_option = inspect.isclass(member) and issubclass(member, bases) and member not in bases
    return member if is_option and not inspect.isabstract(member) else None


def _imported(place: str) -> type:
    module, _, name = place.partition(":")
    found: type = getattr(import_module(module), name)
    return found
