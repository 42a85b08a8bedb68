"""Learning rates that are too small, good and too large, as the rule is printed and as ``gd`` runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import CombinationError, InputError, ParameterError
from lineal.learners.model import LinearModel
from lineal.objective import Intercept, Problem
from lineal.objective.losses import FloatArray
from lineal.plot.choice import pose, positive, whole
from lineal.plot.landscape import Contour, lowest, parameter_names
from lineal.plot.rates_picture import draw
from lineal.plot.trajectories import Trajectory, recorded, start_of, walk
from lineal.solvers import GD, plan
from lineal.solvers.newton import DIRECT_LIMIT
from lineal.solvers.primal import Objective

# Learning rates as shares of 1 / L: too small, safe, nearly too large, too large.
_SHARES = (0.05, 1.0, 1.9, 2.1)


def textbook_descent(
    gradient: Callable[[FloatArray], FloatArray], start: ArrayLike, learning_rate: float
) -> Iterator[FloatArray]:
    """Gradient descent as it is printed, ``theta <- theta - eta gradient(theta)``, and nothing else.

    No step is checked, undone or cut, so a learning rate that is too large ends in infinity, which is what
    this is here to show. To fit, use ``solver="gd"``. Yields the start, then the parameters after each step.

    Examples
    --------
    >>> from lineal.plot import textbook_descent
    >>> ways = textbook_descent(lambda theta: theta, [1.0], learning_rate=3.0)
    >>> [float(next(ways)[0]) for _ in range(4)]
    [1.0, -2.0, 4.0, -8.0]
    """
    theta = np.array(start, dtype=np.float64)
    while True:
        yield theta
        theta = theta - learning_rate * gradient(theta)


def step_sizes(
    learner: LinearModel,
    X: Any,
    y: ArrayLike,
    *,
    rates: Sequence[float] | None = None,
    n_steps: int = 40,
    start: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> StepSizes:
    """Gradient descent at several learning rates: as the rule is printed, and as ``gd`` runs it.

    Parameters
    ----------
    learner : LinearClassifier, LinearRegressor or a preset
        With a differentiable loss and penalty, and two classes or one target; any number of columns up to
        600. Its own solver and tolerance play no part.
    X, y, sample_weight
        The training data, as for ``fit``.
    rates : numbers > 0, optional
        0.05, 1, 1.9 and 2.1 times 1 / L if not given, L being the largest curvature that P can have. Below
        2 / L no step raises P; above it least squares diverge.
    n_steps : int
    start : numbers, optional
        Weights, then the intercept if there is one; 0 if not given.

    Returns
    -------
    StepSizes

    Examples
    --------
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import NoPenalty
    >>> from lineal.plot import ravine, step_sizes
    >>> learner = LinearRegressor(penalty=NoPenalty(), fit_intercept=False)
    >>> result = step_sizes(learner, *ravine(condition=10), n_steps=60)
    >>> result.verdicts()
    ['slow', 'good', 'zig-zags', 'diverges']
    """
    n_steps = whole("step_sizes", "n_steps", n_steps)
    wanted = None if rates is None else [positive("step_sizes", "rate", rate) for rate in rates]
    if wanted is not None and (not wanted or len(set(wanted)) < len(wanted)):
        raise ParameterError(f"step_sizes needs at least one rate and each once, got {rates!r}.")
    reader, problem = pose("step_sizes", learner, X, y, sample_weight)
    _refuse_kinks(problem)
    origin = start_of("step_sizes", problem, start)
    largest = _largest_curvature(problem)
    wanted = [share / largest for share in _SHARES] if wanted is None else wanted
    printed = tuple(_printed(problem, rate, origin, n_steps) for rate in wanted)
    cut = tuple(
        walk(str(rate), problem, GD(learning_rate=rate), origin, n_steps, reader._tolerance, reader._seed())
        for rate in wanted
    )
    optimum, least = lowest(problem, (*printed, *cut))
    names = parameter_names(reader, problem)
    landscape = None
    if len(origin) == 2:
        landscape = Contour((names[0], names[1]), origin, optimum, least, cut, problem)
    return StepSizes(np.array(wanted), largest, least, printed, cut, landscape)


def _refuse_kinks(problem: Problem) -> None:
    plan(problem, "gd")
    if not problem.losses.is_smooth or not problem.penalty.is_smooth:
        raise CombinationError(
            f"step_sizes shows steps along a gradient, which {problem.losses.names} with {problem.penalty} "
            "has not everywhere: use Squared(), Log() or SquaredHinge() with L2() or NoPenalty()."
        )


def _largest_curvature(problem: Problem) -> float:
    """L: the largest eigenvalue of (the loss's curvature) [X 1]'S[X 1] + (that of the penalty)."""
    objective = Objective(problem)
    with_constant = problem.intercept is not Intercept.NONE
    size = problem.X.n_columns + with_constant
    if size > DIRECT_LIMIT:
        raise InputError(
            f"step_sizes takes at most {DIRECT_LIMIT} parameters, got {size:,}: use fewer columns."
        )
    losses = problem.losses
    s = losses.weighted(np.ones((problem.X.n_rows, 1)))[:, 0]
    H = (losses.curvature or 1.0) * problem.X.gram(s, with_constant) + np.diag(objective.penalty_part("l2"))
    largest = float(np.linalg.eigvalsh(H)[-1])
    if not 0 < largest < np.inf:
        raise InputError("step_sizes needs data that are not all 0: the objective is flat.")
    return largest


def _printed(problem: Problem, rate: float, origin: FloatArray, n_steps: int) -> Trajectory:
    objective = Objective(problem.in_core())
    with np.errstate(over="ignore", invalid="ignore"):
        steps = textbook_descent(lambda theta: objective.point(theta).gradient, origin, rate)
        points = [theta for theta in islice(steps, n_steps + 1) if np.isfinite(theta).all()]
    return recorded(str(rate), problem, points)


@dataclass(frozen=True, eq=False)
class StepSizes:
    """Gradient descent at several learning rates; ``print`` says how each went.

    Attributes
    ----------
    rates : (r,) array
    curvature : float
        L: 1 / L is a safe rate, and 2 / L the end of the safe ones.
    least : float
        The least objective.
    printed : tuple of r Trajectory
        The rule as it is printed, nothing undone; one that leaves the range of float64 ends there.
    run : tuple of r Trajectory
        ``gd`` with this learning rate: steps that raise P are undone, and the rate is cut.
    landscape : Contour or None
        The objective with the ways of ``run``, where there are two parameters.
    """

    rates: FloatArray
    curvature: float
    least: float
    printed: tuple[Trajectory, ...]
    run: tuple[Trajectory, ...]
    landscape: Contour | None

    def names(self) -> list[str]:
        """The rates as multiples of 1 / L."""
        return [f"{rate * self.curvature:.3g} / L" for rate in self.rates]

    def verdicts(self) -> list[str]:
        """How the printed rule did: diverges, zig-zags, slow or good."""
        return [self._verdict(way) for way in self.printed]

    def _verdict(self, way: Trajectory) -> str:
        excess = way.objectives - self.least
        if way.n_steps == 0 or not excess[-1] <= excess[0]:
            return "diverges"
        moves = np.diff(way.parameters, axis=0)
        turned = np.einsum("ij,ij->i", moves[1:], moves[:-1]) < 0
        if len(turned) and turned.mean() > 0.5:
            return "zig-zags"
        return "good" if excess[-1] <= 0.01 * excess[0] else "slow"

    def __repr__(self) -> str:
        return f"<StepSizes: {', '.join(self.names())}>"

    def __str__(self) -> str:
        lines = ["learning rate        printed rule        gd"]
        for name, verdict, printed, run in zip(
            self.names(), self.verdicts(), self.printed, self.run, strict=True
        ):
            ends = [f"{max(way.objectives[-1] - self.least, 0.0):.1e}" for way in (printed, run)]
            n_undone = int(run.is_undone.sum())
            undone = f", {n_undone} step{'s' * (n_undone > 1)} undone" if n_undone else ""
            lines.append(f"{name:>13}  {verdict:>9} {ends[0]:>13}  {ends[1]:>8}{undone}")
        return "\n".join(
            [*lines, f"L = {self.curvature:.4g}; numbers are P above its least value at the end"]
        )

    def plot(self, ax: Any = None) -> list[Any]:
        """P above its least value against steps; with two parameters also the ways over the landscape.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of them, optional
            One is for the curves; a sequence takes the curves and then the ways at each rate. Not given: a
            new figure with all of them.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
