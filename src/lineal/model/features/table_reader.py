"""How tables are read once everything about their columns is known: with NumPy and the core alone.

A reader is what a fitted ``TableVectorizer`` transforms with, and what a stored model holds of it.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lineal.data.columns import Table, empty_column, few
from lineal.data.rows import Arrays, empty_rows, in_precision, side_by_side
from lineal.errors import InputError
from lineal.model.encodings import (
    BooleansEncoding,
    CategoriesEncoding,
    DatesEncoding,
    Encoding,
    NumbersEncoding,
    TextEncoding,
)
from lineal.model.record import Draft, Spec

_ENCODINGS: dict[str, Any] = {
    encoding.kind: encoding
    for encoding in (BooleansEncoding, CategoriesEncoding, DatesEncoding, NumbersEncoding, TextEncoding)
}


@dataclass(frozen=True, eq=False)
class TableReader:
    """Tables to rows.

    Attributes
    ----------
    encodings : of each column of the fit by name; None for those without features
    has_names : whether the table of the fit had names
    extra : "refuse" or "ignore": what to do with columns that the fit did not have
    dtype : float64 or float32
    owner : who is named in messages
    """

    encodings: Mapping[str, Encoding | None]
    has_names: bool
    extra: str
    dtype: Any
    owner: str = "TableVectorizer"

    @cached_property
    def n_columns(self) -> int:
        """How many features there are."""
        return sum(encoding.n_columns for encoding in self.encodings.values() if encoding is not None)

    def matched(self, table: Table, stacklevel: int = 4) -> Table:
        """The columns of the fit, found by name if both tables have names, else by place."""
        needed, came = list(self.encodings), list(table.columns)
        if not (self.has_names and table.has_names):
            if len(came) != len(needed):
                raise InputError(
                    f"X has {len(came)} features, but {self.owner} is expecting {len(needed)} "
                    f"features as input: {few(needed)}."
                )
            warn_of_names(self.owner, self.has_names, table.has_names, stacklevel + 1)
            columns = dict(zip(needed, table.columns.values(), strict=True))
            return Table(columns, table.n_rows, self.has_names)
        absent = [name for name in needed if name not in table.columns]
        if absent and table.is_complete:
            raise InputError(
                f"the table lacks columns of the fit: {few(absent)}. It has {few(came)}. Add them; "
                "cells may be missing values."
            )
        extra = [name for name in came if name not in self.encodings]
        if extra and self.extra == "refuse":
            raise InputError(
                f"the table has columns that the fit did not have: {few(extra)}. "
                f"The fit had {few(needed)}. Take them out, or set extra='ignore'."
            )
        n = table.n_rows
        return Table({name: table.columns.get(name) or empty_column(name, n) for name in needed}, n, True)

    def rows(self, table: Table, n_threads: int) -> Arrays:
        """(starts, columns, values) of a table whose columns were matched."""
        blocks = [
            (encoding.encode(table.columns[name], n_threads), encoding.n_columns)
            for name, encoding in self.encodings.items()
            if encoding is not None
        ]
        rows = side_by_side(blocks) if blocks else empty_rows(table.n_rows)
        return in_precision(rows, self.dtype, "a number", "Use dtype=np.float64, or scale the column.")

    # ---- names --------------------------------------------------------------------------------

    @cached_property
    def origins(self) -> dict[str, str]:
        """The name of each feature, in order, and the column that it comes from."""
        return unique_names(
            (feature, name)
            for name, encoding in self.encodings.items()
            for feature in (encoding.names if encoding is not None else ())
        )

    def names(self) -> list[str]:
        """The names of all features."""
        return list(self.origins)

    def names_of(self, columns: Sequence[int]) -> list[tuple[str, str]]:
        """The names of some features and the columns that they come from.

        The words of texts are not all made for it, so of a name that occurs twice both look alike.
        """
        found: dict[int, tuple[str, str]] = {}
        in_order = sorted(columns)
        first = 0
        for name, encoding in self.encodings.items():
            if encoding is None:
                continue
            begin, end = (bisect_left(in_order, edge) for edge in (first, first + encoding.n_columns))
            own = [column - first for column in in_order[begin:end]]
            if own:
                all_names = None if isinstance(encoding, TextEncoding) else encoding.names
                names = encoding.names_of(own) if isinstance(encoding, TextEncoding) else []
                names = names or [all_names[place] for place in own if all_names is not None]
                found.update((k + first, (label, name)) for k, label in zip(own, names, strict=True))
            first += encoding.n_columns
        return [found[column] for column in columns]

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""
        return {
            "has_names": self.has_names,
            "extra": self.extra,
            "dtype": np.dtype(self.dtype).name,
            "owner": self.owner,
            "columns": [
                {
                    "name": name,
                    "encoding": None
                    if encoding is None
                    else encoding.put(draft, f"{place}.columns.{k}.encoding"),
                }
                for k, (name, encoding) in enumerate(self.encodings.items())
            ],
        }

    @classmethod
    def read(cls, spec: Spec) -> TableReader:
        """What ``put`` kept."""
        encodings: dict[str, Encoding | None] = {}
        for child in spec.children("columns"):
            name = child.text("name")
            if name in encodings:
                child.refuse("name", "a name that no other column has", name)
            encodings[name] = _read_encoding(child.child("encoding"), name) if child.has("encoding") else None
        dtype = np.dtype(spec.text("dtype", ("float64", "float32")))
        extra = spec.text("extra", ("refuse", "ignore"))
        return cls(encodings, spec.flag("has_names"), extra, dtype, spec.text("owner"))


def _read_encoding(spec: Spec, name: str) -> Encoding:
    kind = _ENCODINGS[spec.text("kind", tuple(_ENCODINGS))]
    made: Encoding = kind.read_own(spec, name, spec.flag("has_indicator"), spec.flag("refuses_missing"))
    return made


def warn_of_names(owner: str, fit_had: bool, table_has: bool, stacklevel: int) -> None:
    """Warns, in scikit-learn's words, where one of two tables has names."""
    if fit_had != table_has:
        warnings.warn(
            f"X has feature names, but {owner} was fitted without feature names"
            if table_has
            else f"X does not have valid feature names, but {owner} was fitted with feature names",
            UserWarning,
            stacklevel=stacklevel,
        )


def unique_names(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Features to their columns; a name that is taken is numbered, as ``a=b (2)``."""
    origin: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for feature, column in named:
        name = feature
        while name in origin:
            seen[feature] += 1
            name = f"{feature} ({seen[feature] + 1})"
        origin[name] = column
    return origin
