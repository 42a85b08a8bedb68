"""Choosing parameters by rows that were held out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import FitFailedWarning

from lineal.selection.search.bench import Stop
from lineal.selection.search.data import Data
from lineal.selection.search.plan import Plan
from lineal.selection.search.progress import FitBar
from lineal.selection.search.record import OuterFold, Tuning, best_of
from lineal.selection.search.stages import fit_whole


def tune(
    model: Any,
    X: Any,
    y: ArrayLike,
    space: Any = None,
    *,
    method: str = "grid",
    cv: Any = 5,
    metric: str | Callable[..., float] | None = None,
    outer: Any = None,
    max_trials: int | None = None,
    max_seconds: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    n_threads: int | None = 1,
    progress: bool = False,
) -> Tuning:
    """Tries settings of a model on held-out rows, and fits the best of them to all rows.

    Strengths of a linear learner's penalty are tried along one warm-started path for each fold
    (:func:`lineal.path`), and the features of a pipeline or a text learner are computed once for each fold
    and setting of theirs: texts are tokenised once, and learned from many times.

    Parameters
    ----------
    model : estimator
        Ours or anybody's, pipelines and text learners among them. It is not changed.
    X, y, sample_weight, groups
        The data, as the model's ``fit`` takes them; rows of one group are held out together. Weights hold in
        fits and in scores.
    space : dict, or a list of dicts
        From parameters (nested ones with ``__``) to lists of values, or to distributions with ``rvs`` such as
        SciPy's. Not given: :func:`lineal.selection.strengths` of the model.
    method : "grid", "random", "halving" or "optuna"
        Every setting; ``max_trials`` random ones (32 if not said); all settings of the grid, or so many
        random ones, on a part of the rows, of which the best third goes on with three times as many;
        ``max_trials`` proposals by optuna, if it is installed.
    cv : int, splitter or list of splits
        A number means so many folds, shuffled by ``random_state``, with the classes in their shares and
        groups whole; a splitter of your own may heed them or not.
    metric : a scorer's or a metric's name, or a function ``metric(model, X, y)``, optional
        What is to be large, as in scikit-learn, or a name in ``lineal.evaluation.METRICS``, negated if it is
        to be small; the model's ``score`` if not given. Of functions, those with an argument
        ``sample_weight`` are given the weights of rows.
    outer : int or splitter, optional
        Outer folds, for an honest score: the whole search is run on the rest of each, and its model scored on
        it. Without them ``score`` is that of the best trial, which is too good the more was tried.
    max_trials, max_seconds : optional
        Budgets. With outer folds each search has an equal part of the seconds. A fold in progress is
        finished; settings are then judged by the folds that were done.
    random_state : int
        For folds, draws and parts: the same number gives the same result.
    n_threads : int or None
        How many folds are worked on at the same time; None: as many as there are cores. Any number gives the
        same result.
    progress : bool
        Whether to show a bar, on a terminal.

    Returns
    -------
    Tuning

    Notes
    -----
    Ctrl-C ends the search and fits the best setting so far; before a fold is done, and at the second Ctrl-C,
    ``KeyboardInterrupt`` is raised. A :class:`lineal.CancellationToken` that is over ends that last fit, too.
    A setting whose fit fails is recorded with its error and never chosen. Of equal means the earlier setting
    is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import LogisticRegression, tune
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=200) > 0
    >>> found = tune(LogisticRegression("l1"), X, y, {"C": [0.01, 0.1, 1, 10]}, outer=3)
    >>> found.params
    {'C': 0.1}
    >>> found.is_honest, found.best.is_warm
    (True, True)
    """
    data = Data.of(model, X, y, sample_weight, groups)
    plan = Plan.of(
        model, data, space, method=method, cv=cv, metric=metric, outer=outer, max_trials=max_trials,
        max_seconds=max_seconds, seed=random_state, n_threads=n_threads,
    )  # fmt: skip
    began = time.perf_counter()
    bar = FitBar(progress)
    try:
        with Stop.after(plan.seconds_each) as stop:
            trials, n_folds = plan.trials(data, stop, bar, "search")
            stopped = stop.reason or plan.left_out
            best = best_of(trials)
            if best is None:
                plan.refuse(trials)
            outers = _outer_folds(plan, data, stop, bar)
            if stop.requested:
                stopped = stop.reason
    finally:
        bar.close()
    chosen = fit_whole(plan.model(trials[best].params), data.X, data.y, data.s)
    plan.tell_failures(trials)
    return Tuning(
        chosen, trials[best].params, tuple(trials), tuple(outers), method, plan.metric_name, n_folds,
        time.perf_counter() - began, stopped, best,
    )  # fmt: skip


def _outer_folds(plan: Plan, data: Data, stop: Stop, bar: FitBar) -> list[OuterFold]:
    """The same search on the rest of each outer fold, its choice scored on the fold; none after Ctrl-C."""
    found: list[OuterFold] = []
    for k, (train, test) in enumerate(plan.outer, start=1):
        stop.restart()
        if stop.requested:
            break
        inner = data.take(train)
        trials, _ = plan.trials(inner, stop, bar, f"outer fold {k} of {len(plan.outer)}")
        best = best_of(trials)
        if stop.requested:
            break
        params = {} if best is None else trials[best].params
        try:  # what was found on all rows is not to be lost with one fold
            if best is None:
                plan.refuse(trials)
            chosen = fit_whole(plan.model(params), inner.X, inner.y, inner.s)
            if stop.requested:
                break
            held_out = data.take(test)
            found.append(OuterFold(params, plan.score(chosen, held_out.X, held_out.y, held_out.s)))
        except Exception as error:
            found.append(OuterFold(params, float("nan"), f"{type(error).__name__}: {error}"))
    failed = [fold for fold in found if fold.error]
    if failed:
        message = f"{len(failed)} of {len(found)} outer folds have no score; the first: {failed[0].error}"
        warnings.warn(message, FitFailedWarning, stacklevel=3)
    return found
