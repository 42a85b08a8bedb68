"""Going on: a stored model learns from more rows, one by one, and is stored again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.compression import fingerprint
from lineal.errors import InputError, ParameterError
from lineal.jobs.dataset import named, stream_for
from lineal.jobs.judge import labelled
from lineal.jobs.places import told_of_cells, told_of_file
from lineal.learners.freezing import freeze
from lineal.learners.thawing import thaw
from lineal.model.about import About
from lineal.model.loading import load
from lineal.model.model import Model

N_BYTES = 1 << 22


def _about(before: About, learned: dict[str, Any], command: str, created: str) -> dict[str, Any]:
    """Scores were of another model, and the plan of its fit; how that came about is kept in the notes."""
    notes = {name: value for name, value in before.notes.items() if name != "held out"}
    earlier = notes.setdefault("trained", {"command": before.command, "created": before.created})
    n_new = int(notes.get("updated with rows", 0)) + learned["rows"]
    notes |= {
        "trained": earlier,
        "updated with rows": n_new,
        "updates": [*notes.get("updates", ()), {**learned, "command": command, "created": created}],
    }
    return {
        "columns": before.columns,
        "fingerprint": before.fingerprint,
        "command": command or None,
        "created": created,
        "n_rows": (before.n_rows or 0) + learned["rows"],
        "notes": notes,
    }


def _learned(path: str, n_rows: int) -> dict[str, Any]:
    """What was learned from, as far as it can be told apart from other files."""
    if not Path(path).is_file():
        return {"file": path, "rows": n_rows}
    seal = fingerprint(path)
    return {"file": Path(path).name, "rows": n_rows, "bytes": seal.n_bytes, "sha256": seal.sha256}


@dataclass(frozen=True, eq=False)
class Updated:
    """The new model, how many rows it met, and how well it did on them before it learned from them."""

    model: Model
    n_rows: int
    progressive: float | None
    new_labels: tuple[Any, ...]


def update(
    model_path: str,
    path: str,
    *,
    label: str | None = None,
    text: str | None = None,
    weight: str | None = None,
    reading: dict[str, Any] | None = None,
    n_bytes: int = N_BYTES,
    command: str = "",
    tell: Callable[[str], None] = lambda sentence: None,
) -> Updated:
    """Learns from the rows of a file in their order, about ``n_bytes`` of it at a time.

    Labels may be new. What was learned by a fit goes on with steps that need no tuning; what was learned by
    a stream goes on bit for bit as if it had never been stored. The model's own record gets the ``command``
    that was typed, the date, and the file, beside what it said of its training.
    """
    before = load(model_path)
    estimator = thaw(before)
    if not hasattr(estimator, "partial_fit"):
        raise ParameterError(f"{before.about.learner} cannot go on learning: train it anew with all rows.")
    n, n_right, first = 0, 0.0, 0
    names = estimator.__dict__.pop("feature_names_in_", None) if before.inputs == "rows" else None
    for records in stream_for(before, path, n_bytes, reading or {}, label=label):
        with told_of_cells(path, reading, first.__add__):
            data = labelled(before, records, label=label, text=text, weight=weight, is_piece=True)
        places, first = data.rows + first, first + records.n_rows
        if not len(data):
            continue
        weights = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
        with told_of_file(path, reading, places.item):
            if before.task == "classification":
                n_right += float((np.asarray(estimator.predict(data.X)) == data.y).sum())
            estimator.partial_fit(data.X, data.y, **weights)
        n += len(data)
        tell(f"{n:,} rows")
    if not n:
        raise InputError(f"{path}: no row has a label to learn from.")
    known = set(before.classes_.tolist()) if before.task == "classification" else set()
    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    told = _about(before.about, _learned(path, n), command, created)
    after = freeze(named(estimator, names), about=told)
    new = () if before.task != "classification" else tuple(
        value for value in after.classes_.tolist() if value not in known
    )  # fmt: skip
    return Updated(after, n, n_right / n if known and n else None, new)
