"""The grid over C and gamma that support vector machines are tuned on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import CancellationToken, cancellable, nothing_done, unless_over
from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.kernels import Gaussian
from lineal.learners.kernel.svc import SVC
from lineal.learners.kernel.two_class import finished
from lineal.learners.targets import classes_and_codes, labels_of_rows
from lineal.learners.weighting import class_factors
from lineal.model.answers import winners
from lineal.model.strategies import one_vs_one_code, scores_of_votes
from lineal.objective.certificate import Stop
from lineal.objective.losses import FloatArray
from lineal.selection.search.progress import FitBar
from lineal.solvers.kernel_dual import KernelMachine, KernelValues, ProductTable, classification, summed
from lineal.solvers.kernel_dual.machine import BLOCK

# Hsu, Chang and Lin's grid: steps of 4.
C_GRID = tuple(2.0**k for k in range(-5, 16, 2))
GAMMA_GRID = tuple(2.0**k for k in range(-15, 4, 2))

# A table of kernel values may take so many bytes: 6,688 rows.
_MOST_BYTES = 1 << 29
# Of rows with few stored numbers values are computed again about as fast as they are read from memory,
# unless those of a machine, of so many rows, fit the cache. Values of a gamma must serve enough machines,
# too: stored numbers of a row times machines are at least so many, and for few rows so many.
_FEW_NUMBERS, _FEW_ROWS, _ENOUGH, _ENOUGH_OF_FEW = 48, 1000, 1200, 300


@dataclass(frozen=True, eq=False)
class SvmGrid:
    """Accuracies on held-out rows, for every C and gamma.

    Attributes
    ----------
    C, gamma : (n_C,), (n_gamma,)
    scores : (n_gamma, n_C)
        Mean accuracy over the folds; NaN where time ran out.
    fold_scores : (n_folds, n_gamma, n_C)
    best_C, best_gamma, best_score : float
        Of equal scores the smallest C, then the smallest gamma: the smoothest function. The score was chosen
        for being the best, so it is a little too good.
    model : SVC or None
        Fitted to all rows at the best place.
    seconds : float
    n_fits : int
        Machines that were solved.
    """

    C: FloatArray
    gamma: FloatArray
    scores: FloatArray
    fold_scores: FloatArray
    best_C: float  # noqa: N815 (the option's name)
    best_gamma: float
    best_score: float
    model: SVC | None
    seconds: float
    n_fits: int

    def __str__(self) -> str:
        lines = [
            f"best accuracy {self.best_score:.4f} at C = {self.best_C:g}, gamma = {self.best_gamma:g} "
            f"({self.n_fits:,} machines in {self.seconds:.3g} s)"
        ]
        width = max(8, *(len(f"{c:g}") + 2 for c in self.C))
        lines.append("gamma \\ C".ljust(14) + "".join(f"{c:g}".rjust(width) for c in self.C))
        for g, row in zip(self.gamma, self.scores, strict=True):
            cells = ("" if np.isnan(each) else f"{each:.4f}" for each in row)
            lines.append(f"{g:g}".ljust(14) + "".join(cell.rjust(width) for cell in cells))
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Lines of equal accuracy over the logarithms of C and gamma, and the best place.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.

        Returns
        -------
        The axes.
        """
        from lineal.selection.svm_grid_picture import draw

        return draw(self, ax)


