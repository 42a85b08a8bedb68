"""How many tokens of a document are in given collections of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.text.analysis import words_of


class LexiconFeatures:
    """How many tokens of a document are in each lexicon: one column for each."""

    def __init__(self, lexicons: Mapping[str, Iterable[str]]) -> None:
        self.words = {name: words_of(words, f"lexicons[{name!r}]") for name, words in lexicons.items()}

    def names(self) -> list[str]:
        return list(self.words)

    def rows(self, tokens: _core.Tokens) -> NDArray[np.float64]:
        distinct = tokens.words()
        columns = [
            tokens.sums(np.fromiter((word in words for word in distinct), np.float64, len(distinct)))
            for words in self.words.values()
        ]
        return np.stack(columns, axis=1)
