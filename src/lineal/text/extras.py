"""Hand-made features beside the terms: functions of the document."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
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
        self.categories: dict[str, list[str]] = {}  # of the functions that return categories

    def fit(self, documents: Iterable[str]) -> None:
        """Learns which functions return categories, and their values."""
        seen = SeenValues(self)
        seen.add(documents)
        seen.settle()

    def names(self) -> list[str]:
        names: list[str] = []
        for name in self.functions:
            names += (
                [f"{name}={value}" for value in self.categories[name]] if name in self.categories else [name]
            )
        return names

    def rows(self, documents: Iterable[str]) -> sp.csr_matrix:
        place = {name: k for k, name in enumerate(self.names())}
        starts, columns, numbers_ = [0], [], []
        for row, text in enumerate(documents):
            for name, value in self.values(row, text):
                if isinstance(value, str) != (name in self.categories):
                    raise InputError(
                        f"functions[{name!r}] returned {value!r} for document {row}, but in the fit it "
                        f"returned {'text' if name in self.categories else 'numbers'}."
                    )
                column = place.get(f"{name}={value}") if isinstance(value, str) else place[name]
                if column is not None and value != 0:
                    columns.append(column)
                    numbers_.append(1.0 if isinstance(value, str) else float(value))
            starts.append(len(columns))
        return sp.csr_matrix((numbers_, columns, starts), shape=(len(starts) - 1, len(place)))

    def values(self, row: int, text: str) -> Iterable[tuple[str, Any]]:
        for name, function in self.functions.items():
            value = function(text)
            if isinstance(value, (str, bool, np.bool_)):
                yield name, value
            elif isinstance(value, numbers.Real) and math.isfinite(value):
                yield name, float(value)
            else:
                raise InputError(
                    f"functions[{name!r}] must return a finite number, a truth value or text; "
                    f"for document {row} it returned {value!r}."
                )


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
