"""The solvers by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from lineal.solvers.base import Solver

_HOMES = {
    "closed_form": "closed_form:ClosedForm",
    "dual_cd": "dual_cd:DualCD",
    "interior": "interior:InteriorPoint",
    "lbfgs": "lbfgs:LBFGS",
    "newton": "newton:Newton",
    "prox_cd": "prox_cd:ProxCD",
    # Never chosen, always there: by name, or as objects with parameters.
    "gd": "descent:GD",
    "momentum": "descent:Momentum",
    "nesterov": "descent:Nesterov",
    "adagrad": "descent:Adagrad",
    "adadelta": "descent:Adadelta",
    "rmsprop": "descent:RMSprop",
    "adam": "descent:Adam",
    "sgd": "stochastic:SGD",
    "svrg": "stochastic:SVRG",
    "cg": "conjugate_gradient:CG",
    "iterative_scaling": "iterative_scaling:IterativeScaling",
}


class Solvers(Mapping[str, type[Solver]]):
    """Names to classes."""

    def __init__(self) -> None:
        self._found: dict[str, type[Solver]] = {}

    def __getitem__(self, name: str) -> type[Solver]:
        found = self._found.get(name)
        if found is None:
            module, _, kind = _HOMES[name].partition(":")
            found = self._found[name] = getattr(import_module(f"lineal.solvers.{module}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


SOLVERS = Solvers()
