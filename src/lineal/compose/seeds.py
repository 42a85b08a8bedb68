"""Seeds of learners made of others."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lineal.errors import ParameterError


def generator_of(random_state: Any) -> np.random.Generator:
    """A generator that is the same for the same seed; None is the seed 0, as everywhere in this library."""
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        return np.random.default_rng(int(random_state) % 2**63)
    if isinstance(random_state, np.random.Generator):
        return random_state
    require_seed(random_state)
    return np.random.default_rng(int(random_state.randint(2**31 - 1)))


def require_seed(random_state: Any) -> None:
    """Refuses what is no seed, without drawing from it."""
    kinds = (numbers.Integral, np.random.Generator, np.random.RandomState)
    if random_state is not None and (isinstance(random_state, bool) or not isinstance(random_state, kinds)):
        raise ParameterError(
            f"random_state must be None, a whole number or a generator, got {random_state!r}."
        )
