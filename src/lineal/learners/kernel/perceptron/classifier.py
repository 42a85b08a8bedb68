"""The kernel perceptron: mistakes are the model."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.kernels.blocks import value_blocks
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.kernel.perceptron.forgetron import Forgetron
from lineal.learners.kernel.perceptron.mistakes import DualWeights, Log, Values
from lineal.learners.kernel.reading import KernelModel
from lineal.learners.matrix import seed_of
from lineal.learners.perceptron.online import Epoch, orders
from lineal.learners.perceptron.online_bound import OnlineBound, online_bound
from lineal.learners.perceptron.options import epoch_limit, warn_unless_done
from lineal.learners.perceptron.run import Run
from lineal.learners.perceptron.survivors import tallied
from lineal.learners.targets import classes_and_codes, labels_of_rows, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import winners
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted

VARIANTS = ("averaged", "plain", "voted")
FORMS = ("counts", "signed")
# Scores of all functions ever held are summed for so many numbers at a time.
_CHUNK_NUMBERS = 1 << 22


class KernelPerceptron(ClassifierMixin, KernelModel):
    """The perceptron in its dual forms, for vectors, strings, trees or whatever a kernel compares.

    Two classes share one score, and 0 means the second class (+1): f(x) = sum_n alpha_n t_n k(x_n, x), and a
    row n with a wrong sign has its alpha_n raised by 1. More classes have a score each, and the first of the
    highest wins: f(x, c) = sum_nj alpha_nj k(x_n, x) ([t_n = c] - [j = c]), and a row n that is taken for
    class j has its alpha_nj raised by 1. It is :class:`Perceptron` without an intercept in the kernel's
    space, mistake for mistake; a kernel with a constant, such as ``Linear() + 1`` or ``Polynomial(c=1)``, has
    the intercept in it.

    Parameters
    ----------
    kernel : "rbf", "linear", "poly", "laplacian", "precomputed", a lineal.kernels.Kernel, or a function
        Kernels of strings and trees take what they compare; a function (X, Z) gives the matrix.
    variant : "averaged", "plain" or "voted"
        Which functions become the model: the mean of those after each example, the last, or all of them with
        a vote for every example that they were held for.
    gamma, degree, coef0
        For kernels by name, as in ``lineal.SVC``.
    form : "counts" or "signed"
        What ``alpha_`` tells: how often each row was a mistake (alpha_n += 1), or its coefficient in each
        score (alpha_n += t_n). The functions are the same.
    budget : int, optional
        The most examples to keep, with variant="plain": the self-tuned Forgetron, which shrinks all
        coefficients and removes the oldest example at each mistake beyond the budget, and has a bound on
        mistakes.
    epochs : int, optional
        Passes over the data; 10 if not given. With ``until_convergence`` the most there may be; 1000 if not
        given.
    until_convergence : bool
        Whether to stop after the first whole epoch without a mistake.
    shuffle : bool
        Whether each epoch has an order of its own, drawn from ``random_state``; else rows come as they are.
    max_seconds : float, optional
        A budget of time. A fit that runs out keeps what it has, with a warning.
    cache_bytes : int
        Kernel values of all pairs of rows are kept where they fit into so many bytes; else they are computed
        anew in each epoch, between rows and earlier mistakes only.
    n_threads : int, optional
        Of kernel values; they change no bit.
    random_state : int or generator, optional
        The same seed gives the same model.
    callbacks : sequence of callables
        Called with an ``Epoch`` after each epoch; returning True stops the fit.

    Attributes
    ----------
    alpha_ : (n,) for two classes, (n, K) for more
        As the algorithm leaves them, by ``form``; with a budget they are shrunk.
    support_ : (m,) places of the rows that the model compares with
    support_items_ : those rows, as the kernel reads them
    dual_coef_ : (m, 1) or (m, K) coefficients in each score; not there when voted
    counts_ : (M + 1,) voted only: for how many examples each function was held
    classes_ : the labels, sorted
    kernel_ : the kernel
    mistakes_ : (n_iter_,) mistakes in each epoch
    updates_ : their sum
    converged_ : whether the last epoch was whole and without a mistake
    n_iter_ : epochs begun
    reason_, stop_ : why the fit ended, in words; and as a ``Stop`` where it ended early
    radius_ : the greatest length of a row in the kernel's space (times sqrt(2) for more than two classes)
    deviation_, shrinkage_ : with a budget: the numbers Q and S of its bound on mistakes

    Notes
    -----
    On data that the kernel separates with margin g the perceptron makes at most (radius_ / g)^2 mistakes
    (Novikoff 1962). With a budget, for any function u in the kernel's space and its hinge losses over the
    examples met, ``updates_ <= (1 + shrinkage_) radius_^2 |u|^2 + 2 losses + deviation_``, deviation_ being
    at most 15/32 of updates_; for a budget B >= 83 and radius_ |u| <= sqrt((B + 1) / ln(B + 1)) / 4 that is
    at most 2 radius_^2 |u|^2 + 4 losses (Dekel et al. 2008).

    An epoch costs as many kernel values as rows times mistakes so far, 256 rows at a time; a prediction one
    for each support item, in blocks of 32 MB.

    References
    ----------
    Freund and Schapire, Large margin classification using the perceptron algorithm, 1999. Dekel,
    Shalev-Shwartz and Singer, The Forgetron: a kernel-based perceptron on a budget, 2008.

    Examples
    --------
    >>> from lineal import KernelPerceptron
    >>> from lineal.kernels import Quadratic
    >>> corners, xor = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [-1, 1, 1, -1]
    >>> model = KernelPerceptron(Quadratic(c=1), "plain", until_convergence=True, shuffle=False)
    >>> model = model.fit(corners, xor)
    >>> model.predict(corners).tolist(), model.alpha_.tolist(), model.updates_
    ([-1, 1, 1, -1], [1, 1, 1, 1], 4)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        variant: str = "averaged",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        form: str = "counts",
        budget: int | None = None,
        epochs: int | None = None,
        until_convergence: bool = False,
        shuffle: bool = True,
        max_seconds: float | None = None,
        cache_bytes: int = 2**28,
        n_threads: int | None = None,
        random_state: Any = None,
        callbacks: Sequence[Callable[[Epoch], object]] = (),
    ) -> None:
        self.kernel = kernel
        self.variant = variant
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.form = form
        self.budget = budget
        self.epochs = epochs
        self.until_convergence = until_convergence
        self.shuffle = shuffle
        self.max_seconds = max_seconds
        self.cache_bytes = cache_bytes
        self.n_threads = n_threads
        self.random_state = random_state
        self.callbacks = callbacks

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Meets the rows, epoch by epoch.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or what the kernel compares
        y : sequence of n_rows labels
            Anything hashable.

        Returns
        -------
        self
        """
        threads, seed = self._check_options()
        require_targets(self, y)
        kernel, items = self._learnt_items(X)
        n = kernel.size(items)
        classes, codes = classes_and_codes(labels_of_rows(y, n))
        if len(classes) < 2:
            raise InputError(
                "At least 2 classes are needed, but y has only one class: "
                f"{classes.tolist()[0]!r}. Check the labels or the split."
            )
        table = Values(kernel, items, threads, float(self.cache_bytes))
        diagonal = kernel.compute_diagonal(items)
        learning: DualWeights | Forgetron = DualWeights(table, codes, len(classes))
        if self.budget is not None:
            learning = Forgetron(table, codes, len(classes), int(self.budget), diagonal)
        run = Run(learning, self.until_convergence, self.max_seconds, self.callbacks)
        run.go(orders(n, epoch_limit(self), is_shuffled=bool(self.shuffle), seed=seed))
        self.kernel_, self.classes_ = kernel, classes
        self.radius_ = float(np.sqrt(max(diagonal.max(), 0.0) * (1 if learning.n_scores == 1 else 2)))
        self._tell(run, learning, n)
        self._keep(learning, items, n)
        warn_unless_done(
            self,
            "Where no function of the kernel separates the rows it never ends. Take a richer kernel, or a "
            "number of epochs.",
        )
        return self

    def _tell(self, run: Run, learning: DualWeights | Forgetron, n: int) -> None:
        self.mistakes_ = np.array(run.mistakes, dtype=np.int64)
        self.updates_ = learning.mistakes
        self.n_iter_ = len(run.mistakes)
        self.reason_, self.stop_ = run.reason, run.stop
        self.converged_ = run.is_converged
        self._first_epoch = max(1, min(learning.seen, n))
        self._kept = self.variant

    def _keep(self, learning: DualWeights | Forgetron, items: Any, n: int) -> None:
        """What becomes of a run."""
        for name in ("dual_coef_", "counts_", "deviation_", "shrinkage_", "_log", "_place"):
            self.__dict__.pop(name, None)
        n_scores = learning.n_scores
        if isinstance(learning, Forgetron):
            kept = learning.kept
            total = np.zeros((n, n_scores))
            np.add.at(total, kept.row, kept.signed(n_scores))
            counted = np.zeros((n, len(self.classes_)))
            np.add.at(counted, (kept.row, kept.lost), kept.weight)
            self.deviation_, self.shrinkage_ = kept.deviation, kept.shrinkage
        else:
            log = learning.log()
            total = log.coefficients(n, n_scores)
            counted = np.zeros((n, len(self.classes_)), dtype=np.int64)
            np.add.at(counted, (log.row, log.lost), 1)
            if self.variant == "voted":
                self._keep_votes(log)
        self.alpha_ = self._alphas(counted, total)
        if self.variant != "voted":
            model = log.averages(n, n_scores) if self.variant == "averaged" else total
            self.support_ = np.flatnonzero(model.any(axis=1))
            self.dual_coef_ = model[self.support_]
        self.support_items_ = self.kernel_.take(items, self.support_)

    def _alphas(self, counted: NDArray[Any], total: FloatArray) -> NDArray[Any]:
        """The dual parameters, as the form wants them told."""
        if self.form == "counts":
            return counted.sum(axis=1) if len(self.classes_) == 2 else counted
        signed = total if counted.dtype.kind == "f" else total.astype(np.int64)
        return signed[:, 0] if len(self.classes_) == 2 else signed

    def _keep_votes(self, log: Log) -> None:
        self.support_, self._place = np.unique(log.row, return_inverse=True)
        self.counts_ = log.counts()
        self._log = log

    def _check_options(self) -> tuple[int, int]:
        """Refuses impossible options before any data are read; the number of threads, and a seed."""
        if self.variant not in VARIANTS:
            raise ParameterError(f"variant must be one of {', '.join(VARIANTS)}, got {self.variant!r}.")
        if self.form not in FORMS:
            raise ParameterError(f"form must be one of {', '.join(FORMS)}, got {self.form!r}.")
        for name in ("epochs", "budget"):
            value = getattr(self, name)
            is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if value is not None and not (is_whole and value >= 1):
                raise ParameterError(f"{name} must be a whole number >= 1 or None, got {value!r}.")
        if self.budget is not None and self.variant != "plain":
            raise ParameterError(
                f"budget={self.budget} keeps so many examples of the last function; variant={self.variant!r} "
                "needs those of all functions. Use variant='plain'."
            )
        for name in ("max_seconds", "cache_bytes"):
            value = getattr(self, name)
            is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not (value is None and name == "max_seconds") and not (is_number and 0 <= value < np.inf):
                raise ParameterError(f"{name} must be a finite number >= 0, got {value!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")
        return thread_count(self.n_threads), seed_of(self.random_state)

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        places = winners(self._scores(X))
        return np.asarray(self.classes_[places])

    def _scores(self, X: Any) -> FloatArray:
        """(n, 1) or (n, K); a vote's are shares of the examples met."""
        check_is_fitted(self, "support_")
        items = self._known_items(X)
        n, n_classes = self.kernel_.size(items), len(self.classes_)
        if not len(self.support_):
            return np.zeros((n, 1 if n_classes == 2 else n_classes))
        self.kernel_.domain.compare(items, self.support_items_)
        threads = thread_count(self.n_threads)
        if "_log" not in self.__dict__:
            scores = np.empty((n, self.dual_coef_.shape[1]))
            for rows, block in value_blocks(self.kernel_, items, self.support_items_, threads):
                scores[rows] = block @ self.dual_coef_
            return scores
        signs = self._log.signs(1 if n_classes == 2 else n_classes)
        numbers_of_one = (len(signs) + 1) * (signs.shape[1] + 1)
        per_block = max(1, _CHUNK_NUMBERS // numbers_of_one) * len(self.support_)
        votes = np.empty((n, n_classes))
        for rows, block in value_blocks(self.kernel_, items, self.support_items_, threads, per_block):
            votes[rows] = tallied(block[:, self._place], signs, self.counts_, n_classes)
        votes /= float(self.counts_.sum())
        return votes[:, [1]] - votes[:, [0]] if n_classes == 2 else votes

    def generalization_bound(self, confidence: float = 0.95) -> OnlineBound:
        """How often functions of the first epoch err on new rows, at most, by their mistakes online.

        As :meth:`Perceptron.generalization_bound`: rows must be independent draws from one source.
        """
        check_is_fitted(self, "mistakes_")
        if not isinstance(confidence, numbers.Real) or not 0 < float(confidence) < 1:
            raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}.")
        return online_bound(
            self._kept, int(self.mistakes_[0]), self._first_epoch, self.n_iter_, float(confidence)
        )
