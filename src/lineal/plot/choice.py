"""Which solvers a picture shows, under which names, and the problem that it poses to them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import CombinationError, ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.model import LinearModel
from lineal.learners.regressor import BaseLinearRegressor
from lineal.objective import Problem
from lineal.solvers import SOLVERS, Plan, Solver, plan

# A sequence names its solvers by itself; a mapping gives them names.
Choice = Sequence[str | Solver] | Mapping[str, str | Solver]


def pose(
    caller: str, learner: LinearModel, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[LinearModel, Problem]:
    """A copy of the learner that has seen the data, and the problem they pose to it."""
    if not isinstance(learner, (BaseLinearClassifier, BaseLinearRegressor)):
        raise ParameterError(
            f"{caller} needs a learner such as LinearClassifier() or Ridge() to say what is minimised, "
            f"got {learner!r}."
        )
    reader: LinearModel = type(learner)(**learner.get_params(deep=False))
    return reader, reader._task(X, y, sample_weight).problem


def chosen_plans(
    problem: Problem, solvers: Choice | None, usual: Iterable[str] = SOLVERS
) -> tuple[dict[str, Plan], dict[str, str]]:
    """The plan of each solver by its label, and why the others cannot take the problem.

    Without a choice the usual ones are asked; one that was chosen and cannot is an error.
    """
    if solvers is not None:
        return {label: plan(problem, solver) for label, solver in _labelled(solvers).items()}, {}
    plans, refused = {}, {}
    for name in usual:
        try:
            plans[name] = plan(problem, name)
        except CombinationError as error:
            refused[name] = str(error)
    return plans, refused


def _labelled(solvers: Choice) -> dict[str, str | Solver]:
    if isinstance(solvers, Mapping):
        named = [(str(label), solver) for label, solver in solvers.items()]
    elif isinstance(solvers, Iterable) and not isinstance(solvers, str):
        named = [(_label(solver), solver) for solver in solvers]
    else:
        raise ParameterError(
            f"solvers must be a list such as ['gd', Adam(), 'auto'], or a dict of names, got {solvers!r}."
        )
    labels = [label for label, _ in named]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice or not named:
        what = f"has {twice[0]!r} twice" if twice else "is empty"
        raise ParameterError(f"solvers must name each of at least one solver once, but the list {what}.")
    return dict(named)


def _label(solver: Any) -> str:
    """A solver's name, with the parameters that differ from its defaults."""
    if not is_dataclass(solver) or not isinstance(solver, Solver):
        return str(getattr(solver, "name", solver))
    changed = []
    for field in fields(solver):
        value = getattr(solver, field.name)
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        if value != usual:
            changed.append(f"{field.name}={value:.3g}" if _is_real(value) else f"{field.name}={value}")
    return f"{solver.name}({', '.join(changed)})" if changed else solver.name


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def whole(caller: str, name: str, value: Any) -> int:
    """A whole number >= 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"{caller} needs a whole number {name} >= 1, got {value!r}.")
    return int(value)


def positive(caller: str, name: str, value: Any) -> float:
    """A finite number > 0."""
    if not _is_real(value) or not 0 < float(value) < np.inf:
        raise ParameterError(f"{caller} needs a finite number {name} > 0, got {value!r}.")
    return float(value)
