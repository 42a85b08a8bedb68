"""Text to features: words, n-grams, weights, counted natively.

``TextVectorizer`` is loaded when it is first asked for: what reads texts with a stored model needs less.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineal.text.vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]


def __getattr__(name: str) -> Any:
    if name == "TextVectorizer":
        return import_module("lineal.text.vectorizer").TextVectorizer
    raise AttributeError(f"module 'lineal.text' has no attribute {name!r}")
