"""The bytes of a file, piece by piece, as UTF-8: unzipped, without a byte-order mark, decoded if asked."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from lineal import _core
from lineal.data.compression import raw_pieces
from lineal.data.formats import HEAD
from lineal.errors import InputError, ParameterError

_BOM = codecs.BOM_UTF8
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Reader(Protocol):
    """A reader of the core, which is given block after block."""

    def scan(self, block: bytes, is_last: bool) -> tuple[_core.Documents, NDArray[Any], list[str], int]:
        """Texts, codes of labels, labels by code, and how many bytes are done with."""
        ...


def check_encoding(encoding: str, errors: str) -> None:
    """Refuses what Python has no text decoder for."""
    if errors not in ("strict", "replace"):
        raise ParameterError(f'errors must be "strict" or "replace", got {errors!r}.')
    try:
        codecs.getincrementaldecoder(encoding)
        "".encode(encoding)
    except LookupError:
        raise ParameterError(f"There is no encoding named {encoding!r} in Python.") from None


def pieces(path: Path, n_bytes: int | None, encoding: str, errors: str) -> Iterator[bytes]:
    """The file's text as UTF-8, about ``n_bytes`` at a time, or all at once.

    UTF-8 itself goes through as it is, and is checked by whoever reads it, who knows the line.
    """
    return as_utf8(raw_pieces(path, n_bytes), encoding, errors)


def as_utf8(raw: Iterator[bytes], encoding: str, errors: str) -> Iterator[bytes]:
    """The same for bytes that come in pieces, such as those of a stream."""
    is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    decoder = codecs.getincrementaldecoder("utf-8-sig" if is_utf8 else encoding)(errors)
    return _without_mark(raw) if is_utf8 and errors == "strict" else _decoded(raw, decoder)


def _without_mark(raw: Iterator[bytes]) -> Iterator[bytes]:
    first = b""
    for piece in raw:
        first = first + piece if first else piece
        if len(first) >= len(_BOM):
            break
    if first.startswith(_UTF16):
        raise InputError('the file begins like UTF-16, not UTF-8. Read it with encoding="utf-16".')
    yield first.removeprefix(_BOM)
    yield from raw


def _decoded(raw: Iterator[bytes], decoder: codecs.IncrementalDecoder) -> Iterator[bytes]:
    before = 0
    try:
        for piece in raw:
            held = len(decoder.getstate()[0])
            yield decoder.decode(piece).encode("utf-8", "surrogatepass")
            before += len(piece)
        held = len(decoder.getstate()[0])
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as flaw:
        place, byte = before - held + flaw.start, flaw.object[flaw.start]
        raise InputError(
            f"byte {place} of the file (0x{byte:02x}) is not {flaw.encoding}: {flaw.reason}."
            ' Give the encoding it was written in, or read on with errors="replace".'
        ) from None
    except UnicodeError as flaw:  # UTF-16 that does not say which half comes first
        raise InputError(
            f"the file is not in the encoding that was given: {flaw}. Name it exactly, such as "
            '"utf-16-le", or leave it out.'
        ) from None


def ends_lines_with_returns(head: bytes) -> bool:
    """Whether carriage returns alone end the lines of a file that begins so, as on very old Macs."""
    return b"\r" in head and b"\n" not in head


def with_ended_lines(text: Iterator[bytes]) -> Iterator[bytes]:
    """The same text, with newlines for carriage returns where these alone end lines."""
    head = b""
    for piece in text:
        head = head + piece if head else piece
        # A carriage return at the end may be half of what ends a line.
        if b"\n" in head or (len(head) >= HEAD and not head.endswith(b"\r")):
            break
    if not ends_lines_with_returns(head):
        yield head
        yield from text
        return
    yield head.replace(b"\r", b"\n")
    for piece in text:
        yield piece.replace(b"\r", b"\n")


class Window:
    """The part of a file that is being looked at: it grows, and moves on when records are done with.

    With ``looks_ahead`` it knows its end as soon as it is there, so that a small file is one part. Without,
    it never waits for more than it was asked for, and the end comes as a part of its own, which may be empty:
    for whoever answers what comes through a pipe.
    """

    def __init__(self, source: Iterator[bytes], *, looks_ahead: bool = True) -> None:
        self._source = source
        self._looks_ahead = looks_ahead
        self._following = next(source, None) if looks_ahead else None
        self.is_last = False
        self.bytes = b""
        self.more()

    def more(self, n_done: int = 0) -> None:
        """Drops what is done and adds at least as much as is left, so that long records cost few rescans."""
        rest = self.bytes[n_done:]
        gathered, size = [rest] if rest else [], 0
        while size <= len(rest):
            piece = self._following if self._looks_ahead else next(self._source, None)
            if piece is None:
                self.is_last = True
                break
            gathered.append(piece)
            size += len(piece)
            if self._looks_ahead:
                self._following = next(self._source, None)
                self.is_last = self._following is None
        self.bytes = b"".join(gathered)


def scanned(window: Window, reader: Reader) -> Iterator[tuple[_core.Documents, NDArray[Any], list[str]]]:
    """Every block's documents, codes of labels and labels, if it has any."""
    while True:
        found, codes, labels, n_done = reader.scan(window.bytes, window.is_last)
        if len(found):
            yield found, codes, labels
        if window.is_last:
            return
        window.more(n_done)
