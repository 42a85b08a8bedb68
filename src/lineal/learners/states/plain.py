"""Learners without the options that no text can tell and no prediction depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

_WATCHING = ("scoring", "progress", "validation")


def plain(learner: Any) -> Any:
    """The learner with the same options but functions that only watch or judge a fit, and generators."""
    given, others = learner.get_params(deep=False), dict[str, Any]()
    for name, value in given.items():
        if name == "callbacks" and len(value):
            others[name] = ()
        elif name in _WATCHING and value is not None and not isinstance(value, float):
            others[name] = False if name == "progress" else None
        elif isinstance(value, (np.random.Generator, np.random.RandomState)):
            others[name] = None
        elif isinstance(value, np.ndarray):
            others[name] = value.tolist()
        elif hasattr(value, "get_params") and not isinstance(value, type):
            others[name] = plain(value)
    return type(learner)(**{**given, **others}) if others else learner
