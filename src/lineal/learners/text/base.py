"""What the text classifier and the text regressor share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data.documents import documents as documents_of
from lineal.errors import InputError, ParameterError
from lineal.learners.online.model import StreamedModel
from lineal.learners.searched.model import SearchedModel
from lineal.learners.searched.search import taken_by
from lineal.learners.text.search import Recipe, rows_side_by_side, side_by_side
from lineal.model.explanation import Explanation, explained
from lineal.protocol import check_is_fitted
from lineal.text import TextVectorizer


class BaseTextModel(SearchedModel):
    """Vectorisers, a linear model behind them, and the search that chose both."""

    _unit = "texts"
    _made_names = ("vectorizer", "learner")
    _scorer: Any

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

    # ---- fitting ------------------------------------------------------------------------------

    def _recipes(self, n_bytes: int) -> list[Recipe]:
        raise NotImplementedError

    def _data(self, X: Any) -> _core.Documents:
        return documents_of(X, missing=self.missing)

    def _n_bytes(self, data: _core.Documents) -> float:
        return data.n_bytes

    def _given_recipes(self, data: _core.Documents | None) -> list[Recipe]:
        given = self.vectorizer
        if given is None:
            return self._recipes(0 if data is None else data.n_bytes)
        if isinstance(given, TextVectorizer):
            return [Recipe("the given vectorizer", (given,))]
        if isinstance(given, (list, tuple)) and given and all(isinstance(v, TextVectorizer) for v in given):
            return [Recipe("the given vectorizers", tuple(given))]
        raise ParameterError(
            "vectorizer must be a TextVectorizer, a list of them to stand side by side, or None; "
            f"got {given!r}."
        )

    def _made_by(self) -> tuple[Any, ...]:
        return self.vectorizer, self.learner

    def _forget_derived(self) -> None:
        self._scorer = self._names = None

    # ---- streams ------------------------------------------------------------------------------

    def _online_learner(self) -> Any:
        raise NotImplementedError

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, **more: Any) -> None:
        """Learns from more texts, in their order; everything is checked before the first one is."""
        is_begun = hasattr(self, "model_")
        if is_begun:
            self._refuse_changed_options()
        vectorizers = self.vectorizers_ if is_begun else self._stream_vectorizers()
        model = self.model_ if is_begun else self._online_learner()
        if not hasattr(model, "partial_fit"):
            raise ParameterError(f"learner={model!r} has no partial_fit: take one that has, or use fit.")
        documents = documents_of(X, missing=self.missing)
        if len(documents) == 0:
            raise InputError("There are no texts to learn from.")
        texts = vectorizers[0].hashed_texts(documents) if len(vectorizers) == 1 else None
        n_before = _n_met(model)
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
                _sample_names(vectorizers, documents, sample_weight, _n_met(model) - n_before)
            raise
        self._keep(vectorizers, model)
        _sample_names(vectorizers, documents, sample_weight, len(documents))

    def _stream_vectorizers(self) -> list[TextVectorizer]:
        """Vectorisers that need not look at the texts first."""
        if self.vectorizer is None:
            made = TextVectorizer(
                n_features=2**20, weighting="occurrence", norm=None, n_threads=self.n_threads
            )
            return [made.ready_for_streams()]
        (recipe,) = self._given_recipes(None)
        return [vectorizer.ready_for_streams() for vectorizer in recipe.vectorizers]

    # ---- prediction ---------------------------------------------------------------------------

    def _matrix(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        documents = documents_of(X, missing=self.missing)
        return side_by_side([vectorizer.transform(documents) for vectorizer in self.vectorizers_])

    def inner_rows(self, X: Any) -> Any:
        """``transform``, without SciPy where the model inside needs none."""
        check_is_fitted(self, "model_")
        documents = documents_of(X, missing=self.missing)
        blocks = [vectorizer.rows(documents) for vectorizer in self.vectorizers_]
        return taken_by(self.model_, rows_side_by_side(blocks))

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
        if None in parts or not hasattr(self.model_, "coef_"):
            return False
        coef = np.atleast_2d(np.asarray(self.model_.coef_, dtype=np.float64))
        intercept = np.atleast_1d(np.asarray(self.model_.intercept_, dtype=np.float64))
        return _core.TextScorer(parts, np.ascontiguousarray(coef.T), intercept)

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of ``coef_``."""
        check_is_fitted(self, "model_")
        if self._names is None:
            self._names = [vectorizer.get_feature_names_out() for vectorizer in self.vectorizers_]
        return np.concatenate(self._names)

    def _names_of(self, columns: Sequence[int]) -> list[str]:
        if self._names is not None:
            return super()._names_of(columns)
        found, first = dict[int, str](), 0
        for vectorizer in self.vectorizers_:
            end = first + vectorizer.n_columns
            own = [column for column in columns if first <= column < end]
            names = vectorizer.names_of([column - first for column in own])
            found.update(zip(own, names, strict=True))
            first = end
        return [found[column] for column in columns]

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


def _n_met(model: Any) -> int:
    """How many rows of a stream a model has met."""
    return model._stream.n_met if isinstance(model, StreamedModel) and model._stream is not None else 0


def _sample_names(
    vectorizers: Sequence[TextVectorizer],
    documents: _core.Documents,
    sample_weight: ArrayLike | None,
    n_met: int,
) -> None:
    """Columns get names from the first so many texts that were met; those of weight 0 were not."""
    rows: Any = None
    if sample_weight is not None or n_met < len(documents):
        is_met = (
            np.broadcast_to(1.0 if sample_weight is None else np.asarray(sample_weight), len(documents)) > 0
        )
        rows = np.flatnonzero(is_met)[:n_met]
    for vectorizer in vectorizers:
        vectorizer.sample_names(documents, rows)
