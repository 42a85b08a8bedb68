"""What a stored model asks of the part of it that reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lineal.data.rows import Arrays
from lineal.model.answers import FloatArray
from lineal.model.explanation import Explanation, explained
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows
from lineal.text.occurrences import Places

MOST_GOLDEN = 64


class Context(NamedTuple):
    """The names of an input's columns, and which pieces of a text they touch, by ranges of columns."""

    names: Mapping[int, str]
    places: list[tuple[int, Places]]
    tokens: list[str]


class Features(ABC):
    """From inputs to rows."""

    kind: ClassVar[str]  # "texts", "table" or "rows"

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns rows have."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """How many columns inputs have, as scikit-learn counts them."""

    @abstractmethod
    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        """The rows of inputs."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all columns."""

    @abstractmethod
    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns, without making those of the others where that costs."""

    @property
    def n_collisions(self) -> int | None:
        """In how many hashed columns two or more terms were met; None where terms are not hashed."""
        return None

    def input_names(self) -> list[str] | None:
        """The names of the columns of inputs, if they have any."""
        return None

    def single(self, x: Any) -> Any:
        """Inputs of one row, from what a person has in hand."""
        raise NotImplementedError

    def context(self, x: Any, columns: Sequence[int]) -> Context:
        """What an explanation of one input says beside numbers."""
        return Context(dict(zip(columns, self.names_of(columns), strict=True)), [(self.n_columns, {})], [])

    @abstractmethod
    def made_up(self, heavy: Sequence[int]) -> Any:
        """Eight inputs that touch the heaviest columns, for golden predictions."""

    def inputs_with(self, rows: Arrays) -> Any:
        """Inputs whose rows are these, for golden predictions; None where rows do not tell the inputs."""
        return None

    def explanation(
        self, x: Any, rows: MatrixRows, label: Any, weights: FloatArray, intercept: float
    ) -> Explanation:
        """The score of one input, whose row is given, taken apart."""
        columns, values = stored_in(rows)
        context = self.context(x, columns)
        shown = (context.names, weights, intercept, context.places, context.tokens)
        return explained(label, columns, values, *shown)

    # ---- golden predictions -------------------------------------------------------------------

    def golden_rows(self, made: Any) -> MatrixRows:
        """The rows of made-up inputs."""
        return self.rows(made, 1)

    def put_golden(self, draft: Draft, place: str, made: Any) -> dict[str, Any]:
        """Keeps made-up inputs."""
        return {"inputs": made}

    def read_golden(self, spec: Spec) -> Any:
        """Inputs that ``put_golden`` kept."""
        made = spec.value.get("inputs")
        if not isinstance(made, list) or len(made) > MOST_GOLDEN:
            spec.refuse("inputs", f"a list of at most {MOST_GOLDEN} inputs", made)
        return made

    # ---- record -------------------------------------------------------------------------------

    @abstractmethod
    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""

    def scorer(self, W: FloatArray, b: FloatArray) -> Any:
        """Scores of one text, straight from the text; None where there is no such way."""
        return None


def stored_in(rows: MatrixRows) -> tuple[list[int], list[float]]:
    """The columns of one row that hold something, and what."""
    if rows.dense is not None:
        columns = np.flatnonzero(rows.dense[0])
        return columns.tolist(), rows.dense[0, columns].tolist()
    _, columns, values = rows.stored()
    return columns.tolist(), values.tolist()
