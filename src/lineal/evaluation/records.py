"""What evaluation says: an interval, a score that has one, the outcome of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from lineal.evaluation.wording import brief, p_text, percent


@dataclass(frozen=True)
class Interval:
    """Where the true value lies, in a share ``confidence`` of all samples.

    Attributes
    ----------
    low, high : float
    confidence : float
    method : str
        How it was found.
    """

    low: float
    high: float
    confidence: float = 0.95
    method: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """high - low."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{brief(self.low)} .. {brief(self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {"low": self.low, "high": self.high, "confidence": self.confidence, "method": self.method}


@dataclass(frozen=True)
class Score:
    """One number about a model, with its interval.

    Attributes
    ----------
    name : str
    value : float
    interval : Interval
    greater_is_better : bool or None
        None: neither, such as a mean error whose best value is 0.
    """

    name: str
    value: float
    interval: Interval
    greater_is_better: bool | None = True

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.interval.high

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name} {brief(self.value)} ({percent(self.interval.confidence)}: {self.interval})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "value": self.value,
            **self.interval.to_dict(),
            "greater_is_better": self.greater_is_better,
        }


@dataclass(frozen=True)
class Significance:
    """The outcome of a test of the hypothesis that there is no difference; ``print`` gives a sentence.

    Attributes
    ----------
    test : str
        What was done, and to how much.
    statistic : float
    p_value : float
        How often chance alone gives a statistic at least as far out. Two-sided.
    statistic_name : str
        ``"t"``, ``"z"``, ...
    degrees_of_freedom : tuple of float
    difference : float or None
        First less second.
    interval : Interval or None
        Of the difference.
    effect, effect_name : float or None, str
        The difference in a unit of its own: Cohen's d, an odds ratio, a rank correlation.
    note : str
        What to bear in mind.
    """

    test: str
    statistic: float
    p_value: float
    statistic_name: str = "t"
    degrees_of_freedom: tuple[float, ...] = ()
    difference: float | None = None
    interval: Interval | None = None
    effect: float | None = None
    effect_name: str = ""
    note: str = ""

    def is_significant(self, level: float = 0.05) -> bool:
        """Whether p is at most the level."""
        return self.p_value <= level

    def __str__(self) -> str:
        freedom = ", ".join(f"{df:.4g}" for df in self.degrees_of_freedom)
        name = f"{self.statistic_name}({freedom})" if freedom else self.statistic_name
        parts = [f"{self.test}: {name} = {brief(self.statistic)}, {p_text(self.p_value)}"]
        if self.difference is not None:
            ends = self.interval
            between = "" if ends is None else f" ({percent(ends.confidence)} interval {ends})"
            parts.append(f"difference {brief(self.difference)}{between}")
        if self.effect is not None and not math.isnan(self.effect):
            parts.append(f"{self.effect_name} {brief(self.effect)}")
        if self.note:
            parts.append(self.note)
        return "; ".join(parts) + "."

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "test": self.test,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "degrees_of_freedom": list(self.degrees_of_freedom),
            "difference": self.difference,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "effect": self.effect,
            "effect_name": self.effect_name,
            "note": self.note,
        }
