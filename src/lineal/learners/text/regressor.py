"""Texts in, numbers out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.learners.online.regressor import OnlineRegressor
from lineal.learners.regressor import LinearRegressor
from lineal.learners.searched.regression import SearchedRegressor
from lineal.learners.targets import require_targets
from lineal.learners.text.base import BaseTextModel
from lineal.learners.text.recipes import default_recipes
from lineal.learners.text.search import Recipe
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.explanation import Explanation
from lineal.objective import L2, Squared
from lineal.protocol import clone


class TextRegressor(SearchedRegressor, BaseTextModel):
    """Predicts a number from a text: how to read it and how much words weigh is chosen and learned.

    Parameters
    ----------
    vectorizer
        How texts are read: a ``TextVectorizer``, a list of them to stand side by side, or ``None``: the
        best of words with tf-idf, words and character n-grams with tf-idf, and words with BM25 weights.
    learner
        A linear regressor to use as it is; ``None``: least squares with an L2 penalty.
    strengths
        Strengths of the penalty to choose from; recipes are compared at the first. One number is taken as
        it is; ``None``: 1, 10, 0.1, 0.01.
    n_folds, search_bytes, missing, random_state, n_threads, progress
        As for :class:`TextClassifier`.
    scoring
        What is best: a function of targets and predictions; ``None``: minus the mean squared error.

    Attributes
    ----------
    plan_, trials_, vectorizers_, model_, strength_, certificate_, coef_, intercept_
        As for :class:`TextClassifier`.

    Examples
    --------
    >>> from lineal import TextRegressor
    >>> texts = ["good", "very good", "bad", "very bad", "good and bad"] * 4
    >>> model = TextRegressor().fit(texts, [4.0, 5.0, 2.0, 1.0, 3.0] * 4)
    >>> bool(model.predict(["good"])[0] > model.predict(["bad"])[0])
    True
    """

    _strengths = (1.0, 10.0, 0.1, 0.01)

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learns from texts and their numbers, as :meth:`TextClassifier.fit` does."""
        self._fit_numbers(X, y, sample_weight, groups)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from more texts and their numbers, as :meth:`TextClassifier.partial_fit` does."""
        require_targets(self, y)
        self._partial_fit(X, y, sample_weight)
        return self

    def _online_learner(self) -> Any:
        return OnlineRegressor() if self.learner is None else clone(self.learner)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of each text."""
        single = self._single(X)
        return np.array([single]) if single is not None else self.model_.predict(self._matrix(X))

    def explain(self, text: str) -> Explanation:
        """Why a text got its number: every term's and token's exact share."""
        return self._explained(text, "prediction", 0, 1.0)

    def _recipes(self, n_bytes: int) -> list[Recipe]:
        return default_recipes(n_bytes, self.n_threads, has_classes=False)

    def _learner(self, strength: float, is_trial: bool) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        tol = 1e-2 if is_trial else 1e-4
        return LinearRegressor(loss=Squared(), penalty=L2(strength), tol=tol, n_threads=self.n_threads)
