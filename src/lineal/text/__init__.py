"""Text to features: words, n-grams, weights, counted natively."""

from lineal.text.vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]
