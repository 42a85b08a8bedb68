"""How much a model gains from more rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import nothing_done
from lineal.data.targets import classes_and_codes
from lineal.deferred import stats
from lineal.errors import InputError, ParameterError
from lineal.evaluation.fits import Table, fitted, run, splits_of
from lineal.evaluation.inputs import checked_confidence, checked_count, generator
from lineal.evaluation.situation import Options
from lineal.evaluation.tables import Section
from lineal.evaluation.wording import brief, counted, percent
from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Scores on the rows learned from and on held-out ones, by the number of rows; ``print`` shows a table.

    Attributes
    ----------
    sizes : (m,) array
        Rows learned from.
    train_runs, test_runs : (J, m) arrays
        Of each fold.
    train, test : (m,) arrays
        Means over the folds.
    train_low, train_high, test_low, test_high : (m,) arrays
        Corrected t intervals.
    metric : str
    greater_is_better : bool
    confidence : float
    is_complete : bool
        False after Ctrl-C.
    """

    sizes: NDArray[np.int64]
    train_runs: FloatArray
    test_runs: FloatArray
    train: FloatArray
    test: FloatArray
    train_low: FloatArray
    train_high: FloatArray
    test_low: FloatArray
    test_high: FloatArray
    metric: str
    greater_is_better: bool
    confidence: float
    is_complete: bool = True

    def __str__(self) -> str:
        columns = (self.train, self.train_low, self.train_high, self.test, self.test_low, self.test_high)
        rows = [
            [f"{size:,}", brief(a), f"{brief(b)} .. {brief(c)}", brief(d), f"{brief(e)} .. {brief(f)}"]
            for size, a, b, c, d, e, f in zip(self.sizes.tolist(), *columns, strict=True)
        ]
        interval = f"{percent(self.confidence)} interval"
        header = ["rows", "training", interval, "held out", interval]
        folds = counted(len(self.test_runs), "fold")
        return Section(f"learning curve, {self.metric}, {folds}", header, rows).plain()


def learning_curve(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    sizes: Sequence[float] | None = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    metric: Any = None,
    confidence: float = 0.95,
    task: str | None = None,
    random_state: Any = 0,
    n_threads: int = 1,
    progress: bool = False,
) -> LearningCurve:
    """Fits a model to more and more rows of each fold, and judges it on the fold's other rows.

    Smaller sets of rows are part of the larger ones, and have the classes in the same shares.

    Parameters
    ----------
    model : anything with ``fit`` and ``predict``; it is cloned
    X, y : data, whatever the model takes
    sizes : numbers, optional
        Whole numbers of rows, or shares in (0, 1] of a fold's training rows. Not given: five from a tenth to
        all, evenly on a logarithmic scale.
    cv : int, splitter or list of (train, test) rows, optional
        5 folds if not given.
    groups, metric, confidence, task, random_state, n_threads, progress
        As for ``lineal.compare``.

    Returns
    -------
    LearningCurve

    Notes
    -----
    Ctrl-C ends with the folds that are done; with fewer than two, ``KeyboardInterrupt`` is raised.

    Examples
    --------
    >>> import lineal
    >>> from lineal.evaluation.curves import learning_curve
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = learning_curve(lineal.GaussianNB(), X, y, sizes=[0.1, 1.0])
    >>> curve.sizes.tolist(), curve.test.round(3).tolist()
    ([46, 455], [0.921, 0.933])
    """
    options = Options(
        checked_confidence(confidence), "auto", 10, "counts", task,
        generator(random_state), checked_count("n_threads", n_threads), progress, metric,
    )  # fmt: skip
    table = Table.of(X, y, groups=groups)
    kind, judge = options.situation({"model": model}, table.y)
    splits = splits_of(table, 5 if cv is None else cv, kind, options.rng)
    wanted = _sizes(sizes, min(len(train) for train, _ in splits))
    orders = [_even_order(table.y[train], kind, options.rng) for train, _ in splits]

    def work(fold: int, size: int) -> tuple[float, float]:
        train, rest = splits[fold]
        learned_from = table.take(train[orders[fold][:size]])
        learned = fitted(model, learned_from)
        seen, held_out = (
            options.score("model", learned, rows, kind, judge) for rows in (learned_from, table.take(rest))
        )
        return seen, held_out

    runs, is_complete = _runs(work, len(splits), wanted, options)
    ratio = float(np.mean([len(rest) / len(train) for train, rest in splits]))
    bands = [_band(part, ratio, options.confidence, judge.bounds) for part in runs]
    return LearningCurve(
        *(np.array(wanted), runs[0], runs[1], bands[0][0], bands[1][0], *bands[0][1:], *bands[1][1:]),
        *(judge.name, bool(judge.greater_is_better), options.confidence, is_complete),
    )


def _runs(
    work: Callable[[int, int], tuple[float, float]], n_folds: int, sizes: list[int], options: Options
) -> tuple[FloatArray, bool]:
    """(2, J, m) scores on the rows learned from and on the others, of the folds that are done."""

    def bound(fold: int, size: int) -> Callable[[], tuple[float, float]]:
        return lambda: work(fold, size)

    tasks = [
        ((fold, k), f"fold {fold + 1}, {counted(size, 'row')}", bound(fold, size))
        for fold in range(n_folds)
        for k, size in enumerate(sizes)
    ]
    done, is_complete = run(tasks, options.n_threads, options.progress)
    runs = np.full((2, n_folds, len(sizes)), np.nan)
    for entry in done:
        runs[:, *entry.place] = entry.result
    runs = runs[:, ~np.isnan(runs).any(axis=(0, 2))]
    if runs.shape[1] < 2:
        raise nothing_done()
    return runs, is_complete


def _sizes(sizes: Sequence[float] | None, n_train: int) -> list[int]:
    if sizes is None:
        sizes = np.geomspace(0.1, 1.0, 5).tolist()
    found = set()
    for size in sizes:
        is_share = isinstance(size, (float, np.floating)) and 0 < size <= 1
        rows = round(size * n_train) if is_share else size
        if not float(rows).is_integer() or not 1 <= rows <= n_train:
            raise ParameterError(
                f"sizes must be shares in (0, 1] or whole numbers up to the {n_train} training rows of a "
                f"fold, got {size!r}."
            )
        found.add(int(rows))
    if not found:
        raise ParameterError("sizes is empty.")
    return sorted(found)


def _even_order(y: NDArray[Any], task: str, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random order of rows whose every beginning has the classes in nearly the same shares."""
    order = rng.permutation(len(y))
    if task == "regression":
        return order
    codes = classes_and_codes(y)[1][order]
    counts = np.bincount(codes)
    if len(counts) < 2:
        raise InputError("a fold has one class only: pass fewer folds or more rows.")
    place = np.empty(len(y))
    for k, count in enumerate(counts):
        place[codes == k] = (np.arange(count) + rng.random()) / count
    return order[np.argsort(place, kind="stable")]


def _band(
    runs: FloatArray, ratio: float, confidence: float, bounds: tuple[float, float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means over folds and their intervals, corrected for the overlap of whole training sets."""
    mean, n = runs.mean(axis=0), len(runs)
    reach = stats.t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(1 / n + ratio) * runs.std(axis=0, ddof=1)
    return mean, np.maximum(mean - reach, bounds[0]), np.minimum(mean + reach, bounds[1])
