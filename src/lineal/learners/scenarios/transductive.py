"""The transductive support vector machine: it labels the rows that it is asked about while it learns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.errors import NotCertifiedWarning, ParameterError
from lineal.learners.marks import MarkedLabels, marked_labels
from lineal.learners.scenarios.machines import Clock
from lineal.learners.scenarios.options import (
    checked_cost,
    checked_count,
    checked_seconds,
    checked_share,
    checked_tolerance,
)
from lineal.learners.scenarios.space import KernelScorer, ScenarioEngine
from lineal.learners.scenarios.transduction import Rows, Transduction, transduce
from lineal.learners.targets import require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import winners
from lineal.objective.certificate import sum_certificates
from lineal.objective.losses import FloatArray


class TransductiveSVM(KernelScorer):
    """A support vector machine that also learns from rows without a label (Joachims 1999).

    Minimises, over the machine and over labels of the unlabelled rows U of which a fixed number is positive::

        |f|^2 / 2 + C sum_L s_i max(0, 1 - y_i z_i) + C_unlabelled sum_U s_i max(0, 1 - y_i z_i)

    A row of U costs least on the side of its score, max(0, 1 - |z_i|), so the boundary is driven out of where
    rows are dense. Without the fixed number all of U could go to one side at no cost.

    For given labels the problem is convex and certified. **The whole is not convex**: nothing is proved about
    other labels but that no exchange of labels lowers the objective of the machine that was found.

    Parameters
    ----------
    C : number > 0
        The cost of labelled rows; 1 / strength of the penalty.
    C_unlabelled : number > 0, optional
        The cost of unlabelled rows in the end; C if not given.
    positive_share : number in [0, 1], mapping of labels to shares, or None
        The share of the unlabelled rows that gets ``classes_[1]``, met exactly up to the nearest whole row.
        With more classes, a mapping with a share for each. None: as among the labelled rows. If those are
        not drawn as the others are, say what you know: a wrong share is a constraint that no data correct.
    kernel : "linear", another name, or a kernel of ``lineal.kernels``
        "linear" takes sparse rows of any number; kernels as ``lineal.SVC`` does.
    gamma, degree, coef0
        Of kernels given by name, as in ``lineal.SVC``.
    levels : int
        How often the cost of unlabelled rows is doubled until it is ``C_unlabelled``. 1 means no annealing,
        which ends in poor labels far more often.
    switches : int, optional
        How many pairs of rows may change sides at a time. None: all that lowers the objective (Sindhwani and
        Keerthi 2006); 1: one pair, as first published, which takes longer.
    unlabelled : label
        What marks rows without a label in y, besides None and NaN, which always do: -1 for scikit-learn's
        convention.
    tol : float, optional
        The relative duality gap to certify for each machine; 1e-3 if not given.
    max_seconds : number > 0, optional
        No machine is begun after so many seconds; the labels so far are kept, with a warning.
    n_threads, random_state : optional
        As in :class:`LinearClassifier`.

    Attributes
    ----------
    transduction_ : (n,) labels of all rows, those that were given and those that were found
    classes_ : the labels, sorted
    coef_, intercept_ : (1, d) and (1,) for two classes, (K, d) and (K,) for more
        ``coef_`` is there for ``kernel="linear"``; else ``support_`` (rows) and ``dual_coef_``.
    history_ : list of rounds: label, cost, switched, objective, relative_gap
    objective_ : what was minimised, at the end; summed over one-vs-rest classes
    certificate_ : Certificate of the last machines, for the labels in the end
    stopped_ : why there was no further round

    Notes
    -----
    More than two classes go one-vs-rest, each with its own share; ``transduction_`` then takes the highest
    of the scores, and its shares are only nearly the wished ones. With two classes ``transduction_`` obeys
    ``positive_share`` exactly, and may differ from ``predict`` near the boundary for that reason.

    A level costs a few machines, each started from the last one. Rows of weight 0 are not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import TransductiveSVM
    >>> X = np.array([[-3.0], [-2.5], [-2.0], [-1.5], [1.0], [2.0], [3.0]])
    >>> y = ["no", None, None, None, "yes", None, None]
    >>> model = TransductiveSVM(positive_share=0.4).fit(X, y)
    >>> model.transduction_.tolist()
    ['no', 'no', 'no', 'no', 'yes', 'yes', 'yes']
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        C_unlabelled: float | None = None,
        *,
        positive_share: float | Mapping[Any, float] | None = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        levels: int = 11,
        switches: int | None = None,
        unlabelled: Any = None,
        tol: float | None = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.C_unlabelled = C_unlabelled
        self.positive_share = positive_share
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.levels = levels
        self.switches = switches
        self.unlabelled = unlabelled
        self.tol = tol
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from labels and from rows that have none.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or what the kernel takes
            All rows, with and without labels.
        y : sequence of n_rows labels
            Rows without one have None, NaN, or what ``unlabelled`` says.
        sample_weight : sequence of n_rows numbers >= 0, optional
            Factors on the costs of rows. The balance counts rows of weight > 0, whatever their weight.

        Returns
        -------
        self
        """
        require_targets(self, y)
        C, C_unlabelled, tol = self._checked()
        engine = self._engine(X, max(C, C_unlabelled), tol)
        s = weights_of_rows(sample_weight, engine.n_rows)
        given = marked_labels(self, y, self.unlabelled, s)
        self.classes_ = given.classes
        counts = self._counts(given, s)
        cost = s * np.where(given.is_given, C, C_unlabelled)
        with cancellable() as token:
            clock = Clock(self.max_seconds, token)
            found = [self._one(engine, given, cost, k, int(counts[k]), clock) for k in self._sides()]
            seconds = clock.seconds
        self._learned(engine, given, found, cost, seconds)
        return self

    def _checked(self) -> tuple[float, float, float]:
        """Both costs and the tolerance; refuses impossible options."""
        C = checked_cost("C", self.C)
        C_unlabelled = C if self.C_unlabelled is None else checked_cost("C_unlabelled", self.C_unlabelled)
        checked_count("levels", self.levels)
        if self.switches is not None:
            checked_count("switches", self.switches)
        checked_seconds(self.max_seconds)
        return C, C_unlabelled, checked_tolerance(self.tol)

    def _sides(self) -> list[int]:
        """The classes that are +1 in turn."""
        return [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))

    def _counts(self, given: MarkedLabels, s: FloatArray) -> NDArray[np.intp]:
        """(K,) how many unlabelled rows with a weight each class gets."""
        n_unknown = int(np.count_nonzero(~given.is_given & (s > 0)))
        shares = self._shares(given, s)
        return np.floor(shares * n_unknown + 0.5).astype(np.intp)

    def _shares(self, given: MarkedLabels, s: FloatArray) -> FloatArray:
        """(K,) wished shares."""
        K, wish = len(given.classes), self.positive_share
        if wish is None:
            weights = np.bincount(given.codes, weights=np.where(given.is_given, s, 0.0), minlength=K)
            return np.asarray(weights / weights.sum())
        if isinstance(wish, Mapping):
            missing = [label for label in given.classes.tolist() if label not in wish]
            if missing or len(wish) != K:
                raise ParameterError(
                    f"positive_share needs a share for each of the labels {given.classes.tolist()}, "
                    f"got {sorted(map(str, wish))}."
                )
            shares = np.array(
                [checked_share("positive_share", wish[label]) for label in given.classes.tolist()]
            )
            if abs(float(shares.sum()) - 1) > 1e-6:
                raise ParameterError(f"the shares in positive_share must sum to 1, got {shares.sum():.6g}.")
            return shares
        if K > 2:
            raise ParameterError(
                f"positive_share={wish!r} is the share of one class of two, but y has {K} classes. Give a "
                "mapping with a share for each label, or None for the shares of the labelled rows."
            )
        share = checked_share("positive_share", wish)
        return np.array([1 - share, share])

    def _one(
        self,
        engine: ScenarioEngine,
        given: MarkedLabels,
        cost: FloatArray,
        k: int,
        n_positive: int,
        clock: Clock,
    ) -> Transduction:
        """The machine of class k against the others."""
        y = np.where(given.codes == k, 1.0, -1.0)
        unknown = np.flatnonzero(~given.is_given & (cost > 0))
        rows = Rows(y, cost, unknown, n_positive)
        return transduce(
            engine, rows, self.classes_[k], levels=self.levels, switches=self.switches, clock=clock
        )

    def _learned(
        self,
        engine: ScenarioEngine,
        given: MarkedLabels,
        found: list[Transduction],
        cost: FloatArray,
        seconds: float,
    ) -> None:
        """From machines and signs to attributes."""
        self._keep(engine, [each.fit for each in found])
        Z = np.stack([each.fit.z for each in found], axis=1)
        codes = winners(Z)
        if len(found) == 1:
            is_counted = ~given.is_given & (cost > 0)
            codes = np.where(is_counted, (found[0].y > 0).astype(codes.dtype), codes)
        unknown = np.flatnonzero(~given.is_given)
        self.transduction_ = given.filled(unknown, self.classes_[codes[unknown]])
        self.history_ = [each for one in found for each in one.rounds]
        self.stopped_ = found[-1].stopped
        summed = sum_certificates([each.fit.certificate for each in found], seconds=seconds)
        self.certificate_ = summed if len(found) == 1 else replace(summed, reason=self.stopped_)
        self.objective_ = self.certificate_.primal
        self.n_rounds_ = len(self.history_)
        is_cut = any(each.stop is not None for each in found)
        if is_cut or not self.certificate_.converged:
            what = f"annealing was cut short: {self.stopped_}" if is_cut else str(self.certificate_)
            warnings.warn(f"{type(self).__name__}: {what}.", NotCertifiedWarning, stacklevel=3)
