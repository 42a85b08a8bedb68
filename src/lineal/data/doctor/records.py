"""The cheap part of the doctor: what can be seen in a table that was read already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lineal.data.doctor.collector import Collector
from lineal.data.doctor.columns import check_columns
from lineal.data.doctor.findings import Finding
from lineal.data.doctor.frame import Column, Frame, Texts, is_string, quick_texts
from lineal.data.doctor.headers import check_header
from lineal.data.doctor.labels import check_labels
from lineal.data.doctor.leaks import check_leaks
from lineal.data.doctor.pairs import check_pair
from lineal.data.doctor.rows import check_rows
from lineal.data.doctor.texts import check_texts

# The code of columns that tell the label alone.
DECIDES = "decides-label"


def diagnose_records(
    records: Any,
    *,
    label: str | None,
    text_columns: Sequence[str] = (),
    features: Sequence[str] = (),
    test: Any = None,
    task: str | None = None,
    file: str | None = None,
    delimiter: str | None = None,
    first_line: int | None = None,
    test_first_line: int | None = None,
    max_findings_per_kind: int = 10,
) -> list[Finding]:
    """Problems of a table in memory, the worst first.

    Parameters
    ----------
    records : pyarrow.Table, or something with ``table`` and ``path``
    label : str or None
        The column to be predicted.
    text_columns, features : names of columns
        Texts, and all columns that are learned from; texts among the features are not looked at twice.
    test : the same as records, optional
        What the model will be tested on.
    task : "classification" or "regression", optional
        By default what the labels look like.
    file : str, optional
        What findings call the table.
    delimiter : str, optional
        Of a file whose first line was taken for names of columns, so that it is asked whether it is one.
    first_line, test_first_line : int, optional
        The line of the first row, where every row is one line of its file.
    max_findings_per_kind : int

    Returns
    -------
    list of Finding
        Their places are lines where they are known, else rows, counted from 0.

    Notes
    -----
    Labels and columns are looked at whole; of texts their beginnings, and all of those that begin alike.

    Examples
    --------
    >>> table = pa.table({"text": ["call now", "see you", "Call  now"], "label": ["spam", "ham", "ham"]})
    >>> for finding in diagnose_records(table, label="label", text_columns=["text"], file="sms.csv"):
    ...     print(finding.severity, finding.code, finding.rows)
    warning label-single (0,)
    warning contradiction (2,)
    note label-rare (1, 2)
    """
    table, name = _table(records, file)
    if table is None:
        return []
    other, other_name = _table(test, None) if test is not None else (None, "")
    texts = [column for column in text_columns if _has_text(table, column)]
    there = set(table.column_names) - set(texts)
    kept = [column for column in features if column in there]
    found = Collector(name, max_findings_per_kind)
    digests = {
        column: quick_texts([t.column(column) for t in _with(column, table, other)], column)
        for column in texts
    }
    own = {column: parts[0] for column, parts in digests.items()}
    frame = _frame(table, name, label, kept, own, first_line)
    if delimiter is not None:
        # Names are looked at beside all values, also of columns that are not learned from.
        wider = _frame(table, name, label, [*there], own, first_line)
        wider.columns |= frame.columns  # what was seen of them is not looked for twice
        wider.has_header, wider.header_line, wider.delimiter = True, 1, delimiter
        wider.raw_names = wider.names
        check_header(wider, found)
    is_classes = check_labels(frame, found, task)
    check_columns(frame, found, is_quick=True)
    check_leaks(frame, found, is_classes=is_classes)
    check_texts(frame, found, is_classes=is_classes)
    check_rows(frame, found, is_classes=is_classes)
    if other is not None:
        parts = {column: both[1] for column, both in digests.items() if len(both) > 1}
        there = set(other.column_names)
        held = [column for column in kept if column in there]
        beside = _frame(other, other_name, label, held, parts, test_first_line)
        check_pair(frame, beside, found, is_classes=is_classes)
    return list(found.findings())


def deciding_columns(
    table: Any, *, label: str, features: Sequence[str], task: str | None, file: str
) -> list[Finding]:
    """What ``diagnose_records`` says of columns that decide the label, without a look at anything else."""
    found = Collector(file)
    frame = _frame(table, file, label, features, {}, None)
    is_classes = check_labels(frame, found, task)
    check_leaks(frame, found, is_classes=is_classes)
    return [finding for finding in found.findings() if finding.code == DECIDES]


def _table(records: Any, file: str | None) -> tuple[Any, str]:
    """The table, or None for records of another shape, and what to call it."""
    name = file if file is not None else str(getattr(records, "path", None) or "")
    return (records if isinstance(records, pa.Table) else getattr(records, "table", None)), name


def _has_text(table: Any, column: str) -> bool:
    if column not in table.column_names:
        return False
    kind = table.schema.field(column).type
    return is_string(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _with(column: str, table: Any, other: Any) -> list[Any]:
    return [table] if other is None or not _has_text(other, column) else [table, other]


def _frame(
    table: Any,
    file: str,
    label: str | None,
    columns: Sequence[str],
    texts: dict[str, Texts],
    first_line: int | None,
) -> Frame:
    names = [*([label] if label is not None and label in table.column_names else []), *columns]
    return Frame(
        file=file,
        format="table",
        n_rows=table.num_rows,
        columns={name: Column(name, table.column(name)) for name in dict.fromkeys(names)},
        texts=texts,
        label=label if names and names[0] == label else None,
        names=tuple(table.column_names),
        lines=None if first_line is None else np.arange(table.num_rows, dtype=np.int64) + first_line,
    )
