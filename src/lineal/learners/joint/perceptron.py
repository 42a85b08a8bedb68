"""The perceptron over a joint map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import ParameterError
from lineal.features.joint import JointMap, block_map
from lineal.learners.joint.differences import longest_difference
from lineal.learners.joint.online import MistakeTerms
from lineal.learners.joint.stream import JointStream
from lineal.learners.joint.streamed import StreamedJointModel
from lineal.learners.perceptron.online import Epoch, orders
from lineal.learners.perceptron.options import epoch_limit, require_run_options, warn_unless_done
from lineal.learners.perceptron.run import Run
from lineal.learners.perceptron.sizes import require_finite, smallest_margin, unit_of
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.linear_maps import JointRows, NativeRows

VARIANTS = ("averaged", "plain")


class JointPerceptron(StreamedJointModel):
    """The perceptron over your own features of input and label.

    It meets examples one by one and predicts y' = argmax_y w . phi(x, y), the first at a tie. Where that is
    wrong, w += learning_rate * (phi(x, y) - phi(x, y')). Two labels have two scores. With ``block_map`` it is
    the ``Perceptron`` of more than two classes, without an intercept.

    Parameters
    ----------
    phi : callable
        ``phi(x, y)`` gives a dict from names (anything hashable) to numbers; what it leaves out is 0. It is
        called once for every x and label. ``block_map``, if not given: features of x for each label.
    variant : "averaged" or "plain"
        Which weights become the model: the mean of those after each of the examples met, or the last.
    labels : iterable, optional
        The labels to choose from; those in y, if not given.
    epochs, until_convergence, shuffle, learning_rate, max_seconds, random_state, callbacks
        As in ``Perceptron``.

    Attributes
    ----------
    coef_ : (d,), a weight for each feature
    feature_names_ : the d names, in the order in which phi first gave them
    weights_ : dict from names to weights
    classes_ : the labels, sorted
    mistakes_ : (n_iter_,) mistakes in each epoch; examples of ``partial_fit`` count as the last one
    updates_ : how often the weights were changed: their sum, but for the first example of a stream
    converged_ : whether the last epoch was whole and without a mistake
    n_iter_ : epochs begun
    reason_, stop_ : why the fit ended, in words; and as a ``Stop`` where it ended early
    radius_ : the largest norm of phi(x, y) - phi(x, k) for a label k other than y
    margin_ : the smallest lead of a training example's label under the weights scaled to norm 1
    n_seen_, online_accuracy_ : streams only: examples met by ``partial_fit``, and the share first predicted
        right

    Notes
    -----
    An intercept is a feature: ``("bias", y): 1``. An epoch costs one pass over the numbers that phi gave for
    all labels, and one or two over those of two labels at mistakes. Where ``margin_`` > 0, ``updates_`` <=
    (radius_ / margin_)^2 (Novikoff 1962).

    Examples
    --------
    >>> from lineal import JointPerceptron
    >>> def phi(x, y):
    ...     return {(word, y): 1 for word in x.split()}
    >>> model = JointPerceptron(phi, "plain", shuffle=False)
    >>> model = model.fit(["a bank loan", "the river bank"], ["money", "nature"])
    >>> model.weights_["bank", "nature"], model.weights_["bank", "money"], model.updates_
    (0.0, 0.0, 2)
    >>> model.predict(["a loan", "the river"])
    array(['money', 'nature'], dtype='<U6')
    """

    mistakes_: NDArray[np.int64]
    _fitted: tuple[int, ...] = ()
    _of_fits = ("margin_", "radius_", "converged_", "reason_", "stop_")

    def __init__(
        self,
        phi: JointMap = block_map,
        variant: str = "averaged",
        *,
        labels: Iterable[Any] | None = None,
        epochs: int | None = None,
        until_convergence: bool = False,
        shuffle: bool = True,
        learning_rate: float = 1.0,
        max_seconds: float | None = None,
        random_state: Any = None,
        callbacks: Sequence[Callable[[Epoch], object]] = (),
    ) -> None:
        self.phi = phi
        self.variant = variant
        self.labels = labels
        self.epochs = epochs
        self.until_convergence = until_convergence
        self.shuffle = shuffle
        self.learning_rate = learning_rate
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.callbacks = callbacks

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Meets the examples, epoch by epoch.

        Parameters
        ----------
        X : sequence of things that phi takes
        y : sequence of labels
            Anything hashable.

        Returns
        -------
        self
        """
        rows, codes = self._training(X, y)
        unit = unit_of(rows, float(self.learning_rate))
        learning = self._begun_on(rows, codes, unit)
        run = Run(learning, self.until_convergence, self.max_seconds, self.callbacks)
        run.go(orders(len(codes), epoch_limit(self), is_shuffled=bool(self.shuffle), seed=self._seed()))
        self._keep(run, rows, codes, self._stream_of(learning.weights))
        warn_unless_done(
            self,
            "lineal.mistake_bound(X, y, phi=phi) tells whether the data can be separated at all, and within "
            "how many mistakes.",
        )
        return self

    def _keep(self, run: Run, rows: NativeRows, codes: NDArray[np.int32], stream: JointStream) -> None:
        coef = stream.weights.kept(rows.n_columns)
        require_finite(coef, np.zeros(0), stream.weights.unit)
        stream.judge_from(stream.weights.seen, stream.weights.mistakes, 0.0)
        self._fitted = tuple(run.mistakes)
        self._tell(stream)
        del self.n_seen_, self.online_accuracy_  # which speak of what comes after
        self.mistakes_, self.n_iter_ = np.array(run.mistakes, dtype=np.int64), len(run.mistakes)
        self.reason_, self.stop_, self.converged_ = run.reason, run.stop, run.is_converged
        self.radius_ = longest_difference(rows.csr(), codes, len(self.classes_))
        scores = JointRows(rows, len(self.classes_)).dot(coef[:, None])
        self.margin_ = smallest_margin(scores, codes, coef, np.zeros(0))

    def _check_options(self) -> None:
        _ = self._seed()
        self._require_joint_options()
        if self.variant not in VARIANTS:
            raise ParameterError(f"variant must be one of {', '.join(VARIANTS)}, got {self.variant!r}.")
        require_run_options(self)

    def _terms(self) -> MistakeTerms:
        return MistakeTerms(self.variant, float(self.learning_rate))

    def _why_no_stream(self) -> str:
        if self.until_convergence:
            return (
                "until_convergence=True meets the same examples until there is no mistake, and a stream "
                "meets one once: leave it out, or use fit."
            )
        return ""

    def _tell(self, stream: JointStream) -> None:
        super()._tell(stream)
        self.mistakes_ = np.array([*self._fitted, stream.n_wrong], dtype=np.int64)
        self.updates_ = stream.weights.mistakes
        self.n_iter_ = len(self.mistakes_)
