"""What a comparison was asked for, checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import InputError, ParameterError
from lineal.evaluation.fits import Table
from lineal.evaluation.metrics import Metric, named_metric
from lineal.evaluation.predictions import Predictions, has_fractions, predictions_of, task_of
from lineal.evaluation.wording import counted


@dataclass(frozen=True)
class Options:
    """What was asked for, checked."""

    confidence: float
    test: str
    n_resamples: int
    weights: str
    task: str | None
    rng: np.random.Generator
    n_threads: int
    progress: bool
    metric: Any

    def situation(self, models: Mapping[str, Any], y: Any) -> tuple[str, Metric]:
        """The task that all models do, and the metric; refused before anything is fitted."""
        tasks = {name: task_of(model, self.task) for name, model in models.items()}
        if ranking := [name for name, task in tasks.items() if task == "ranking"]:
            raise ParameterError(
                f"model {ranking[0]!r} puts rows of a query in order, which is not judged here. Evaluate "
                "each by lineal.evaluate(model, X, y, groups=queries), and compare what queries score by "
                'lineal.evaluation.permutation_test(a.per_query["ndcg"], b.per_query["ndcg"]).'
            )
        known = {task for task in tasks.values() if task is not None}
        if len(known) > 1:
            raise ParameterError(f"the models must do one task, got {tasks}. Pass task= if they do.")
        if not known:
            known = {"regression" if has_fractions(y) else "classification"}
        task = known.pop()
        metric = named_metric(self.metric, task)
        wanted = {
            "probabilities": ("predict_proba",),
            "ranks": ("predict_proba", "decision_function"),
        }.get(metric.needs, ("predict",))
        for name, model in models.items():
            if not any(hasattr(model, method) for method in wanted):
                raise ParameterError(
                    f"metric {metric.name!r} needs {' or '.join(wanted)}, which model {name!r} "
                    f"({type(model).__name__}) does not have. Use another metric or calibrate the model."
                )
        return task, metric

    def judge(self, name: str, model: Any, table: Table, task: str, metric: Metric) -> Predictions:
        """What a fitted model says about rows, refused where the metric is not defined."""
        found = predictions_of(
            model, table.X, table.y, sample_weight=table.sample_weight, weights=self.weights, task=task
        )
        reason = metric.missing(found)
        if reason is not None:
            raise InputError(
                f"model {name!r} has no {metric.name} on {counted(len(table), 'row')}: {reason}. "
                "Use another metric, or other rows."
            )
        return found

    def score(self, name: str, model: Any, table: Table, task: str, metric: Metric) -> float:
        """The metric of a fitted model on rows."""
        return finite(name, metric, self.judge(name, model, table, task, metric))


def finite(name: str, metric: Metric, predictions: Predictions) -> float:
    """The metric, refused where a function that was passed gives no number."""
    value = metric.value(predictions)
    if not np.isfinite(value):
        raise InputError(f"metric {metric.name!r} of model {name!r} is {value}: it must be a number.")
    return value
