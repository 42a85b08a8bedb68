"""Answers held against the truth."""

from __future__ import annotations

from typing import Any

from lineal.evaluation.evaluating import evaluate_predictions
from lineal.evaluation.evaluation import Evaluation
from lineal.jobs.answers import Answers
from lineal.jobs.dataset import Dataset

# A weight says how much a row counts, not how many rows it is: weights of 100 make nobody surer.
WEIGHTS_MEAN = "importance"


def evaluated(answers: Answers, data: Dataset, task: str, **options: Any) -> Evaluation:
    """Every score of answers for the rows of a data set; options as for ``evaluate_predictions``."""
    return evaluate_predictions(
        data.y,
        answers.labels,
        probabilities=answers.probabilities,
        classes=None if answers.classes_ is None else answers.classes_.tolist(),
        sample_weight=data.sample_weight,
        weights=WEIGHTS_MEAN,
        groups=data.groups,
        task=task,
        **options,
    )
