"""Self-training: a model labels rows for itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin

from lineal.compose.base import require_kind
from lineal.compose.confidence import Proposals, Threshold, checked_rule
from lineal.compose.fitting import require_weights
from lineal.compose.inputs import count_rows, read_once, reads_numbers
from lineal.compose.pool import Added, Callback, check_rounds, run_rounds, training_set
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.presets.classification import LogisticRegression
from lineal.learners.targets import require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.heads import Head
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, available_if, check_is_fitted, clone, get_tags


def _if_learner_has(name: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "learner_", self._learner()), name))


class SelfTraining(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Learns from few labels and many rows without: labels that the model is confident of are learned from.

    ::

        repeat  t = 1, 2 ... rounds
            TRAIN(A, D)
            for x in U:  z = PREDICT(A, x);  if CONFIDENT(A, x, z): ADD(D, (x, z)), REMOVE(U, x)

    and in the end A is trained once more, on all of D. A row is added at most once and keeps its label.

    Parameters
    ----------
    learner : classifier, optional
        A; anything like a scikit-learn classifier, learners of texts and pipelines among them.
        ``LogisticRegression()`` if not given.
    confident : Threshold, TopK, Margin, or a function
        CONFIDENT. A function is called with :class:`lineal.compose.Proposals`, all of U at once, and answers
        with a truth value for each row.
    growth : number > 0, or None
        Of the confident rows a round adds the surest, by class, until the class holds (1 + ``growth``) x the
        size of D x its share of the given labels (sizes are sums of weights; the row that reaches the limit
        is added). With 1.0 D can double in a round, and a class that is ahead of its share waits for the
        others. None: no limit, as the loop above has none.
    rounds : int
        The largest t. A round that adds nothing ends the loop too, since all others would repeat it.
    unlabelled : label
        What stands in y for rows without a label, besides None and NaN, which always do: -1 for
        scikit-learn's convention, "?" ...
    max_seconds : number > 0, optional
        No round begins after so many seconds.
    callbacks : sequence of functions
        Called after each round with a list of what it added; True ends the loop.

    Attributes
    ----------
    learner_ : the model that predicts
    history_ : list of :class:`lineal.compose.Added`: round, rows, labels, confidences
    transduction_ : (n,) labels given and added; rows without one keep their mark
    since_ : (n,) 0 for given labels, the round for added ones, -1 for rows without a label
    n_rounds_, stopped_ : how many rounds there were, and why no more
    classes_ : the labels, sorted

    Notes
    -----
    ``sample_weight`` of an unlabelled row counts from when it is added; a labelled row of weight 0 teaches
    nothing, its class not among ``classes_`` if it has no other. Ctrl-C ends the loop with the model
    of the present round; a second one raises.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import SelfTraining
    >>> from lineal.compose import TopK
    >>> X = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]])
    >>> y = ["no", None, None, None, None, "yes"]
    >>> model = SelfTraining(confident=TopK(1)).fit(X, y)
    >>> print(*model.history_, sep=chr(10))
    round 1: 2 rows added (no: 1, yes: 1)
    round 2: 2 rows added (no: 1, yes: 1)
    >>> model.transduction_
    array(['no', 'no', 'no', 'yes', 'yes', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        learner: Any = None,
        confident: Callable[[Proposals], Any] = Threshold(0.9),
        *,
        growth: float | None = 1.0,
        rounds: int = 10,
        unlabelled: Any = None,
        max_seconds: float | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.learner = learner
        self.confident = confident
        self.growth = growth
        self.rounds = rounds
        self.unlabelled = unlabelled
        self.max_seconds = max_seconds
        self.callbacks = callbacks

    n_threads: ClassVar[None] = None  # reading X takes what there are; the learner has an option of its own

    def _learner(self) -> Any:
        return LogisticRegression() if self.learner is None else self.learner

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from labels and from rows that have none.

        Parameters
        ----------
        X : what the learner takes
            All rows, with and without labels.
        y : sequence of n labels
            Rows without one have None, NaN, or what ``unlabelled`` says.
        sample_weight : sequence of n numbers >= 0, optional

        Returns
        -------
        self
        """
        require_targets(self, y)
        learner = clone(self._learner())
        require_kind(self, learner, "classifier")
        confident = checked_rule(self.confident, learner)
        check_rounds(self.rounds, self.growth, self.max_seconds, self.callbacks)
        if sample_weight is not None:
            require_weights(self, [learner])
        data = read_once(self, X, [learner], reset=True)
        s = weights_of_rows(sample_weight, count_rows(data))
        rows = training_set(self, y, self.unlabelled, s)

        def train() -> None:
            self.learner_ = rows.train(learner, data, is_weighted=sample_weight is not None)

        def extend(t: int) -> list[Added]:
            found = rows.confident_rows(self.learner_, data, confident, self.growth, t)
            rows.add(found)
            return [found]

        done = run_rounds(
            train, extend, lambda: len(rows.unknown) > 0,
            rounds=self.rounds, max_seconds=self.max_seconds, callbacks=self.callbacks,
        )  # fmt: skip
        self.classes_ = rows.classes
        self.history_, self.n_rounds_, self.stopped_ = done.history, done.n_rounds, done.reason
        self.since_, self.transduction_ = rows.since, rows.transduction()
        return self

    # ---- prediction ---------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """What ``learner_`` predicts."""
        X = self._asked(X)
        return np.asarray(self.learner_.predict(X))

    @_if_learner_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """What ``learner_`` gives."""
        X = self._asked(X)
        return np.asarray(self.learner_.predict_proba(X))

    @_if_learner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> FloatArray:
        """What ``learner_`` gives."""
        X = self._asked(X)
        return np.asarray(self.learner_.predict_log_proba(X))

    @_if_learner_has("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """What ``learner_`` gives."""
        X = self._asked(X)
        return np.asarray(self.learner_.decision_function(X))

    def _asked(self, X: Any) -> Any:
        """X for the model, with the columns of the fit."""
        check_is_fitted(self, "learner_")
        return read_once(self, X, [self.learner_], reset=False)

    def _reads_numbers(self) -> bool:
        return reads_numbers(self._learner())

    # ---- model files --------------------------------------------------------------------------

    _part_names = ("learner_",)

    def _frozen_head(self, head_of: Callable[[Any], Head]) -> Head:
        """What a stored model answers with."""
        return head_of(self.learner_)

    def _stored_parts(self) -> dict[str, Any]:
        """The learners inside that a model file keeps."""
        return {"learner_": self.learner_}

    def _take_parts(self, stored: dict[str, list[Any]], head: Any, read: Callable[[Any, Any], Any]) -> None:
        """Takes the learner back that a model file kept, with the weights of a head."""
        (learner,) = stored["learner_"]
        self.learner_ = read(learner, head)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self._learner())
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags
