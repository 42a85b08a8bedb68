"""Tables and matrices, read by a recipe: fitted vectorisers, their blocks, and the folds of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from lineal.data.columns import Table
from lineal.deferred import sparse as sp
from lineal.features.kinds import Kind, Text
from lineal.features.scaling import ColumnScaler
from lineal.features.table import TableVectorizer
from lineal.learners.table.data import TableData, filled
from lineal.learners.text.search import side_by_side
from lineal.protocol import clone
from lineal.text import TextVectorizer


@dataclass(frozen=True)
class Block:
    """Some columns of the matrix: what made them, and whose words they are if they are words."""

    vectorizer: Any
    X: Any
    text: tuple[str, TextVectorizer] | None = None  # the column and its vectoriser
    n_terms: int = 0  # how many of its columns are words

    def fold(self, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        """Its rows of a fold; what depends on labels is learned from the training rows alone."""
        if self.text is None or self.text[1].weighting != "nb":
            return self.X[train], self.X[test]
        if self.n_terms == self.X.shape[1]:
            weighed = self.text[1].reweighed(self.X, train, y[train])
            return weighed[train], weighed[test]
        terms, indicator = self.X[:, : self.n_terms], self.X[:, self.n_terms :]
        weighed = side_by_side([self.text[1].reweighed(terms, train, y[train]), indicator])
        return weighed[train], weighed[test]


@dataclass
class TableRead:
    """A table as a recipe reads it."""

    recipe: Any
    blocks: list[Block]

    @property
    def vectorizers(self) -> list[Any]:
        return [block.vectorizer for block in self.blocks]

    def matrix(self) -> sp.csr_matrix:
        return side_by_side([block.X for block in self.blocks])

    def fold(self, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        parts = [block.fold(train, test, y) for block in self.blocks]
        return side_by_side([seen for seen, _ in parts]), side_by_side([unseen for _, unseen in parts])


@dataclass
class MatrixRead:
    """A matrix as a recipe takes it."""

    recipe: Any
    vectorizers: list[Any]
    X: sp.csr_matrix

    @classmethod
    def of(cls, recipe: Any, scaler: ColumnScaler | None, X: sp.csr_matrix) -> MatrixRead:
        if scaler is None:
            return cls(recipe, [], X)
        fitted = clone(scaler)
        return cls(recipe, [fitted], fitted.fit_transform(X))

    def matrix(self) -> sp.csr_matrix:
        return self.X

    def fold(self, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        return self.X[train], self.X[test]


@dataclass(frozen=True)
class PlainColumns:
    """Columns by their kinds, in one vectoriser."""

    kinds: Mapping[str, Kind]

    def read(self, data: TableData, y: NDArray[Any]) -> Block:
        """The columns as one block."""
        return _block(self.kinds, data.part(list(self.kinds)))


@dataclass(frozen=True)
class BinnedColumns:
    """Numbers once more, in bins or levels; what says that they are missing stands beside them already."""

    kinds: Mapping[str, Kind]

    def read(self, data: TableData, y: NDArray[Any]) -> Block:
        """The columns as one block."""
        table = data.part(list(self.kinds))
        columns = {name: filled(column) for name, column in table.columns.items()}
        vectorizer = TableVectorizer(dict(self.kinds), extra="ignore").fit(replace(table, columns=columns))
        # A number that is missing has the bin of the mean, here as in later data.
        return Block(vectorizer, sp.csr_matrix(vectorizer.transform(table)))


@dataclass(frozen=True)
class TextColumn:
    """The words of one column, by one vectoriser; only the first of several says which texts are missing."""

    name: str
    vectorizer: TextVectorizer
    is_first: bool = True

    def read(self, data: TableData, y: NDArray[Any]) -> Block:
        """The column as one block."""
        table = data.part([self.name])
        if not self.is_first:
            columns = {self.name: filled(table.columns[self.name], "")}
            table = replace(table, columns=columns)
        made = _block({self.name: Text(self.vectorizer)}, table, y)
        fitted = made.vectorizer.text_transformer(self.name)
        n_terms = made.X.shape[1] - bool(table.columns[self.name].missing.any())
        return replace(made, text=(self.name, fitted), n_terms=n_terms)


def _block(kinds: Mapping[str, Kind], table: Table, y: NDArray[Any] | None = None) -> Block:
    vectorizer = TableVectorizer(dict(kinds), extra="ignore")
    return Block(vectorizer, sp.csr_matrix(vectorizer.fit_transform(table, y)))
