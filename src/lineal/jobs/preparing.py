"""From files to rows that can be learned from: what columns are, what is wrong, which rows are held out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.doctor import Finding, diagnose_records
from lineal.data.doctor.records import DECIDES, deciding_columns
from lineal.data.records import Records, read_records
from lineal.errors import CellError, InputError, ParameterError
from lineal.jobs.dataset import Dataset, dataset_of
from lineal.jobs.labels import labels_like
from lineal.jobs.lines import first_line, place_of
from lineal.jobs.origin import fingerprint_of
from lineal.jobs.places import told_of_cells
from lineal.jobs.roles import Roles, guess_roles
from lineal.jobs.splitting import Plan, folds, held_out
from lineal.jobs.training import Clock, Columns, Judging

# Intervals add up sixth powers of errors, which overflow beyond.
_LARGEST = 1e50


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """What is known before anything is learned.

    Attributes
    ----------
    records, fingerprint
        The training file, and the bytes it was read from.
    roles, findings
        What each column is taken for, and what is wrong with the data.
    data : Dataset
        All labelled rows of the training file.
    test : Dataset or None
        Those of the test file.
    task : "classification" or "regression"
    plan : Plan
        Which of the rows are held out; with a test file none.
    lines : int or None
        The line of the first row of the file that the model is judged by, where each row is one line.
    """

    records: Records
    fingerprint: Any
    roles: Roles | None
    findings: list[Finding]
    data: Dataset
    test: Dataset | None
    task: str
    plan: Plan
    lines: int | None


def prepared(
    path: str,
    columns: Columns,
    judging: Judging,
    reading: dict[str, Any],
    read: Callable[..., Records],
    clock: Clock,
) -> Prepared:
    """Reads, guesses roles, deals rows and looks for problems; columns that tell the label are left out."""
    with clock.step("read", f"reading {path}"):
        records = read_wanted(path, columns, reading, read)
        # Hashing does not hold Python up, and nobody asks for the fingerprint before the end.
        beside = ThreadPoolExecutor(1)
        fingerprint = beside.submit(fingerprint_of, records, path)
        beside.shutdown(wait=False)
        other = None if judging.test is None else _read_test(judging.test, records, columns, reading, read)
    with clock.step("look", "looking at the columns"):
        roles = roles_of(records, columns)
        with told_of_cells(path, reading):
            data = dataset_of(records, roles, task=columns.task)
        task = task_of(roles, data, columns)
        lines = first_line(records, path, reading)
        if task == "regression":
            _check_targets(records, data, lines)
        plan = _plan(data, task, judging)
        findings: list[Finding] = []
        if roles is not None:
            kept, findings = _without_answers(
                roles, _findings(records, other, roles, data, plan, lines, reading), columns
            )
            if kept is not roles:
                roles, data = kept, dataset_of(records, kept)  # the same rows
            if other is not None:
                with told_of_cells(judging.test or "", reading):
                    _check_test(other, roles)
        if roles is not None and data.inputs == "table":
            _check_finite(records, roles, data, lines)
        with told_of_cells(judging.test or "", reading):
            test = None if other is None else _test_rows(other, roles, data, columns)
    if judging.test is not None and test is not None and other is not None:
        lines = first_line(other, judging.test, reading)
        plan = Plan([], f"{len(test):,} rows of {judging.test}")
    return Prepared(
        records=records, fingerprint=fingerprint.result(), roles=roles, findings=findings, data=data,
        test=test, task=task, plan=plan, lines=lines,
    )  # fmt: skip


def _plan(data: Dataset, task: str, judging: Judging) -> Plan:
    if judging.test is not None:
        return Plan([], "")
    if judging.n_folds is not None:
        return folds(data, task, judging.n_folds, judging.seed)
    return held_out(data, task, judging.share, judging.seed)


def roles_of(records: Records, columns: Columns) -> Roles | None:
    """What each column is taken for; None for sparse rows, which have none."""
    if records.table is None:
        return None
    if records.format == "folder" and "label" not in records.table.column_names and columns.label is None:
        raise InputError(
            f"{records.path} has texts, but no sub-folders: put the texts of each label into a folder of "
            "their own, with the label for its name."
        )
    return guess_roles(records.table, **vars(columns))


def read_wanted(
    path: str, columns: Columns, reading: dict[str, Any], read: Callable[..., Records] = read_records
) -> Records:
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
        return read_wanted(path, columns, reading, read)
    names = trained.rows.names
    own = {"first_index": trained.rows.first_index} if names is None else {"names": names}
    try:
        return read_records(path, **own, **reading)
    except ParameterError as flaw:
        if "options of libsvm and vw" not in str(flaw):
            raise
        raise InputError(f"{path} is a file of columns, but the training file has sparse rows.") from None


def _findings(
    records: Records,
    other: Records | None,
    roles: Roles,
    data: Dataset,
    plan: Plan,
    lines: int | None,
    reading: dict[str, Any],
) -> list[Finding]:
    """What is wrong with the data; columns that decide the label are sought where models learn.

    With one part held out these are the other rows. With folds every row is learned from, also by the model
    that is stored, so that all are looked at: what is then left out makes no score better.
    """
    found = diagnose_records(
        records,
        label=roles.label,
        text_columns=roles.of("text"),
        features=list(roles.features),
        test=other,
        task=roles.task,
        delimiter=_delimiter(records, reading),
        first_line=lines,
    )
    if len(plan.splits) != 1:
        return found
    others = [name for name, kind in roles.features.items() if kind != "text"]
    found = [finding for finding in found if finding.code != DECIDES]
    if not others:
        return found
    (train_rows, _), *_ = plan.splits
    part = records.table.select([roles.label, *others]).take(data.rows[np.sort(train_rows)])
    file = str(records.path)
    return found + deciding_columns(part, label=roles.label, features=others, task=roles.task, file=file)


def _delimiter(records: Records, reading: dict[str, Any]) -> str | None:
    """What is between the names in the first line, of a file that was read with one."""
    if records.format not in ("csv", "tsv") or not reading.get("header", True):
        return None
    return reading.get("delimiter") or ("\t" if records.format == "tsv" else ",")


def _without_answers(roles: Roles, findings: list[Finding], columns: Columns) -> tuple[Roles, list[Finding]]:
    """Leaves out columns that decide the label alone, as long as another one is left to learn from."""
    asked = {*columns.keep, *columns.text, *columns.category}
    told = {
        finding.column
        for finding in findings
        if finding.code == DECIDES and finding.column in roles.features and finding.column not in asked
    }
    if not told or len(told) == len(roles.features):
        return roles, findings
    left = roles.without((name for name in told if name is not None), "it tells the label alone")
    fix = "It was left out. If it is known where the model is used, keep it: --keep {}"
    return left, [
        replace(finding, fix=fix.format(finding.column))
        if finding.code == DECIDES and finding.column in told
        else finding
        for finding in findings
    ]


def _check_targets(records: Records, data: Dataset, lines: int | None) -> None:
    """Refuses numbers that cannot be predicted, before they are dealt into parts."""
    _refuse_infinite(data.y, data, records, "the label", lines)
    if (most := float(np.abs(data.y).max())) > _LARGEST:
        raise InputError(
            f"{records.path}: the values to predict reach {most:.3g}, too large to add up powers of their "
            "errors. Divide the column by a power of ten, or take its logarithm."
        )
    if np.ptp(data.y) == 0:
        raise InputError(
            f"{records.path}: every value to predict is {data.y[0]:g}, so there is nothing to learn. "
            "Choose another column with --label."
        )


def _check_finite(records: Records, roles: Roles, data: Dataset, lines: int | None) -> None:
    """Refuses what no learner takes while it is known where in the file it stands."""
    import pyarrow as pa

    for name in (name for name, kind in roles.features.items() if kind == "number"):
        column = data.X.column(name)
        if pa.types.is_floating(column.type):
            _refuse_infinite(column.to_numpy(), data, records, f"column {name!r}", lines)


def _refuse_infinite(
    values: NDArray[Any], data: Dataset, records: Records, what: str, lines: int | None
) -> None:
    is_infinite = np.isinf(values)
    if is_infinite.any():
        first = int(np.argmax(is_infinite))
        place = place_of(int(data.rows[first]), lines)
        raise InputError(
            f"{records.path}, {place}: {what} needs finite numbers, but here is {values[first]:g}. "
            "Correct the cell, or leave it blank."
        )


def _check_test(records: Records, roles: Roles) -> None:
    if records.table is None:
        raise InputError(f"{records.path} is a file of sparse rows, but the training file has columns.")
    needed = [roles.label, *roles.features, *roles.of("weight"), *roles.of("group")]
    there = set(records.table.column_names)
    absent = [name for name in needed if name not in there]
    if absent:
        shown = ", ".join(map(repr, absent))
        raise InputError(f"{records.path} lacks columns that the training file has: {shown}.")
    for name in (name for name, kind in roles.features.items() if kind == "number"):
        for row, value in enumerate(_words_among_numbers(records.table.column(name))):
            if value is not None and not _is_number(value):
                raise CellError(
                    f"column {name!r} holds numbers in the training file, but ", row,
                    f" has {value!r}. Correct the cell, leave it blank, or train with --category {name}.",
                )  # fmt: skip


def _words_among_numbers(column: Any) -> list[str | None]:
    """The cells of a column that was read as text, and nothing of others."""
    import pyarrow as pa

    return column.to_pylist() if pa.types.is_string(column.type) else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _test_rows(records: Records, roles: Roles | None, data: Dataset, columns: Columns) -> Dataset:
    """The rows of a test file, which may spell its labels otherwise: 1, 1.0, "1"."""
    if roles is None:
        return _sparse_test(records, data, columns.task)
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
