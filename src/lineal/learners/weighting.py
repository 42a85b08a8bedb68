"""How learners of any kind are told the weights of rows."""

from __future__ import annotations

from typing import Any

from lineal.deferred import is_a
from lineal.protocol import has_fit_parameter


def weight_argument(learner: Any) -> str | None:
    """What ``fit`` calls the weights of rows; None where it takes none."""
    if is_a(learner, "sklearn.pipeline:Pipeline"):
        name, last = learner.steps[-1]
        inner = weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(learner, "sample_weight") else None
