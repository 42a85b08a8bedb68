"""From a labelled file to a model that is certified, judged on rows it has not seen, and compared.

The steps are those of a careful person: read the file, say what each column is taken for, look for what is
wrong with the data, hold rows out, learn from the rest, freeze the model, judge the frozen model on the rows
held out, and compare it with the baseline. What is judged is what is stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.doctor import Finding, diagnose_records
from lineal.data.records import Records, read_records
from lineal.errors import InputError, ParameterError
from lineal.evaluation.comparing import compare
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.evaluation import Evaluation
from lineal.jobs.answers import Answers, always, answers_of
from lineal.jobs.dataset import Dataset, dataset_of, named
from lineal.jobs.labels import labels_like
from lineal.jobs.learner import Learner
from lineal.jobs.origin import fingerprint_of
from lineal.jobs.roles import Roles, guess_roles
from lineal.jobs.scoring import evaluated
from lineal.jobs.splitting import Plan, folds, held_out
from lineal.learners.freezing import freeze
from lineal.model.model import Model

# Findings that make a column useless to learn from, since it tells the label: left out unless it is kept.
_DECIDES = "decides-label"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What was asked of the columns, as for :func:`guess_roles`."""

    label: str | None = None
    text: Sequence[str] = ()
    category: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    group: str | None = None
    weight: str | None = None
    task: str | None = None


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How a model is judged: a test file, a share held out, or folds."""

    test: str | None = None
    share: float = 0.2
    n_folds: int | None = None
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test is not None and self.n_folds is not None:
            raise ParameterError("a test file and folds are two ways to judge a model: give one of them.")
        if self.n_folds is not None and self.n_folds < 2:
            raise ParameterError(f"there must be at least 2 folds, got {self.n_folds}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """What a training gave.

    Attributes
    ----------
    model : Model
        Frozen; what is judged and stored.
    estimator : the learner behind it
    records, roles, findings
        The data, what each column was taken for, and what is wrong with them.
    train, test : Dataset
        What was learned from, and what the model is judged by (with folds, all rows).
    split : str
        How the test part was made.
    answers, baseline : Answers
        Of the model and of the baseline for the test rows.
    baseline_name : str
    evaluation : Evaluation
    comparison : ModelComparison
    seconds : dict of step to seconds
    """

    model: Model
    estimator: Any
    records: Records
    roles: Roles | None
    findings: list[Finding]
    train: Dataset
    test: Dataset
    test_name: str
    split: str
    answers: Answers
    baseline: Answers
    baseline_name: str
    evaluation: Evaluation
    comparison: ModelComparison
    judging: Judging
    seconds: dict[str, float] = field(default_factory=dict)


class Clock:
    """Times steps, and tells of each as it begins."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.seconds: dict[str, float] = {}
        self._tell = tell

    @contextmanager
    def step(self, name: str, sentence: str) -> Iterator[None]:
        """Runs a step."""
        self._tell(sentence)
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


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
    """
    clock = Clock(tell)
    reading = reading or {}
    with clock.step("read", f"reading {path}"):
        records = _read(path, columns, reading, read)
        seal = fingerprint_of(records, path)
        test_records = (
            None if judging.test is None else _read_test(judging.test, records, columns, reading, read)
        )
    roles, findings, data, test = _prepared(records, test_records, columns, judging, clock)
    task = task_of(roles, data, columns)
    estimator = learner.made(data, roles, task, seed=judging.seed)
    if test is not None:
        plan = Plan([], f"{len(test):,} rows of {judging.test}")
    elif judging.n_folds is not None:
        plan = folds(data, task, judging.n_folds, judging.seed)
    else:
        plan = held_out(data, task, judging.share, judging.seed)
    told = {
        "n_rows": len(data),
        "columns": columns_of(roles, records),
        "fingerprint": {"bytes": seal.n_bytes, "sha256": seal.sha256, "file": Path(path).name},
        **(about or {}),
    }
    if judging.n_folds is not None:
        part, test, answers = data, data, _in_folds(estimator, data, plan, learner, clock)
        fitted = _fitted(estimator, data, learner, clock)
        model = freeze(named(fitted, data.names), about=told)
        baseline_name, baseline = _baseline_in_folds(data, plan, task)
    else:
        part = data if test is not None else data.take(plan.splits[0][0])
        test = test if test is not None else data.take(plan.splits[0][1])
        fitted = _fitted(estimator, part, learner, clock)
        notes: dict[str, Any] = {}
        if judging.test is None:
            notes = {"held out": {"share": judging.share, "seed": judging.seed}}
        model = freeze(named(fitted, data.names), about={**told, "n_rows": len(part), "notes": notes})
        with clock.step("predict", f"predicting {len(test):,} test rows"):
            answers = answers_of(model, test.X)
        baseline_name, baseline = always(part.y, len(test), task, part.sample_weight)
    with clock.step("judge", "judging"):
        evaluation, comparison = _judged(test, answers, baseline_name, baseline, task, judging)
    if is_refitted and judging.n_folds is None:
        everything = _all_rows(data, part, test)
        fitted = _fitted(estimator, everything, learner, clock)
        notes = {} if judging.test is None else {"learned also from": Path(judging.test).name}
        model = freeze(named(fitted, data.names), about={**told, "n_rows": len(everything), "notes": notes})
    scores = {name: {"value": s.value, "low": s.low, "high": s.high} for name, s in evaluation.scores.items()}
    model = model.with_about(scores=scores)
    return Training(
        model=model, estimator=fitted, records=records, roles=roles, findings=findings, train=part, test=test,
        test_name=judging.test or str(path), split=plan.sentence, answers=answers, baseline=baseline,
        baseline_name=baseline_name, evaluation=evaluation, comparison=comparison, judging=judging,
        seconds=clock.seconds,
    )  # fmt: skip


def _read(path: str, columns: Columns, reading: dict[str, Any], read: Callable[..., Records]) -> Records:
    """The records; a column that cannot be read, such as nested JSON, may be one that is not wanted."""
    try:
        return read(path, **reading)
    except InputError:
        if not columns.drop or path == "-":
            raise
        records = read_records(path, drop=columns.drop, **reading)
        if records.table is None:
            raise
        import pyarrow as pa

        for name in columns.drop:
            if name not in records.table.column_names:
                empty = pa.nulls(records.n_rows, pa.string())
                records = replace(records, table=records.table.append_column(name, empty))
        return records


def _read_test(
    path: str, trained: Records, columns: Columns, reading: dict[str, Any], read: Callable[..., Records]
) -> Records:
    """The test file; sparse rows are numbered, or named, as those of the training file are."""
    if trained.rows is None:
        return _read(path, columns, reading, read)
    names = trained.rows.names
    own = {"first_index": trained.rows.first_index} if names is None else {"names": names}
    return read_records(path, **own, **reading)


def _prepared(
    records: Records, test_records: Records | None, columns: Columns, judging: Judging, clock: Clock
) -> tuple[Roles | None, list[Finding], Dataset, Dataset | None]:
    """Roles, problems and rows; columns that tell the label are left out."""
    with clock.step("look", "looking at the columns"):
        if records.table is None:
            data = dataset_of(records, None, task=columns.task)
            test = None if test_records is None else _sparse_test(test_records, data, columns.task)
            return None, [], data, test
        roles = guess_roles(records.table, **vars(columns))
        if test_records is not None:
            _check_test(test_records, roles)
        findings = diagnose_records(
            records,
            label=roles.label,
            text_columns=roles.of("text"),
            features=list(roles.features),
            test=test_records,
            task=roles.task,
        )
        if test_records is None and judging.n_folds is None:
            findings = [found for found in findings if found.code != _DECIDES]
            findings += _answers_in_training_rows(records, roles, judging)
        roles, findings = _without_answers(roles, findings, columns)
        data = dataset_of(records, roles)
        test = None if test_records is None else _test_rows(test_records, roles, data)
    return roles, findings, data, test


def _answers_in_training_rows(records: Records, roles: Roles, judging: Judging) -> list[Finding]:
    """Columns that decide the label alone in the rows that are learned from; others are not looked at."""
    others = [name for name, kind in roles.features.items() if kind != "text"]
    if not others:
        return []
    data = dataset_of(records, roles)
    train_rows, _ = held_out(data, roles.task, judging.share, judging.seed).splits[0]
    part = records.table.select([roles.label, *others]).take(data.rows[np.sort(train_rows)])
    found = diagnose_records(
        part, label=roles.label, features=others, task=roles.task, file=str(records.path)
    )
    return [finding for finding in found if finding.code == _DECIDES]


def _without_answers(roles: Roles, findings: list[Finding], columns: Columns) -> tuple[Roles, list[Finding]]:
    """Leaves out columns that decide the label alone, as long as another one is left to learn from."""
    asked = {*columns.keep, *columns.text, *columns.category}
    told = {
        finding.column
        for finding in findings
        if finding.code == _DECIDES and finding.column in roles.features and finding.column not in asked
    }
    if not told or len(told) == len(roles.features):
        return roles, findings
    left = roles.without((name for name in told if name is not None), "it tells the label alone")
    fix = "It was left out. If it is known where the model is used, keep it: --keep {}"
    return left, [
        replace(finding, fix=fix.format(finding.column))
        if finding.code == _DECIDES and finding.column in told
        else finding
        for finding in findings
    ]


def _check_test(records: Records, roles: Roles) -> None:
    if records.table is None:
        raise InputError(f"{records.path} is a file of sparse rows, but the training file has columns.")
    needed = [roles.label, *roles.features, *roles.of("weight"), *roles.of("group")]
    there = set(records.table.column_names)
    absent = [name for name in needed if name not in there]
    if absent:
        shown = ", ".join(map(repr, absent))
        raise InputError(f"{records.path} lacks columns that the training file has: {shown}.")


def _test_rows(records: Records, roles: Roles, data: Dataset) -> Dataset:
    """The rows of a test file, which may spell its labels otherwise: 1, 1.0, "1"."""
    test = dataset_of(records, roles)
    if roles.task != "classification":
        return test
    return replace(test, y=labels_like(test.y, data.y))


def _sparse_test(records: Records, data: Dataset, task: str | None) -> Dataset:
    if records.rows is None:
        raise InputError(f"{records.path} is a file of columns, but the training file has sparse rows.")
    test = dataset_of(records, None, task=task)
    n, known = test.X.shape[1], data.X.shape[1]
    if n > known:
        return replace(test, X=test.X[:, :known])
    if n < known:
        test.X.resize((test.X.shape[0], known))
    return test


def task_of(roles: Roles | None, data: Dataset, columns: Columns) -> str:
    """What is learned: labels or numbers."""
    if roles is not None:
        return roles.task
    if columns.task is not None:
        return columns.task
    is_numbered = data.y.dtype.kind == "i" and len(np.unique(data.y)) <= 1000
    return "classification" if is_numbered else "regression"


def columns_of(roles: Roles | None, records: Records) -> dict[str, Any]:
    """What a model must know of the columns of its file."""
    if roles is None:
        assert records.rows is not None
        return {"first_index": records.rows.first_index}
    weight = next(iter(roles.of("weight")), None)
    return {
        "label": roles.label, "text": roles.text_alone, "features": roles.features, "group": roles.group,
        "weight": weight,
    }  # fmt: skip


def _fitted(estimator: Any, data: Dataset, learner: Learner, clock: Clock) -> Any:
    with clock.step("learn", f"learning from {len(data):,} rows"):
        return learner.fitted(estimator, data)


def _in_folds(estimator: Any, data: Dataset, plan: Plan, learner: Learner, clock: Clock) -> Answers:
    parts, rows = [], []
    for number, (train_rows, test_rows) in enumerate(plan.splits, 1):
        with clock.step("folds", f"fold {number} of {len(plan.splits)}"):
            fitted = learner.fitted(estimator, data.take(train_rows))
            parts.append(answers_of(freeze(fitted), data.take(test_rows).X))
            rows.append(test_rows)
    return Answers.joined(parts, rows, len(data))


def _baseline_in_folds(data: Dataset, plan: Plan, task: str) -> tuple[str, Answers]:
    parts, name = [], ""
    for train_rows, test_rows in plan.splits:
        weights = None if data.sample_weight is None else data.sample_weight[train_rows]
        name, answers = always(data.y[train_rows], len(test_rows), task, weights)
        parts.append(answers)
    return name, Answers.joined(parts, [test for _, test in plan.splits], len(data))


def _judged(
    test: Dataset, answers: Answers, baseline_name: str, baseline: Answers, task: str, judging: Judging
) -> tuple[Evaluation, ModelComparison]:
    own: dict[str, Any] = {"confidence": judging.confidence, "random_state": judging.seed}
    evaluation = evaluated(answers, test, task, **own)
    rows = np.zeros((len(test), 1))  # answers are known already
    comparison = compare(
        {"model": answers, baseline_name: baseline},
        X_test=rows,
        y_test=test.y,
        sample_weight_test=test.sample_weight,
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
