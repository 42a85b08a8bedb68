"""Steps of Newton's method once a direction is known: how far along it, and what its model proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lineal.objective.losses import FloatArray
from lineal.solvers.base import Iterate
from lineal.solvers.primal import Line, Objective, Point, state_at

# A line search is content when the slope has fallen to this share, or after so many trials.
FLAT_ENOUGH, TRIALS = 0.05, 4
# After a step that gained more than this share of P the model is not worth a proof.
_FAR = 0.03
# Trials that halve or double until there is a step at all.
_RESCUES = 40


@dataclass(frozen=True)
class Step:
    """An accepted step: where on which line, P there, and what the model that chose the line says of slopes.

    The model is quadratic: ``ahead`` are the slopes at its minimiser, and ``bent`` its Hessian times the way
    there. What is dear to know is left out.
    """

    line: Line
    t: float
    value: float
    ahead: FloatArray | None = None
    bent: FloatArray | None = None


# From lengths to values, slopes and curvatures there, of each of some lines.
Probe = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


def search(line: Line, shortest: float) -> Step | None:
    """The lowest of a few points on the line; None where it does not fall."""
    point = line.origin
    incline = float(line.direction @ point.gradient)
    if not incline < 0:
        return None

    def probe(t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, slope, bend = line.probe(float(t[0]))
        return np.array([value]), np.array([slope]), np.array([bend])

    start = np.array([point.value]), np.array([incline])
    (t,), (value,) = _found(line, *start, line.quadratic(1), probe, shortest)
    return Step(line, float(t), float(value)) if t > 0 else None


def search_by_output(line: Line, shortest: float) -> tuple[Step | None, NDArray[np.bool_]]:
    """The same for outputs that meet nowhere, each at a length of its own: (step, those that found none).

    The step is of length 1 on a line whose direction is scaled output by output. An output whose slope is
    rounding beside its value stays where it is.
    """
    K = line.moved.shape[1]
    quadratic, rows = line.quadratic(K), line.objective.problem.losses.rows
    if quadratic is None or rows is None:
        start, incline, _ = line.probe_by_output(np.zeros(K))
    else:
        start, incline, _ = rows.along_by_output(line.origin.Z, line.moved, np.zeros(K)) + quadratic
    incline = np.where(incline < -1e-15 * np.abs(start), incline, 0.0)
    t, value = _found(line, start, incline, quadratic, line.probe_by_output, shortest)
    missing = (incline < 0) & (t == 0)
    if not t.any():
        return None, missing
    direction = (line.direction.reshape(-1, K) * t).ravel()
    scaled = Line(line.objective, line.origin, direction, line.moved * t)
    return Step(scaled, 1.0, float(value.sum())), missing


def _found(
    line: Line,
    start: FloatArray,
    incline: FloatArray,
    quadratic: FloatArray | None,
    probe: Probe,
    shortest: float,
) -> tuple[FloatArray, FloatArray]:
    """``lengths``, in the core where it knows the losses and the penalty is quadratic."""
    if quadratic is not None:
        losses = line.objective.problem.losses
        found = losses.line_lengths(line.origin.Z, line.moved, start, incline, quadratic, shortest)
        if found is not None:
            return found[0], found[1]
    return lengths(probe, start, incline, shortest)


def lengths(
    probe: Probe, start: FloatArray, incline: FloatArray, shortest: float
) -> tuple[FloatArray, FloatArray]:
    """(lengths, values): the lowest of a few points on each line, by Newton in one dimension from t = 1.

    A trial costs no pass over X, and far from the optimum the best length is often nearer 2 than 1. Lines
    begin with values ``start`` and slopes ``incline``. Length 0 stands for no step: on a line that does not
    fall, or none lower down to ``shortest``. The native twin is ``line_lengths`` in line_search.h.
    """
    n = len(start)
    noise = 1e-15 * np.abs(start)
    t, low, high = np.ones(n), np.zeros(n), np.full(n, np.inf)
    length, value, is_open = np.zeros(n), start.copy(), incline < 0
    for trial in range(TRIALS + _RESCUES):
        if not is_open.any():
            break
        there, slope, bend = probe(t)
        is_lower = is_open & (there <= start + 1e-4 * t * incline + noise)
        is_better = is_lower & ((length == 0) | (there < value))
        length, value = np.where(is_better, t, length), np.where(is_better, there, value)
        is_content = (np.abs(slope) <= FLAT_ENOUGH * np.abs(incline)) | (trial >= TRIALS)
        is_open = is_open & ~((length > 0) & is_content)
        falls = is_lower & (slope < 0)
        low, high = np.where(falls, t, low), np.where(falls, high, t)
        is_open = is_open & (high >= shortest)
        newton = t - np.divide(slope, bend, out=np.full(n, np.nan), where=bend > 0)
        is_inside = (low < newton) & (newton < np.minimum(high, 4 * t))
        halfway = np.where(high == np.inf, 2 * t, (low + high) / 2)
        t = np.where(is_open, np.where(is_inside, newton, halfway), t)
    return length, value


def early_iterate(objective: Objective, point: Point, step: Step, tol: float) -> Iterate | None:
    """The iterate with the model's own dual point, where that promises a gap of ``tol``.

    At the model's minimiser its slopes are u + h (X c), and their V is known without a pass over X unless
    some of them leave the domain. Near the optimum their bound is as tight as the weights are good, while
    the gap of the true slopes is larger by up to the Hessian's condition number: a step or two is saved.
    """
    problem, ahead = objective.problem, step.ahead
    if ahead is None or step.bent is None or not problem.penalty.is_ridge:
        return None
    if point.value - step.value > _FAR * abs(step.value):
        return None
    if problem.losses.is_rounded:  # pieces and bends: the model's slopes are no better than the true ones
        return None
    U = problem.losses.into_domain(ahead)
    V = point.gradient - objective.penalty_gradient(point.theta) + step.bent

    conjugates = problem.losses.conjugate(U)
    gap = problem.relative_gap(step.value, -conjugates - objective.penalty_conjugate(-V))
    # What leaves the domain is missing from V: a gap far below 0 says that it is much.
    if not -10 * tol <= gap <= 10 * tol:
        return None
    if not np.array_equal(U, ahead):
        V = V + objective.back(problem.losses.weighted(U - ahead))
        gap = problem.relative_gap(step.value, -conjugates - objective.penalty_conjugate(-V))
    if not gap <= tol:
        return None
    W, b = objective.split(step.line.at(step.t)[0])

    def state() -> dict[str, object]:
        return state_at(point) | {"is_early": True}

    return Iterate(lambda: (W, b.copy()), lambda: U, gap, step.value, has_own_intercept=True, state=state)


def with_model(step: Step | None, ahead: FloatArray, bent: FloatArray) -> Step | None:
    """A step with what its model says."""
    return None if step is None else replace(step, ahead=ahead, bent=bent)
