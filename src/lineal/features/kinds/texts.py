"""Columns of text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from lineal.errors import InputError
from lineal.features.columns import Column
from lineal.features.kinds.base import Encoding, Kind, indicator_of, one_of
from lineal.text import TextVectorizer


def default_transformer() -> Any:
    """What turns text into features unless another transformer is given; chosen here and nowhere else."""
    return TextVectorizer(dtype=np.float64)  # what a table's numbers are in


@dataclass(frozen=True)
class Text(Kind):
    """A column of text, in the hands of a transformer: ``name:word``.

    Parameters
    ----------
    transformer : anything that fits and transforms a list of str, optional
        By default ``lineal.TextVectorizer``: words and pairs of words, with tf-idf.
    missing : "indicate" or "refuse"
        A missing text is an empty one. If the training data had some, a column ``name is missing`` is added.
    """

    word: ClassVar[str] = "text"

    transformer: Any = None
    missing: str = "indicate"

    def __post_init__(self) -> None:
        one_of("missing", self.missing, ("indicate", "refuse"))

    def read(self, column: Column) -> Column:
        texts = np.empty(len(column), dtype=object)
        texts[:] = [
            "" if gone else value if isinstance(value, str) else str(value)
            for value, gone in zip(column.values.tolist(), column.missing, strict=True)
        ]
        return replace(column, values=texts)

    def __call__(self, column: Column, y: Any = None) -> Encoding | None:
        """Learns from a column, and from labels where the transformer weighs words by them."""
        column = self.checked(column)
        return None if column.missing.all() else self.learn(column, y)

    def learn(self, column: Column, y: Any = None) -> Encoding:
        transformer = (
            default_transformer() if self.transformer is None else clone(self.transformer, safe=False)
        )
        try:
            if y is not None and has_fit_parameter(transformer, "y"):
                transformer.fit(column.values.tolist(), y)
            else:
                transformer.fit(column.values.tolist())
        except ValueError as error:
            reason = str(error).removesuffix(".")
            raise InputError(
                f"column {column.name!r}, taken as text, could not be learned from: {reason}. "
                "Give it another kind or another transformer."
            ) from error
        if hasattr(transformer, "get_feature_names_out"):
            words = transformer.get_feature_names_out()
        else:
            words = range(transformer.transform([""]).shape[1])
        parts = tuple(f"{column.name}:{word}" for word in words)
        return _Text(self, parts, indicator_of(column), transformer)


@dataclass(frozen=True)
class _Text(Encoding):
    transformer: Any

    def block(self, column: Column) -> Any:
        if not len(column):
            return sp.csr_array((0, len(self.parts)))
        return self.transformer.transform(column.values.tolist())
