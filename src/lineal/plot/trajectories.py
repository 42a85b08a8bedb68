"""The weights on the way: where a solver stood after every step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.learners.model import LinearModel
from lineal.objective import Problem
from lineal.objective.losses import FloatArray
from lineal.plot.choice import chosen_plans, pose, whole
from lineal.solvers import Solver, Start
from lineal.solvers.primal import Objective


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A solver's way through the parameters.

    Attributes
    ----------
    label : str
    parameters : (m + 1, p) array
        The start and the parameters after each of m steps (epochs, for solvers that see the rows one by one):
        the weights, then the intercept if there is one.
    objectives : (m + 1,) array
        P there.
    """

    label: str
    parameters: FloatArray
    objectives: FloatArray

    @property
    def n_steps(self) -> int:
        """m."""
        return len(self.parameters) - 1

    @property
    def is_undone(self) -> NDArray[np.bool_]:
        """(m,) whether a step was taken back: the solver stayed where it was."""
        return np.all(self.parameters[1:] == self.parameters[:-1], axis=1)


def trajectory(
    learner: LinearModel,
    X: Any,
    y: ArrayLike,
    *,
    solver: str | Solver,
    n_steps: int = 50,
    start: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Trajectory:
    """Records where a solver stands after every step, with as many columns as there are.

    Parameters
    ----------
    learner : LinearClassifier, LinearRegressor or a preset
        Says what is minimised; two classes or one target.
    X, y, sample_weight
        The training data, as for ``fit``.
    solver : name or Solver
    n_steps : int
        At most so many; nothing is certified, so nothing else ends it but the solver itself.
    start : (p,) numbers, optional
        Weights, then the intercept if there is one; 0 if not given. ``closed_form`` has no use for it.

    Examples
    --------
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import L2
    >>> from lineal.plot import trajectory
    >>> from lineal.solvers import GD
    >>> half = GD(learning_rate=0.5)
    >>> learner = LinearRegressor(penalty=L2(1.0), fit_intercept=False)
    >>> trajectory(learner, [[0.0]], [0.0], solver=half, n_steps=3, start=[8.0]).parameters
    array([[8.],
           [4.],
           [2.],
           [1.]])
    """
    n_steps = whole("trajectory", "n_steps", n_steps)
    reader, problem = pose("trajectory", learner, X, y, sample_weight)
    ((label, plan),) = chosen_plans(problem, [solver])[0].items()
    origin = start_of("trajectory", problem, start)
    return walk(label, problem, plan.solvers[0], origin, n_steps, reader._tolerance, reader._seed())


def start_of(caller: str, problem: Problem, start: ArrayLike | None) -> FloatArray:
    """The parameters to begin at, checked."""
    if problem.n_outputs != 1:
        raise InputError(
            f"{caller} follows one output, but the data pose {problem.n_outputs}: use two classes or "
            "one target."
        )
    zero = Objective(problem).start_vector(None)
    if start is None:
        return zero
    try:
        given = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{caller} needs a start of {len(zero)} numbers: {error}.") from error
    if given.shape != zero.shape or not np.isfinite(given).all():
        raise ParameterError(
            f"{caller} needs a start of {len(zero)} finite numbers, weights and then the intercept if there "
            f"is one, got {start!r}."
        )
    return given.copy()


def walk(
    label: str, problem: Problem, solver: Solver, origin: FloatArray, n_steps: int, tol: float, seed: int
) -> Trajectory:
    """The first steps of a solver's stream."""
    problem = problem.in_core()
    objective = Objective(problem)
    W, b = objective.split(origin)
    points = [origin]
    # A step beyond float64 is undone by the solver; the reader needs no warning.
    with np.errstate(over="ignore", invalid="ignore"):
        # Most solvers give their start first, so one more may be needed than there are steps.
        for place, iterate in enumerate(
            islice(solver.iterates(problem, Start(W, b), tol, seed), n_steps + 1)
        ):
            theta = objective.flat(*(part.astype(np.float64) for part in iterate.weights()))
            if not (place == 0 and np.array_equal(theta, origin)):
                points.append(theta)
    return recorded(label, problem, points[: n_steps + 1])


def recorded(label: str, problem: Problem, points: list[FloatArray]) -> Trajectory:
    """Points with their objectives."""
    objective = Objective(problem)
    with np.errstate(over="ignore", invalid="ignore"):
        values = [objective.value(theta, objective.scores(theta)) for theta in points]
    return Trajectory(label, np.stack(points), np.array(values))
