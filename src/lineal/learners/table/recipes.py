"""Ways to read tables that are worth trying when nobody has said how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column, Table
from lineal.features.kinds import Booleans, Categories, Dates, EachValue, Kind, Numbers, Quantiles
from lineal.features.scaling import ColumnScaler
from lineal.learners.table.data import MatrixData, TableData
from lineal.learners.table.reading import BinnedColumns, MatrixRead, PlainColumns, TableRead, TextColumn
from lineal.learners.text.recipes import default_recipes
from lineal.learners.text.search import Recipe

_N_BINS = 10
_FINE_BINS, _FINE_FROM = 40, 2000  # bins of fewer than fifty rows on average tell more of chance than of y
_FEW_VALUES = 20
# A number that is 0 in most rows is not shifted, so that its zeros stay unstored.
_SHIFTED_FROM = 0.25
_MIN_COUNT = 2
_DATE_PARTS = ("epoch_day", "month", "day", "weekday")
# With more columns than this, their deviations differ by chance and a common scale does harm.
_MANY_COLUMNS = 1000


@dataclass(frozen=True)
class TableRecipe:
    """A way to read tables: groups of columns side by side."""

    name: str
    parts: tuple[PlainColumns | BinnedColumns | TextColumn, ...]
    is_costly: bool = False

    def read(self, data: TableData, y: NDArray[Any]) -> TableRead:
        """The table as this recipe reads it."""
        return TableRead(self, [part.read(data, y) for part in self.parts])


@dataclass(frozen=True)
class MatrixRecipe:
    """A way to take sparse matrices: as they are, or with columns scaled and zeros kept."""

    name: str
    scaler: ColumnScaler | None
    is_costly: bool = False

    def read(self, data: MatrixData, y: NDArray[Any]) -> MatrixRead:
        """The matrix as this recipe takes it."""
        return MatrixRead.of(self, self.scaler, data.X)


def recipes_of_tables(data: TableData, n_threads: int | None, has_classes: bool) -> list[TableRecipe]:
    """Numbers scaled, alone and beside their bins; texts in three ways beside the best known of those."""
    plain = _plain(data)
    ways: list[tuple[str, tuple[Any, ...]]] = [("columns scaled", plain)]
    for n_bins in (_N_BINS, _FINE_BINS) if len(data) >= _FINE_FROM else (_N_BINS,):
        kinds = _binned_kinds(data, n_bins)
        if kinds:
            ways.append((f"columns scaled, numbers beside {n_bins} bins", (*plain, BinnedColumns(kinds))))
    texts = data.of_kind("text")
    if not texts:
        # Bins have to be worth their columns where only a part of the rows is looked at.
        return [TableRecipe(name, parts, is_costly=k > 0) for k, (name, parts) in enumerate(ways)]
    n_bytes = sum(len(text) for name in texts for text in data.texts(name))
    first, *others = default_recipes(n_bytes, n_threads, has_classes)
    found = [_with_texts(way, first, texts, is_costly=False) for way in ways]
    # The other ways to read texts are compared beside bins, which do little harm where they do not help.
    return found + [_with_texts(ways[min(1, len(ways) - 1)], one, texts, one.is_costly) for one in others]


def recipes_of_matrices(data: MatrixData) -> list[MatrixRecipe]:
    """Few columns scaled to one deviation and as they are; many as they are, or to at most 1 if large."""
    size = float(np.abs(data.X.data).max(initial=0.0)) if data.X.nnz else 0.0
    as_it_is = MatrixRecipe("columns as they are", None)
    bounded = MatrixRecipe("columns divided by their largest value", ColumnScaler("[-1,1]"))
    usual = as_it_is if size <= 10.0 else bounded
    if data.X.shape[1] > _MANY_COLUMNS:
        return [usual]
    scaled = MatrixRecipe("columns scaled to variance 1", ColumnScaler("variance"))
    return [scaled, replace(usual, is_costly=True)]  # of many rows a part is enough to choose by


def _with_texts(
    way: tuple[str, tuple[Any, ...]], recipe: Recipe, texts: Sequence[str], is_costly: bool
) -> TableRecipe:
    name, parts = way
    columns = tuple(
        TextColumn(text, vectorizer, is_first=place == 0)
        for text in texts
        for place, vectorizer in enumerate(recipe.vectorizers)
    )
    name = f"{recipe.name}, {name}" if parts else recipe.name
    return TableRecipe(name, (*parts, *columns), is_costly)


def _plain(data: TableData) -> tuple[PlainColumns, ...]:
    """All columns but texts, in one vectoriser."""
    kinds: dict[str, Kind] = {}
    # One object for all: columns that share a kind are learned from together.
    numbers = {shift: Numbers(scale=ColumnScaler("variance", shift=shift)) for shift in (False, True)}
    for name, kind in data.kinds.items():
        if isinstance(kind, Kind):
            kinds[name] = kind
        elif kind == "number":
            kinds[name] = numbers[_is_dense(data.table.columns[name])]
        elif kind != "text":
            kinds[name] = _usual_kind(kind, data.table.columns[name])
    return (PlainColumns(kinds),) if kinds else ()


def _usual_kind(word: str, column: Column) -> Kind:
    if word == "date":
        dates = Dates().checked(column).present
        has_time = bool((dates != dates.astype("datetime64[D]")).any())
        return Dates((*_DATE_PARTS, "hour") if has_time else _DATE_PARTS, scaled=True)
    return Booleans() if word == "boolean" else Categories(_MIN_COUNT)


def _binned_kinds(data: TableData, n_bins: int) -> dict[str, Kind]:
    """Bins for numbers of many values, one for each of few; nothing for two, which a line tells apart."""
    kinds: dict[str, Kind] = {}
    many, few = Numbers(bins=Quantiles(n_bins)), Numbers(bins=EachValue(_FEW_VALUES))
    for name in data.of_kind("number"):
        values = np.unique(_numbers(data.table, name))
        if len(values) > 2:
            kinds[name] = many if len(values) > _FEW_VALUES else few
    return kinds


def _numbers(table: Table, name: str) -> NDArray[Any]:
    column = table.columns[name]
    # A column asked for as a number may hold text; its numbers are read by the kind itself.
    return Numbers().checked(column).present if column.values.dtype.kind == "O" else column.present


def _is_dense(column: Column) -> bool:
    if column.values.dtype.kind == "O" or not len(column.present):
        return True
    return float(np.count_nonzero(column.present)) > _SHIFTED_FROM * len(column.present)


def is_wide(data: TableData | MatrixData) -> bool:
    """Whether there are texts, or many columns of numbers."""
    if isinstance(data, MatrixData):
        return bool(data.X.shape[1] > _MANY_COLUMNS)
    return bool(data.of_kind("text"))
