"""What a search for columns did, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class Step:
    """One change of the set of columns.

    Attributes
    ----------
    action : "add" or "remove"
    columns : the columns that came or went
    n_columns : how many there were afterwards
    score : of the set afterwards, the mean over folds; NaN where nothing was scored
    fold_scores : (n_folds,)
    seconds : since the search began
    """

    action: str
    columns: tuple[int, ...]
    n_columns: int
    score: float
    fold_scores: FloatArray
    seconds: float


@dataclass(frozen=True, eq=False)
class History:
    """The steps in their order; ``print`` shows them as a table, ``named(vectorizer)`` with words."""

    steps: tuple[Step, ...]
    names: NDArray[np.object_] | None = None

    def named(self, names: Any) -> History:
        """The same with names: those of all columns, or whatever has ``get_feature_names_out``."""
        if hasattr(names, "get_feature_names_out"):
            names = names.get_feature_names_out()
        known = np.array([str(name) for name in names], dtype=object)
        largest = max((column for step in self.steps for column in step.columns), default=-1)
        if largest >= len(known):
            raise InputError(f"names has {len(known)} names, but column {largest} came or went.")
        return replace(self, names=known)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, place: int) -> Step:
        return self.steps[place]

    @property
    def scores(self) -> FloatArray:
        """(n_steps,) score after each step."""
        return np.array([step.score for step in self.steps])

    def __str__(self) -> str:
        lines = [f"{'step':>4}  {'columns':>7}  {'score':>9}  change"]
        for place, step in enumerate(self.steps):
            sign = "+" if step.action == "add" else "-"
            changed = ", ".join(f"{sign}{self._name(column)}" for column in step.columns[:8])
            more = f" and {len(step.columns) - 8} more" if len(step.columns) > 8 else ""
            score = "" if np.isnan(step.score) else f"{step.score:.4f}"
            lines.append(f"{place + 1:>4}  {step.n_columns:>7}  {score:>9}  {changed}{more}")
        return "\n".join(lines)

    def _name(self, column: int) -> str:
        return f"x{column}" if self.names is None else str(self.names[column])
