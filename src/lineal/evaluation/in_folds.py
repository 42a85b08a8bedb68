"""Models compared by cross-validation, on the same folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lineal.cancellation import nothing_done
from lineal.deferred import stats
from lineal.errors import ParameterError
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.fits import Split, Table, check_weights, run, splits_of, timed_fit
from lineal.evaluation.metrics import Metric
from lineal.evaluation.pairs import corrected_resampled_t_test
from lineal.evaluation.records import Interval, Score, Significance
from lineal.evaluation.situation import Options
from lineal.evaluation.verdicts import outcome
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray


def compare_in_folds(models: Mapping[str, Any], table: Table, cv: Any, options: Options) -> ModelComparison:
    """The corrected resampled t-test for every pair."""
    plan = planned(models, table, cv, options)
    runs, seconds, is_complete = fold_scores(models, table, plan, options)
    names, metric = list(models), plan.metric
    n_train, n_test = (float(np.mean([len(split[k]) for split in plan.splits])) for k in (0, 1))

    def tested(i: int, j: int) -> Significance:
        pair = (runs[:, i], runs[:, j])
        return corrected_resampled_t_test(
            *pair, n_train=n_train, n_test=n_test, confidence=options.confidence
        )

    tests = {(names[i], names[j]): tested(i, j) for i, j in combinations(range(len(names)), 2)}
    factor = 1 / len(runs) + n_test / n_train
    scores = {
        name: mean_score(metric, runs[:, j], factor, options.confidence, "corrected t", 1 / n_test)
        for j, name in enumerate(names)
    }
    folds = counted(len(runs), "fold")
    return ModelComparison(
        f"{len(names)} models in {folds} of {counted(len(table), 'row')}",
        *outcome(metric, scores, tests, f"in {folds}", options.confidence),
        runs=runs,
        run_names=tuple(range(len(runs))),
        seconds=dict(zip(names, seconds.tolist(), strict=True)),
        is_complete=is_complete,
    )


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be done with a table: the task, the metric, the folds."""

    task: str
    metric: Metric
    splits: list[Split]


def planned(models: Mapping[str, Any], table: Table, cv: Any, options: Options) -> Plan:
    """All that can be refused before anything is fitted."""
    task, metric = options.situation(models, table.y)
    for name, model in models.items():
        if not hasattr(model, "fit"):
            raise ParameterError(f"model {name!r} ({type(model).__name__}) has no fit method.")
    check_weights(models, table)
    return Plan(task, metric, splits_of(table, cv, task, options.rng))


def fold_scores(
    models: Mapping[str, Any], table: Table, plan: Plan, options: Options
) -> tuple[FloatArray, FloatArray, bool]:
    """(J, M) scores on folds that all models have done, (M,) seconds of fitting, and whether that is all."""
    splits = plan.splits

    def work(name: str, model: Any, fold: int) -> tuple[float, float]:
        train, rest = splits[fold]
        learned, spent = timed_fit(model, table.take(train))
        return options.score(name, learned, table.take(rest), plan.task, plan.metric), spent

    def bound(name: str, model: Any, fold: int) -> Any:
        return lambda: work(name, model, fold)

    tasks = [
        ((fold, j), f"fold {fold + 1}, {name}", bound(name, model, fold))
        for fold in range(len(splits))
        for j, (name, model) in enumerate(models.items())
    ]
    done, is_complete = run(tasks, options.n_threads, options.progress)
    runs, seconds = np.full((len(splits), len(models)), np.nan), np.zeros(len(models))
    for entry in done:
        runs[entry.place], spent = entry.result
        seconds[entry.place[1]] += spent
    runs = runs[~np.isnan(runs).any(axis=1)]
    if len(runs) < 2:
        raise nothing_done()
    return runs, seconds, is_complete


def mean_score(
    metric: Metric, values: FloatArray, factor: float, confidence: float, how: str, grain: float = 0.0
) -> Score:
    """The mean of several runs, whose variance is a factor times that of one run.

    Shares that are the same in every run are taken to vary by the ``grain``, one row.
    """
    mean, (least, most) = float(values.mean()), metric.bounds
    deviation = float(values.std(ddof=1))
    if deviation < 1e-12 and np.isfinite(metric.bounds).all():
        deviation = grain
    reach = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * np.sqrt(factor) * deviation
    interval = Interval(max(mean - float(reach), least), min(mean + float(reach), most), confidence, how)
    return Score(metric.name, mean, interval, metric.greater_is_better)
