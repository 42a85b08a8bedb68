"""Models of different parts of the data, which then vote or are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from lineal.compose.answers import places_of, probabilities_of, require_probabilities
from lineal.compose.bags import Bags
from lineal.compose.base import CompositeClassifier, require_kind
from lineal.compose.fitting import weights_at
from lineal.compose.voting import counted
from lineal.errors import ParameterError
from lineal.learners.catalogue import Catalogue
from lineal.learners.classifier import LinearClassifier
from lineal.learners.regressor import LinearRegressor
from lineal.learners.targets import numbers_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.protocol import RegressorMixin

_RULES = ("plurality", "soft")


class Bagging(CompositeClassifier, Bags):
    """Many models, each of other rows that are drawn from the data, which then vote (Breiman 1996).

    Parameters
    ----------
    learner : any classifier
        ``LinearClassifier()`` if not given. A ``random_state`` that it leaves open is drawn for each model.
    n_models : int
    rows : float or int
        How many rows each model draws: a share in (0, 1] of them, or a number.
    columns : float or int
        How many columns it draws, each at most once: a share in (0, 1] of them, or a number.
    replace : bool
        Whether a row may be drawn more than once.
    rule : "plurality", "soft" or None
        Votes, or mean probabilities; ``None``: "soft" where the learner has probabilities.
    n_threads : int, optional
        Models that are fitted at the same time; changes the time, never a bit.
    random_state : int or generator, optional
        Draws rows and columns.

    Attributes
    ----------
    classes_ : the labels, sorted
    parts_ : the fitted models
    bags_ : what each of them was given: rows, how often, columns
    rule_ : the rule that was taken
    oob_decision_function_ : (n, K) mean answers to the rows of the fit by the models that have not learnt
        from them; NaN where all have, and for rows of weight 0
    oob_right_, oob_judged_ : how many of the judged rows are right, and how many were judged (sums of weights
        where there are any): counts for an interval
    oob_score_ : the first over the second, NaN if no row was judged

    Notes
    -----
    Rows are drawn in proportion to ``sample_weight``, where ``rows=1.0`` as many as the weights sum to, and
    at least as many as there are. A model of rows without replacement is given the weights instead.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import Bagging
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = Bagging(n_models=20).fit(X, X[:, 0] > 0)
    >>> model.oob_right_, model.oob_judged_
    (59, 60)
    """

    rule_: str
    oob_decision_function_: FloatArray
    oob_right_: float
    oob_judged_: float
    oob_score_: float

    def __init__(
        self,
        learner: Any = None,
        n_models: int = 10,
        *,
        rows: float = 1.0,
        columns: float = 1.0,
        replace: bool = True,
        rule: str | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            learner,
            n_models,
            rows=rows,
            columns=columns,
            replace=replace,
            n_threads=n_threads,
            random_state=random_state,
        )
        self.rule = rule

    def _made_of(self) -> Sequence[Any]:
        return (LinearClassifier() if self.learner is None else self.learner,)

    def _check_options(self) -> None:
        super()._check_options()
        if self.rule is not None and self.rule not in _RULES:
            raise ParameterError(f"rule must be 'plurality', 'soft' or None, got {self.rule!r}.")
        if self.rule == "soft":
            require_probabilities("Bagging", self._made_of()[0], "rule='soft'")

    def _suffice(self, targets: NDArray[Any]) -> bool:
        return len(Catalogue.of(targets)) > 1

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draws bags, fits a model to each, and judges it by the rows that it has not seen.

        Parameters
        ----------
        X : whatever the learner takes
        y : sequence of n_rows labels
            Rows of one class alone are drawn again; a model whose bag misses a class gives it no votes.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Rows are drawn in proportion.

        Returns
        -------
        self
        """
        lesson, codes = self._lesson_in_classes(X, y, sample_weight)
        has_probabilities = hasattr(self._made_of()[0], "predict_proba")
        self.rule_ = self.rule if self.rule is not None else "soft" if has_probabilities else "plurality"
        self._fit_bags(lesson)
        shares = self._out_of_bag(lesson, self._ask, (lesson.n_rows, len(self.classes_)))
        self.oob_decision_function_ = lesson.for_all(shares)
        is_judged = ~np.isnan(shares[:, 0])
        is_right = shares[is_judged].argmax(axis=1) == codes[is_judged]
        if lesson.s is None:
            self.oob_right_, self.oob_judged_ = int(is_right.sum()), int(is_judged.sum())
        else:
            s = lesson.s[is_judged]
            self.oob_right_, self.oob_judged_ = float(s[is_right].sum()), float(s.sum())
        self.oob_score_ = self.oob_right_ / self.oob_judged_ if self.oob_judged_ else float("nan")
        return self

    def _ask(self, part: Any, X: Any) -> FloatArray:
        """(n, K) one model's probabilities, or its vote."""
        known = self._known()
        if self.rule_ == "soft":
            return probabilities_of(part, X, known)
        return counted([places_of(part, X, known)], np.ones(1), len(known))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) mean probabilities, or shares of the votes; the first largest is the prediction."""
        answers = self._answers(self._asked(X), self._ask)
        return np.asarray(sum(answers) / len(answers))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with most votes, or the largest mean probability; at a tie the first of ``classes_``."""
        return self._named(self.predict_proba(X).argmax(axis=1))


