"""Which format a file has: by its name, by its first bytes, and what to say where the two differ."""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path

from lineal.data.compression import SUFFIXES as PACKED
from lineal.errors import InputError, ParameterError

SUFFIXES = {
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
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".vw": "vw",
}
FILE_FORMATS = ("csv", "tsv", "jsonl", "lines", "parquet", "libsvm", "vw")
FORMATS = (*FILE_FORMATS, "folder")
HEAD = 1 << 16  # bytes of a file that are looked at

# What is no file of records, and what to do about it.
_STRANGERS = {
    b"PK\x03\x04": "a ZIP archive (an Excel workbook is one, too). Unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file. Save the sheet as CSV",
    b"ARROW1": "an Arrow or Feather file. Write it as Parquet: pyarrow.parquet.write_table",
    b"\x89HDF": "an HDF5 file. Write its table as CSV or Parquet",
    b"SQLite format 3": "an SQLite database. Export the table as CSV",
    b"%PDF": "a PDF document. Save its text or its table as CSV",
    b"\x93NUMPY": "a NumPy array. Load it with numpy.load and give the arrays to the learner",
    b"\x80\x04\x95": "a Python pickle, which can run code when opened. Write its table as CSV or Parquet",
    b"\x80\x05\x95": "a Python pickle, which can run code when opened. Write its table as CSV or Parquet",
}
_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LIBSVM_LINE = re.compile(
    rb"[ \t]*" + _NUMBER + rb"(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:" + _NUMBER + rb")+[ \t\r]*(?:#.*)?"
)
_LIBSVM_BARE = re.compile(rb"[ \t]*" + _NUMBER + rb"[ \t\r]*|[ \t]*(?:#.*)?\r?")
# A label, perhaps an importance, a base and a tag, a bar, and names with spaces between them.
_VW_LINE = re.compile(rb"[ \t]*(?:(?:" + _NUMBER + rb"[ \t]+){1,3}[^\s|]*|'[^\s|]*)?\|[^|,;]*(?:\|[^|]*)*")


def suffix_format(path: Path) -> str | None:
    """What the name says, under any suffix of compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    return SUFFIXES.get(suffixes[-1] if suffixes else "")


def check_format(format: str | None, formats: tuple[str, ...] = FORMATS) -> None:
    """Refuses a name that is not among the formats."""
    if format is not None and format not in formats:
        raise ParameterError(f"There is no format {format!r}: give one of {', '.join(map(repr, formats))}.")


def resolve(path: Path | None, asked: str | None, head: bytes) -> tuple[str, str | None]:
    """The format of a file that begins so, and a sentence if its name says another.

    What is asked for holds, unless the file cannot be that. Otherwise the name decides, unless the content is
    clearly something else.
    """
    is_parquet = head.startswith(b"PAR1")
    if asked is not None:
        if is_parquet and asked != "parquet":
            raise InputError(f'the file is Parquet, not {asked}. Leave out the format, or say "parquet".')
        return asked, None
    by_name = suffix_format(path) if path is not None else None
    if by_name is None:
        return sniff(head), None
    found = by_name
    if is_parquet:
        found = "parquet"
    elif by_name == "parquet":
        found = sniff(head)
    elif by_name in ("csv", "tsv", "lines") and _is_json_lines(head):
        found = "jsonl"
    elif by_name == "lines":
        found = sniff(head) if sniff(head) in ("libsvm", "vw") else "lines"
    if found == by_name:
        return found, None
    return found, f"the name says {by_name}, but the content is {found}: it was read as {found}."


def sniff(head: bytes) -> str:
    """The format that the first bytes of a file look like; plain lines if nothing else fits."""
    if head.startswith(b"PAR1"):
        return "parquet"
    head = head.removeprefix(codecs.BOM_UTF8)
    if head.lstrip()[:1] in (b"{", b"["):
        return "jsonl"
    lines = head.split(b"\n")
    # The last line may be cut off.
    lines = [line.rstrip(b"\r") for line in (lines[:-1] if len(lines) > 1 else lines) if line.strip()][:50]
    if not lines:
        return "lines"
    if all(_LIBSVM_LINE.fullmatch(line) or _LIBSVM_BARE.fullmatch(line) for line in lines) and any(
        _LIBSVM_LINE.fullmatch(line) for line in lines
    ):
        return "libsvm"
    if all(_VW_LINE.fullmatch(line) for line in lines) and any(
        re.match(rb"[^|]*\|\S*[ \t]", line) for line in lines
    ):
        return "vw"
    if all(b"\t" in line for line in lines) and len({line.count(b"\t") for line in lines}) == 1:
        return "tsv"
    return "csv" if _is_delimited(lines) else "lines"


def _is_delimited(lines: list[bytes]) -> bool:
    """Whether commas, or what stands for them, split the lines evenly; a quoted line may hold any number."""
    for mark in b",;|":
        counts = {line.count(mark) for line in lines if b'"' not in line}
        if len(counts) == 1 and counts != {0}:
            return True
        if not counts and all(bytes([mark]) in line for line in lines[:1]):
            return True
        first = lines[0].count(mark)
        # Fields in quotes may hold ends of lines, so that lines differ; the header still has its commas.
        if first and any(b'"' in line for line in lines) and max(counts, default=0) <= first:
            return True
    return False


def _is_json_lines(head: bytes) -> bool:
    first = head.removeprefix(codecs.BOM_UTF8).lstrip().split(b"\n", 1)[0]
    if not first.startswith((b"{", b"[{")):
        return False
    try:
        return isinstance(json.loads(first), (dict, list))
    except (ValueError, RecursionError):
        return False


def refuse_strangers(head: bytes) -> None:
    """Says what a file is that holds no records, where its first bytes tell."""
    for magic, what in _STRANGERS.items():
        if head.startswith(magic):
            raise InputError(f"this is {what}.")
    if head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        raise InputError("this is a web page, not data. Was it saved instead of the file that it links to?")
