"""Several models decide together."""

from __future__ import annotations

import numbers
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.compose.answers import places_of, probabilities_of, require_probabilities
from lineal.compose.base import Lesson
from lineal.compose.fitting import fit_parts
from lineal.compose.folds import require_folds, splits_of
from lineal.compose.inputs import take
from lineal.compose.seeds import require_seed
from lineal.compose.team import Team
from lineal.compose.threads import are_few, in_threads
from lineal.data import thread_count
from lineal.data.targets import plain_array
from lineal.errors import ParameterError
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray

_RULES = ("plurality", "majority", "soft", "weighted")
# Three weights of a tenth are half of six of them, whatever the sums round to.
_ROUNDING = 1e-12


class Voting(Team):
    """Several classifiers vote: v_k = sum_j a_j [learner j says class k], a_j the weight of learner j.

    ================  ========================================================================================
    ``"plurality"``   the class with the most votes; at a tie the first of ``classes_``
    ``"majority"``    the class with more than half of all votes; where none has them, ``refusal``
    ``"soft"``        the class of the largest mean probability; at a tie the first of ``classes_``
    ``"weighted"``    plurality with weights that are learned, unless given: the log odds of being right
    ================  ========================================================================================

    Parameters
    ----------
    learners : list of classifiers, or of pairs (name, classifier)
        A linear classifier, Fisher's discriminant and nearest neighbours, if not given.
    rule : "plurality", "majority", "soft" or "weighted"
    weights : sequence of numbers >= 0, one for each learner, optional
        Weights of votes or probabilities; all 1 if not given, except under "weighted".
    refusal : a label
        What ``predict`` answers where there is no majority: a label of its own, such as "unsure", or one of
        the classes. ``None`` stands for itself.
    folds : int, splitter or list of (train, test)
        How rows are held out to learn the weights of "weighted".
    n_threads : int, optional
        Learners that are fitted at the same time; changes the time, never a bit.
    random_state : int or generator, optional
        Deals the rows into folds.

    Attributes
    ----------
    classes_ : the labels, sorted
    parts_ : the fitted learners
    names_ : their names
    weights_ : the weights of their votes

    Notes
    -----
    Weights under "weighted": with p_j the share of held-out rows that learner j has right (one right and one
    wrong row added), a_j = ln((K - 1) p_j / (1 - p_j)), not below 0. For voters that err independently, and
    evenly over the wrong classes, these weights make the vote the most probable class (Nitzan and
    Paroush 1982).

    Examples
    --------
    >>> from lineal import GaussianNB, LinearClassifier, Perceptron, Voting
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["low"] * 3 + ["high"] * 3
    >>> model = Voting([LinearClassifier(), GaussianNB(), Perceptron()]).fit(X, y)
    >>> print(*model.predict([[1.5], [7.5]]))
    low high
    >>> model.votes([[1.5]])
    array([[0., 3.]])
    """

    parts_: list[Any]
    names_: list[str]
    weights_: FloatArray

    def __init__(
        self,
        learners: Any = None,
        rule: str = "plurality",
        *,
        weights: ArrayLike | None = None,
        refusal: Any = None,
        folds: Any = 5,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learners = learners
        self.rule = rule
        self.weights = weights
        self.refusal = refusal
        self.folds = folds
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fits every learner to all rows.

        Parameters
        ----------
        X : whatever the learners take
        y : sequence of n_rows labels
            Anything hashable that the learners take.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Passed on to the learners, all of which must take it.
        groups : sequence of n_rows names, optional
            Rows of one group are held out together, where weights of votes are learned.

        Returns
        -------
        self
        """
        lesson, codes = self._lesson_in_classes(X, y, sample_weight, groups)
        self.names_ = [name for name, _ in self._members()]
        self.weights_ = self._chosen_weights(lesson, codes)
        jobs = [lesson.job(learner) for learner in self._made_of()]
        self.parts_ = fit_parts(lesson.X, jobs, self.n_threads)
        return self

    def votes(self, X: Any) -> FloatArray:
        """(n, K) weighted votes for each class; under "soft" weighted sums of probabilities."""
        return self._votes(self._asked(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) shares of the votes, or under "soft" mean probabilities; the first largest is predicted.

        Shares of votes are no chances: ``Calibrated`` makes them so.
        """
        votes = self._votes(self._asked(X))
        return votes / self.weights_.sum()

    def predict(self, X: Any) -> NDArray[Any]:
        """The label that wins by the rule."""
        votes = self._votes(self._asked(X))
        labels = self._named(votes.argmax(axis=1))
        if self.rule != "majority":
            return labels
        most, half = votes.max(axis=1), self.weights_.sum() / 2.0
        return _with_refusals(labels, most <= half * (1.0 + _ROUNDING), self.refusal)

    def _votes(self, X: Any) -> FloatArray:
        known = self._known()
        if self.rule == "soft":
            shares = [partial(probabilities_of, part, X, known) for part in self.parts_]
            said = in_threads(shares, thread_count(self.n_threads), are_short=are_few(X))
            return np.asarray(sum(a * p for a, p in zip(self.weights_, said, strict=True)))
        calls = [partial(places_of, part, X, known) for part in self.parts_]
        found = in_threads(calls, thread_count(self.n_threads), are_short=are_few(X))
        return counted(found, self.weights_, len(known))

    def _check_options(self) -> None:
        super()._check_options()
        if self.rule not in _RULES:
            raise ParameterError(f"rule must be one of {', '.join(_RULES)}, got {self.rule!r}.")
        members = self._made_of()
        if self.rule == "soft":
            for learner in members:
                require_probabilities("Voting", learner, "rule='soft'")
        self._given_weights(len(members))
        require_folds(self.folds)
        require_seed(self.random_state)

    def _given_weights(self, n: int) -> FloatArray:
        if self.weights is None:
            return np.ones(n)
        given = list(np.asarray(self.weights, dtype=object).ravel())
        is_sound = len(given) == n and all(
            isinstance(a, numbers.Real) and 0 <= float(a) < np.inf for a in given
        )
        if not is_sound or not any(given):
            raise ParameterError(
                f"weights must be {n} numbers >= 0, one for each learner and not all 0; got {self.weights!r}."
            )
        return np.array(given, dtype=np.float64)

    def _chosen_weights(self, lesson: Lesson, codes: NDArray[np.int32]) -> FloatArray:
        members = self._made_of()
        if self.rule != "weighted" or self.weights is not None:
            return self._given_weights(len(members))
        K = len(self.classes_)
        right = self._right_when_held_out(lesson, codes)
        share = (right + 1.0) / (lesson.counts.sum() + 2.0)
        weights = np.maximum(np.log((K - 1) * share / (1.0 - share)), 0.0)
        return weights if weights.any() else np.ones(len(members))

    def _right_when_held_out(self, lesson: Lesson, codes: NDArray[np.int32]) -> FloatArray:
        """(members,) how many rows each has right when it has not seen them."""
        members, known = self._made_of(), self._known()
        splits = splits_of(self.folds, lesson, codes, self.random_state)
        jobs = [lesson.job(learner, train) for train, _ in splits for learner in members]
        parts = fit_parts(lesson.X, jobs, self.n_threads)
        counts = lesson.counts
        right = np.zeros(len(members))
        for k, (_, test) in enumerate(splits):
            held_out = take(lesson.X, test)
            for j in range(len(members)):
                places = places_of(parts[k * len(members) + j], held_out, known)
                right[j] += counts[test][places == codes[test]].sum()
        return right


def counted(places: list[NDArray[np.intp]], weights: FloatArray, K: int) -> FloatArray:
    """(n, K) the weight of those who named each class."""
    votes = np.zeros((len(places[0]), K + 1))  # the last is of those who refused
    rows = np.arange(len(votes))
    for named, weight in zip(places, weights, strict=True):
        votes[rows, named] += weight
    return votes[:, :K]


def _with_refusals(labels: NDArray[Any], is_refused: NDArray[np.bool_], refusal: Any) -> NDArray[Any]:
    """Labels with another one in some places; of one type where both are of it, objects otherwise."""
    mark = _alone(refusal)
    is_alike = mark.dtype.kind == labels.dtype.kind and mark.dtype.kind != "O"
    answers = labels.astype(np.promote_types(labels.dtype, mark.dtype) if is_alike else object)
    answers[is_refused] = mark
    return answers


def _alone(label: Any) -> NDArray[Any]:
    """An array of this one label."""
    array = plain_array([label])
    if array.ndim == 1 and array.dtype.kind in "biufUS":
        return array
    array = np.empty(1, dtype=object)
    array[0] = label
    return array
