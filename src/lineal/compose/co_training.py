"""Co-training: two models of two views label rows for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.utils.validation import validate_data

from lineal.compose.answers import log_probabilities, scores_of
from lineal.compose.base import require_kind
from lineal.compose.confidence import Proposals, Threshold, believed, checked_rule
from lineal.compose.fitting import require_weights
from lineal.compose.inputs import count_rows, read_once
from lineal.compose.pool import Added, Callback, TrainingSet, check_rounds, run_rounds, training_set
from lineal.compose.views import checked_views, split
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.presets.classification import LogisticRegression
from lineal.learners.targets import require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, probabilities, winners
from lineal.model.answers import log_probabilities as logs_of_scores
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, available_if, check_is_fitted, clone, get_tags

_RULES = ("agreement", "exchange")


class CoTraining(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Learns from few labels and many rows without, by two models that see the rows in two ways.

    ::

        repeat  t = 1, 2 ... rounds
            TRAIN(A, D), TRAIN(B, D)
            for x in U:
                z = PREDICT(A, x)
                if z = PREDICT(B, x) and CONFIDENT(A, x, z) and CONFIDENT(B, x, z):
                    ADD(D, (x, z)), REMOVE(U, x)

    and in the end both are trained once more, on all of D. With ``rule="exchange"`` each model has a training
    set of its own, and a row that one is confident of goes to the other's (Blum and Mitchell 1998): in place
    of the ``if``, ``if CONFIDENT(A, x, PREDICT(A, x)): ADD(D_B, (x, PREDICT(A, x)))``, and likewise from B to
    A. No set gets a row twice, and labels never change.

    Parameters
    ----------
    learners : classifier, or a pair of them, optional
        A and B; one is cloned for both. ``LogisticRegression()`` if not given.
    views : a pair, or "pair", optional
        What A sees and what B sees. Each is a list of columns (numbers, or names in a frame), a slice, a
        function of X, or None for all of X. ``"pair"``: X is a tuple of two, each with a row for every row of
        the other; so it is without views if X is a tuple of two matrices. Else, without views: the first and
        the second half of the columns.
    confident : Threshold, TopK, Margin, or a function
        CONFIDENT, as for :class:`lineal.SelfTraining`.
    rule : "agreement" or "exchange"
    growth, rounds, unlabelled, max_seconds, callbacks
        As for :class:`lineal.SelfTraining`; ``growth`` goes by the less sure of two models that agree.

    Attributes
    ----------
    learners_ : the two models
    history_ : list of :class:`lineal.compose.Added`; its ``learner`` says whose set grew under "exchange"
    transduction_ : (n,) labels given and added; rows without one keep their mark. Under "exchange" a row that
        two sets hold with different labels has none here
    since_ : (n,) 0 for given labels, the first round that added the row, -1 for rows without a label
    n_rounds_, stopped_ : how many rounds there were, and why no more
    classes_ : the labels, sorted

    Notes
    -----
    **Prediction** takes the views as independent given the label: p(z | x) is p_A(z | x) p_B(z | x) / p(z),
    scaled to sum to 1, with p(z) the share of z among the given labels. ``decision_function`` is its
    logarithm (two classes: the log odds). Of learners without probabilities the decision values are added.
    ``view_predictions`` has what each model says alone.

    References
    ----------
    Blum and Mitchell, Combining labeled and unlabeled data with co-training, COLT 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import CoTraining
    >>> from lineal.compose import Threshold
    >>> X = np.array([[-2.0, -2.0], [-2.0, -1.0], [-1.0, -2.0], [1.0, 2.0], [2.0, 1.0], [2.0, 2.0]])
    >>> model = CoTraining(confident=Threshold(0.6)).fit(X, [0, None, None, None, None, 1])
    >>> print(*model.history_, model.stopped_, sep=chr(10))
    round 1: 2 rows added (0: 1, 1: 1)
    round 2: 2 rows added (0: 1, 1: 1)
    no unlabelled rows are left
    >>> model.view_predictions([[-1.0, 2.0]])
    array([[0, 1]])
    """

    def __init__(
        self,
        learners: Any = None,
        views: Any = None,
        confident: Callable[[Proposals], Any] = Threshold(0.9),
        *,
        rule: str = "agreement",
        growth: float | None = 1.0,
        rounds: int = 10,
        unlabelled: Any = None,
        max_seconds: float | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.learners = learners
        self.views = views
        self.confident = confident
        self.rule = rule
        self.growth = growth
        self.rounds = rounds
        self.unlabelled = unlabelled
        self.max_seconds = max_seconds
        self.callbacks = callbacks

    n_threads: ClassVar[None] = None  # reading X takes what there are; learners have an option of their own

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from labels and from rows that have none.

        Parameters
        ----------
        X : what the views are taken of
            All rows, with and without labels.
        y : sequence of n labels
            Rows without one have None, NaN, or what ``unlabelled`` says.
        sample_weight : sequence of n numbers >= 0, optional

        Returns
        -------
        self
        """
        require_targets(self, y)
        learners = self._checked_learners()
        if sample_weight is not None:
            require_weights(self, learners)
        views = self._views_of(X, reset=True)
        s = weights_of_rows(sample_weight, count_rows(views[0]))
        first = training_set(self, y, self.unlabelled, s)
        second = first if self.rule == "agreement" else training_set(self, y, self.unlabelled, s)
        sets = (first, second)

        def train() -> None:
            parts = zip(sets, learners, views, strict=True)
            is_weighted = sample_weight is not None
            self.learners_ = [rows.train(each, view, is_weighted=is_weighted) for rows, each, view in parts]

        def extend(t: int) -> list[Added]:
            by_rule = self._agreed if self.rule == "agreement" else self._exchanged
            found = by_rule(views, sets, t)
            for added in found:
                sets[added.learner or 0].add(added)
            return found

        done = run_rounds(
            train, extend, lambda: any(len(rows.unknown) for rows in sets),
            rounds=self.rounds, max_seconds=self.max_seconds, callbacks=self.callbacks,
        )  # fmt: skip
        self.classes_, self._log_prior = first.classes, np.log(np.maximum(first.shares, 1e-300))
        self.history_, self.n_rounds_, self.stopped_ = done.history, done.n_rounds, done.reason
        both = first.joined(second)
        self.since_, self.transduction_ = both.since, both.transduction()
        return self

    def _checked_learners(self) -> list[Any]:
        """Clones of A and B; impossible options are refused before data are read."""
        if self.rule not in _RULES:
            raise ParameterError(f"rule must be 'agreement' or 'exchange', got {self.rule!r}.")
        check_rounds(self.rounds, self.growth, self.max_seconds, self.callbacks)
        learners = [clone(each) for each in self._pair()]
        for each in learners:
            require_kind(self, each, "classifier")
            checked_rule(self.confident, each)
        return learners

    def _pair(self) -> list[Any]:
        given = LogisticRegression() if self.learners is None else self.learners
        pair = list(given) if isinstance(given, (list, tuple)) else [given, given]
        if len(pair) != 2 or not all(hasattr(each, "fit") for each in pair):
            raise ParameterError(f"learners must be a classifier or a pair of them, got {self.learners!r}.")
        return pair

    # ---- rounds -------------------------------------------------------------------------------

    def _agreed(self, views: Sequence[Any], sets: Sequence[TrainingSet], t: int) -> list[Added]:
        """Rows that both models label alike, both being confident."""
        rows = sets[0]
        a, b = (rows.proposals(*part, t) for part in zip(self.learners_, views, strict=True))
        is_agreed = (a.codes == b.codes) & believed(self.confident, a) & believed(self.confident, b)
        chosen = np.flatnonzero(is_agreed)
        confidence = np.minimum(a.confidence[chosen], b.confidence[chosen])
        return [rows.surest_of(a, chosen, confidence, self.growth, others=b)]

    def _exchanged(self, views: Sequence[Any], sets: Sequence[TrainingSet], t: int) -> list[Added]:
        """Rows that each model is confident of, for the other's set."""
        return [
            sets[to].confident_rows(self.learners_[by], views[by], self.confident, self.growth, t, to)
            for by, to in ((0, 1), (1, 0))
            if len(sets[to].unknown)
        ]

    # ---- views --------------------------------------------------------------------------------

    def _views_of(self, X: Any, *, reset: bool) -> list[Any]:
        """X as each of the models sees it, with as many rows."""
        views = checked_views(self.views)
        learners = self._pair() if reset else self.learners_
        if views == "pair" or (views is None and _is_pair_of_matrices(X)):
            parts = self._given_pair(X)
        else:
            parts = split(self._whole(X, views, learners, reset=reset), views)
        counts = [count_rows(part) for part in parts]
        if counts[0] != counts[1]:
            raise InputError(f"the two views must have as many rows, got {counts[0]} and {counts[1]}.")
        return parts

    def _whole(self, X: Any, views: Any, learners: Sequence[Any], *, reset: bool) -> Any:
        if isinstance(views, tuple) and any(callable(view) for view in views):
            return X  # which may be anything
        if hasattr(X, "columns"):  # names are for the views to choose by, and for the learners
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return read_once(self, X, learners, reset=reset)

    def _given_pair(self, X: Any) -> list[Any]:
        if not isinstance(X, (tuple, list)) or len(X) != 2:
            raise InputError(f"views='pair' needs X as a tuple of two views, got {type(X).__name__}.")
        return [view.tocsr() if sp.issparse(view) else view for view in X]

    # ---- prediction ---------------------------------------------------------------------------

    def view_predictions(self, X: Any) -> NDArray[Any]:
        """(n, 2) what each of the models predicts by its own view."""
        parts = self._parts(X)
        return np.column_stack([model.predict(view) for model, view in parts])

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of both views: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        places = winners(self._scores(X))
        return np.asarray(self.classes_[places])

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K), from both views: see Notes."""
        Z = self._scores(X)
        return crowned(probabilities(Z, 1.0), winners(Z))

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``, also of those too small for it."""
        return logs_of_scores(self._scores(X), 1.0)

    def _has_probabilities(self) -> bool:
        return all(hasattr(each, "predict_proba") for each in getattr(self, "learners_", self._pair()))

    def _parts(self, X: Any) -> list[tuple[Any, Any]]:
        check_is_fitted(self, "learners_")
        return list(zip(self.learners_, self._views_of(X, reset=False), strict=True))

    def _scores(self, X: Any) -> FloatArray:
        """(n, 1) for two classes, (n, K) for more."""
        parts = self._parts(X)
        if not self._has_probabilities():
            return np.asarray(sum(scores_of(model, view) for model, view in parts))
        # Finite ones: a probability of 0 must not silence the other view.
        Z = sum(log_probabilities(model, view) for model, view in parts) - self._log_prior
        return Z[:, 1:] - Z[:, :1] if Z.shape[1] == 2 else Z

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), [get_tags(each) for each in self._pair()]
        tags.input_tags = inner[0].input_tags
        tags.input_tags.sparse = all(each.input_tags.sparse for each in inner)
        tags.classifier_tags.multi_class = all(each.classifier_tags.multi_class for each in inner)
        return tags


def _is_pair_of_matrices(X: Any) -> bool:
    return isinstance(X, tuple) and len(X) == 2 and all(len(getattr(part, "shape", ())) == 2 for part in X)
