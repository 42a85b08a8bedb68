"""The certificate: a proof of how far a model is from the optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

# |P| alone is no yardstick when the optimum is 0 (interpolation, separable hinge).
FLOOR = 1e-12
ALL_ROUNDING = "what is left of the objective is rounding of the scores"
# How far D may be above P, relative to P, when both are sums of many numbers.
ABOVE = 1e-9


def yardstick(primal: float, at_zero: float) -> float:
    """max(|P|, 1e-12 P_0): what gaps are compared with; P_0 is what the simplest model costs."""
    return max(abs(primal), FLOOR * at_zero)


def relative_gap(gap: float, size: float) -> float:
    """gap / size, what ``tol`` is compared with.

    Infinite where D is above P by more than rounding: something went wrong, and it proves nothing.
    """
    if size == 0.0:
        return 0.0 if gap <= 0 else math.inf
    relative = gap / size if size < math.inf else math.inf
    return relative if relative > -ABOVE else math.inf


class Stop(StrEnum):
    """Why a fit ended; files keep the value."""

    CERTIFIED = "certified"
    CANCELLED = "cancelled"
    SECONDS = "seconds"
    EPOCHS = "epochs"
    CALLBACK = "callback"
    NO_MINIMUM = "no_minimum"
    STALLED = "stalled"

    def sentence(self, detail: object = "") -> str:
        """The same in words; ``detail`` is the limit that was reached, or what is in the way of progress."""
        return _SENTENCES[self].format(detail)


_SENTENCES = {
    Stop.CERTIFIED: "the gap is certified",
    Stop.CANCELLED: "interrupted: this is the best model so far",
    Stop.SECONDS: "max_seconds={} reached",
    Stop.EPOCHS: "max_epochs={} reached",
    Stop.CALLBACK: "a callback asked to stop",
    Stop.NO_MINIMUM: (
        "the classes are separable and nothing is penalised, so the objective has no minimiser: {}"
    ),
    Stop.STALLED: "no further progress: {}",
}


@dataclass(frozen=True)
class Certificate:
    """What was proved about a fit, and how it ended.

    Attributes
    ----------
    primal : float
        P(W, b): the objective at the model's weights.
    dual : float
        D(U) at a feasible dual point: no weights whatever have an objective below it.
    gap : float
        primal - dual, so the model is at most this far above the optimum.
    relative_gap : float
        gap / max(|primal|, 1e-12 P_0): what ``tol`` was compared with; P_0 is the objective of the best
        constant where an intercept is free, else of weights 0.
    kkt_violation : float
        The largest single term of the gap. The gap is a sum of non-negative terms, one for each row
        (is u_i a slope of the loss at z_i?) and one for each weight (is -v_j a slope of the penalty at
        w_j?); a term is 0 exactly when its optimality condition holds.
    solver : str
        Which algorithm, or chain of algorithms, found the weights.
    epochs : int
        Passes over the data.
    seconds : float
        Wall-clock time of the fit.
    converged : bool
        Whether relative_gap <= tol, or all that is left of P is rounding of its scores.
    reason : str
        Why the fit ended, in words.
    stop : Stop or None
        Why the fit ended; None where nothing was fitted, as in ``verify``, or an earlier version did not say.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    solver: str = ""
    epochs: int = 0
    seconds: float = 0.0
    converged: bool = False
    reason: str = ""
    stop: Stop | None = None

    @classmethod
    def of_proof(
        cls,
        primal: float,
        dual: float,
        *,
        size: float,
        tol: float,
        worst: float,
        gap: float | None = None,
        solver: str = "",
        epochs: int = 0,
        seconds: float = 0.0,
        stop: Stop | None = Stop.CERTIFIED,
        reason: str = "",
        detail: object = "",
        is_rounding: bool = False,
        **more: Any,
    ) -> Self:
        """Certificates are made here, of what was proved.

        ``size`` is the yardstick of the gap, which is primal - dual unless it was summed term by term, where
        nothing cancels. ``stop`` is why the fit ended: whether that was a certificate the gap decides.
        ``reason`` is said in place of its sentence, and ``detail`` in it. ``is_rounding`` says that nobody
        could state weights of which more is known (``Problem.is_rounding``).
        """
        gap = primal - dual if gap is None else gap
        relative = relative_gap(gap, size)
        if relative < 0:  # by rounding: no lower bound is above P
            dual, gap, relative = primal, 0.0, 0.0
        is_done = bool(relative <= tol) or is_rounding
        if stop is not None:
            reason = reason or (ALL_ROUNDING if is_rounding and not relative <= tol else "")
            stop = Stop.CERTIFIED if is_done else Stop.STALLED if stop is Stop.CERTIFIED else stop
            reason = reason or stop.sentence(detail)
        return cls(
            primal=primal,
            dual=dual,
            gap=gap,
            relative_gap=relative,
            kkt_violation=worst,
            solver=solver,
            epochs=epochs,
            seconds=seconds,
            converged=is_done,
            reason=reason,
            stop=stop,
            **more,
        )

    def proved_again(
        self,
        primal: float,
        dual: float,
        *,
        size: float,
        tol: float,
        gap: float | None = None,
        worst: float | None = None,
        detail: object = "the floor of the arithmetic",
        is_rounding: bool = False,
    ) -> Certificate:
        """The certificate of other weights or another bound, found by the same run.

        A run that was certified and is not any more has met ``detail``.
        """
        is_lost = self.stop is Stop.CERTIFIED or self.stop is None
        found = Certificate.of_proof(
            primal, dual, size=size, tol=tol, gap=gap, worst=self.kkt_violation if worst is None else worst,
            solver=self.solver, epochs=self.epochs, seconds=self.seconds, stop=self.stop or Stop.STALLED,
            detail=detail, is_rounding=is_rounding,
        )  # fmt: skip
        return found if found.converged or is_lost else replace(found, reason=self.reason)

    @classmethod
    def of_record(cls, kept: Mapping[str, Any]) -> Self:
        """A certificate from its fields as text and numbers; earlier versions kept no ``stop``."""
        known = {**kept, "stop": kept.get("stop", Stop.CERTIFIED if kept.get("converged") else None)}
        return cls(**known | {"stop": None if known["stop"] is None else Stop(known["stop"])})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"stop": Stop.CERTIFIED if state["converged"] else None} | state)

    def __str__(self) -> str:
        state = "certified" if self.converged else "not certified"
        return (
            f"{state}: objective {self.primal:.10g}, at most {self.gap:.3g} above the optimum "
            f"(relative gap {self.relative_gap:.2e}) by {self.solver} in {self.epochs} epochs, "
            f"{self.seconds:.3g} s; {self.reason}"
        )


def sum_certificates(parts: Sequence[Certificate], *, seconds: float | None = None) -> Certificate:
    """The proof of problems that share nothing: their objectives, bounds and gaps add up.

    It is certified where each of them is; what is told of the end is told of the first that is not.
    """
    if len(parts) == 1:
        return parts[0] if seconds is None else replace(parts[0], seconds=seconds)
    primal, dual, gap = (
        float(sum(getattr(part, name) for part in parts)) for name in ("primal", "dual", "gap")
    )
    told = next((part for part in parts if not part.converged), parts[0])
    return replace(
        told,
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=relative_gap(gap, abs(primal)),
        kkt_violation=max(part.kkt_violation for part in parts),
        epochs=sum(part.epochs for part in parts),
        seconds=sum(part.seconds for part in parts) if seconds is None else seconds,
    )
