"""The mistakes a model is surest of, taken apart where its scores are sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import report
from lineal.evaluation.wording import brief
from lineal.jobs.lines import place_of
from lineal.jobs.training import Training
from lineal.model.explanation import Explanation

_SHOWN, _TERMS = 8, 8


def worst_mistakes(training: Training) -> report.Mistakes | None:
    """Wrong labels by how sure the model was; of numbers, the largest errors."""
    if training.judging.n_folds is not None:
        return None  # each fold had a model of its own, and none is here to be asked
    wrong, order = _wrong(training)
    if not len(wrong):
        return None
    examples = [_mistake(training, int(row)) for row in order[:_SHOWN]]
    is_classes = training.model.task == "classification"
    return report.Mistakes(
        examples=examples, n_wrong=len(wrong) if is_classes else None, n_rows=len(training.test)
    )


def _wrong(training: Training) -> tuple[NDArray[Any], NDArray[Any]]:
    answers, y = training.answers, training.test.y
    if training.model.task != "classification":
        errors = np.abs(answers.labels - y)
        order = np.argsort(-errors, kind="stable")
        return order, order
    wrong = np.flatnonzero(answers.labels != y)
    sure = answers.confidence()
    order = wrong if sure is None else wrong[np.argsort(-sure[wrong], kind="stable")]
    return wrong, order


def _mistake(training: Training, row: int) -> report.Mistake:
    test, answers, model = training.test, training.answers, training.model
    explained = model.explain(_one(test, row)) if model.is_explained else _as_it_is(test, row)
    is_classes = model.task == "classification"
    p = answers.probabilities
    places = {} if answers.classes_ is None else {str(c): k for k, c in enumerate(answers.classes_.tolist())}
    truth, predicted = str(test.y[row]), str(answers.labels[row])
    terms = [
        report.Term(name=str(term.name), value=brief(term.value), share=float(term.contribution))
        for term in explained.terms[:_TERMS]
    ]
    return report.Mistake(
        truth=truth if is_classes else brief(float(test.y[row])),
        predicted=predicted if is_classes else brief(float(answers.labels[row])),
        probability=None if p is None else float(p[row, places[predicted]]),
        true_probability=None if p is None or truth not in places else float(p[row, places[truth]]),
        place=f"{training.test_name}, {place_of(int(test.rows[row]), training.test_lines)}",
        tokens=[report.Token(text=str(text), share=float(share)) for text, share in explained.tokens],
        terms=terms,
        explained=str(explained.label),
    )


def _as_it_is(test: Any, row: int) -> Explanation:
    """The text of a row, or nothing of another row, for a model whose scores are no sums."""
    pieces = str(test.X[row]).split() if test.inputs == "texts" else []
    return Explanation("", 0.0, 0.0, [], [(piece, 0.0) for piece in pieces])


def _one(test: Any, row: int) -> Any:
    """One row as a model explains it."""
    if test.inputs == "texts":
        return test.X[row]
    if test.inputs == "table":
        return test.X.slice(row, 1).to_pylist()[0]
    return test.X[row]
