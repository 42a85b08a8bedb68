"""Golden predictions: made-up inputs and their scores, stored with a model and taken again when it is loaded.

They are made of the model itself, of its heaviest features, and hold nothing of the training data beside; a
kernel machine is asked about some of the support vectors that it holds anyway.
Scores may differ by rounding between processors, and by nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.errors import ModelFileError
from lineal.model.features.base import Features
from lineal.model.heads import Head
from lineal.model.record import Draft, Spec

_ROUNDING = 1e-9
_HEAVY = 64


def put_golden(draft: Draft, place: str, features: Features, head: Head) -> dict[str, Any]:
    """Keeps made-up inputs and their scores."""
    made = _made_up(features, head)
    kept = features.put_golden(draft, place, made)
    draft.put(place, "scores", head.raw(features.golden_rows(made)))
    return kept


def check_golden(spec: Spec, features: Features, head: Head) -> None:
    """Takes the scores again and refuses a model that gives others."""
    made = features.read_golden(spec)
    stored = spec.tensor("scores", (np.float64,), (None, head.width))
    rows = features.golden_rows(made)
    found = head.raw(rows)
    if found.shape != stored.shape:
        spec.refuse("scores", f"scores of {len(found)} inputs", f"those of {len(stored)}")
    with np.errstate(invalid="ignore"):
        size = np.abs(np.where(np.isfinite(stored), stored, 0.0))
        room = _ROUNDING * (size + size.max(initial=0.0)) + head.rounding(rows) + 1e-300
        agrees = (np.abs(found - stored) <= room) | (found == stored) | (np.isnan(found) & np.isnan(stored))
    if not agrees.all():
        row, column = np.argwhere(~agrees)[0]
        raise ModelFileError(
            f"the model does not give its golden predictions: input {row} has score {found[row, column]!r} "
            f"where "
            f"{stored[row, column]!r} was stored. The file was changed, or this machine computes otherwise "
            f"than the "
            "one it was made on. Make the model again; load(path, check=False) loads it as it is."
        )


def _made_up(features: Features, head: Head) -> Any:
    """Inputs with the rows that a head asks for, where that can be; else of the heaviest columns."""
    rows = head.telling_rows()
    made = None if rows is None else features.inputs_with(rows)
    return features.made_up(heaviest(head)) if made is None else made


def heaviest(head: Head, n_most: int = _HEAVY) -> Sequence[int]:
    """The columns of largest weights, heaviest first; of equal ones the first."""
    size = head.column_sizes()
    n = min(n_most, len(size))
    cut = np.partition(size, len(size) - n)[len(size) - n] if n else 0.0
    above, equal = np.flatnonzero(size > cut), np.flatnonzero(size == cut)
    chosen = np.concatenate([above, equal[: n - len(above)]])
    order = np.argsort(-size[chosen], kind="stable")
    return [int(column) for column in chosen[order]]
