"""Texts in, labels out."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lineal.errors import InputError
from lineal.learners.calibration import fitted_temperature
from lineal.learners.classifier import LinearClassifier
from lineal.learners.online.classifier import OnlineClassifier
from lineal.learners.targets import classes_and_codes, codes_among, plain_array, require_targets
from lineal.learners.text.base import BaseTextModel
from lineal.learners.text.recipes import default_recipes
from lineal.learners.text.search import Found, Recipe
from lineal.model.explanation import Explanation, TopFeature, top_features
from lineal.objective import L2, SquaredHinge


class TextClassifier(ClassifierMixin, BaseTextModel):
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
    Probabilities are the scores over one temperature, fitted to the held-out scores of the search.
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from texts and their labels.

        Parameters
        ----------
        X : texts
            A list, an array, a series or an Arrow column of strings, or an iterator.
        y : their labels
            Anything hashable.
        sample_weight : numbers >= 0, optional
            For the final fit; the search counts every text once.
        """
        require_targets(self, y)
        labels = plain_array(y)
        if labels.ndim != 1:
            raise InputError(
                f"y should be a 1d array of labels, got an array of shape {labels.shape} instead."
            )
        self.classes_, _ = classes_and_codes(labels)
        if len(self.classes_) < 2:
            raise InputError(
                f"TextClassifier needs at least 2 classes, but all labels are {self.classes_.tolist()[0]!r}."
                if len(self.classes_)
                else "TextClassifier needs at least 2 classes, but there are no labels."
            )
        found = self._fit(X, labels, sample_weight)
        if not hasattr(self.model_, "temperature_"):
            self.model_.temperature_ = self._temperature(found)
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
        return OnlineClassifier() if self.learner is None else clone(self.learner)

    def _temperature(self, found: Found | None) -> float:
        # Where nothing was held out, or not of all labels, a margin of 1 is a chance of 73 %.
        if found is None:
            return 1.0
        shaped = [(rows, np.reshape(scores, (len(rows), -1))) for rows, scores in found.held_out]
        # A fold without any text of a label has no score for it, and tells nothing of this model's.
        n_scores = len(np.atleast_1d(self.model_.intercept_))
        shaped = [(rows, Z) for rows, Z in shaped if Z.shape[1] == n_scores]
        if not shaped:
            return 1.0
        rows, Z = (np.concatenate(parts) for parts in zip(*shaped, strict=True))
        codes = codes_among(self.classes_, found.y[rows])
        # However well held-out texts are told apart, a usual margin is no surer than one error in them.
        ordered = np.sort(np.abs(Z) if Z.shape[1] == 1 else Z, axis=1)
        margins = ordered[:, -1] - (ordered[:, -2] if Z.shape[1] > 1 else 0.0)
        least = float(np.median(margins)) / np.log(len(rows) + 1.0)
        return max(fitted_temperature(Z, codes, np.ones(len(rows))), least, 1e-300)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        single = self._single(X)
        return np.array([single]) if single is not None else self.model_.decision_function(self._matrix(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score."""
        single = self._single(X)
        if single is None:
            return self.model_.predict(self._matrix(X))
        best = int(single >= 0) if isinstance(single, float) else single.index(max(single))
        best = min(best, len(self.classes_) - 1)  # a stream may have brought one label so far
        return self.classes_[best : best + 1]

    def _has_probabilities(self) -> bool:
        if hasattr(self, "model_") and not hasattr(self.model_, "predict_proba"):
            raise AttributeError(
                f"a stream gives probabilities where its loss is a likelihood, not with {self.model_!r}: "
                "take learner=OnlineClassifier() or LinearClassifier(Log()), or use fit."
            )
        return True

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        single = self._single(X)
        if single is None:
            return self.model_.predict_proba(self._matrix(X))
        return self.model_._probabilities_of(np.reshape(single, (1, -1)))

    def explain(self, text: str, label: Any = None) -> Explanation:
        """Why a text got its score for a label (its predicted one): every term's and token's exact share."""
        check_is_fitted(self, "model_")
        if label is None:
            label = self.predict([text])[0]
        places = np.flatnonzero(self.classes_ == label)
        if len(places) != 1:
            raise InputError(f"{label!r} is not one of the labels: {list(self.classes_)!r}.")
        if len(self.classes_) <= 2:
            return self._explained(text, label, 0, 1.0 if places[0] == 1 else -1.0)
        return self._explained(text, label, int(places[0]), 1.0)

    def top_features(self, k: int = 10) -> dict[Any, list[TopFeature]]:
        """For each label the k features that speak most for it, with their weights."""
        names = self.get_feature_names_out()
        coef = np.atleast_2d(self.model_.coef_)
        if len(self.classes_) <= 2:
            coef = np.concatenate([-coef, coef])[: len(self.classes_)]
        found = {}
        for label, weights in zip(self.classes_.tolist(), coef, strict=True):
            found[label] = top_features(names, weights, k)
        return found

    def _recipes(self, n_bytes: int) -> list[Recipe]:
        return default_recipes(n_bytes, self.n_threads, has_classes=True)

    def _learner(self, strength: float, is_trial: bool) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        tol = 1e-2 if is_trial else 1e-3
        return LinearClassifier(loss=SquaredHinge(), penalty=L2(strength), tol=tol, n_threads=self.n_threads)

    def _score_name(self) -> str:
        return "share right" if self.scoring is None else "score"

    def _n_scores(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _folds(self, y: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        _, codes = classes_and_codes(y)
        counts = np.bincount(codes)
        # Labels of fewer texts than folds are never held out alone; at least two folds need two texts each.
        n_folds = min(self.n_folds, int(np.median(counts)), len(y) // 2)
        if n_folds < 2 or len(counts) < 2:
            return []
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of labels with fewer texts than folds
            made = list(folds.split(codes, codes))
        return [(train, test) for train, test in made if len(np.unique(codes[train])) > 1]

    def _score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        return float(np.mean(y == predicted)) if self.scoring is None else float(self.scoring(y, predicted))
