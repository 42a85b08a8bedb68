"""Models compared on rows that were held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lineal.cancellation import nothing_done
from lineal.errors import ParameterError
from lineal.evaluation.classification import class_scores
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.fits import Table, check_weights, is_fitted, run, timed_fit
from lineal.evaluation.heldout import PairedRows, choose
from lineal.evaluation.inputs import groups_of_rows
from lineal.evaluation.metrics import Metric
from lineal.evaluation.predictions import Classified, Predictions, joined_labels
from lineal.evaluation.records import Score
from lineal.evaluation.regression import number_scores
from lineal.evaluation.situation import Options, finite
from lineal.evaluation.verdicts import Tests, outcome
from lineal.evaluation.wording import counted


def compare_on_rows(
    models: Mapping[str, Any], train: Table | None, held_out: Table, refit: bool | None, options: Options
) -> ModelComparison:
    """Fits what is to be fitted, and asks every model about the same rows."""
    task, metric = options.situation(models, held_out.y)
    to_fit = {name: refit if refit is not None else not is_fitted(model) for name, model in models.items()}
    lacking = [name for name, is_wanted in to_fit.items() if is_wanted]
    if train is None and lacking:
        raise ParameterError(f"{', '.join(map(repr, lacking))} must be fitted, so X and y are needed.")
    unfitted = [name for name, model in models.items() if not to_fit[name] and not is_fitted(model)]
    if unfitted:
        raise ParameterError(f"{', '.join(map(repr, unfitted))} not fitted, but refit=False.")

    if train is not None:
        check_weights({name: model for name, model in models.items() if to_fit[name]}, train)

    def work(name: str, model: Any) -> tuple[Any, Predictions, float]:
        spent = 0.0
        if train is not None and to_fit[name]:
            model, spent = timed_fit(model, train)
        said = options.judge(name, model, held_out, task, metric)
        if metric.function is not None:
            finite(name, metric, said)
        return model, said, spent

    def bound(name: str, model: Any) -> Any:
        return lambda: work(name, model)

    tasks = [((i, 0), name, bound(name, model)) for i, (name, model) in enumerate(models.items())]
    done, is_complete = run(tasks, options.n_threads, options.progress)
    if len(done) < 2:
        raise nothing_done()
    names = [list(models)[entry.place[0]] for entry in done]
    found = [entry.result[1] for entry in done]
    on = f"on {counted(len(held_out), 'example')}"
    if held_out.groups is None:
        tests, scores = _tests_on_rows(metric, names, found, options)
    else:
        groups = groups_of_rows(held_out.groups, len(found[0].truth), held_out.sample_weight)
        tests, scores = _tests_on_groups(metric, names, found, groups, options)
        on += f" in {counted(len(set(groups.tolist())), 'group')}"
    given = [name for name in names if not to_fit[name]]
    notes = (f"compared as they came, already fitted: {', '.join(given)}",) if given and train else ()
    return ModelComparison(
        f"{len(names)} models on {counted(len(held_out), 'held-out row')}",
        *outcome(metric, scores, tests, on, options.confidence),
        seconds={name: entry.result[2] for name, entry in zip(names, done, strict=True)},
        models={name: entry.result[0] for name, entry in zip(names, done, strict=True)},
        is_complete=is_complete,
        notes=notes,
    )


def _tests_on_rows(
    metric: Metric, names: Sequence[str], found: Sequence[Predictions], options: Options
) -> tuple[Tests, dict[str, Score]]:
    kind = choose(options.test, metric, found[0])
    found = _same_classes(found)
    paired = PairedRows(
        metric, found, kind,
        confidence=options.confidence, n_resamples=options.n_resamples, rng=options.rng,
    )  # fmt: skip
    pairs = combinations(range(len(names)), 2)
    tests = {(names[i], names[j]): paired.test(i, j) for i, j in pairs}
    scores = {
        name: _score(metric, p, options.confidence, options.n_resamples, options.rng)
        for name, p in zip(names, found, strict=True)
    }
    return tests, scores


def _tests_on_groups(
    metric: Metric, names: Sequence[str], found: Sequence[Predictions], groups: Any, options: Options
) -> tuple[Tests, dict[str, Score]]:
    from lineal.evaluation.by_groups import compared_by_groups, score_by_groups

    own: dict[str, Any] = {
        "confidence": options.confidence, "n_resamples": options.n_resamples, "rng": options.rng
    }  # fmt: skip
    said = dict(zip(names, _same_classes(found), strict=True))
    tests = {
        (first, second): compared_by_groups(metric, said[first], said[second], groups, **own)
        for first, second in combinations(names, 2)
    }
    scores = {
        name: score_by_groups(
            _score(metric, p, options.confidence, options.n_resamples, options.rng), metric, p, groups
        )
        for name, p in said.items()
    }
    return tests, scores


def _same_classes(found: Sequence[Predictions]) -> list[Predictions]:
    """Models that know different labels get the columns of all of them."""
    labelled = [p for p in found if isinstance(p, Classified)]
    if not labelled or all(np.array_equal(p.classes, labelled[0].classes) for p in labelled):
        return list(found)
    every = joined_labels(*(p.classes.tolist() for p in labelled))
    return [p.among(every) for p in labelled]


def _score(metric: Metric, p: Predictions, confidence: float, n: int, rng: np.random.Generator) -> Score:
    if isinstance(p, Classified):
        return class_scores(p, [metric], confidence, n, rng)[metric.name]
    return number_scores(p, [metric], confidence, n, rng)[metric.name]
