"""Outputs of models as features of another, by K-fold jackknifing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.compose.answers import require_probabilities
from lineal.compose.base import Lesson, require_kind
from lineal.compose.fitting import fit_parts, require_weights
from lineal.compose.folds import Split, fold_numbers, require_folds, splits_of
from lineal.compose.inputs import take
from lineal.compose.outputs import OUTPUTS, named_outputs, output_columns
from lineal.compose.seeds import require_seed
from lineal.compose.team import Team
from lineal.compose.threads import are_few, in_threads
from lineal.data import thread_count
from lineal.deferred import sparse as sp
from lineal.errors import ParameterError
from lineal.learners.classifier import LinearClassifier
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if, check_is_fitted, clone, get_tags
from lineal.text import TextVectorizer


class Stacking(Team):
    """Classifiers B answer, and a final classifier A learns from the answers beside the original features.

    Answers of a model to the rows that it has learnt from are too good to learn from. So rows are dealt into
    folds D_1 ... D_k, and B's answer to a row of D_i is that of B_i, which has learnt from all the others
    (K-fold jackknifing). New rows are answered by B, fitted to all.

    Parameters
    ----------
    learners : list of classifiers, or of pairs (name, classifier)
        The models B; a linear classifier, Fisher's discriminant and nearest neighbours, if not given.
    final : any classifier
        The model A; ``LinearClassifier()`` if not given.
    folds : int, splitter or list of (train, test)
        A number gives each fold its share of each class, and keeps groups whole; others must hold every row
        out once.
    outputs : "labels", "probabilities" or "binned"
        What A sees of B: its label y_B, one column for each class; P(y_B = class); or in which bin that lies,
        one column for each class and bin.
    n_bins : int
        Bins of equal width in [0, 1], each closed on the left, the last on both sides.
    passthrough : bool
        Whether A sees the original features too.
    vectorizer : a transformer, optional
        What makes features of rows that are no numbers, such as texts, for A; ``TextVectorizer()`` if X is
        texts and none is given.
    n_threads : int, optional
        Models that are fitted at the same time; changes the time, never a bit.
    random_state : int or generator, optional
        Deals the rows into folds.

    Attributes
    ----------
    classes_ : the labels, sorted
    parts_ : the models B, fitted to all rows
    final_ : the model A
    folds_ : (n,) in which fold each row of the fit was (rows of weight 0 left out)
    vectorizer_ : fitted, where there is one

    Examples
    --------
    >>> from lineal import LinearClassifier, Stacking
    >>> X, y = [[float(k)] for k in range(20)], ["low"] * 10 + ["high"] * 10
    >>> model = Stacking([("B", LinearClassifier())], folds=5).fit(X, y)
    >>> print(*model.predict([[3.0], [16.0]]))
    low high
    >>> print(*model.get_feature_names_out())
    x0 y_B=high y_B=low
    """

    parts_: list[Any]
    final_: Any
    folds_: NDArray[np.intp]

    def __init__(
        self,
        learners: Any = None,
        final: Any = None,
        *,
        folds: Any = 5,
        outputs: str = "labels",
        n_bins: int = 10,
        passthrough: bool = True,
        vectorizer: Any = None,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learners = learners
        self.final = final
        self.folds = folds
        self.outputs = outputs
        self.n_bins = n_bins
        self.passthrough = passthrough
        self.vectorizer = vectorizer
        self.n_threads = n_threads
        self.random_state = random_state

    # ---- options ------------------------------------------------------------------------------

    def _final(self) -> Any:
        return LinearClassifier() if self.final is None else self.final

    def _check_options(self) -> None:
        super()._check_options()
        if self.outputs not in OUTPUTS:
            raise ParameterError(f"outputs must be one of {', '.join(OUTPUTS)}, got {self.outputs!r}.")
        if self.outputs != "labels":
            for learner in self._made_of():
                require_probabilities("Stacking", learner, f"outputs={self.outputs!r}")
        if isinstance(self.n_bins, bool) or not isinstance(self.n_bins, (int, np.integer)) or self.n_bins < 1:
            raise ParameterError(f"n_bins must be a whole number from 1 on, got {self.n_bins!r}.")
        if isinstance(self.final, type) or not hasattr(self._final(), "fit"):
            raise ParameterError(f"final must be a classifier or None, got {self.final!r}.")
        require_kind(self, self._final(), "classifier")
        if self.vectorizer is not None and not hasattr(self.vectorizer, "transform"):
            raise ParameterError(f"vectorizer must have fit and transform, got {self.vectorizer!r}.")
        require_folds(self.folds)
        require_seed(self.random_state)

    # ---- learning -----------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Jackknifes the models B, fits A to their answers, and B to all rows.

        Parameters
        ----------
        X : whatever the learners take
        y : sequence of n_rows labels
            Anything hashable that the learners take.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Passed on to all models, which must take it.
        groups : sequence of n_rows names, optional
            Rows of one group are held out together.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            self._check_options()
            require_weights(self, [self._final()])
        lesson, codes = self._lesson_in_classes(X, y, sample_weight, groups)
        splits = splits_of(self.folds, lesson, codes, self.random_state)
        self.folds_ = fold_numbers(splits)
        self.vectorizer_ = self._fitted_vectorizer(lesson)
        answers = self._jackknifed(lesson, splits)
        seen = self._beside(lesson.X, answers)
        (self.final_,) = fit_parts(seen, [lesson.job(self._final())], self.n_threads)
        return self

    def _jackknifed(self, lesson: Lesson, splits: list[Split]) -> Any:
        """Columns of answers of models that have not seen the row; the models of all rows are kept."""
        members = self._made_of()
        jobs = [lesson.job(learner, train) for train, _ in splits for learner in members]
        jobs += [lesson.job(learner) for learner in members]
        parts = fit_parts(lesson.X, jobs, self.n_threads)
        self.parts_ = parts[-len(members) :]
        pieces = []
        for k, (_, test) in enumerate(splits):
            held_out = parts[k * len(members) : (k + 1) * len(members)]
            pieces.append(self._answers(take(lesson.X, test), held_out))
        order = np.argsort(np.concatenate([test for _, test in splits]))
        return (sp.vstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.concatenate(pieces))[order]

    def _fitted_vectorizer(self, lesson: Lesson) -> Any:
        if not self.passthrough:
            return None
        if self.vectorizer is not None:
            made = clone(self.vectorizer)
        elif _are_texts(lesson.X):
            made = TextVectorizer(n_threads=self.n_threads)
        else:
            _original(lesson.X)
            return None
        return made.fit(lesson.X, lesson.targets)

    # ---- features -----------------------------------------------------------------------------

    def _answers(self, X: Any, parts: Sequence[Any]) -> Any:
        """The columns of outputs, model by model: sparse but for probabilities."""
        known = self._known()
        calls = [partial(output_columns, self.outputs, part, X, known, int(self.n_bins)) for part in parts]
        found = in_threads(calls, thread_count(self.n_threads), are_short=are_few(X))
        return sp.hstack(found, format="csr") if sp.issparse(found[0]) else np.hstack(found)

    def _beside(self, X: Any, answers: Any) -> Any:
        """The answers beside the original features; sparse where these are, dense where they are.

        Alone they stay as they are, if the final model takes sparse ones.
        """
        if not self.passthrough:
            is_fit = not sp.issparse(answers) or _takes_sparse(self._final())
            return answers if is_fit else answers.toarray()
        own = _original(X if self.vectorizer_ is None else self.vectorizer_.transform(X))
        if sp.issparse(own):
            return sp.hstack([own, sp.csr_array(answers)], format="csr")
        return np.hstack([own, answers.toarray() if sp.issparse(answers) else answers])

    def features(self, X: Any) -> Any:
        """The matrix that the final model sees of new rows: original columns, then those of the answers."""
        X = self._asked(X)
        return self._beside(X, self._answers(X, self.parts_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns of ``features``: the original ones, then ``y_B=label`` and the like."""
        check_is_fitted(self)
        own: list[str] = []
        if self.passthrough and self.vectorizer_ is not None:
            own = [str(name) for name in self.vectorizer_.get_feature_names_out()]
        elif self.passthrough:
            own = [f"x{k}" for k in range(self.n_features_in_)]
            own = [str(name) for name in getattr(self, "feature_names_in_", own)]
        names = [name for name, _ in self._members()]
        made = named_outputs(self.outputs, names, self.classes_, int(self.n_bins))
        return np.array([*own, *made], dtype=object)

    # ---- prediction ---------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """The label that the final model gives."""
        made = self.features(X)
        return np.asarray(self.final_.predict(made))

    @available_if(lambda self: hasattr(getattr(self, "final_", self._final()), "predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities of the final model."""
        made = self.features(X)
        return np.asarray(self.final_.predict_proba(made))

    @available_if(lambda self: hasattr(getattr(self, "final_", self._final()), "decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """The scores of the final model."""
        made = self.features(X)
        return np.asarray(self.final_.decision_function(made))


def _original(X: Any) -> Any:
    """Features as they are, which have to be columns of numbers to stand beside others."""
    if sp.issparse(X):
        return X
    array = _numbers(np.asarray(X))
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ParameterError(
            "passthrough=True puts the original features beside the outputs, but X is no columns of numbers. "
            "Give a vectorizer that makes some, or set passthrough=False."
        )
    return array


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Columns of several types of numbers, which NumPy keeps as objects, as floats; all else as it is."""
    if array.dtype.kind != "O" or any(isinstance(cell, (str, bytes)) for cell in array.ravel().tolist()):
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return array


def _takes_sparse(learner: Any) -> bool:
    return hasattr(learner, "__sklearn_tags__") and bool(get_tags(learner).input_tags.sparse)


def _are_texts(X: Any) -> bool:
    """Whether rows are texts rather than numbers."""
    if sp.issparse(X) or getattr(X, "ndim", 1) != 1:
        return False
    first = X[0] if isinstance(X, (list, tuple)) else next(iter(X), None)
    return isinstance(first, str) or hasattr(first, "as_py")
