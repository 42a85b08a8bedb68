"""What one fit is asked to do, in words that both sides of a measurement understand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Setting = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One objective on one matrix: ``sum loss + (1/C) R(w)``, R = ||w||^2 / 2 or ||w||_1.

    The intercept, where there is one, is not penalised; ``loss`` is one of "hinge", "squared_hinge"
    (one-vs-rest beyond two classes), "log" (two classes) and "softmax".
    """

    data: str
    origin: str
    loss: str
    C: float
    penalty: str = "l2"
    intercept: bool = False
    fraction: float = 1.0


@dataclass(frozen=True)
class Weights:
    """What a fit found, with whatever else it says about itself."""

    coef: np.ndarray  # (1, n_columns) for two classes, else (n_classes, n_columns)
    intercept: np.ndarray  # (1,) or (n_classes,)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A fit split where the clock stands: ``run`` is timed, ``read`` is not."""

    run: Callable[[], Any]
    read: Callable[[Any], Weights]
