"""The online classifier."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from lineal.errors import InputError
from lineal.learners.catalogue import Catalogue
from lineal.learners.online.passes import OnlinePasses
from lineal.learners.online.recipe import joint_name
from lineal.learners.online.streamed_classifier import StreamedClassifier
from lineal.learners.targets import require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective import Log, Loss, NoPenalty, Penalty
from lineal.objective.linear_maps import NativeRows


class BaseOnlineClassifier(StreamedClassifier, OnlinePasses):
    """Shared by the online classifier and its presets."""

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from nothing on: ``epochs`` passes over the rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels
        sample_weight : sequence of n_rows numbers >= 0, optional
            How often a row's loss counts; rows of weight 0 are not met.

        Returns
        -------
        self
        """
        require_targets(self, y)
        _ = self._recipe()

        def learn(rows: NativeRows, shape: dict[str, Any], places: Any, order: Any) -> None:
            labels, s = self._labels_that_count(y, len(places), sample_weight)
            known = Catalogue.of(labels[s > 0])
            if len(known) < 2:
                left = f"only one class: {known.values.tolist()[0]!r}" if len(known) else "no weight"
                raise InputError(
                    f"{type(self).__name__} needs at least 2 classes in the data, but y has {left}. "
                    "Check the labels, the split, sample_weight and class_weight."
                )
            self._learn_from(self._begun(), rows, shape, labels[places], known.values, s[places], order)

        self._passes(X, learn)
        return self

    def _joint_name(self, loss: Loss) -> str:
        return joint_name(loss, is_one_vs_rest=False)

    def _has_probabilities(self) -> bool:
        return (
            hasattr(self, "temperature_")
            if self._stream is not None
            else isinstance(self._objective()[0], Log)
        )


class OnlineClassifier(BaseOnlineClassifier):
    """A linear classifier that learns from a stream: each row is predicted, judged, and learned from.

    ``partial_fit`` takes pieces of any size, new labels and new columns at any time. Nothing has to be tuned:
    steps follow from what was seen in the columns, so that their units do not matter, and each goes to where
    its own row's loss is least in balance with all rows before (an implicit step), so that no row can make
    the weights run away. docs/streams.md has the formulas.

    Two classes share one row of weights; more have a row each, learned jointly for ``Log`` (softmax) and
    ``Hinge`` (Crammer-Singer), one-vs-rest for the other losses.

    Parameters
    ----------
    loss : Loss
        Any loss of the library, or a ``CompiledLoss``.
    penalty : Penalty
        ``NoPenalty()``, ``L2``, ``L1`` or ``ElasticNet``; it is counted once, however long the stream is.
    steps : "adaptive", "constant" or "decaying"
        Steps of each column's own, or of one size for all: ``rate``, or ``rate / sqrt(rows so far)``.
    rate : float, optional
        Of constant and decaying steps; 1 if not given.
    average : bool
        Whether the model is the mean of the weights after every row, rather than the last.
    epochs, shuffle : int, bool
        For ``fit``: passes over the rows, and whether each has an order of its own.
    fit_intercept, penalize_intercept : bool
    class_weight : dict, optional
        Factors on the weights of the rows of each class.
    random_state : int or generator, optional
        Orders the rows of ``fit``.

    Attributes
    ----------
    classes_ : the labels so far, sorted
    coef_, intercept_ : (1, d) and (1,) for two classes, (K, d) and (K,) for more; made when asked for
    online_accuracy_ : the share of rows, by weight, that were predicted right before they were learned from
    online_loss_ : their mean loss, by weight
    n_seen_ : rows met

    Notes
    -----
    A row costs a few operations for each number it stores; memory is 16 bytes for each column ever met (8 for
    each class and 8 more with K > 2). Pickle saves all there is: a stream goes on bit for bit.

    Examples
    --------
    >>> from lineal import OnlineClassifier
    >>> model = OnlineClassifier()
    >>> for x, label in [([1.0, 0.0], "cat"), ([0.0, 1.0], "dog"), ([0.9, 0.1], "cat")]:
    ...     model = model.partial_fit([x], [label])
    >>> model.partial_fit([[0.0, 0.0, 5.0]], ["bird"]).predict([[0, 0, 4], [1, 0, 0]])
    array(['bird', 'cat'], dtype='<U4')
    >>> model.online_accuracy_
    0.25
    """

    def __init__(
        self,
        loss: Loss = Log(),
        penalty: Penalty = NoPenalty(),
        *,
        steps: str = "adaptive",
        rate: float | None = None,
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.steps = steps
        self.rate = rate
        self.average = average
        self.epochs = epochs
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.random_state = random_state

    def _objective(self) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty
