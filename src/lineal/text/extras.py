"""Hand-made features beside the terms: functions of the document."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError

Function = Callable[[str], Any]


class FunctionFeatures:
    """Features that functions find: a number or a truth value is one column, a category one for each value.

    What kind a function is of is learned from what it returns for the documents of the fit. A category that
    was not seen then has no column: its row is 0 in all of them.
    """

    def __init__(self, functions: Mapping[str, Function]) -> None:
        for name, function in functions.items():
            if not callable(function):
                raise ParameterError(f"functions[{name!r}] must be callable, got {function!r}.")
        self.functions = dict(functions)
        self.categories: dict[str, Sequence[str | None]] = {}  # of the functions that return categories

    def fit(self, documents: Iterable[str]) -> None:
        """Learns which functions return categories, and their values."""
        seen = SeenValues(self)
        seen.add(documents)
        seen.settle()

    def names(self) -> list[str]:
        """``name`` or ``name=value`` of each column; what would be there twice gets a number behind it."""
        names: list[str] = []
        met: Counter[str] = Counter()
        for name, value in self._columns():
            full = name if value is None else f"{name}={value}"
            met[full] += 1
            names.append(full if met[full] == 1 else f"{full} ({met[full]})")
        return names

    def rows(self, documents: Iterable[str], dtype: np.dtype[Any]) -> sp.csr_matrix:
        """What the functions return for documents, in numbers that ``dtype`` has room for."""
        place = {column: k for k, column in enumerate(self._columns())}
        most = float(np.finfo(dtype).max)
        starts, columns, numbers_ = [0], [], []
        for row, text in enumerate(documents):
            for name, value in self.values(row, text):
                if isinstance(value, str) != (name in self.categories):
                    raise InputError(
                        f"functions[{name!r}] returned {value!r} for document {row}, but in the fit it "
                        f"returned {'text' if name in self.categories else 'numbers'}."
                    )
                column = place.get((name, value if isinstance(value, str) else None))
                number = 1.0 if isinstance(value, str) else float(value)
                if abs(number) > most:
                    raise InputError(
                        f"functions[{name!r}] returned {value!r} for document {row}, which is beyond {dtype}."
                    )
                if column is not None and number != 0:
                    columns.append(column)
                    numbers_.append(number)
            starts.append(len(columns))
        return sp.csr_matrix((numbers_, columns, starts), shape=(len(starts) - 1, len(place)))

    def _columns(self) -> Iterator[tuple[str, str | None]]:
        """The function of each column, and the value that it stands for."""
        for name in self.functions:
            for value in self.categories.get(name, [None]):
                yield name, value

    def values(self, row: int, text: str) -> Iterable[tuple[str, Any]]:
        for name, function in self.functions.items():
            value = function(text)
            if isinstance(value, (str, bool, np.bool_)):
                yield name, value
            elif isinstance(value, numbers.Real) and (number := _finite(value)) is not None:
                yield name, number
            else:
                raise InputError(
                    f"functions[{name!r}] must return a finite number, a truth value or text; "
                    f"for document {row} it returned {value!r}."
                )


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond float64
        return None
    return number if math.isfinite(number) else None


class SeenValues:
    """What functions returned for documents that come piece by piece; ``settle`` tells the features."""

    def __init__(self, features: FunctionFeatures) -> None:
        self._features = features
        self._kinds: dict[str, set[str]] = {name: set() for name in features.functions}
        self._values: dict[str, set[str]] = {name: set() for name in features.functions}
        self._n_documents = 0

    def add(self, documents: Iterable[str]) -> None:
        for text in documents:
            for name, value in self._features.values(self._n_documents, text):
                self._kinds[name].add("category" if isinstance(value, str) else "number")
                if isinstance(value, str):
                    self._values[name].add(value)
            self._n_documents += 1

    def settle(self) -> None:
        for name, seen in self._kinds.items():
            if len(seen) > 1:
                raise InputError(
                    f"functions[{name!r}] returned text for some documents and numbers for others. "
                    "Return one kind."
                )
        self._features.categories = {
            name: sorted(found) for name, found in self._values.items() if self._kinds[name] == {"category"}
        }
