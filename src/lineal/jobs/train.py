"""From a labelled file to a model that is certified, judged on rows it has not seen, and compared.

The steps are those of a careful person: read the file, say what each column is taken for, look for what is
wrong with the data, hold rows out, learn from the rest, freeze the model, judge the frozen model on the rows
held out, and compare it with the baseline. What is judged is what is stored.

Ctrl-C in the fit of the model that will be stored keeps the best weights so far, which are judged and stored
as interrupted. Anywhere else there is no model to keep: ``KeyboardInterrupt`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from lineal.cancellation import nothing_done
from lineal.data.records import Records, read_records
from lineal.evaluation.comparing import compare
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.evaluation import Evaluation
from lineal.jobs.ahead import TextsAhead
from lineal.jobs.answers import Answers, always, answers_of
from lineal.jobs.dataset import Dataset, named
from lineal.jobs.learner import Learner
from lineal.jobs.preparing import Prepared, columns_of, prepared
from lineal.jobs.room import check_room
from lineal.jobs.scoring import WEIGHTS_MEAN, evaluated
from lineal.jobs.splitting import Plan
from lineal.jobs.training import Clock, Columns, Judging, Training
from lineal.learners.freezing import freeze
from lineal.learners.searched.search import is_broken_off
from lineal.model.model import Model

_UNFINISHED = "the fit was broken off by Ctrl-C: these are the best weights so far"
_NOT_REFITTED = "Ctrl-C broke off the fit to all rows: this is the model that was judged"


def train(
    path: str,
    *,
    columns: Columns = Columns(),
    learner: Learner = Learner(),
    judging: Judging = Judging(),
    reading: dict[str, Any] | None = None,
    read: Callable[..., Records] = read_records,
    is_refitted: bool = False,
    about: dict[str, Any] | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Training:
    """Trains, judges and compares.

    Parameters
    ----------
    path : str
        A file or folder; ``"-"`` is the standard input.
    columns, learner, judging
        What was asked for; the rest is guessed.
    reading : dict, optional
        Options of ``lineal.data.read_records``.
    read : callable
        ``lineal.data.read_records``, or something that has begun to read already.
    is_refitted : bool
        Whether the stored model is fitted once more, to all rows, after it was judged.
    about : dict, optional
        More for the model's own record, such as the command.
    tell : callable
        Called with a sentence before each step.

    Returns
    -------
    Training

    Raises
    ------
    InputError, ParameterError
        Before anything is learned, wherever that is possible.
    KeyboardInterrupt
        After Ctrl-C, where there is no model to keep.
    """
    clock = Clock(tell)
    learner.check(columns.task)
    ready = prepared(path, columns, judging, reading or {}, read, clock)
    if ready.roles is not None:
        check_room(path, ready.roles)
    estimator = learner.made(ready.data, ready.roles, ready.task, seed=judging.seed)
    work = _Work(ready, estimator, learner, judging, _told(ready, path, about), clock)
    fit = work.by_folds() if judging.n_folds is not None else work.by_rows()
    with clock.step("judge", "judging"):
        evaluation, comparison = _judged(fit, ready.task, judging)
    interrupted = fit.interrupted
    if is_refitted and judging.n_folds is None and not interrupted:
        fit, interrupted = work.refitted(fit)
    notes = {**fit.model.about.notes, **({"interrupted": interrupted} if interrupted else {})}
    scores = _scores_told(evaluation)
    return Training(
        model=fit.model.with_about(scores=scores, notes=notes), estimator=fit.estimator,
        records=ready.records, roles=ready.roles, findings=ready.findings, train=fit.part, test=fit.test,
        test_name=judging.test or str(path), test_lines=ready.lines, split=ready.plan.sentence,
        answers=fit.answers, baseline=fit.baseline, baseline_name=fit.baseline_name,
        evaluation=evaluation, comparison=comparison, judging=judging, seconds=clock.seconds,
        interrupted=interrupted,
    )  # fmt: skip


def _scores_told(evaluation: Evaluation) -> dict[str, Any]:
    """Scores for the model's own record; an end that one row cannot give is left out, as JSON has no NaN."""
    return {
        name: {
            key: end for key, end in (("value", s.value), ("low", s.low), ("high", s.high)) if isfinite(end)
        }
        for name, s in evaluation.scores.items()
        if isfinite(s.value)
    }


