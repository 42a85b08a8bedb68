"""Passive-aggressive learning over a joint map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.features.joint import JointMap, block_map
from lineal.learners.joint.online import PassiveAggressiveTerms
from lineal.learners.joint.stream import JointStream
from lineal.learners.joint.streamed import StreamedJointModel
from lineal.learners.online.passive_aggressive import require_variant
from lineal.learners.perceptron.online import orders
from lineal.learners.perceptron.options import require_epochs
from lineal.learners.perceptron.sizes import LARGEST
from lineal.learners.whole_fits import all_or_nothing


class JointPassiveAggressive(StreamedJointModel):
    """Passive-aggressive classification over your own features of input and label.

    With k the label of the highest score among the wrong ones, d = phi(x, y) - phi(x, k) and the loss
    l = max(0, 1 - w . d), each example makes w += tau d (Crammer et al. 2006):

        PA      tau = l / |d|^2              the example's label leads by 1
        PA-I    tau = min(C, l / |d|^2)
        PA-II   tau = l / (|d|^2 + 1 / 2C)

    Parameters
    ----------
    phi : callable
        ``phi(x, y)`` gives a dict from names (anything hashable) to numbers; what it leaves out is 0. It is
        called once for every x and label. ``block_map``, if not given: features of x for each label.
    variant : "PA", "PA-I" or "PA-II"
        Whether an example may demand any change, one of at most C |d|, or one that C weighs against its
        squared loss.
    labels : iterable, optional
        The labels to choose from; those in y, if not given.
    C : float
        How aggressive the steps of PA-I and PA-II are.
    average : bool
        Whether the model is the mean of the weights after every example, rather than the last.
    epochs, shuffle : int, bool
        For ``fit``: passes over the examples, and whether each has an order of its own.
    random_state : int or generator, optional
        Orders the examples of ``fit``.

    Attributes
    ----------
    coef_, feature_names_, weights_ : as in ``JointClassifier``
    classes_ : the labels so far, sorted
    online_accuracy_ : the share of examples that were predicted right before they were learned from
    online_loss_ : their mean loss
    n_seen_ : examples met

    Notes
    -----
    An intercept is a feature: ``("bias", y): 1``. Of ``fit`` only the first epoch tells how well examples are
    predicted that are new. ``PassiveAggressiveClassifier`` has steps against all wrong classes at once, so
    that with ``block_map`` and more than two labels the two are not the same; with two labels C here is 2 C
    there.

    Examples
    --------
    >>> from lineal import JointPassiveAggressive
    >>> def phi(x, y):
    ...     return {(word, y): 1 for word in x.split()}
    >>> model = JointPassiveAggressive(phi, "PA")
    >>> model = model.partial_fit(["a loan", "river"], ["money", "nature"]).partial_fit(["loan"], ["money"])
    >>> model.predict(["loan", "river"])
    array(['money', 'nature'], dtype='<U6')
    >>> model.weights_["river", "nature"], model.weights_["river", "money"]
    (0.5, -0.5)
    """

    online_loss_: float
    _of_fits = ("n_iter_",)

    def __init__(
        self,
        phi: JointMap = block_map,
        variant: str = "PA-I",
        *,
        labels: Iterable[Any] | None = None,
        C: float = 1.0,
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.phi = phi
        self.variant = variant
        self.labels = labels
        self.C = C
        self.average = average
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from nothing on: ``epochs`` passes over the examples.

        Parameters
        ----------
        X : sequence of things that phi takes
        y : sequence of labels
            Anything hashable.

        Returns
        -------
        self
        """
        rows, codes = self._training(X, y, largest=LARGEST)
        learning = self._begun_on(rows, codes)
        stream, weights = self._stream_of(learning.weights), learning.weights
        epochs = orders(len(codes), int(self.epochs), is_shuffled=bool(self.shuffle), seed=self._seed())
        for number, order in enumerate(epochs):
            learning.meet(order)
            if number == 0:
                once = weights.mistakes, weights.suffered
        again = weights.seen - len(codes), weights.mistakes - once[0], weights.suffered - once[1]
        stream.judge_from(*again)
        self._tell(stream)
        self.n_iter_ = int(self.epochs)
        return self

    def _check_options(self) -> None:
        _ = self._seed()
        self._require_joint_options()
        require_variant(self.variant, self.C)
        if self.epochs is None:
            raise ParameterError("epochs must be a whole number >= 1, got None.")
        require_epochs(self.epochs)

    def _terms(self) -> PassiveAggressiveTerms:
        return PassiveAggressiveTerms(self.variant, float(self.C), bool(self.average))

    def _tell(self, stream: JointStream) -> None:
        super()._tell(stream)
        n = stream.n_judged
        self.online_loss_ = stream.suffered / n if n else float("nan")
        self.n_seen_ = stream.weights.seen
