"""Documents and labels from files: CSV, TSV, JSON lines, Parquet, plain lines and folders.

Line formats are read by the core itself, which says line and byte of what it cannot read; Parquet by pyarrow,
which is imported when the first such file is read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lineal import _core
from lineal.data.blocks import Reader, Window, check_encoding, pieces, scanned, with_ended_lines
from lineal.data.compression import SUFFIXES
from lineal.data.corpus import Corpus, Label, Name, choose_columns, label_values, named_in_errors
from lineal.data.folders import read_folder
from lineal.data.parquet import read_parquet
from lineal.errors import InputError, ParameterError

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".txt": "lines",
    ".text": "lines",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_LINE_FORMATS = ("csv", "tsv", "jsonl", "lines")


@dataclass(frozen=True, kw_only=True)
class _Options:
    format: str
    text: Name | None
    label: Label
    header: bool
    delimiter: str
    quoting: bool
    encoding: str
    errors: str
    missing_is_empty: bool


def read_texts(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text: Name | None = None,
    label: Label = None,
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    missing: str = "refuse",
) -> Corpus:
    """All documents of a file or folder, and their labels.

    Parameters
    ----------
    path
        A file, which may be compressed (gzip, xz, bzip2, Zstandard) if it is one of lines, or a folder.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"lines"`` (a document to a line), ``"parquet"`` or ``"folder"``
        (a document to a file, labelled with its sub-folder); by default what the name ends with.
    text, label
        Columns by name, or by place where there is no header. By default those with usual names, such as
        ``text`` and ``label``; what is not clear is asked for. ``label=False`` reads no labels.
    header, delimiter, quoting
        Of CSV and TSV: whether the first record holds names, what is between fields, and whether fields may
        be in quotes. By default CSV has quotes and TSV has not: there a quote is a character like others.
    encoding, errors
        Of text that is not UTF-8: a name that Python knows, and ``"replace"`` to read on over flaws.
    missing
        ``"refuse"`` or ``"empty"``: what to do with a text that is null.

    Returns
    -------
    Corpus
        ``documents`` and ``labels``; the labels are an array, or None where there are none.

    Raises
    ------
    InputError
        With file, line and byte: what is wrong there and how to go on.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "reviews.csv")
    >>> _ = path.write_text("label,text\\ngood,'I laughed, I cried'\\n".replace("'", '"'))
    >>> documents, labels = read_texts(path)
    >>> documents[0], labels[0]
    ('I laughed, I cried', np.str_('good'))
    """
    format = _format(Path(path), format)
    options = _options(format, text, label, header, delimiter, quoting, encoding, errors, missing)
    parts = list(_parts(Path(path), None, options))
    if len(parts) == 1:
        return parts[0]
    labels = [part.labels for part in parts if part.labels is not None]
    whole = _core.Documents.concatenate([part.documents for part in parts])
    return Corpus(whole, np.concatenate(labels) if labels else None)


def stream_texts(
    path: str | os.PathLike[str],
    *,
    n_bytes: int = 1 << 22,
    format: str | None = None,
    text: Name | None = None,
    label: Label = None,
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    missing: str = "refuse",
) -> Iterator[Corpus]:
    """The same, in parts of about ``n_bytes`` of the file, so that one larger than memory can be read.

    A few times ``n_bytes`` are in memory at once, or a few times the longest record. The parameters are those
    of `read_texts`. A flaw is raised when the part that it lies in is reached, and numbers among the labels
    are whole ones in a part where all of them are.
    """
    if isinstance(n_bytes, bool) or not isinstance(n_bytes, (int, np.integer)) or n_bytes < 1:
        raise ParameterError(f"n_bytes must be a positive whole number, got {n_bytes!r}.")
    format = _format(Path(path), format)
    options = _options(format, text, label, header, delimiter, quoting, encoding, errors, missing)
    return _parts(Path(path), int(n_bytes), options)


def _options(
    format: str,
    text: Name | None = None,
    label: Label = None,
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    missing: str = "refuse",
) -> _Options:
    check_encoding(encoding, errors)
    if missing not in ("refuse", "empty"):
        raise ParameterError(f'missing must be "refuse" or "empty", got {missing!r}.')
    if label is True or isinstance(text, bool):
        raise ParameterError("text and label must be names of columns; label=False reads no labels.")
    is_delimited = format in ("csv", "tsv")
    if not is_delimited and not (header is True and delimiter is None and quoting is None):
        raise ParameterError(f"header, delimiter and quoting are options of csv and tsv, not of {format}.")
    if format in ("lines", "folder") and not (text is None and label in (None, False)):
        raise ParameterError(
            f"There are no columns to choose in format={format!r}: leave out text= and label=."
        )
    if format == "parquet" and (encoding, errors) != ("utf-8", "strict"):
        raise ParameterError("Parquet holds UTF-8: leave out encoding= and errors=.")
    if delimiter is None:
        delimiter = "," if format == "csv" else "\t"
    if len(delimiter.encode("utf-8", "replace")) != 1 or delimiter in '"\r\n':
        raise ParameterError(
            f"delimiter must be one ASCII character, no quote and no end of line, got {delimiter!r}."
        )
    return _Options(
        format=format,
        text=text,
        label=label,
        header=header,
        delimiter=delimiter,
        quoting=format == "csv" if quoting is None else quoting,
        encoding=encoding,
        errors=errors,
        missing_is_empty=missing == "empty",
    )


def _format(path: Path, format: str | None) -> str:
    known = (*_LINE_FORMATS, "parquet", "folder")
    if format is not None and format not in known:
        raise ParameterError(f"There is no format {format!r}: give one of {', '.join(map(repr, known))}.")
    if not path.exists():
        raise InputError(f"There is no file or folder {path}. The current folder is {Path.cwd()}.")
    if path.is_dir():
        if format not in (None, "folder"):
            raise InputError(f"{path} is a folder. Leave out format=, or name a file in it.")
        return "folder"
    if format == "folder":
        raise InputError(f"{path} is a file, not a folder. Leave out format=, or name the folder.")
    if format is not None:
        return format
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in SUFFIXES]
    by_name = FORMATS.get(suffixes[-1] if suffixes else "")
    if by_name is None:
        raise ParameterError(
            f"The name {path.name!r} does not tell the format of the file. "
            f"Give format=, one of {', '.join(map(repr, known[:-1]))}."
        )
    return by_name


def _parts(path: Path, n_bytes: int | None, options: _Options) -> Iterator[Corpus]:
    if options.format == "folder":
        yield from read_folder(
            path, n_bytes, options.encoding, options.errors, has_labels=options.label is not False
        )
        return
    with named_in_errors(path):
        if options.format == "parquet":
            yield from read_parquet(path, n_bytes, options.text, options.label, options.missing_is_empty)
        else:
            yield from _read_lines(path, n_bytes, options)


def _read_lines(path: Path, n_bytes: int | None, options: _Options) -> Iterator[Corpus]:
    text = with_ended_lines(pieces(path, n_bytes, options.encoding, options.errors))
    return _scanned_lines(Window(text), options)


def _scanned_lines(window: Window, options: _Options) -> Iterator[Corpus]:
    # An empty line is a document of plain text, and nothing elsewhere.
    while not (has_content := _first(window.bytes) is not None) and not window.is_last:
        window.more()
    if not has_content and (options.format != "lines" or not window.bytes):
        raise InputError("the file is empty: there are no documents in it.")
    reader: Reader
    if options.format == "lines":
        reader, has_labels = _core.PlainLines(), False
    elif options.format == "jsonl":
        reader, has_labels = _json_reader(window, options)
    else:
        reader, has_labels = _delimited_reader(window, options)
    is_empty = True
    for found, codes, labels in scanned(window, reader):
        is_empty = False
        yield Corpus(found, label_values(labels)[codes] if has_labels else None)
    if is_empty:
        yield Corpus(_core.Documents.from_sequence(()), label_values([]) if has_labels else None)


def _first(block: bytes) -> int | None:
    found = re.search(rb"\S", block)
    return None if found is None else found.start()


def _json_reader(window: Window, options: _Options) -> tuple[_core.JsonLines, bool]:
    """The columns are the keys of the first object, unless they are named."""
    if options.text is not None and options.label is not None:
        text, label = str(options.text), None if options.label is False else str(options.label)
        return _core.JsonLines(text, label, options.missing_is_empty), label is not None
    first = _first(window.bytes) or 0
    while (end := window.bytes.find(b"\n", first)) < 0 and not window.is_last:
        window.more()
    before = window.bytes[: end if end >= 0 else None]
    try:
        record = json.loads(before[first:].decode("utf-8", "replace"))
        names = list(record.keys())
    except (ValueError, AttributeError, RecursionError):
        # The core says the place of the flaw, in its own count of lines.
        _core.JsonLines("", None, True).scan(before, True)
        raise InputError("the first line is not a JSON object that Python can read.") from None
    with_text = [name for name in names if isinstance(record[name], str)]
    of_text, of_label = choose_columns(names, options.text, options.label, with_text=with_text)
    label = None if of_label is None else names[of_label]
    return _core.JsonLines(names[of_text], label, options.missing_is_empty), label is not None


def _delimited_reader(window: Window, options: _Options) -> tuple[_core.Delimited, bool]:
    """The columns are the fields of the first record."""
    while True:
        found = _core.Delimited.header(window.bytes, window.is_last, options.delimiter, options.quoting)
        if found is not None:
            break
        window.more()
    fields, n_bytes, n_lines = found
    names: list[Name] = [*fields] if options.header else [*range(len(fields))]
    text, label = choose_columns(names, options.text, options.label, is_delimited=True)
    skip, line = (n_bytes, 1 + n_lines) if options.header else (0, 1)
    reader = _core.Delimited(options.delimiter, options.quoting, len(names), text, label, skip, line)
    return reader, label is not None
