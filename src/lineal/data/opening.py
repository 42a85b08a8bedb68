"""Files as every reader opens them: options checked, first bytes looked at, the format found."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from lineal.data.blocks import as_utf8, check_encoding, ends_lines_with_returns
from lineal.data.compression import Tapped, compression_of, raw_pieces
from lineal.data.csv_records import dialect
from lineal.data.formats import HEAD, check_format, refuse_strangers, resolve
from lineal.data.sparse_records import SparseOptions
from lineal.errors import InputError, ParameterError

Source = str | os.PathLike[str]
Guess = Callable[[Path | None, str | None, bytes], tuple[str, str | None]]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What was asked for, as `lineal.data.read_records` explains it."""

    path: Path | None  # None: the standard input
    format: str | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    skips_nested: bool
    header: bool
    delimiter: str | None
    quoting: bool | None
    encoding: str
    errors: str
    as_text: bool
    sparse: SparseOptions

    @property
    def has_dialect(self) -> bool:
        """Whether anything was said that only CSV and TSV have."""
        return (self.header, self.delimiter, self.quoting) != (True, None, None)


def reading(
    path: Source,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    quoting: bool | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    as_text: bool = False,
    sparse: SparseOptions | None = None,
    nested: str = "refuse",
) -> ReadOptions:
    """The options, checked before the file is opened."""
    check_format(format)
    check_encoding(encoding, errors)
    if isinstance(columns, str) or isinstance(drop, str):
        raise ParameterError("columns and drop are lists of names, not one name.")
    if nested not in ("refuse", "skip"):
        raise ParameterError(f'nested must be "refuse" or "skip", got {nested!r}.')
    dialect(format or "csv", delimiter, quoting, header)
    return ReadOptions(
        path=_existing(path, format),
        format=format,
        columns=None if columns is None else tuple(columns),
        drop=tuple(drop),
        skips_nested=nested == "skip",
        header=header,
        delimiter=delimiter,
        quoting=quoting,
        encoding=encoding,
        errors=errors,
        as_text=as_text,
        sparse=sparse or SparseOptions(),
    )


def _existing(path: Source, format: str | None) -> Path | None:
    """The path of something that is there; None for the standard input."""
    if str(path) == "-":
        if format == "folder":
            raise ParameterError("A folder cannot come through the standard input.")
        return None
    if not str(path):
        raise InputError("The name of the file is empty. Name a file or a folder; '.' is the current folder.")
    found = Path(path)
    if not found.exists():
        raise InputError(f"There is no file or folder {found}. The current folder is {Path.cwd()}.")
    if found.is_dir() and format not in (None, "folder"):
        raise InputError(f"{found} is a folder. Leave out format=, or name a file in it.")
    if format == "folder" and not found.is_dir():
        raise InputError(f"{found} is a file, not a folder. Leave out format=, or name the folder.")
    return found


@dataclass
class Opened:
    """A file whose first bytes were looked at."""

    format: str
    raw: Iterator[bytes]
    is_packed: bool
    is_old_mac: bool
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # columns, as they are met
    tap: list[Tapped] = field(default_factory=list)

    def text(self, options: ReadOptions) -> Iterator[bytes]:
        """The rest of the file as UTF-8, with lines that end as those of other files do."""
        text = as_utf8(self.raw, options.encoding, options.errors)
        return (piece.replace(b"\r", b"\n") for piece in text) if self.is_old_mac else text


def open_file(
    options: ReadOptions, n_bytes: int | None, *, guess: Guess = resolve, waits: bool = True
) -> Opened:
    """Opens what is no folder and finds its format, by ``guess`` from path, asked format and first bytes.

    Without ``waits`` no more is read than a line, for whoever answers what comes through a pipe.
    """
    tap: list[Tapped] = []
    raw = raw_pieces(options.path, n_bytes, tap=tap)
    pieces: list[bytes] = []
    n_read = 0
    while n_read < HEAD and (piece := next(raw, b"")):
        pieces.append(piece)
        n_read += len(piece)
        if not waits and b"\n" in piece:
            break
    head = b"".join(piece[:HEAD] for piece in pieces)[:HEAD]
    refuse_strangers(head)
    _refuse_wide(head, options.encoding)
    if codecs.lookup(options.encoding).name not in ("utf-8", "utf-8-sig"):
        head = head.decode(options.encoding, "replace").encode("utf-8", "replace")
    format, note = guess(options.path, options.format, head)
    _refuse_useless(format, options)
    is_old_mac = format != "parquet" and ends_lines_with_returns(head)
    notes = [note] if note else []
    if is_old_mac:
        notes.append("lines end with a carriage return alone; they were read as lines.")
    return Opened(format, chain(pieces, raw), _is_packed(options.path), is_old_mac, notes, tap=tap)


def _is_packed(path: Path | None) -> bool:
    if path is None or not path.is_file():
        return True
    with path.open("rb") as file:
        return compression_of(file.read(8)) is not None


def _refuse_wide(head: bytes, encoding: str) -> None:
    """UTF-16 begins with a mark, or has a NUL in every other byte."""
    is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    if not is_utf8 or head.startswith(b"PAR1"):
        return
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError('the file begins like UTF-16, not UTF-8. Read it with encoding="utf-16".')
    if len(head) > 3 and head.count(0) > 0.4 * len(head):
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        raise InputError(
            "nearly every other byte is NUL: the file looks like UTF-16. "
            f'Read it with encoding="utf-16-{order}".'
        )


def _refuse_useless(format: str, options: ReadOptions) -> None:
    """An option that the format has no use for is a mistake."""
    if format not in ("csv", "tsv") and options.has_dialect:
        raise ParameterError(f"header, delimiter and quoting are options of csv and tsv, not of {format}.")
    is_sparse = format in ("libsvm", "vw")
    if is_sparse and (options.columns is not None or options.drop):
        raise ParameterError(f"columns and drop are names of columns of tables; {format} has none.")
    if not is_sparse and options.sparse != SparseOptions():
        raise ParameterError(
            f"n_columns, names and first_index are options of libsvm and vw, not of {format}."
        )
    if format == "parquet" and (options.encoding, options.errors) != ("utf-8", "strict"):
        raise ParameterError("Parquet holds UTF-8: leave out encoding= and errors=.")