def _told(ready: Prepared, path: str, about: dict[str, Any] | None) -> dict[str, Any]:
    """What the model's own record says of where it comes from."""
    seal = ready.fingerprint
    return {
        "columns": columns_of(ready.roles, ready.records),
        "fingerprint": {"bytes": seal.n_bytes, "sha256": seal.sha256, "file": Path(path).name},
        **(about or {}),
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class _Fit:
    """A fitted model, and what it and the baseline say of the rows it is judged by."""

    estimator: Any
    model: Model
    part: Dataset
    test: Dataset
    answers: Answers
    baseline_name: str
    baseline: Answers

    @property
    def interrupted(self) -> str:
        return _UNFINISHED if is_broken_off(self.estimator) else ""


@dataclass(frozen=True, eq=False)
class _Work:
    """The fits of a training."""

    ready: Prepared
    estimator: Any
    learner: Learner
    judging: Judging
    told: dict[str, Any]
    clock: Clock

    def by_folds(self) -> _Fit:
        """Every row is judged by a model that has not seen it; the model itself is fitted to all."""
        data, plan = self.ready.data, self.ready.plan
        parts, rows = [], []
        for number, (train_rows, test_rows) in enumerate(plan.splits, 1):
            with self.clock.step("folds", f"fold {number} of {len(plan.splits)}"):
                fitted = self.learner.fitted(self.estimator, data.take(train_rows))
                if is_broken_off(fitted):
                    raise nothing_done()  # without all folds the rows are not judged
                parts.append(answers_of(freeze(fitted), data.take(test_rows).X))
                rows.append(test_rows)
        answers = Answers.joined(parts, rows, len(data))
        baseline_name, baseline = _baseline_in_folds(data, plan, self.ready.task)
        fitted, model = self._fitted(data, {})
        return _Fit(
            estimator=fitted, model=model, part=data, test=data, answers=answers, baseline_name=baseline_name,
            baseline=baseline,
        )  # fmt: skip

    def by_rows(self) -> _Fit:
        """The model is judged by the test file, or by rows that were held out."""
        data, test, notes = self.ready.data, self.ready.test, {}
        part = data
        if test is None:
            (train_rows, test_rows), *_ = self.ready.plan.splits
            part, test = data.take(train_rows), data.take(test_rows)
            notes = {"held out": {"share": self.judging.share, "seed": self.judging.seed}}
        ahead = TextsAhead(test, self.learner.n_threads)
        fitted, model = self._fitted(part, notes, ahead.begin)
        with self.clock.step("predict", f"predicting {len(test):,} test rows"):
            answers = ahead.answers(model)
        baseline_name, baseline = always(part.y, len(test), self.ready.task, part.sample_weight)
        return _Fit(
            estimator=fitted, model=model, part=part, test=test, answers=answers, baseline_name=baseline_name,
            baseline=baseline,
        )  # fmt: skip

    def refitted(self, judged: _Fit) -> tuple[_Fit, str]:
        """The same with a model of all rows, or as it is where Ctrl-C broke that off; and what to say."""
        rows = _all_rows(self.ready.data, judged.part, judged.test)
        also = {} if self.judging.test is None else {"learned also from": Path(self.judging.test).name}
        fitted, model = self._fitted(rows, also)
        if is_broken_off(fitted):
            return judged, _NOT_REFITTED
        return replace(judged, estimator=fitted, model=model), ""

    def _fitted(
        self, rows: Dataset, notes: dict[str, Any], when_read: Callable[[Any], None] | None = None
    ) -> tuple[Any, Model]:
        with self.clock.step("learn", f"learning from {len(rows):,} rows"):
            fitted = self.learner.fitted(self.estimator, rows, when_read)
        if is_broken_off(fitted):
            self.clock.tell("Ctrl-C: what there is will be kept; press it once more to keep nothing")
        about = {**self.told, "n_rows": len(rows), "notes": notes}
        return fitted, freeze(named(fitted, self.ready.data.names), about=about)


def _baseline_in_folds(data: Dataset, plan: Plan, task: str) -> tuple[str, Answers]:
    parts, name = [], ""
    for train_rows, test_rows in plan.splits:
        weights = None if data.sample_weight is None else data.sample_weight[train_rows]
        name, answers = always(data.y[train_rows], len(test_rows), task, weights)
        parts.append(answers)
    return name, Answers.joined(parts, [test for _, test in plan.splits], len(data))


def _judged(fit: _Fit, task: str, judging: Judging) -> tuple[Evaluation, ModelComparison]:
    own: dict[str, Any] = {"confidence": judging.confidence, "random_state": judging.seed}
    evaluation = evaluated(fit.answers, fit.test, task, **own)
    comparison = compare(
        {"model": fit.answers, fit.baseline_name: fit.baseline},
        X_test=np.zeros((len(fit.test), 1)),  # answers are known already
        y_test=fit.test.y,
        sample_weight_test=fit.test.sample_weight,
        weights=WEIGHTS_MEAN,
        groups=fit.test.groups,
        # R² is not defined where the test rows have one value.
        metric=None if task == "classification" or "r2" in evaluation else "rmse",
        task=task,
        **own,
    )
    return evaluation, comparison


def _all_rows(data: Dataset, part: Dataset, test: Dataset) -> Dataset:
    """Everything with a label: the whole file, or the training and the test file together."""
    if len(part) < len(data):
        return data
    if data.inputs == "rows":
        import scipy.sparse as sp

        X = sp.vstack([part.X, test.X], format="csr")
    elif data.inputs == "texts":
        from lineal import _core

        X = _core.Documents.concatenate([part.X, test.X])
    else:
        import pyarrow as pa

        X = pa.concat_tables([part.X, test.X.select(part.X.column_names)], promote_options="permissive")

    def both(a: Any, b: Any) -> Any:
        return None if a is None or b is None else np.concatenate([a, b])

    return Dataset(
        data.inputs,
        X,
        np.concatenate([part.y, test.y]),
        np.concatenate([part.rows, test.rows]),
        both(part.groups, test.groups),
        both(part.sample_weight, test.sample_weight),
    )
