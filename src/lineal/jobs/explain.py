"""Why one text or one row gets its label."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from lineal.errors import InputError, ParameterError
from lineal.jobs.answers import Answers, answers_of
from lineal.jobs.dataset import first_index
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
    if model.inputs == "table":
        _check_columns(row, model)
    if model.inputs == "rows":
        row = _vector(row, model)
    named = None if label is None else _label(model, label)
    return Explained(model, row, answers_of(model, [row]), model.explain(row, named))


def _check_columns(row: dict[str, Any], model: Model) -> None:
    """Refuses a row that lacks a column, as ``predict`` does: it would be explained as if it were empty."""
    needed = model.feature_names_in_.tolist()
    absent = [name for name in needed if name not in row]
    if not absent:
        return
    known = {*needed, *(str(name) for name in (model.about.columns or {}).values() if isinstance(name, str))}
    strange = [name for name in row if name not in known]
    also = f", and the model does not know {', '.join(map(repr, strange[:8]))}" if strange else ""
    raise InputError(
        f"the row lacks {', '.join(map(repr, absent[:8]))}{also}. Name every column that the model reads "
        f"({', '.join(map(repr, needed[:20]))}); null is a value that is missing."
    )


def _vector(row: dict[str, Any], model: Model) -> list[float]:
    """One row of numbers, from its features by name, or by index as the training file counted them."""
    names = getattr(model, "feature_names_in_", None)
    first = first_index(model)
    known = {str(k + first): k for k in range(model.n_features_in_)} if names is None else {
        name: k for k, name in enumerate(names.tolist())
    }  # fmt: skip
    vector = [0.0] * model.n_features_in_
    for name, value in row.items():
        if name not in known:
            raise InputError(f"the model has no feature {name!r}. It has {', '.join(list(known)[:8])}, ...")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"feature {name!r} needs a number, got {value!r}.")
        vector[known[name]] = float(value)
    return vector


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