class BaggingRegressor(RegressorMixin, Bags):
    """Many regressors, each of other rows that are drawn from the data, and the mean of what they say.

    Parameters
    ----------
    learner : any regressor
        ``LinearRegressor()`` if not given. A ``random_state`` that it leaves open is drawn for each model.
    n_models, rows, columns, replace, n_threads, random_state
        As in ``Bagging``.

    Attributes
    ----------
    parts_ : the fitted models
    bags_ : what each of them was given: rows, how often, columns
    oob_prediction_ : (n,) mean answers to the rows of the fit by the models that have not learnt from them;
        NaN where all have, and for rows of weight 0
    oob_judged_ : how many rows were judged
    oob_score_ : R^2 of those rows, NaN if fewer than two were judged

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import BaggingRegressor
    >>> x = np.arange(30.0)[:, None]
    >>> model = BaggingRegressor(random_state=1).fit(x, 2.0 * x[:, 0] + 1.0)
    >>> model.predict([[20.0]]).round(1)
    array([41.])
    """

    oob_prediction_: FloatArray
    oob_judged_: int
    oob_score_: float

    def _made_of(self) -> Sequence[Any]:
        return (LinearRegressor() if self.learner is None else self.learner,)

    def _check_options(self) -> None:
        super()._check_options()
        require_kind(self, self._made_of()[0], "regressor")

    def _targets(self, y: Any, n_rows: int) -> NDArray[Any]:
        return numbers_of_rows(y, n_rows, type(self).__name__)

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draws bags, fits a model to each, and judges it by the rows that it has not seen.

        Parameters
        ----------
        X : whatever the learner takes
        y : (n_rows,) numbers, or (n_rows, K) where the learner takes several
        sample_weight : sequence of n_rows numbers >= 0, optional
            Rows are drawn in proportion.

        Returns
        -------
        self
        """
        lesson = self._lesson(X, y, sample_weight)
        self._fit_bags(lesson)
        said = self._out_of_bag(lesson, _predicted, lesson.targets.shape)
        self.oob_prediction_ = lesson.for_all(said)
        is_judged = ~np.isnan(said.reshape(lesson.n_rows, -1)[:, 0])
        self.oob_judged_ = int(is_judged.sum())
        judged = lesson.targets[is_judged], said[is_judged]
        weights = weights_at(lesson.s, is_judged)
        self.oob_score_ = (
            float(r2_score(*judged, sample_weight=weights)) if self.oob_judged_ > 1 else float("nan")
        )
        return self

    def predict(self, X: Any) -> FloatArray:
        """The mean of what the models say."""
        answers = self._answers(self._asked(X), _predicted)
        return np.asarray(sum(answers) / len(answers))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        (learner,) = self._made_of()
        tags.target_tags.multi_output = learner.__sklearn_tags__().target_tags.multi_output
        return tags


def _predicted(part: Any, X: Any) -> FloatArray:
    return np.asarray(part.predict(X), dtype=np.float64)
