"""The perceptron: weights that change at mistakes and at nothing else.

The algorithm (``lineal.learners.perceptron.online``) is the same whatever is kept of it. ``variant`` says
which of the weights met on the way become the model: the last (plain), their average, all of them with a
vote each, one at random, or those that do best on held-out data.

On data that can be separated with margin gamma inside radius R it makes at most (R / gamma)^2 mistakes
(Novikoff 1962), whatever the order of the rows; ``lineal.mistake_bound`` proves both numbers. On other data
it never ends by itself.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, ParameterError
from lineal.learners.online.arrivals import Arrivals
from lineal.learners.perceptron.keepers import Best, Keeper, RandomDraw
from lineal.learners.perceptron.online import Epoch, OnlineWeights, Step, orders
from lineal.learners.perceptron.online_bound import OnlineBound, online_bound
from lineal.learners.perceptron.options import epoch_limit, require_run_options, warn_unless_done
from lineal.learners.perceptron.run import OnRows, Run
from lineal.learners.perceptron.sizes import longest, require_finite, smallest_margin, unit_of
from lineal.learners.perceptron.stream import KEEPERS, MistakeStream
from lineal.learners.perceptron.streamed import StreamedPerceptron
from lineal.learners.targets import classes_and_codes, codes_among, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.linear_maps import NativeRows
from lineal.protocol import check_is_fitted, clone

VARIANTS = ("averaged", "plain", "voted", "random", "best")


class Perceptron(StreamedPerceptron):
    """The perceptron: plain, averaged or voted, for two classes and more.

    Not to be confused with the loss ``lineal.objective.Perceptron``: this is the algorithm, which minimises
    nothing and has no penalty. Two classes share one row of weights, and a score of 0 means the second class;
    more classes have a row each, and the first of the highest scores wins.

    Parameters
    ----------
    variant : "averaged", "plain", "voted", "random" or "best"
        Which weights become the model. "averaged": the mean of the weights after each of the N T examples
        met. "plain": the last. "voted": all of them, each with one vote for every example that it was held
        for (Freund and Schapire 1999). "random": those before one example drawn at random. "best": those at
        the end of the epoch that does best on ``validation``.
    epochs : int, optional
        Passes over the data; 10 if not given. With ``until_convergence`` the most there may be; 1000 if not
        given.
    until_convergence : bool
        Whether to stop after the first whole epoch without a mistake.
    shuffle : bool
        Whether each epoch has an order of its own, drawn from ``random_state``; else rows come as they are.
    learning_rate : float
        A factor of all weights, from 1e-140 to 1e140. It changes no prediction, since they start at 0.
    fit_intercept : bool
        Whether there is a constant feature 1.
    validation : (X, y) or a fraction, optional
        Held-out data for "best", or the share of the rows to hold out.
    probability : bool
        Whether to calibrate probabilities (costs five more fits).
    max_seconds : float, optional
        A budget. A fit that runs out keeps what it has, with a warning.
    random_state : int or generator, optional
        The same seed gives the same model.
    callbacks : sequence of callables
        Called with an ``Epoch`` after each epoch; returning True stops the fit.

    Attributes
    ----------
    coef_ : (1, d) for two classes, (K, d) for more; not there when voted
    intercept_ : (1,) or (K,); not there when voted
    classes_ : the labels, sorted
    mistakes_ : (n_iter_,) mistakes in each epoch; rows of ``partial_fit`` count as the last one
    updates_ : how often the weights were changed: their sum, but for the first row of a stream
    converged_ : whether the last epoch was whole and without a mistake
    n_iter_ : epochs begun
    reason_, stop_ : why the fit ended, in words; and as a ``Stop`` where it ended early
    radius_ : the largest norm of a row (of phi(x, y) - phi(x, k) for more than two classes), its 1 included
    margin_ : the smallest margin of a training row under the weights scaled to norm 1; not there when voted
    survivors_, counts_ : voted only: every vector of weights ever held, and for how many examples
    validation_scores_, best_epoch_ : best only: held-out accuracy after each epoch, and where it was highest
    n_seen_, online_accuracy_ : streams only: rows met by ``partial_fit``, and the share first predicted right

    Notes
    -----
    There is no ``sample_weight``: rows are met in an order, so that a row twice has no one meaning. Repeat
    the rows. An epoch costs one pass over the stored numbers, and a second at mistakes; averaging adds a
    third there. Voting keeps the rows that were mistakes and compares x with each of them to predict.

    Where ``margin_`` > 0 the weights separate the training rows, and ``updates_`` <= (radius_ / margin_)^2.

    Examples
    --------
    >>> from lineal import Perceptron
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = Perceptron("plain", until_convergence=True, shuffle=False).fit(X, [False, False, False, True])
    >>> model.coef_, model.intercept_, model.updates_
    (array([[2., 1.]]), array([-3.]), 11)
    """

    def __init__(
        self,
        variant: str = "averaged",
        *,
        epochs: int | None = None,
        until_convergence: bool = False,
        shuffle: bool = True,
        learning_rate: float = 1.0,
        fit_intercept: bool = True,
        validation: Any = None,
        probability: bool = False,
        max_seconds: float | None = None,
        random_state: Any = None,
        callbacks: Sequence[Callable[[Epoch], object]] = (),
    ) -> None:
        self.variant = variant
        self.epochs = epochs
        self.until_convergence = until_convergence
        self.shuffle = shuffle
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.validation = validation
        self.probability = probability
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.callbacks = callbacks

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Meets the rows, epoch by epoch.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels
            Anything hashable.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        rows, codes, labels = self._training(X, y)
        self._forget()
        train, keeper = self._keeper(rows, codes)
        with cancellable():  # one Ctrl-C ends the epochs and the folds behind them
            self._run(rows, codes, train, keeper)
            if self.probability:
                self._calibrate(X, labels, began=began)
        warn_unless_done(
            self,
            "lineal.mistake_bound(X, y) tells whether the data can be separated at all, and within how many "
            "mistakes.",
        )
        return self

    def steps(self, X: Any, y: ArrayLike) -> Iterator[Step]:
        """Runs the algorithm on a copy of this learner and yields the weights after every example.

        The weights are those of ``fit`` with the same options, example by example; ``variant`` plays no part.
        A step costs a copy of all weights: this is for small data and for pictures.

        Examples
        --------
        >>> from lineal import Perceptron
        >>> learner = Perceptron(epochs=1, shuffle=False)
        >>> for step in learner.steps([[2.0], [-1.0]], ["a", "b"]):
        ...     print(step.row, step.predicted, step.is_mistake, step.coef, step.intercept)
        0 b True [[-2.]] [-1.]
        1 b False [[-2.]] [-1.]
        """
        reader = clone(self).set_params(variant="averaged", validation=None)
        rows, codes, _ = reader._training(X, y)
        return reader._stepwise(rows, codes)

    def _stepwise(self, rows: NativeRows, codes: NDArray[np.int32]) -> Iterator[Step]:
        unit = unit_of(rows, float(self.learning_rate))
        weights = self._weights(rows, unit, True)
        n_epochs, log = epoch_limit(self), np.empty((1, 3), dtype=np.int64)
        for order in orders(rows.n_rows, n_epochs, is_shuffled=self.shuffle, seed=self._seed()):
            before = weights.mistakes
            for row in order:
                met = weights.mistakes
                weights.meet(rows, codes, np.array([row]), log)
                is_mistake = weights.mistakes > met
                predicted = self.classes_[log[0, 2] if is_mistake else codes[row]]
                held = [part / unit for part in (*weights.current(), *weights.average())]
                yield Step(weights.seen, int(row), predicted, is_mistake, *held)
            if self.until_convergence and weights.mistakes == before:
                return

    def _training(self, X: Any, y: ArrayLike) -> tuple[NativeRows, NDArray[np.int32], NDArray[Any]]:
        """Options and data, checked; learns the labels."""
        self._check_options()
        require_targets(self, y)
        array = self._read(X, reset=True)
        labels = self._labels(y, array.shape[0])
        self.classes_, codes = classes_and_codes(labels)
        if len(self.classes_) < 2:
            raise InputError(
                "At least 2 classes are needed, but y has only one class: "
                f"{self.classes_.tolist()[0]!r}. Check the labels or the split."
            )
        names = getattr(self, "feature_names_in_", None)
        return checked_rows(array, thread_count(self.n_threads), names, as_stored=True), codes, labels

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        _ = self._seed()
        if self.variant not in VARIANTS:
            raise ParameterError(f"variant must be one of {', '.join(VARIANTS)}, got {self.variant!r}.")
        require_run_options(self)
        if (self.validation is not None) != (self.variant == "best"):
            raise ParameterError(
                "validation=(X, y), or a fraction of the rows, goes with variant='best' and no other; got "
                f"variant={self.variant!r} and {'no' if self.validation is None else 'some'} validation."
            )

    def _keeper(self, rows: NativeRows, codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], Keeper]:
        """The rows to learn from, and what becomes of the weights met on the way."""
        everything = np.arange(rows.n_rows)
        if self.variant in KEEPERS:
            return everything, KEEPERS[self.variant]()
        if self.variant == "random":
            return everything, RandomDraw(self._seed())
        if isinstance(self.validation, numbers.Real) and not isinstance(self.validation, bool):
            return Best.on_fraction(rows, codes, float(self.validation), self._seed())
        try:
            X, y = self.validation
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"validation must be (X, y) or a fraction between 0 and 1, got {self.validation!r}."
            ) from error
        judged = self._rows(X, reset=False)
        assert isinstance(judged, NativeRows)
        wanted = codes_among(self.classes_, self._labels(y, judged.n_rows), "Validate on the labels of y.")
        return everything, Best(judged, wanted)

    def _weights(self, rows: NativeRows, unit: float, is_averaged: bool) -> OnlineWeights:
        return OnlineWeights(
            rows.n_columns,
            len(self.classes_),
            has_intercept=bool(self.fit_intercept),
            rate=float(self.learning_rate) * unit,
            is_averaged=is_averaged,
        )

    def _forget(self) -> None:
        """What another variant's fit left behind would be taken for this one's."""
        for name in ("coef_", "intercept_", "margin_", "validation_scores_", "best_epoch_", "temperature_",
                     "_stream", "n_seen_", "online_accuracy_"):  # fmt: skip
            self.__dict__.pop(name, None)

    def _run(
        self, rows: NativeRows, codes: NDArray[np.int32], train: NDArray[np.int64], keeper: Keeper
    ) -> None:
        unit = unit_of(rows, float(self.learning_rate))
        weights = self._weights(rows, unit, keeper.is_averaged)
        learning = OnRows(rows, codes, weights, keeper)
        run = Run(learning, self.until_convergence, self.max_seconds, self.callbacks)
        in_turn = orders(len(train), epoch_limit(self), is_shuffled=self.shuffle, seed=self._seed())
        run.go(train[order] for order in in_turn)
        coef, intercept = keeper.kept(weights)
        require_finite(coef, intercept, unit)
        keeper.settle(rows, codes, np.arange(len(self.classes_)))
        self.mistakes_ = np.array(run.mistakes, dtype=np.int64)
        self.updates_ = weights.mistakes
        self.n_iter_ = len(run.mistakes)
        self.reason_, self.stop_ = run.reason, run.stop
        self.converged_ = run.is_converged
        self._kept = self.variant  # as it was now, whatever becomes of the option
        self._first_epoch = max(1, min(weights.seen, len(train)))
        factor = 1.0 if weights.n_scores == 1 else float(np.sqrt(2.0))
        self.radius_ = longest(rows, train, float(bool(self.fit_intercept))) * factor
        self._keep(keeper, weights, unit)
        if self.variant != "voted":
            scores = rows.dot(coef.T) + intercept
            self.margin_ = smallest_margin(scores[train], codes[train], coef, intercept)

    def _keep(self, keeper: Keeper, weights: OnlineWeights, unit: float) -> None:
        """What becomes of a run: all of it where more rows may come, else some weights."""
        if self.variant in KEEPERS:
            labels = Arrivals().named(self.classes_)
            self._stream = MistakeStream(
                self._terms(), keeper, weights, labels=labels, unit=unit, fitted=self.mistakes_.tolist()
            )
            return
        coef, intercept = keeper.kept(weights)
        self.coef_, self.intercept_ = coef / unit, intercept / unit
        if isinstance(keeper, Best):
            self.validation_scores_ = np.array(keeper.scores)
            self.best_epoch_ = keeper.best_epoch

    # ---- what was learnt ----------------------------------------------------------------------

    def generalization_bound(self, confidence: float = 0.95) -> OnlineBound:
        """How often weights of the first epoch err on new rows, at most, by their mistakes online.

        The rows must be independent draws from one source; the first epoch then judged every vector of
        weights on a row that it had not seen. The bound is the model's own for "random" and "voted" after
        one epoch. For the others it is that of weights drawn at random from the first epoch, and ``caveat``
        says so: no such theorem speaks of the errors of averaged or last weights.

        Parameters
        ----------
        confidence : float
            Between 0 and 1: how sure to be, over the draw of the training rows.

        Returns
        -------
        OnlineBound
        """
        check_is_fitted(self, "mistakes_")
        if not isinstance(confidence, numbers.Real) or not 0 < confidence < 1:
            raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}.")
        return online_bound(
            self._kept, int(self.mistakes_[0]), self._first_epoch, self.n_iter_, float(confidence)
        )
