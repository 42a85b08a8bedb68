"""Fits of several models on the same rows: one after another or side by side, until done or Ctrl-C."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import cancellable
from lineal.data.dealing import dealer, dealt, dealt_by_label, parted
from lineal.data.targets import classes_and_codes, groups_as_given, weights_of_rows
from lineal.deferred import is_sparse
from lineal.errors import InputError, ParameterError
from lineal.evaluation.bar import FitBar
from lineal.evaluation.inputs import checked_count
from lineal.evaluation.predictions import checked_labels, one_column
from lineal.protocol import NotFittedError, check_is_fitted, clone, has_fit_parameter

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with their targets: ``X``, ``y``, ``sample_weight`` or None, ``groups`` or None."""

    X: Any
    y: Any
    sample_weight: Any = None
    groups: Any = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, name: str = "X") -> Table:
        """Checked for lengths; a matrix whose rows cannot be picked becomes one of compressed rows."""
        if y is None:
            raise InputError(f"{name} came without its y.")
        y = one_column(y)
        X = X.tocsr() if is_sparse(X) else X
        try:
            n = _n_rows(X)
        except TypeError as error:
            raise InputError(f"{name} must have rows: {error}.") from error
        if n != len(y):
            raise InputError(f"{name} has {n} rows, but its y has {len(y)}: they must match.")
        groups = None if groups is None else groups_as_given(groups, n)
        weights = None if sample_weight is None else weights_of_rows(sample_weight, n)
        return cls(X, y, weights, groups)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Some of the rows."""
        from sklearn.utils import _safe_indexing

        return Table(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.sample_weight is None else self.sample_weight[rows],
            None if self.groups is None else self.groups[rows],
        )


def _n_rows(X: Any) -> int:
    if isinstance(X, np.ndarray) and X.ndim:
        return len(X)
    from sklearn.utils.validation import _num_samples

    return int(_num_samples(X))


def check_weights(models: Mapping[str, Any], table: Table) -> None:
    """Refuses weights that a model would not take."""
    for name, model in models.items():
        if table.sample_weight is not None and not has_fit_parameter(model, "sample_weight"):
            raise ParameterError(
                f"model {name!r} ({type(model).__name__}) takes no sample_weight in fit. Leave it out, or "
                "wrap the model in one whose fit passes it on."
            )


def fitted(model: Any, table: Table) -> Any:
    """A clone, fitted to the table; a copy of a model that does not know its own options."""
    fresh = clone(model) if hasattr(model, "get_params") else copy.deepcopy(model)
    if table.sample_weight is None:
        return fresh.fit(table.X, table.y)
    return fresh.fit(table.X, table.y, sample_weight=table.sample_weight)


def timed_fit(model: Any, table: Table) -> tuple[Any, float]:
    """The same, and how many seconds it took."""
    began = time.perf_counter()
    return fitted(model, table), time.perf_counter() - began


def is_fitted(model: Any) -> bool:
    """Whether scikit-learn's check_is_fitted says so; a model it cannot judge counts as fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    except (TypeError, AttributeError):  # without fit, or not of scikit-learn's family: it came as it is
        return True
    return True


def splits_of(table: Table, cv: Any, task: str, rng: np.random.Generator) -> list[Split]:
    """The folds: shuffled, stratified for labels, whole groups in one fold; or what a splitter gives."""
    seed, y = int(rng.integers(2**31)), table.y
    if cv is None:
        cv = 10
    if isinstance(cv, (int, np.integer)):
        n_folds = checked_count("cv", cv, 2)
        units = len(table) if table.groups is None else len(np.unique(table.groups))
        if units < n_folds:
            what = "rows" if table.groups is None else "groups"
            raise InputError(f"cv={n_folds} folds need as many {what}, got {units}. Pass a smaller cv.")
        is_labels = task == "classification"
        if is_labels:  # by code, since labels may be of any type
            y = classes_and_codes(checked_labels("y", y))[1]
        if table.groups is None and (not is_labels or np.bincount(y).min() >= n_folds):
            own = dealt_by_label(y, n_folds, seed) if is_labels else dealt(len(y), n_folds, seed)
            return parted(own, n_folds)
        splitter = dealer(n_folds, seed, are_classes=is_labels, has_groups=table.groups is not None)
    else:
        from sklearn.model_selection import check_cv

        splitter = check_cv(cv, table.y, classifier=task == "classification")
    splits = list(splitter.split(table.X if hasattr(table.X, "shape") else y, y, table.groups))
    if len(splits) < 2:
        raise ParameterError(f"cv must give at least two folds, got {len(splits)}.")
    return splits


@dataclass(frozen=True)
class Done:
    """One task: its place and what it gave."""

    place: tuple[int, int]
    result: Any


def run(
    tasks: Sequence[tuple[tuple[int, int], str, Callable[[], Any]]], n_threads: int, progress: bool
) -> tuple[list[Done], bool]:
    """Runs tasks (place, label, function) in order; returns what was done, and whether that is all.

    Ctrl-C lets what runs come to an end, or, if it can, breaks it off, and drops it.
    """
    done: list[Done] = []
    bar = FitBar(len(tasks), progress)
    try:
        with cancellable() as token:

            def one(task: tuple[tuple[int, int], str, Callable[[], Any]]) -> Done | None:
                place, _, function = task
                if token.is_over:
                    return None
                result = token.apply(function)
                return None if token.is_over else Done(place, result)

            if n_threads == 1:
                for task in tasks:
                    _keep(one(task), task[1], done, bar)
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    try:
                        for task, found in zip(tasks, pool.map(one, tasks), strict=True):
                            _keep(found, task[1], done, bar)
                    except BaseException:
                        pool.shutdown(wait=False, cancel_futures=True)
                        raise
    finally:
        bar.close()
    return done, len(done) == len(tasks)


def _keep(found: Done | None, label: str, done: list[Done], bar: FitBar) -> None:
    if found is not None:
        done.append(found)
        bar.done(label)
