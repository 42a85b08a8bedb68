"""Why one text or one row gets its label."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from lineal.errors import InputError, ParameterError
from lineal.jobs.answers import Answers, answers_of
from lineal.model.explanation import Explanation
from lineal.model.loading import load
from lineal.model.model import Model


@dataclass(frozen=True, eq=False)
class Explained:
    """A model, what it says of one row, and why."""

    model: Model
    given: Any
    answers: Answers
    explanation: Explanation


def explain(model_path: str, given: str, *, label: str | None = None) -> Explained:
    """Explains a text, or a JSON object for a model of tables; ``"-"`` is the standard input."""
    model = load(model_path)
    text = sys.stdin.read() if given == "-" else given
    row: Any = text
    if model.inputs != "texts":
        row = _object(text, model)
    named = None if label is None else _label(model, label)
    X = [row]
    return Explained(model, row, answers_of(model, X), model.explain(row, named))


def _object(text: str, model: Model) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        shown = (
            ", ".join(map(repr, model.feature_names_in_.tolist()[:8]))
            if model.inputs == "table"
            else "names of features"
        )
        raise InputError(
            f"the model takes rows with columns, so a JSON object is needed, with {shown}; got {text[:60]!r}."
        )
    return row


def _label(model: Model, label: str) -> Any:
    if model.task != "classification":
        raise ParameterError("the model predicts numbers: leave out --label.")
    for known in model.classes_.tolist():
        if str(known) == label:
            return known
    shown = ", ".join(repr(str(known)) for known in model.classes_.tolist()[:20])
    raise ParameterError(f"{label!r} is none of the model's labels: {shown}.")
