"""Explanations of texts, under the name that they had before stored models gave them too."""

from lineal.model.explanation import Explanation, Term, TopFeature, explained, shown, top_features

__all__ = ["Explanation", "Term", "TopFeature", "explained", "shown", "top_features"]
