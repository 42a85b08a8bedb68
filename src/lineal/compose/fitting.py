"""The fit of one part of a learner made of others."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.inputs import take, take_columns
from lineal.compose.threads import alone, are_few, in_threads
from lineal.data import thread_count
from lineal.errors import InputError
from lineal.learners.weighting import weight_argument
from lineal.objective.losses import FloatArray
from lineal.protocol import clone


@dataclass(frozen=True)
class Job:
    """One part to be fitted.

    Attributes
    ----------
    learner : what it is a clone of
    targets : what it learns, one for each of its rows
    rows : its rows; None: all
    s : the weights of its rows; None: it is given none
    before : the same part of an earlier fit, to start from
    columns : its columns; None: all
    advice : what to do if it cannot learn from what it is given
    """

    learner: Any
    targets: NDArray[Any]
    rows: NDArray[Any] | None = None
    s: FloatArray | None = None
    before: Any = None
    columns: NDArray[Any] | None = None
    advice: str = ""


def require_weights(owner: Any, learners: Iterable[Any]) -> None:
    """Refuses weights of rows where one of the learners would not hear of them."""
    for learner in learners:
        if weight_argument(learner) is None:
            raise InputError(
                f"{type(owner).__name__} was given sample_weight, but {type(learner).__name__} has no "
                "weights of rows. Leave them out, or take a learner whose fit has sample_weight."
            )


def fit_parts(X: Any, jobs: Sequence[Job], n_threads: int | None) -> list[Any]:
    """The fitted parts, in the order of the jobs; the same bits for any number of threads."""
    count, is_small = thread_count(n_threads), are_few(X)
    is_shared = count > 1 and len(jobs) > 1 and not is_small
    return in_threads([partial(_fitted, X, job, is_shared) for job in jobs], count, are_short=is_small)


def _fitted(X: Any, job: Job, is_shared: bool) -> Any:
    part = _ready(job)
    params = part.get_params(deep=True) if is_shared else {}
    if is_shared:
        alone(part)
    own = X if job.columns is None else take_columns(X, job.columns)
    own = own if job.rows is None else take(own, job.rows)
    argument = weight_argument(part)
    weights = {} if job.s is None or argument is None else {argument: job.s}
    try:
        part.fit(own, job.targets, **weights)
    except InputError as error:
        if not job.advice:
            raise
        raise InputError(f"{error} {job.advice}") from error
    threads = {name: value for name, value in params.items() if name.rpartition("__")[2] == "n_threads"}
    return part.set_params(**threads) if threads else part


def _ready(job: Job) -> Any:
    """A clone of the learner, or the earlier part with its options where it is to go on from there."""
    fresh = clone(job.learner)
    if job.before is None or type(job.before) is not type(fresh) or not getattr(fresh, "warm_start", False):
        return fresh
    part = copy.copy(job.before)
    return part.set_params(**fresh.get_params(deep=False))


def weights_at(s: FloatArray | None, rows: NDArray[Any] | None) -> FloatArray | None:
    """Weights of some rows, where there are any."""
    return s if s is None or rows is None else np.asarray(s[rows])