def svm_grid(
    X: Any,
    y: ArrayLike,
    *,
    C: ArrayLike = C_GRID,
    gamma: ArrayLike = GAMMA_GRID,
    cv: int | ArrayLike = 5,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    tol: float = 1e-3,
    refit: bool = True,
    max_seconds: float | None = None,
    random_state: int = 0,
    n_threads: int | None = None,
    progress: bool = False,
) -> SvmGrid:
    """Tries every C and gamma of a Gaussian machine on held-out rows.

    Along C each machine begins where the last one ended, its coefficients and scores scaled; up to 4,096 rows
    it keeps its kernel values too. Where rows have 48 stored numbers or more, or two classes 1,000 rows at
    most, and machines are many, dot products of every two rows are computed once and kernel values once for
    each gamma, for all folds, classes and C; up to 6,688 rows, 512 MiB. Elsewhere each machine computes its
    own.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        Scale the columns first (:class:`lineal.ColumnScaler`): gamma is one for all.
    y : sequence of n labels
    C, gamma : sequences of numbers > 0
        2^-5, 2^-3 ... 2^15 and 2^-15 ... 2^3 if not given.
    cv : int, or a sequence that gives each row its fold
        A number means so many folds with the classes in their shares, dealt by ``random_state``.
    sample_weight, class_weight
        As for :class:`lineal.SVC`; weights of rows hold in scores, too.
    tol : float
        The relative gap that every machine is solved to.
    refit : bool
        Whether to fit the best machine to all rows.
    max_seconds : float, optional
        What has not been tried by then is left out.
    n_threads, progress
        As everywhere; threads change no score.

    Returns
    -------
    SvmGrid

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import svm_grid
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(120, 2))
    >>> found = svm_grid(X, X[:, 0] * X[:, 1] > 0, C=[0.1, 1, 10, 100], gamma=[0.01, 0.1, 1, 10], cv=3)
    >>> bool(found.best_score > 0.9), found.model is not None
    (True, True)
    """
    began = time.perf_counter()
    if y is None:
        raise InputError("svm_grid requires y to be passed, but the target y is None.")
    task = _Task.of(X, y, C, gamma, cv, sample_weight, class_weight, float(tol), random_state, n_threads)
    shape = (task.n_folds, len(task.gammas), len(task.Cs))
    scores = np.full(shape, np.nan)
    bar = FitBar(progress)
    n_fits = 0
    try:
        left = None if max_seconds is None else float(max_seconds) - (time.perf_counter() - began)
        with cancellable(left) as token, ThreadPoolExecutor(task.n_threads) as pool:
            bar.begin("svm_grid", int(np.prod(shape[:2])))
            for g, value in enumerate(task.gammas):
                if token.is_over:
                    break
                values = task.values(value)
                _ = values.native, values.has_copies  # made once, before threads want them
                jobs = [
                    pool.submit(token.apply, partial(task.along, values, fold, token))
                    for fold in range(task.n_folds)
                ]
                for fold, job in enumerate(jobs):
                    found = job.result()
                    scores[fold, g, : len(found)] = found
                    n_fits += len(found) * task.n_machines
                    bar(1)
    finally:
        bar.close()
    # A place counts where every fold was done.
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        if token.is_cancelled:
            raise nothing_done()
        raise InputError("no place of the grid was finished in time: give more max_seconds, or fewer places.")
    g, c = _best(means, task)
    best = SVC(
        C=float(task.Cs[c]), gamma=float(task.gammas[g]), class_weight=class_weight, n_threads=n_threads
    )
    model = best.fit(X, y, sample_weight) if refit else None
    return SvmGrid(
        task.Cs, task.gammas, means, scores, float(task.Cs[c]), float(task.gammas[g]), float(means[g, c]),
        model, time.perf_counter() - began, n_fits,
    )  # fmt: skip


