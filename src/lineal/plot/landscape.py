"""An objective of two parameters as a landscape, and the ways of solvers through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import InputError, NoMinimumError, ParameterError
from lineal.learners.model import LinearModel
from lineal.objective import Intercept, Problem
from lineal.objective.losses import FloatArray
from lineal.plot.choice import Choice, chosen_plans, pose, positive, whole
from lineal.plot.landscape_picture import draw
from lineal.plot.trajectories import Trajectory, recorded, start_of, walk
from lineal.solvers import Budget, minimise, plan
from lineal.solvers.primal import Objective

_USUAL = ("gd", "momentum", "nesterov", "adam", "lbfgs", "newton")
# The optimum is found to this relative gap, and believed up to the second one.
_EXACT, _BELIEVED = 1e-12, 1e-3
# So many scores at a time when the landscape is computed: 32 MB.
_PIECE = 1 << 22


def contour(
    learner: LinearModel,
    X: Any,
    y: ArrayLike,
    *,
    solvers: Choice | None = None,
    n_steps: int = 50,
    start: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Contour:
    """The objective of a learner with two parameters, and the ways of solvers to its minimum.

    Parameters
    ----------
    learner : LinearClassifier, LinearRegressor or a preset
        With two columns and ``fit_intercept=False``, or one column and an intercept; two classes or one
        target. Its own solver and tolerance play no part.
    X, y, sample_weight
        The training data, as for ``fit``.
    solvers : list of names or Solver objects, or dict of label to either, optional
        gd, momentum, nesterov, adam, lbfgs and newton if not given, those of them that take the problem.
    n_steps : int
        Steps of each solver: epochs, for those that see the rows one by one.
    start : two numbers, optional
        Where they begin; 0 if not given.

    Returns
    -------
    Contour

    Examples
    --------
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import NoPenalty
    >>> from lineal.plot import contour, ravine
    >>> learner = LinearRegressor(penalty=NoPenalty(), fit_intercept=False)
    >>> picture = contour(learner, *ravine(condition=20), solvers=["newton"], n_steps=3)
    >>> picture.steps_to(1e-6)
    {'newton': 1}
    """
    n_steps = whole("contour", "n_steps", n_steps)
    reader, problem = pose("contour", learner, X, y, sample_weight)
    origin = start_of("contour", problem, start)
    names = parameter_names(reader, problem)
    if len(origin) != 2:
        raise InputError(
            f"contour draws two parameters, but the data pose {len(origin)} ({', '.join(names[:5])}"
            f"{' ...' if len(names) > 5 else ''}): use two columns with fit_intercept=False, or one column "
            "and an intercept."
        )
    plans, _ = chosen_plans(problem, solvers, _USUAL)
    ways = tuple(
        walk(label, problem, plan.solvers[0], origin, n_steps, reader._tolerance, reader._seed())
        for label, plan in plans.items()
    )
    optimum, least = lowest(problem, ways)
    return Contour((names[0], names[1]), origin, optimum, least, ways, problem)


def parameter_names(reader: LinearModel, problem: Problem) -> list[str]:
    """What the parameters are, in the order of a trajectory."""
    columns = getattr(reader, "feature_names_in_", [f"x{j}" for j in range(problem.X.n_columns)])
    intercept = [] if problem.intercept is Intercept.NONE else ["intercept"]
    return [f"weight of {column}" for column in columns] + intercept


def lowest(problem: Problem, ways: tuple[Trajectory, ...]) -> tuple[FloatArray, float]:
    """The parameters of the least objective that is known, and that objective."""
    solution = minimise(problem, plan(problem).solvers, tol=_EXACT, budget=Budget(max_seconds=10.0))
    if not solution.certificate.relative_gap <= _BELIEVED:
        raise NoMinimumError(f"there is no minimum to draw: the fit is {solution.certificate}.")
    theta = Objective(problem).flat(solution.W.astype(np.float64), solution.b)
    every = [recorded("fit", problem, [theta]), *ways]
    best = min(every, key=lambda way: np.nanmin(way.objectives))
    place = int(np.nanargmin(best.objectives))
    return best.parameters[place], float(best.objectives[place])


@dataclass(frozen=True, eq=False)
class Contour:
    """An objective of two parameters, its minimum, and the ways of solvers; ``print`` says how far they came.

    Attributes
    ----------
    names : pair of str
        What the two parameters are.
    start, optimum : (2,) arrays
    least : float
        P at the optimum.
    trajectories : tuple of Trajectory
    """

    names: tuple[str, str]
    start: FloatArray
    optimum: FloatArray
    least: float
    trajectories: tuple[Trajectory, ...]
    _problem: Problem

    def values(self, first: ArrayLike, second: ArrayLike) -> FloatArray:
        """P at pairs of parameters, elementwise: arrays of one shape, or that broadcast to one."""
        one, two = np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))
        theta = np.stack([one.ravel(), two.ravel()])
        width = max(1, _PIECE // self._problem.X.n_rows)
        pieces = [self._values(theta[:, i : i + width]) for i in range(0, max(theta.shape[1], 1), width)]
        return np.concatenate(pieces).reshape(one.shape)

    def _values(self, theta: FloatArray) -> FloatArray:
        """P at each column of (2, m) parameters: m models side by side in one pass."""
        problem = self._problem
        d = problem.X.n_columns
        Z = problem.scores(np.ascontiguousarray(theta[:d]), theta[d:] if d == 1 else np.zeros(1))
        losses = problem.losses.rows
        assert losses is not None
        cost = problem.penalty.terms(theta[:d]).sum(axis=0)
        if d == 1:
            cost = cost + problem.constants_penalty.terms(theta[d:]).sum(axis=0)
        # The losses take (n, 1) targets beside (n, m) scores, one target for all models.
        return losses.s @ losses.loss.value(losses.y, Z) + cost

    def __getitem__(self, label: str) -> Trajectory:
        for way in self.trajectories:
            if way.label == label:
                return way
        known = ", ".join(way.label for way in self.trajectories)
        raise KeyError(f"{label!r} was not followed; these were: {known}.")

    def excess(self, label: str) -> FloatArray:
        """(m + 1,) P above the least one after each step, as a share of what it was at the start."""
        way = self[label]
        at_start = way.objectives[0] - self.least
        return (way.objectives - self.least) / (at_start if at_start > 0 else 1.0)

    def steps_to(self, share: float) -> dict[str, int | None]:
        """How many steps each solver took until that share of the excess was left; None: it never was."""
        steps: dict[str, int | None] = {}
        for way in self.trajectories:
            places = np.flatnonzero(self.excess(way.label) <= share)
            steps[way.label] = int(places[0]) if len(places) else None
        return steps

    def window(self, margin: float = 0.15) -> tuple[tuple[float, float], tuple[float, float]]:
        """What a picture should show: the optimum, the start and every step not above it, and a margin."""
        points = [self.optimum[None, :], self.start[None, :]]
        points += [way.parameters[way.objectives <= way.objectives[0]] for way in self.trajectories]
        every = np.concatenate(points)
        low, high = every.min(axis=0), every.max(axis=0)
        size, reach = high - low, float(np.abs(every).max()) or 1.0
        is_line = size <= 1e-9 * reach
        # A way along one axis must not shrink the other to a line; units are each axis's own.
        size = np.where(is_line, float(size.max()) / 4 if not is_line.all() else reach, size)
        middle = (low + high) / 2
        low, high = middle - (0.5 + margin) * size, middle + (0.5 + margin) * size
        return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))

    def __repr__(self) -> str:
        return f"<Contour of {' and '.join(self.names)}: {len(self.trajectories)} solvers>"

    def __str__(self) -> str:
        place = ", ".join(f"{name} {value:.4g}" for name, value in zip(self.names, self.optimum, strict=True))
        lines = [f"least objective {self.least:.6g} at {place}; what is left of the excess:"]
        width = max(len(way.label) for way in self.trajectories)
        for way in self.trajectories:
            left = self.excess(way.label)[-1]
            lines.append(f"{way.label.ljust(width)}  {max(left, 0.0):8.1e} after {way.n_steps} steps")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Filled contours of P on a logarithmic scale above its least value, the optimum, and the ways there.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of them, optional
            One shows all solvers together; a sequence one each, in turn. Not given: a new figure with a panel
            for each solver.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)


def ravine(
    condition: float = 20.0, *, angle: float = 0.0, optimum: ArrayLike = (1.0, 0.3)
) -> tuple[FloatArray, FloatArray]:
    """Data (X, y) whose least squares are a ravine: steep across, ``condition`` times flatter along.

    Without a penalty and an intercept the objective is exactly::

        P(w) = 1/2 + 1/2 (w - w*)' A (w - w*),   A = X'X with eigenvalues 1 and condition

    Parameters
    ----------
    condition : float
        The larger eigenvalue of A, >= 1.
    angle : float
        How far the bottom of the ravine is turned from the first axis, in degrees. Turned ravines are what
        correlated columns make; those along an axis are what columns of different units make, and the default
        steps of gradient methods undo them.
    optimum : two numbers
        w*.

    Examples
    --------
    >>> X, y = ravine(condition=9)
    >>> X.T @ X
    array([[1., 0.],
           [0., 9.]])
    """
    condition = positive("ravine", "condition", condition)
    best = np.asarray(optimum, dtype=np.float64)
    if condition < 1 or best.shape != (2,) or not np.isfinite([angle, *best]).all():
        raise ParameterError(
            "ravine needs condition >= 1, an angle in degrees and an optimum of two finite numbers, got "
            f"{condition!r}, {angle!r} and {optimum!r}."
        )
    turn = np.deg2rad(float(angle))
    along, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    # Three orthonormal columns: two carry X, the third is what no weights can explain.
    one, two, rest = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1]]) / 2
    X = np.outer(one, along) + np.sqrt(condition) * np.outer(two, across)
    return X, X @ best + rest
