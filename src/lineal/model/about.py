"""What a model file tells of where its model comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lineal.errors import ParameterError
from lineal.model.record import Spec


@dataclass(frozen=True)
class About:
    """Where a model comes from.

    Attributes
    ----------
    learner : how the learner is written, in the language of ``lineal train --learner``; "" if it cannot be
    plan : what was chosen and why, in a sentence
    version : of Lineal, that made the file
    created : when, in UTC and ISO 8601; None unless whoever saved the model said so
    n_rows : how many rows it was fitted to
    fingerprint : of the training data, such as bytes, sha256, rows and columns
    scores : scores by name, each with its value and the ends of its interval
    command : that made it
    columns : roles of the columns of its training data
    notes : anything else
    """

    learner: str = ""
    plan: str = ""
    version: str = ""
    created: str | None = None
    n_rows: int | None = None
    fingerprint: dict[str, Any] | None = None
    scores: dict[str, Any] = field(default_factory=dict)
    command: str | None = None
    columns: dict[str, Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def put(self) -> dict[str, Any]:
        """As JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def read(cls, spec: Spec) -> About:
        """What ``put`` kept; what a later version may have added is left out."""
        made: dict[str, Any] = {}
        for name, kinds in _KINDS.items():
            value = spec.value.get(name)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                spec.refuse(name, f"of type {kinds.__name__}", value)
            made[name] = value
        return cls(**made)


_KINDS: dict[str, type] = {
    **dict.fromkeys(("learner", "plan", "version", "created", "command"), str),
    **dict.fromkeys(("fingerprint", "scores", "columns", "notes"), dict),
    "n_rows": int,
}


def about_of(given: Mapping[str, Any] | None, **known: Any) -> About:
    """What was said about a model beside what is known of it; refuses what JSON cannot hold."""
    made = {**known, **(given or {})}
    names = [one.name for one in fields(About)]
    unknown = sorted(set(made) - set(names))
    if unknown:
        raise ParameterError(
            f"about has {', '.join(names)}, but {', '.join(unknown)} came. Put it into notes."
        )
    for name, value in made.items():
        kinds = _KINDS[name]
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ParameterError(f"about[{name!r}] must be of type {kinds.__name__}, got {value!r}.")
    try:
        json.dumps(made, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"about must hold what JSON can: {error}.") from None
    return About(**made)