def _best(means: FloatArray, task: _Task) -> tuple[int, int]:
    """The highest mean; of equals the smallest C, then the smallest gamma."""
    places = np.argwhere(means >= np.nanmax(means))
    g, c = min(places.tolist(), key=lambda place: (task.Cs[place[1]], task.gammas[place[0]]))
    return g, c


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows, labels and folds, checked."""

    rows: KernelValues  # of no gamma yet; a machine is done by one thread
    codes: NDArray[np.int32]
    K: int
    s: FloatArray
    factors: FloatArray  # of the classes of rows, for fits alone
    folds: NDArray[np.int64]
    n_folds: int
    Cs: FloatArray
    gammas: FloatArray
    tol: float
    n_threads: int

    @classmethod
    def of(
        cls, X: Any, y: Any, C: Any, gamma: Any, cv: Any, weights: Any, class_weight: Any, tol: float,
        seed: int, n_threads: int | None,
    ) -> _Task:  # fmt: skip
        if not tol > 0:
            raise ParameterError(f"tol is a relative duality gap and must be > 0, got {tol!r}.")
        machine = SVC(gamma=1.0, class_weight=class_weight, n_threads=n_threads)
        values, s = machine._values_of(X, weights)
        labels = labels_of_rows(y, values.n_rows)
        classes, codes = classes_and_codes(labels)
        machine.classes_ = classes
        machine._need_classes(codes, s)
        folds, n_folds = _dealt(cv, codes, s, seed)
        factors = class_factors(class_weight, classes, codes, s)
        Cs, gammas = _positive("C", C), _positive("gamma", gamma)
        threads = thread_count(n_threads)
        rows = KernelValues(values.kernel, values.items, 1)
        if _is_worth_a_table(rows, len(classes), n_folds * len(Cs)):
            if len(classes) > 2:  # rows of a pair are neighbours then, and so are their values in memory
                order = np.argsort(codes, kind="stable")
                codes, s, factors, folds = codes[order], s[order], factors[order], folds[order]
                rows = replace(rows, items=rows.kernel.take(rows.items, order))
            rows = replace(rows, table=ProductTable(rows, threads))
        return cls(rows, codes, len(classes), s, factors, folds, n_folds, Cs, gammas, tol, threads)

    @property
    def n_machines(self) -> int:
        """Of one place and fold."""
        return self.K * (self.K - 1) // 2

    def values(self, gamma: float) -> KernelValues:
        """The kernel on all rows."""
        return self.rows.with_kernel(Gaussian(gamma=float(gamma)))

    def along(self, values: KernelValues, fold: int, token: CancellationToken) -> list[float]:
        """Accuracies on a fold, one for each C that there was time for."""
        test = np.flatnonzero((self.folds == fold) & (self.s > 0))
        train = np.flatnonzero((self.folds != fold) & (self.s > 0))
        Z = np.empty((len(self.Cs), len(test), self.n_machines))
        n_done = len(self.Cs)
        for m, (i, j) in enumerate(zip(*np.triu_indices(self.K, 1), strict=True)):
            rows = train[(self.codes[train] == i) | (self.codes[train] == j)]
            signs = np.where(self.codes[rows] == j, 1.0, -1.0)
            if len(np.unique(signs)) < 2:  # a fold without a class: the other one has the vote
                Z[:, :, m] = signs[0] if len(signs) else 0.0
                continue
            k = 0
            for k, scores in enumerate(self._machine(values, rows, signs, test, n_done, token), 1):
                Z[k - 1, :, m] = scores
            n_done = min(n_done, k)
        return [self._accuracy(Z[k], test) for k in range(n_done)]

    def _machine(
        self,
        values: KernelValues,
        rows: Any,
        signs: FloatArray,
        test: Any,
        n: int,
        token: CancellationToken,
    ) -> Iterator[FloatArray]:
        """Scores of the held-out rows by one machine, C after C."""
        weight = self.s[rows] * self.factors[rows]
        machine: KernelMachine | None = None
        last = 0.0
        for C in self.Cs[:n]:
            if token.is_over:
                return
            if machine is None:
                machine = KernelMachine(
                    values, classification(signs, C * weight, rows), block_size=BLOCK, n_threads=1
                )
            else:
                machine.scale(C / last)
            last = C
            solution = machine.run(self.tol, unit=1.0 / C)
            if token.is_over and solution.stop is not Stop.CERTIFIED:
                return
            dual = classification(signs, C * weight, rows)
            found = finished(machine, dual, solution, tol=self.tol, unit=1.0 / C)
            support = np.flatnonzero(found.beta)
            told = partial(summed, values, test, rows[support], found.beta[support])
            scores = unless_over(told, token)
            if scores is None:
                return
            yield scores + found.b

    def _accuracy(self, Z: FloatArray, test: NDArray[np.int64]) -> float:
        scores = Z if self.K == 2 else scores_of_votes(Z, one_vs_one_code(self.K))
        s = self.s[test]
        return float(np.dot(s, winners(scores) == self.codes[test]) / s.sum())


def _is_worth_a_table(rows: KernelValues, n_classes: int, n_machines: int) -> bool:
    """Whether this many machines of a gamma find kernel values sooner in a table than by computing them."""
    n, d = rows.items.shape
    n_numbers = rows.items.nnz / max(n, 1) if hasattr(rows.items, "tocsr") else d
    has_few_rows = 2 * n <= n_classes * _FEW_ROWS  # a machine has two classes
    if not has_few_rows and n_numbers < _FEW_NUMBERS:
        return False
    is_enough = n_numbers * n_machines >= (_ENOUGH_OF_FEW if has_few_rows else _ENOUGH)
    return is_enough and ProductTable.size(n) <= _MOST_BYTES


def _positive(name: str, values: Any) -> FloatArray:
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if numbers.ndim != 1 or not len(numbers) or not np.all((numbers > 0) & np.isfinite(numbers)):
        raise ParameterError(f"{name} must be finite numbers > 0, got {values!r}.")
    return np.unique(numbers)


def _dealt(cv: Any, codes: NDArray[np.int32], s: FloatArray, seed: int) -> tuple[NDArray[np.int64], int]:
    """Each row's fold."""
    if not isinstance(cv, (int, np.integer)):
        _, folds = np.unique(np.asarray(cv), return_inverse=True)
        if folds.shape != codes.shape or folds.max(initial=0) < 1:
            raise InputError(f"cv must give each of {len(codes)} rows its fold, and at least two folds.")
        return folds.astype(np.int64), int(folds.max()) + 1
    if not 2 <= cv <= np.count_nonzero(s > 0):
        raise ParameterError(f"cv must be from 2 to the number of rows with weight, got {cv!r}.")
    order = np.random.default_rng(seed).permutation(len(codes))
    folds = np.empty(len(codes), dtype=np.int64)
    begin = 0
    for k in np.unique(codes):
        mine = order[codes[order] == k]
        folds[mine] = (begin + np.arange(len(mine))) % cv
        begin += len(mine)
    return folds, int(cv)
