"""How texts are read: recipes of vectorisers, and the texts as they read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from lineal import _core
from lineal.data.compressed import CompressedRows
from lineal.data.rows import side_by_side as arrays_side_by_side
from lineal.deferred import sparse as sp
from lineal.protocol import clone
from lineal.text import TextVectorizer


@dataclass(frozen=True)
class Recipe:
    """A way to read texts: one vectoriser or several, side by side."""

    name: str
    vectorizers: tuple[TextVectorizer, ...]
    is_costly: bool = False

    def read(self, data: _core.Documents, y: NDArray[Any]) -> Read:
        """The texts as this recipe reads them."""
        return Read.fit(self, data, y)


@dataclass
class Read:
    """Texts as a recipe reads them: the fitted vectorisers and their matrices."""

    recipe: Recipe
    vectorizers: list[TextVectorizer]
    blocks: list[CompressedRows]

    @classmethod
    def fit(cls, recipe: Recipe, documents: _core.Documents, y: NDArray[Any]) -> Read:
        vectorizers = [clone(vectorizer) for vectorizer in recipe.vectorizers]
        return cls(recipe, vectorizers, [v.fit_rows(documents, y) for v in vectorizers])

    def matrix(self) -> CompressedRows:
        """All texts."""
        return rows_side_by_side(self.blocks)

    def fold(self, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        """The rows of a fold, as they would be had the test labels not been known."""
        trains, tests = [], []
        for vectorizer, block in zip(self.vectorizers, self.blocks, strict=True):
            weighed = vectorizer.reweighed(block, train, y[train])
            trains.append(weighed[train])
            tests.append(weighed[test])
        return rows_side_by_side(trains), rows_side_by_side(tests)


def rows_side_by_side(blocks: Sequence[CompressedRows]) -> CompressedRows:
    """Columns of all blocks, without SciPy."""
    if len(blocks) == 1:
        return blocks[0]
    arrays = arrays_side_by_side([(block.arrays, block.shape[1]) for block in blocks])
    return CompressedRows(arrays, sum(block.shape[1] for block in blocks))


def side_by_side(blocks: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
    """Columns of all blocks."""
    return blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csr")
