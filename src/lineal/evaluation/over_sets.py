"""Models compared over several data sets, by ranks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lineal.cancellation import nothing_done
from lineal.errors import CancelledError, ParameterError
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.fits import Table, run, timed_fit
from lineal.evaluation.in_folds import Plan, fold_scores, mean_score, planned
from lineal.evaluation.inputs import differences
from lineal.evaluation.metrics import Metric
from lineal.evaluation.pairs import wilcoxon
from lineal.evaluation.records import Significance
from lineal.evaluation.several import friedman, nemenyi
from lineal.evaluation.situation import Options
from lineal.evaluation.verdicts import Sets, outcome
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray


def compare_over_sets(
    models: Mapping[str, Any], sets: Mapping[Any, Any], cv: Any, options: Options
) -> ModelComparison:
    """A score for each model on each data set, from folds or from test rows of its own."""
    tables = {name: _tables(name, entry) for name, entry in sets.items()}
    if len(tables) < 2:
        raise ParameterError(f"a dict of data sets needs two or more, got {len(tables)}.")
    plans = [
        planned(models, train, cv, options)
        if rest is None
        else Plan(*options.situation(models, train.y), splits=[])
        for train, rest in tables.values()
    ]
    rows, seconds, is_complete = [], np.zeros(len(models)), True
    for (train, rest), plan in zip(tables.values(), plans, strict=True):
        try:
            scores, spent, is_whole = _set_scores(models, train, rest, plan, options)
        except (KeyboardInterrupt, CancelledError):
            is_whole = False
        if not is_whole:
            is_complete = False
            break
        rows.append(scores)
        seconds += spent
    if len(rows) < 2:
        raise nothing_done()
    return _ranked(
        list(models), list(sets)[: len(rows)], np.array(rows), seconds, plans[0].metric, is_complete, options
    )


def _tables(name: Any, entry: Any) -> tuple[Table, Table | None]:
    if not isinstance(entry, (tuple, list)) or len(entry) not in (2, 4):
        raise ParameterError(f"data set {name!r} must be (X, y) or (X, y, X_test, y_test).")
    train = Table.of(entry[0], entry[1], name=f"data set {name!r}")
    return train, Table.of(entry[2], entry[3], name=f"test set {name!r}") if len(entry) == 4 else None


def _set_scores(
    models: Mapping[str, Any], train: Table, rest: Table | None, plan: Plan, options: Options
) -> tuple[FloatArray, FloatArray, bool]:
    """(M,) scores on one data set, seconds, and whether all was done."""
    if rest is None:
        runs, seconds, is_complete = fold_scores(models, train, plan, options)
        return runs.mean(axis=0), seconds, is_complete
    held_out = rest

    def work(name: str, model: Any) -> tuple[float, float]:
        learned, spent = timed_fit(model, train)
        return options.score(name, learned, held_out, plan.task, plan.metric), spent

    def bound(name: str, model: Any) -> Any:
        return lambda: work(name, model)

    tasks = [((0, j), name, bound(name, model)) for j, (name, model) in enumerate(models.items())]
    done, is_complete = run(tasks, options.n_threads, options.progress)
    values, seconds = np.full(len(models), np.nan), np.zeros(len(models))
    for entry in done:
        values[entry.place[1]], seconds[entry.place[1]] = entry.result
    return values, seconds, is_complete


def _ranked(
    names: list[str],
    sets: list[Any],
    runs: FloatArray,
    seconds: FloatArray,
    metric: Metric,
    is_complete: bool,
    options: Options,
) -> ModelComparison:
    """Friedman and Nemenyi for three models and more, Wilcoxon for two."""
    better = bool(metric.greater_is_better)
    scores = {
        name: mean_score(metric, runs[:, j], 1 / len(runs), options.confidence, "t over data sets")
        for j, name in enumerate(names)
    }
    on = f"on {counted(len(sets), 'data set')}"
    shown: dict[str, Any] = {
        "runs": runs,
        "run_names": tuple(sets),
        "seconds": dict(zip(names, seconds.tolist(), strict=True)),
        "is_complete": is_complete,
    }
    title = f"{len(names)} models {on}"
    if len(names) == 2:
        signed = wilcoxon(runs[:, 0], runs[:, 1])
        tests = {(names[0], names[1]): signed}
        told = outcome(metric, scores, tests, on, options.confidence, sets=Sets(names, runs))
        ahead = (signed.effect or 0.0) * (1 if better else -1)
        order = _in_order(names, np.array([-ahead, ahead]), runs, better)
        return ModelComparison(title, *told, order=order, **shown)
    overall = friedman(runs, greater_is_better=better)
    ranks = nemenyi(runs, names=names, greater_is_better=better, confidence=options.confidence)
    tests = {}
    for i, j in combinations(range(len(names)), 2):
        apart = float(ranks.mean_ranks[i] - ranks.mean_ranks[j])
        difference = float(np.median(differences(runs[:, i], runs[:, j])))
        tests[names[i], names[j]] = Significance(
            *(f"Nemenyi's test {on}", apart, float(ranks.p_values[i, j]), "ranks apart"),
            difference=difference,
            effect=apart,
            effect_name="ranks apart",
        )
    by_ranks = Sets(names, runs, ranks.mean_ranks)
    told = outcome(metric, scores, tests, on, options.confidence, is_corrected=True, sets=by_ranks)
    order = _in_order(names, ranks.mean_ranks, runs, better)
    return ModelComparison(title, *told, order=order, friedman=overall, nemenyi=ranks, **shown)


def _in_order(names: list[str], ranks: FloatArray, runs: FloatArray, better: bool) -> tuple[str, ...]:
    """Names, the best first: by what was tested, and by means where that is tied."""
    means = runs.mean(axis=0)
    return tuple(names[place] for place in np.lexsort((-means if better else means, ranks)))
