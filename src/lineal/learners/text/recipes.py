"""Ways to read texts that are worth trying when nobody has said how."""

from __future__ import annotations

from typing import Any

from lineal.learners.text.search import Recipe
from lineal.text import TextVectorizer


def default_recipes(n_bytes: int, n_threads: int | None, has_classes: bool) -> list[Recipe]:
    """Three recipes for so much text; naive-Bayes weights need classes, tf-idf stands in for them."""
    # Terms of one document cannot help with others; in small data they still tell where rare words are.
    min_df = 2 if n_bytes > 4e6 else 1

    def words(longest: int, weighting: str = "tfidf") -> TextVectorizer:
        options: dict[str, Any] = {"min_df": min_df, "n_threads": n_threads}
        return TextVectorizer(ngrams=(1, longest), weighting=weighting, **options)

    characters = TextVectorizer(analyzer="char_wb", ngrams=(2, 5), min_df=2, n_threads=n_threads)
    return [
        Recipe("words with naive-Bayes weights", (words(3, "nb"),))
        if has_classes
        else Recipe("words with tf-idf", (words(2),)),
        Recipe("words and characters with tf-idf", (words(2), characters), is_costly=True),
        Recipe("words with BM25", (words(2, "bm25"),)),
    ]
