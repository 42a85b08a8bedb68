"""What a stored model asks of the part of it that reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from lineal.model.answers import FloatArray
from lineal.model.record import Draft
from lineal.model.rows import MatrixRows
from lineal.text.occurrences import Places


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

    @abstractmethod
    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""

    def scorer(self, W: FloatArray, b: FloatArray) -> Any:
        """Scores of one text, straight from the text; None where there is no such way."""
        return None
