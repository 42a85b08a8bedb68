"""Texts in, labels out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.learners.classifier import LinearClassifier
from lineal.learners.searched.classification import SearchedClassifier
from lineal.learners.targets import require_targets
from lineal.learners.text.base import BaseTextModel
from lineal.learners.text.recipes import default_recipes
from lineal.learners.text.search import Recipe
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.explanation import Explanation
from lineal.objective import L2, SquaredHinge
from lineal.protocol import available_if, check_is_fitted, clone


class TextClassifier(SearchedClassifier, BaseTextModel):
    """Classifies texts: reads them, weighs their words and learns a linear model, all chosen for you.

    Parameters
    ----------
    vectorizer
        How texts are read: a ``TextVectorizer``, a list of them to stand side by side, or ``None``: the
        best of three on held-out texts (words with naive-Bayes weights; words and character n-grams with
        tf-idf; words with BM25 weights).
    learner
        A linear classifier to use as it is; ``None``: the squared hinge with an L2 penalty.
    strengths
        Strengths of the penalty to choose from; recipes are compared at the first. One number is taken as
        it is; ``None``: 1, 10, 0.1.
    n_folds
        In how many parts texts are held out in turn.
    search_bytes
        Of more text than this, the choice is made on a random part of this size (a smaller one with many
        labels).
    scoring
        What is best: a function of labels and predicted labels; ``None``: the share that is right.
    missing
        ``"refuse"`` or ``"empty"``: what is done with ``None`` and NaN in place of a text.
    random_state
        Seed of the folds and of the random part.
    n_threads
        Threads; the model is the same for every number of them.
    progress
        Whether each trial is told on the standard error output.

    Attributes
    ----------
    classes_ : the labels
    plan_ : what was chosen and why, in one sentence
    trials_ : all trials of the search: recipe, strength, mean score and its standard error
    vectorizers_, model_ : what was chosen, fitted to all texts
    strength_, certificate_ : of the model
    coef_, intercept_ : the weights of ``get_feature_names_out()``

    Notes
    -----
    Probabilities are the scores over one temperature, fitted to the held-out scores of the search; where
    nothing is searched, a part is held out for them alone.
    One text alone (``predict([text])``, ``predict_proba([text])``) goes a short way that makes no matrix:
    tens of microseconds for a review.

    Examples
    --------
    >>> from lineal import TextClassifier
    >>> texts = ["good film", "a good cast", "very good", "bad film", "a bad cast", "very bad"] * 4
    >>> labels = ["pos", "pos", "pos", "neg", "neg", "neg"] * 4
    >>> model = TextClassifier().fit(texts, labels)
    >>> print(*model.predict(["such a good idea", "bad, bad"]))
    pos neg
    >>> print(model.top_features(1)["pos"][0].name)
    good
    """

    _strengths = (1.0, 10.0, 0.1)

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learns from texts and their labels.

        Parameters
        ----------
        X : texts
            A list, an array, a series or an Arrow column of strings, or an iterator.
        y : their labels
            Anything hashable.
        sample_weight : numbers >= 0, optional
            For the final fit; the search counts every text once.
        groups : one for each text, optional
            Texts of one group, such as one author's, are held out together.
        """
        self._fit_labels(X, y, sample_weight, groups)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learns from more texts, in their order, with steps that need no tuning.

        Words are hashed to columns and learned from in one native pass: no vocabulary, no matrix, and memory
        that does not grow. Threads hash, one learns, in order: any number of them, and pieces of any size,
        give the same model bit for bit. After ``fit`` it goes on with the columns and weights of the fit.
        Columns are named by a sample of the texts, unless ``vectorizer`` was fitted before.

        Parameters
        ----------
        X : texts
            As in ``fit``; a file piece by piece with ``lineal.data.stream_texts``.
        y : their labels
            New ones may come at any time.
        classes : labels that are known from the start, optional
        sample_weight : numbers >= 0, optional

        Examples
        --------
        >>> from lineal import TextClassifier
        >>> model = TextClassifier()
        >>> reviews = [("good film", "pos"), ("bad film", "neg"), ("good", "pos"), ("bad", "neg")]
        >>> for text, label in reviews * 3:
        ...     model = model.partial_fit([text], [label])
        >>> print(*model.predict(["good cast", "bad idea"]), model.n_seen_)
        pos neg 12
        """
        require_targets(self, y)
        self._partial_fit(X, y, sample_weight, classes=classes)
        return self

    def _online_learner(self) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        from lineal.learners.online.classifier import OnlineClassifier

        return OnlineClassifier()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        single = self._single(X)
        if single is None or not hasattr(self.model_, "decision_function"):
            return self.model_.decision_function(self._matrix(X))
        return np.array([single])

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score."""
        single = self._single(X)
        if single is None:
            return self.model_.predict(self._matrix(X))
        best = int(single >= 0) if isinstance(single, float) else single.index(max(single))
        best = min(best, len(self.classes_) - 1)  # a stream may have brought one label so far
        return self.classes_[best : best + 1]

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        single = self._single(X)
        if single is None or not hasattr(self.model_, "_probabilities_of"):
            return self.model_.predict_proba(self._matrix(X))
        return self.model_._probabilities_of(np.reshape(single, (1, -1)))

    def explain(self, text: str, label: Any = None) -> Explanation:
        """Why a text got its score for a label (its predicted one): every term's and token's exact share."""
        check_is_fitted(self, "model_")
        if label is None:
            label = self.predict([text])[0]
        return self._explained(text, label, *self._place(label))

    def _recipes(self, n_bytes: int) -> list[Recipe]:
        return default_recipes(n_bytes, self.n_threads, has_classes=True)

    def _learner(self, strength: float, is_trial: bool) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        tol = 1e-2 if is_trial else 1e-3
        return LinearClassifier(loss=SquaredHinge(), penalty=L2(strength), tol=tol, n_threads=self.n_threads)
