"""The whole doctor: a file is read in spite of its flaws, and everything that is wrong with it is said."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from lineal.data.blocks import check_encoding
from lineal.data.compression import raw_pieces
from lineal.data.doctor.collector import Collector
from lineal.data.doctor.columns import check_columns
from lineal.data.doctor.delimited import Delimited
from lineal.data.doctor.findings import Diagnosis
from lineal.data.doctor.folders import gather_folder
from lineal.data.doctor.frame import Frame
from lineal.data.doctor.gathering import Gatherer
from lineal.data.doctor.headers import check_header
from lineal.data.doctor.json_lines import JsonLines
from lineal.data.doctor.labels import check_labels
from lineal.data.doctor.leaks import check_leaks
from lineal.data.doctor.lines import BLOCK, Block, Lines, Rows
from lineal.data.doctor.pairs import check_pair
from lineal.data.doctor.rows import check_rows
from lineal.data.doctor.sparse_lines import PlainLines, SparseLines, WabbitLines
from lineal.data.doctor.stored import gather_parquet
from lineal.data.doctor.texts import check_texts
from lineal.data.formats import check_format, refuse_strangers, resolve, suffix_format
from lineal.errors import InputError, ParameterError

Source = str | os.PathLike[str]


class _Reader(Protocol):
    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]: ...
    def close(self) -> None: ...
    def column_of(self, before: str) -> str | None: ...


@dataclass(frozen=True)
class _Options:
    format: str | None
    header: bool
    delimiter: str | None
    quoting: bool | None
    encoding: str


def diagnose(
    path: Source,
    *,
    test: Source | None = None,
    label: str | None = None,
    text: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    task: str | None = None,
    format: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    max_findings_per_kind: int = 10,
) -> Diagnosis:
    """Every problem of a file of labelled rows, with file, line, column and the fix.

    Parameters
    ----------
    path
        A file of CSV, TSV, JSON lines, Parquet, LIBSVM, Vowpal Wabbit or plain lines, packed or not, a
        folder of texts, or ``"-"`` for the standard input.
    test
        The file that a model will be tested on: rows, columns and labels of the two are compared.
    label, text, drop
        Columns by name: what is to be predicted, texts, and what is to be left out. Label and texts are
        guessed from names and values if they are not given.
    task
        ``"classification"`` or ``"regression"``; by default what the labels look like.
    format, header, delimiter, quoting, encoding
        As for `read_records`.
    max_findings_per_kind
        How many findings of one code are listed; the rest are counted.

    Returns
    -------
    Diagnosis
        Its findings, the worst first. ``has_errors`` says whether training cannot work as the file is.

    Raises
    ------
    InputError
        If there is no such file.
    ParameterError
        For columns that are not there and options that cannot be.

    Notes
    -----
    The file is read once, to its end: a record that is wrong is mended in the likeliest way, so that what
    comes after it is looked at too. Of texts no more is kept than hashes of 64 bits and their first 80 bytes;
    other columns are kept as they are. Lines are counted as an editor does, also behind line ends in quotes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sms.csv")
    >>> _ = path.write_text("label,text\\nspam,call now, it is free\\nham,see you\\n")
    >>> finding = diagnose(path).findings[0]
    >>> finding.code, finding.line, finding.column
    ('too-many-fields', 2, 'text')
    >>> print(finding.fix)
    Put the value in quotes: spam,"call now, it is free"
    """
    check_format(format)
    check_encoding(encoding, "strict")
    if task not in (None, "classification", "regression"):
        raise ParameterError(f"task must be 'classification' or 'regression', got {task!r}.")
    if max_findings_per_kind < 1:
        raise ParameterError(f"max_findings_per_kind must be positive, got {max_findings_per_kind}.")
    texts = (text,) if isinstance(text, str) else tuple(text or ())
    options = _Options(format, header, delimiter, quoting, encoding)
    found = Collector(str(path), max_findings_per_kind)
    frame, n_bytes = _frame(path, options, Gatherer(label, texts, drop, found), found)
    is_classes = _check_frame(frame, found, task)
    if test is not None:
        beside = Collector(str(test), max_findings_per_kind)
        gatherer = Gatherer(None, tuple(frame.texts), (), beside, is_test=True)
        other, _ = _frame(test, options, gatherer, beside)
        other.label = frame.label if frame.label in other.columns else None
        check_pair(frame, other, beside, is_classes=is_classes)
        found.join(beside)
    return Diagnosis(
        file=str(path),
        format=frame.format,
        n_rows=frame.n_rows,
        n_bytes=n_bytes,
        columns=frame.names,
        label=frame.label,
        text=tuple(frame.texts),
        findings=found.findings(),
        left_out=dict(found.left_out),
    )


def _check_frame(frame: Frame, found: Collector, task: str | None) -> bool:
    """Everything about rows; returns whether the labels are classes."""
    if frame.n_rows == 0:
        if not found.has("empty-file"):
            is_said = bool(found.findings())
            advice = (
                "Put right what is said above" if is_said else "Write the rows below the names of the columns"
            )
            found.add("no-rows", advice=f"{advice}, or write the data again.")
        return False
    check_header(frame, found)
    is_classes = check_labels(frame, found, task)
    check_columns(frame, found)
    if frame.label is None and len(frame.names) > 1:
        names = [name for name in frame.names if name not in frame.texts] or list(frame.names)
        found.add("label-unknown", quoted=names[-1], names=", ".join(map(repr, frame.names[:20])))
    check_leaks(frame, found, is_classes=is_classes)
    check_texts(frame, found, is_classes=is_classes)
    check_rows(frame, found, is_classes=is_classes)
    return is_classes


def _frame(source: Source, options: _Options, gatherer: Gatherer, found: Collector) -> tuple[Frame, int]:
    """The rows of a file or folder, and how many bytes it has."""
    path = None if str(source) == "-" else Path(source)
    if path is not None and not path.exists():
        raise InputError(f"There is no file or folder {path}. The current folder is {Path.cwd()}.")
    if path is not None and path.is_dir():
        return gather_folder(path, gatherer, options.encoding, found)
    pieces = raw_pieces(path, BLOCK)
    first, format = b"", options.format or "lines"
    try:
        first = next(pieces, b"")
        if not first.strip(b" \t\r\n"):
            found.add("empty-file")
            return gatherer.frame(str(source), format), len(first)
        head = _plain(first)
        refuse_strangers(head)
        format, note = resolve(path, options.format, head)
        if format == "lines" and options.format is None and (path is None or suffix_format(path) is None):
            format = _voted(head)
    except InputError as flaw:
        found.add("unreadable", why=str(flaw))
        return gatherer.frame(str(source), format), len(first)
    if note:
        found.add("wrong-format", why=note, format=format)
    pieces = chain([first], pieces)
    if format == "parquet":
        return gather_parquet(path, pieces, gatherer, found)
    lines = Lines(pieces, options.encoding, found)
    reader = _reader(format, options, gatherer.first_text, found)
    for rows in reader.rows(lines.blocks()):
        gatherer.add(rows)
    reader.close()
    lines.close(reader.column_of)
    more: dict[str, Any] = {}
    if isinstance(reader, Delimited):
        more = {"has_header": options.header, "delimiter": reader.delimiter}
        more |= {"header_line": reader.header_line, "raw_names": tuple(reader.raw_names)}
    return gatherer.frame(str(source), format, **more), lines.n_bytes


def _plain(head: bytes) -> bytes:
    """The first bytes, for a look at the format, with one byte a letter."""
    head = head[: 1 << 16]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace").encode("utf-8")
    return head.replace(b"\0", b"")


def _voted(head: bytes) -> str:
    """CSV or TSV, if most of the first lines, not all as for reading, have as many marks as the first."""
    lines = [line for line in head.split(b"\n")[:50] if line.strip()]
    for mark in (b"\t", b",", b";", b"|"):
        n = lines[0].count(mark)
        if n and sum(line.count(mark) == n for line in lines) > 0.6 * len(lines) and len(lines) > 2:
            return "tsv" if mark == b"\t" else "csv"
    return "lines"


def _reader(format: str, options: _Options, text: str | None, found: Collector) -> _Reader:
    if format in ("csv", "tsv"):
        quoting = format == "csv" if options.quoting is None else options.quoting
        return Delimited(format, options.delimiter, options.header, quoting, text, found)
    if format == "jsonl":
        return JsonLines(found)
    if format == "libsvm":
        return SparseLines(found)
    return WabbitLines(found) if format == "vw" else PlainLines()
