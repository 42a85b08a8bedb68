"""What a learner says about rows that clones of it were not fitted to: all rows, each judged once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lineal.cancellation import nothing_done
from lineal.errors import ParameterError
from lineal.evaluation.fits import Split, Table, check_weights, fitted, run, splits_of
from lineal.evaluation.predictions import (
    Classified,
    Measured,
    Predictions,
    has_fractions,
    joined_labels,
    predictions_of,
    task_of,
)
from lineal.evaluation.resampling import RowWeights


def predictions_out_of_fold(
    learner: Any, table: Table, cv: Any, *, task: str | None, weights: str, rng: np.random.Generator
) -> tuple[Predictions, int]:
    """Predictions in the order of the rows, and how many folds there were; only clones are fitted."""
    name = type(learner).__name__
    if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise ParameterError(f"folds need a learner with fit and predict, which {name} is not.")
    check_weights({name: learner}, table)
    task = task_of(learner, task) or ("regression" if has_fractions(table.y) else "classification")
    splits = splits_of(table, cv, task, rng)
    held_out = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(held_out), np.arange(len(table))):
        raise ParameterError(
            "evaluate judges every row once, but these folds hold out some rows never or several times. Pass "
            "a number of folds, or take lineal.compare, whose scores are those of the folds."
        )

    def predicted(split: Split) -> Predictions:
        train, test = (table.take(rows) for rows in split)
        return predictions_of(
            fitted(learner, train), test.X, test.y,
            sample_weight=test.sample_weight, weights=weights, task=task,
        )  # fmt: skip

    tasks = [((k, 0), f"fold {k + 1}", partial(predicted, split)) for k, split in enumerate(splits)]
    done, is_complete = run(tasks, 1, False)
    if not is_complete:
        raise nothing_done()
    if table.sample_weight is not None:
        held_out = held_out[table.sample_weight[held_out] > 0]  # rows of weight 0 are not judged
    return _joined([each.result for each in done]).take(np.argsort(held_out)), len(splits)


def _joined(found: list[Any]) -> Any:
    """Predictions of all folds, one fold behind the other; of classes, among those of all."""
    weights = RowWeights(np.concatenate([each.weights.s for each in found]), found[0].weights.kind)
    if isinstance(found[0], Measured):
        truth, predicted = (
            np.concatenate([getattr(each, name) for each in found]) for name in ("truth", "predicted")
        )
        return Measured(truth, predicted, weights)
    classes = joined_labels(*(each.classes.tolist() for each in found))
    among = [each.among(classes) for each in found]

    def side_by_side(name: str) -> Any:
        parts = [getattr(each, name) for each in among]
        return None if any(part is None for part in parts) else np.concatenate(parts)

    return Classified(
        classes, side_by_side("truth"), side_by_side("predicted"), side_by_side("probabilities"),
        side_by_side("scores"), weights,
    )  # fmt: skip
