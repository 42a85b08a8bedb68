"""One loss, one penalty, one solver: certified, refused or failed."""

from __future__ import annotations

import re
import time
import traceback
import warnings
from dataclasses import dataclass

import numpy as np
from cases import Column, Task

from lineal import verify
from lineal.errors import NoMinimumError, NotCertifiedWarning, ParameterError
from lineal.objective import Loss, Penalty
from lineal.solvers import SOLVERS, minimise


@dataclass(frozen=True)
class Outcome:
    """What became of a triple.

    Attributes
    ----------
    kind : "certified", "refused" or "failed"
    sentence : str
        The refusal, or what went wrong; empty for a certified fit.
    seconds : float
        From the call of ``fit`` to its return, or to the refusal.
    gap, primal, dual : float or None
        As ``verify`` found them, by NumPy alone; the gap is relative.
    """

    task: str
    loss: str
    penalty: str
    solver: str
    tol: float
    kind: str
    sentence: str
    seconds: float
    epochs: int | None = None
    gap: float | None = None
    primal: float | None = None
    dual: float | None = None


def attempt(task: Task, loss: Loss, penalty: Penalty, column: Column, max_seconds: float) -> Outcome:
    """Fits through the public learner and looks again at what it says."""
    model = task.learner(
        loss=loss, penalty=penalty, solver=column.solver, tol=column.tol, max_seconds=max_seconds, n_threads=1
    )
    names = (task.name, repr(loss), repr(penalty), column.label, column.tol)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", NotCertifiedWarning)
            model.fit(task.X, task.y)
    except (ParameterError, NoMinimumError) as error:
        seconds = time.perf_counter() - began
        late = "" if _is_before_work(error) else "refused after work had begun: "
        return Outcome(*names, "failed" if late else "refused", f"{late}{error}", seconds)
    except Exception as error:
        return Outcome(*names, "failed", f"{type(error).__name__}: {error}", time.perf_counter() - began)
    seconds = time.perf_counter() - began
    fitted = model.certificate_
    if not fitted.converged:
        reason = f"not certified, relative gap {fitted.relative_gap:.1e}: {fitted.reason}"
        return Outcome(*names, "failed", reason, seconds, fitted.epochs, fitted.relative_gap)
    again = verify(model, task.X, task.y)
    measured = (seconds, fitted.epochs, again.relative_gap, again.primal, again.dual)
    if not again.converged:
        reason = f"verify finds a relative gap of {again.relative_gap:.1e}, the fit {fitted.relative_gap:.1e}"
        return Outcome(*names, "failed", reason, *measured)
    if not np.isclose(again.primal, fitted.primal, rtol=1e-9, atol=1e-9):
        reason = f"the objective is {again.primal!r} by verify, {fitted.primal!r} by the fit"
        return Outcome(*names, "failed", reason, *measured)
    return Outcome(*names, "certified", "", *measured)


def _is_before_work(error: Exception) -> bool:
    """Whether no solver had been started: the driver is not among the callers."""
    frames = traceback.walk_tb(error.__traceback__)
    return all(frame.f_code is not minimise.__code__ for frame, _ in frames)


def contradictions(outcomes: list[Outcome]) -> dict[str, str]:
    """What is wrong with the outcomes of all solvers on one problem, by solver.

    D(u) <= P(w) for every feasible u and every w: so no solver's objective may lie below another's bound, and
    any two objectives differ by at most the larger gap. And a solver that sends one to another must know one
    that certified this very problem; it may not name one that did not.
    """
    wrong = {}
    certified = [outcome for outcome in outcomes if outcome.kind == "certified"]
    highest = max((outcome.dual for outcome in certified if outcome.dual is not None), default=-np.inf)
    for outcome in certified:
        assert outcome.primal is not None
        # Sums of a few hundred rounded terms.
        if outcome.primal < highest - 1e-9 * max(abs(highest), 1.0):
            wrong[outcome.solver] = f"objective {outcome.primal!r} lies below the proved bound {highest!r}"
    able = {outcome.solver for outcome in certified}
    for outcome in outcomes:
        if outcome.kind == "refused" and certified:
            named = _named(outcome)
            if not named:
                wrong[outcome.solver] = f"names no solver to use instead: {outcome.sentence}"
            elif not named <= able:
                wrong[outcome.solver] = f"names {sorted(named - able)}, not certified: {outcome.sentence}"
    return wrong


def _named(outcome: Outcome) -> set[str]:
    """The solvers that a refusal advises, itself left out."""
    words = set(re.findall(r"[a-z_]+", outcome.sentence))
    return (words & set(SOLVERS)) - {outcome.solver.split(",")[0]}
