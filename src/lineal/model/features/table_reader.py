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
from itertools import groupby
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
    NumbersBlock,
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
            (block.encode([table.columns[name] for name in names]), block.n_columns)
            if isinstance(block, NumbersBlock)
            else (block.encode(table.columns[names[0]], n_threads), block.n_columns)
            for names, block in self._blocks
        ]
        rows = side_by_side(blocks) if blocks else empty_rows(table.n_rows)
        return in_precision(rows, self.dtype, "a number", "Use dtype=np.float64, or scale the column.")

    @cached_property
    def _blocks(self) -> list[tuple[list[str], NumbersBlock | Encoding]]:
        """Columns that are encoded together: neighbours that are numbers; any other by itself."""
        found: list[tuple[list[str], NumbersBlock | Encoding]] = []
        used = ((name, own) for name, own in self.encodings.items() if own is not None)
        # A transformer, of which nothing is known, takes its column alone.
        for is_run, run in groupby(used, key=lambda pair: type(pair[1]) is NumbersEncoding):
            if is_run:
                names, own = zip(*run, strict=True)
                found.append((list(names), NumbersBlock(own)))
            else:
                found += [([name], encoding) for name, encoding in run]
        return found

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
        groups: dict[str, list[Encoding]] = {}
        for encoding in self.encodings.values():
            if encoding is not None:
                groups.setdefault(encoding.kind, []).append(encoding)
        codes = {None: 0} | {kind: code for code, kind in enumerate(groups, 1)}
        kinds = [codes[None if own is None else own.kind] for own in self.encodings.values()]
        draft.put_strings(place, "names", list(self.encodings))
        draft.put(place, "kinds", np.array(kinds, dtype=np.uint8))
        return {
            "has_names": self.has_names,
            "extra": self.extra,
            "dtype": np.dtype(self.dtype).name,
            "owner": self.owner,
            "kinds": list(groups),
            "encodings": {
                kind: _foremost(own).put_many(draft, f"{place}.encodings.{kind}", own)
                for kind, own in groups.items()
            },
        }

    @classmethod
    def read(cls, spec: Spec) -> TableReader:
        """What ``put`` kept, or what version 1 of the format did."""
        encodings = _read_columns(spec) if spec.has("columns") else _read_kinds(spec)
        dtype = np.dtype(spec.text("dtype", ("float64", "float32")))
        extra = spec.text("extra", ("refuse", "ignore"))
        return cls(encodings, spec.flag("has_names"), extra, dtype, spec.text("owner"))


def _foremost(encodings: Sequence[Encoding]) -> type[Encoding]:
    """The class that keeps encodings of one kind: one that a model file does not know refuses to."""
    return next((type(own) for own in encodings if type(own) not in _ENCODINGS.values()), type(encodings[0]))


def _read_kinds(spec: Spec) -> dict[str, Encoding | None]:
    """Columns whose encodings lie side by side, those of one kind in one place."""
    names, kinds = spec.strings("names"), spec.texts("kinds")
    codes = spec.tensor("kinds", (np.uint8,), (len(names),))
    if len(set(names)) < len(names):
        spec.refuse("names", "names that differ", "some twice")
    if len(set(kinds)) < len(kinds) or not set(kinds) <= set(_ENCODINGS):
        spec.refuse("kinds", f"some of {', '.join(_ENCODINGS)}", kinds)
    if (codes > len(kinds)).any():
        spec.refuse("kinds", f"numbers up to {len(kinds)}", "others")
    encodings: dict[str, Encoding | None] = dict.fromkeys(names)
    groups = spec.child("encodings")
    for code, kind in enumerate(kinds, 1):
        own = [names[place] for place in np.flatnonzero(codes == code).tolist()]
        encodings.update(zip(own, _ENCODINGS[kind].read_many(groups.child(kind), own), strict=True))
    return encodings


def _read_columns(spec: Spec) -> dict[str, Encoding | None]:
    """Columns with an object each, as version 1 of the format had them."""
    encodings: dict[str, Encoding | None] = {}
    for child in spec.children("columns"):
        name = child.text("name")
        if name in encodings:
            child.refuse("name", "a name that no other column has", name)
        encodings[name] = _read_encoding(child.child("encoding"), name) if child.has("encoding") else None
    return encodings


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
