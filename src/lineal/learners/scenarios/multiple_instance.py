"""Support vector machines of bags: a label says something about many rows at once."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.learners.scenarios.bag_machines import BagResult, BagTask, best_of_starts
from lineal.learners.scenarios.bags import Bags, labels_of_bags, of_bags, read_bags, stacked
from lineal.learners.scenarios.machines import Clock
from lineal.learners.scenarios.options import (
    checked_cost,
    checked_count,
    checked_seconds,
    checked_tolerance,
)
from lineal.learners.scenarios.space import KernelScorer
from lineal.learners.targets import classes_and_codes, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray

_VARIANTS = ("MI", "mi")


class MultipleInstanceSVM(KernelScorer):
    """A support vector machine of bags (Andrews, Tsochantaridis and Hofmann 2003).

    A bag is positive if one of its rows is; which one is not told. The score of a bag is the highest score of
    its rows. ``variant="MI"`` minimises, for bags B with labels Y_B in {-1, +1}::

        |f|^2 / 2 + C sum_B s_B max(0, 1 - Y_B max_{i in B} z_i)

    so that one row, the witness, speaks for each positive bag. ``variant="mi"`` minimises, over the machine
    and over labels y_i of all rows, of which some row of each positive bag is positive and none of a negative
    bag::

        |f|^2 / 2 + C sum_B s_B sum_{i in B} max(0, 1 - y_i z_i)

    "MI" is for telling bags apart, "mi" for finding all the positive rows. The machine for given witnesses or
    labels is convex and certified. **The whole is not convex**: several starts are tried, the best is kept,
    and nothing is proved about choices that no start led to.

    Parameters
    ----------
    variant : "MI" or "mi"
    C : number > 0
        The cost of slack; 1 / strength of the penalty.
    positive : label, optional
        The label of bags that have a positive row; the second of the sorted labels if not given.
    kernel : "linear", another name, or a kernel of ``lineal.kernels``
        "mi" with "linear" takes sparse rows of any number. "MI" holds the kernel matrix of the rows that
        matter, a few for each bag (at most 10,000).
    gamma, degree, coef0
        Of kernels given by name, as in ``lineal.SVC``.
    n_starts : int
        The first start takes all rows of a positive bag as positive alike; the others believe some rows more
        than others, as is drawn.
    tol : float, optional
        The relative duality gap to certify for each machine; 1e-3 if not given.
    max_seconds : number > 0, optional
        No machine is begun after so many seconds; the best so far is kept, with a warning.
    n_threads, random_state : optional
        As in :class:`LinearClassifier`.

    Attributes
    ----------
    classes_ : the two labels, sorted
    bags_ : (B,) the names of the training bags, in the order in which they first appear
    witnesses_ : (B,) for each training bag, the row of X with the highest score: what its label rests on
    instance_labels_ : (n,) labels of the training rows: those of "mi"; for "MI" by the signs of scores, with
        the witness of a positive bag positive
    coef_, intercept_ : for ``kernel="linear"``; else ``support_``, ``dual_coef_`` and ``intercept_``
    history_ : list of rounds: start, changed, objective, relative_gap
    objective_ : what was minimised, at the end
    certificate_ : Certificate of the last machine, for the witnesses or labels in the end
    stopped_ : why there was no further round

    Notes
    -----
    X may be rows with ``bags`` naming the bag of each, or a list of bags, each a matrix of rows. y has a
    label for each bag (in the order of first appearance, or a mapping of bag names) or for each row (the same
    within a bag). Without ``bags`` each row is a bag, and the machine is ``LinearSVC(loss="hinge")``.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import MultipleInstanceSVM
    >>> molecules = [[[0.0], [3.0]], [[0.5], [4.0], [-1.0]], [[0.0], [-0.5]], [[0.5]]]
    >>> model = MultipleInstanceSVM().fit(molecules, ["musk", "musk", "air", "air"])
    >>> model.predict([[[0.2], [5.0]], [[0.2], [0.1]]])
    array(['musk', 'air'], dtype='<U4')
    >>> model.witnesses_.tolist()
    [1, 3, 5, 7]
    """

    def __init__(
        self,
        variant: str = "MI",
        C: float = 1.0,
        *,
        positive: Any = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_starts: int = 4,
        tol: float | None = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.C = C
        self.positive = positive
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_starts = n_starts
        self.tol = tol
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, bags: ArrayLike | None = None
    ) -> Self:
        """Learns from bags.

        Parameters
        ----------
        X : array, sparse matrix or data frame of rows, or a list of them, one for each bag
        y : labels of the bags, or of the rows; or a mapping of bag names to labels
        sample_weight : numbers >= 0, optional
            Weights of the bags, given like y. A weight of 2 means the bag twice.
        bags : sequence of n_rows names, optional
            The bag of each row.

        Returns
        -------
        self
        """
        require_targets(self, y)
        C, tol, n_starts = self._checked()
        X, bags = stacked(X, bags)
        engine = self._engine(X, C, tol)
        found = read_bags(bags, engine.n_rows)
        labels = labels_of_bags(y, found)
        weights = None if sample_weight is None else of_bags(sample_weight, found, "sample_weight")
        s = weights_of_rows(weights, found.n_bags)
        sign = self._signs(labels, s)
        task = BagTask(engine, found, sign, C * s, tol)
        with cancellable() as token:
            clock = Clock(self.max_seconds, token)
            results = best_of_starts(task, self.variant, n_starts, self._seed(), clock)
            self._learned(task, results, clock.seconds)
        return self

    def _checked(self) -> tuple[float, float, int]:
        if self.variant not in _VARIANTS:
            raise ParameterError(
                f"variant must be 'MI' (a witness for each bag) or 'mi' (a label for each row), "
                f"got {self.variant!r}."
            )
        checked_seconds(self.max_seconds)
        return (
            checked_cost("C", self.C),
            checked_tolerance(self.tol),
            checked_count("n_starts", self.n_starts),
        )

    def _signs(self, labels: NDArray[Any], s: FloatArray) -> FloatArray:
        """(B,) +1 for positive bags."""
        self.classes_, codes = classes_and_codes(labels)
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: bags have "
                f"{len(self.classes_)} labels. Fit one MultipleInstanceSVM(positive=label) for each of them, "
                "on labels that say whether a bag has it."
            )
        if np.count_nonzero(np.bincount(codes, weights=s, minlength=2)) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but the bags with weight have "
                f"only one class: {self.classes_.tolist()[codes[s > 0][0]]!r}. Check the labels or the split."
            )
        self._direction = 1.0
        if self.positive is not None:
            if self.positive not in self.classes_.tolist():
                raise ParameterError(
                    f"positive={self.positive!r} is not among the labels {self.classes_.tolist()}."
                )
            self._direction = 1.0 if self.classes_.tolist().index(self.positive) == 1 else -1.0
        return np.where(codes == 1, self._direction, -self._direction)

    def _learned(self, task: BagTask, results: list[BagResult], seconds: float) -> None:
        best = results[0]
        self._keep(task.engine, [best.fit])
        if self._direction < 0:  # scores >= 0 mean classes_[1], which has no positive rows here
            self._turn()
        self.bags_ = task.bags.ids
        self.witnesses_ = task.bags.witnesses(best.fit.z)
        self.instance_labels_ = self.classes_[(self._direction * best.signs > 0).astype(int)]
        self.history_ = [each for result in results for each in result.rounds]
        self.history_.sort(key=lambda each: each.start)
        self.objective_ = best.objective
        self.certificate_ = best.fit.certificate
        self.stopped_ = best.stopped
        is_cut = any(each.stop is not None for each in results)
        if is_cut or not self.certificate_.converged:
            what = "the search was cut short" if is_cut else str(self.certificate_)
            warnings.warn(f"{type(self).__name__}: {what}.", NotCertifiedWarning, stacklevel=4)

    def _turn(self) -> None:
        """The same machine with the other side as +1."""
        self.intercept_ = -self.intercept_
        if hasattr(self, "coef_"):
            self.coef_ = -self.coef_
        else:
            self.dual_coef_ = -self.dual_coef_

    # ---- prediction ---------------------------------------------------------------------------

    def instance_scores(self, X: Any) -> FloatArray:
        """(n,) scores of single rows; > 0 means ``classes_[1]``. X may be a list of bags."""
        rows, _ = stacked(X, None)
        return self._scores(rows)[:, 0]

    def predict_instances(self, X: Any) -> NDArray[Any]:
        """(n,) labels of single rows. X may be a list of bags."""
        z = self.instance_scores(X)
        return np.asarray(self.classes_[(z >= 0).astype(int)])

    def decision_function(self, X: Any, *, bags: ArrayLike | None = None) -> FloatArray:
        """(B,) scores of bags, in the order of first appearance; >= 0 means ``classes_[1]``."""
        z, found = self._bag_rows(X, bags)
        return np.asarray(self._direction * found.highest(self._direction * z))

    def predict(self, X: Any, *, bags: ArrayLike | None = None) -> NDArray[Any]:
        """(B,) labels of bags, in the order of first appearance; without ``bags`` each row is one."""
        z = self.decision_function(X, bags=bags)
        return np.asarray(self.classes_[(z >= 0).astype(int)])

    def score(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, bags: ArrayLike | None = None
    ) -> float:
        """The share of bags that get their label; y is given as to ``fit``."""
        _, found = self._bag_rows(X, bags)
        is_right = self.predict(X, bags=bags) == labels_of_bags(y, found)
        weights = None if sample_weight is None else of_bags(sample_weight, found, "sample_weight")
        return float(np.average(is_right, weights=weights_of_rows(weights, found.n_bags)))

    def _bag_rows(self, X: Any, bags: Any) -> tuple[FloatArray, Bags]:
        rows, names = stacked(X, bags)
        z = self._scores(rows)[:, 0]
        return z, read_bags(names, len(z))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
