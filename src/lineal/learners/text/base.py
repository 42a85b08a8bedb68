"""What the text classifier and the text regressor share."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lineal import _core
from lineal.data.documents import documents as documents_of
from lineal.errors import InputError, ParameterError
from lineal.learners.online.model import ONLINE, StreamedModel
from lineal.learners.text.search import Found, Read, Recipe, Search, Trial, side_by_side
from lineal.model.explanation import Explanation, explained
from lineal.text import TextVectorizer

# What a stream tells and a fit does not.
_OF_STREAMS = ("n_seen_", *ONLINE)


class BaseTextModel(BaseEstimator):
    """Vectorisers, a linear model behind them, and the search that chose both."""

    _strengths: tuple[float, ...]
    _scorer: Any
    _names: Any
    _made: tuple[Any, Any]

    def __init__(
        self,
        *,
        vectorizer: TextVectorizer | Sequence[TextVectorizer] | None = None,
        learner: Any = None,
        strengths: float | Sequence[float] | None = None,
        n_folds: int = 4,
        search_bytes: float = 4e6,
        scoring: Callable[[Any, Any], float] | None = None,
        missing: str = "refuse",
        random_state: Any = 0,
        n_threads: int | None = None,
        progress: bool = False,
    ) -> None:
        self.vectorizer = vectorizer
        self.learner = learner
        self.strengths = strengths
        self.n_folds = n_folds
        self.search_bytes = search_bytes
        self.scoring = scoring
        self.missing = missing
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress

    # ---- to be said by each kind --------------------------------------------------------------

    def _recipes(self, n_bytes: int) -> list[Recipe]:
        raise NotImplementedError

    def _learner(self, strength: float, is_trial: bool) -> Any:
        raise NotImplementedError

    def _score_name(self) -> str:
        raise NotImplementedError

    def _n_scores(self) -> int:
        return 1

    def _folds(self, y: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        raise NotImplementedError

    def _score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        raise NotImplementedError

    # ---- fitting ------------------------------------------------------------------------------

    def _fit(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None) -> Found | None:
        self._check_options()
        documents = documents_of(X, missing=self.missing)
        if len(documents) != len(y):
            raise InputError(f"There are {len(documents)} texts, but {len(y)} labels.")
        if len(documents) == 0:
            raise InputError("There are no texts to learn from.")
        recipes = self._given_recipes(documents.n_bytes)
        strengths = self._given_strengths()
        found: Found | None = None
        if len(recipes) * len(strengths) > 1:
            learner = partial(self._learner, is_trial=True)
            search = Search(strengths, self._folds, learner, self._score, self._report)
            found = search.run(documents, y, self._searched_rows(documents, self._n_scores()), recipes)
        self.trials_ = found.trials if found is not None else []
        recipe = found.recipe if found is not None else recipes[0]
        self.strength_ = found.strength if found is not None else strengths[0]
        self.plan_ = self._sentence(recipe, found, len(documents), len(recipes) * len(strengths) > 1)
        read = found.read if found is not None else None
        if read is None:
            read = Read.fit(recipe, documents, y)
        self.vectorizers_ = read.vectorizers
        self.model_ = self._learner(self.strength_, is_trial=False)
        self.model_.fit(read.matrix(), y, sample_weight)
        self._made = self._made_by()
        self._scorer = self._names = None
        for name in ("certificate_", *_OF_STREAMS):
            self.__dict__.pop(name, None)
        if hasattr(self.model_, "certificate_"):  # learners of streams have none
            self.certificate_ = self.model_.certificate_
        return found

    # ---- streams ------------------------------------------------------------------------------

    def _online_learner(self) -> Any:
        raise NotImplementedError

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, **more: Any) -> None:
        """Learns from more texts, in their order; everything is checked before the first one is."""
        is_begun = hasattr(self, "model_")
        if is_begun and any(now is not then for now, then in zip(self._made_by(), self._made, strict=True)):
            raise ParameterError(
                "vectorizer or learner was changed in the middle of a stream. Set it back, or begin anew "
                "with a clone."
            )
        vectorizers = self.vectorizers_ if is_begun else self._stream_vectorizers()
        model = self.model_ if is_begun else self._online_learner()
        if not hasattr(model, "partial_fit"):
            raise ParameterError(f"learner={model!r} has no partial_fit: take one that has, or use fit.")
        documents = documents_of(X, missing=self.missing)
        if len(documents) == 0:
            raise InputError("There are no texts to learn from.")
        texts = vectorizers[0].hashed_texts(documents) if len(vectorizers) == 1 else None
        try:
            if texts is not None and isinstance(model, StreamedModel):
                model._learn_texts(texts, y, sample_weight=sample_weight, **more)
            else:
                made = side_by_side([vectorizer.transform(documents) for vectorizer in vectorizers])
                weights = {} if sample_weight is None else {"sample_weight": sample_weight}
                model.partial_fit(made, y, **weights, **more)
        except BaseException:
            if hasattr(model, "n_seen_"):  # rows before the end of the stream were learned from
                self._keep(vectorizers, model)
            raise
        self._keep(vectorizers, model)

    def _made_by(self) -> tuple[Any, Any]:
        """The options that vectorisers and model are made by."""
        return self.vectorizer, self.learner

    def _keep(self, vectorizers: Sequence[TextVectorizer], model: Any) -> None:
        """What a stream makes of this model, after its last text so far."""
        self.vectorizers_, self.model_, self._made = list(vectorizers), model, self._made_by()
        self._scorer = self._names = None
        for name in ("certificate_", "plan_", "trials_", "strength_"):
            self.__dict__.pop(name, None)
        for name in (*_OF_STREAMS, "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def _stream_vectorizers(self) -> list[TextVectorizer]:
        """Vectorisers that need not look at the texts first."""
        if self.vectorizer is None:
            made = TextVectorizer(
                n_features=2**22, weighting="occurrence", norm=None, n_threads=self.n_threads
            )
            return [made.fit([])]
        (recipe,) = self._given_recipes(0)
        return [vectorizer.ready_for_streams() for vectorizer in recipe.vectorizers]

    def _searched_rows(self, documents: _core.Documents, n_scores: int) -> NDArray[np.int64]:
        """All rows, or of many texts a random part with about ``search_bytes`` of text, in order.

        A fit costs as much for each score it learns, so with more than eight of them the part is smaller,
        down to twenty texts for each.
        """
        n = len(documents)
        share = self.search_bytes * min(1.0, 8.0 / n_scores) / max(documents.n_bytes, 1)
        if share >= 1.0:
            return np.arange(n, dtype=np.int64)
        rng = np.random.default_rng(self.random_state)
        wanted = min(n, max(int(share * n), 20 * n_scores, 100))
        return np.sort(rng.permutation(n)[:wanted]).astype(np.int64)

    def _sentence(self, recipe: Recipe, found: Found | None, n: int, had_choice: bool) -> str:
        chosen = f"{recipe.name}, strength {self.strength_:g}"
        if found is None:
            why = "there are too few texts to hold any out" if had_choice else "nothing was left to choose"
            return f"{chosen}: {why}."
        searched = len(found.y)
        score = max(
            trial.score for trial in found.trials if trial.recipe == recipe.name and trial.n_texts == searched
        )
        part = "all" if searched == n else f"{searched} of {n}"
        kind = self._score_name()
        return f"{chosen}: {kind} {score:.4f} on held-out parts of {part} texts; {len(found.trials)} trials."

    def _given_recipes(self, n_bytes: int) -> list[Recipe]:
        given = self.vectorizer
        if given is None:
            return self._recipes(n_bytes)
        if isinstance(given, TextVectorizer):
            return [Recipe("the given vectorizer", (given,))]
        if isinstance(given, (list, tuple)) and given and all(isinstance(v, TextVectorizer) for v in given):
            return [Recipe("the given vectorizers", tuple(given))]
        raise ParameterError(
            "vectorizer must be a TextVectorizer, a list of them to stand side by side, or None; "
            f"got {given!r}."
        )

    def _given_strengths(self) -> list[float]:
        if self.learner is not None:
            return [float("nan")]
        given: Any = self._strengths if self.strengths is None else self.strengths
        strengths: list[Any] = [given] if isinstance(given, numbers.Real) else list(given)
        if not strengths or not all(isinstance(s, numbers.Real) and 0 < float(s) < np.inf for s in strengths):
            raise ParameterError(f"strengths must be positive numbers, got {self.strengths!r}.")
        return [float(s) for s in strengths]

    def _check_options(self) -> None:
        if (
            isinstance(self.n_folds, bool)
            or not isinstance(self.n_folds, numbers.Integral)
            or self.n_folds < 2
        ):
            raise ParameterError(f"n_folds must be a whole number from 2 on, got {self.n_folds!r}.")
        if self.random_state is not None and not isinstance(self.random_state, numbers.Integral):
            raise ParameterError(f"random_state must be a whole number or None, got {self.random_state!r}.")
        if not isinstance(self.search_bytes, numbers.Real) or not self.search_bytes > 0:
            raise ParameterError(f"search_bytes must be a positive number, got {self.search_bytes!r}.")

    def _report(self, trial: Trial) -> None:
        if self.progress:
            line = (
                f"{trial.recipe}, strength {trial.strength:g}: {trial.score:.4f} +- {trial.error:.4f} "
                f"on {trial.n_texts} texts ({trial.seconds:.1f} s)"
            )
            print(line, file=sys.stderr)

    # ---- prediction ---------------------------------------------------------------------------

    def _matrix(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        documents = documents_of(X, missing=self.missing)
        return side_by_side([vectorizer.transform(documents) for vectorizer in self.vectorizers_])

    def _single(self, X: Any) -> Any:
        """The scores of one text, by the short way; None where it is not open."""
        if not (type(X) is list and len(X) == 1 and type(X[0]) is str):
            check_is_fitted(self, "model_")
            return None
        scorer = getattr(self, "_scorer", None)
        if scorer is None:
            check_is_fitted(self, "model_")
            scorer = self._scorer = self._made_scorer()
        return scorer(X[0]) if scorer is not False else None

    def _made_scorer(self) -> Any:
        parts = [vectorizer.scorer_part() for vectorizer in self.vectorizers_]
        if None in parts:
            return False
        coef = np.atleast_2d(np.asarray(self.model_.coef_, dtype=np.float64))
        intercept = np.atleast_1d(np.asarray(self.model_.intercept_, dtype=np.float64))
        return _core.TextScorer(parts, np.ascontiguousarray(coef.T), intercept)

    def transform(self, X: Any) -> Any:
        """The matrix of texts as the model inside takes it, for ``verify(model_, ...)`` and the like."""
        return self._matrix(X)

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of ``coef_``."""
        check_is_fitted(self, "model_")
        if self._names is None:
            self._names = [vectorizer.get_feature_names_out() for vectorizer in self.vectorizers_]
        return np.concatenate(self._names)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the linear model, one row for each score."""
        check_is_fitted(self, "model_")
        return self.model_.coef_

    @property
    def intercept_(self) -> Any:
        """The intercepts of the linear model."""
        check_is_fitted(self, "model_")
        return self.model_.intercept_

    def _explained(self, text: str, label: Any, output: int, sign: float) -> Explanation:
        if not isinstance(text, str):
            raise InputError(f"One text is explained at a time, but a {type(text).__name__} came.")
        row = self._matrix([text])
        tokens = text.split()
        coef = np.atleast_2d(self.model_.coef_)[output]
        places = [(len(coef), self.vectorizers_[0].occurrences(tokens))]
        names: Any = self.vectorizers_[0].names_in(text) if len(self.vectorizers_) == 1 else None
        if names is None:
            names, places, end = self.get_feature_names_out(), [], 0
            for vectorizer, own in zip(self.vectorizers_, self._names, strict=True):
                end += len(own)
                places.append((end, vectorizer.occurrences(tokens)))
        intercept = float(np.atleast_1d(self.model_.intercept_)[output])
        return explained(label, row.indices, row.data, names, sign * coef, sign * intercept, places, tokens)

    def __getstate__(self) -> dict[str, Any]:
        # What is made when it is first needed is made again.
        return super().__getstate__() | (
            {"_scorer": None, "_names": None} if hasattr(self, "_scorer") else {}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags
