"""The lines of a file as UTF-8, whatever they were: what is wrong is said, and mended to go on."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lineal.data.doctor.collector import N_PLACES, Collector, shown
from lineal.errors import InputError

BLOCK = 1 << 22
_BOM = codecs.BOM_UTF8
_MARKS = {codecs.BOM_UTF16_LE: "UTF-16LE", codecs.BOM_UTF16_BE: "UTF-16BE"}
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
# From the beginning of a record to a place in it: what tells the column of the place.
ColumnOf = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Block:
    """Some whole lines, and the number of the first; line ends are ``\\n``."""

    text: str
    first_line: int
    is_last: bool


@dataclass(frozen=True)
class Rows:
    """Some records: the line where each begins (and ends, if that is another), and their values."""

    lines: Sequence[int]
    columns: dict[str, list[Any]]
    ends: Sequence[int] | None = None


class Lines:
    """The lines of one file, in blocks; ``close`` says what was wrong with all of them together."""

    def __init__(self, source: Iterator[bytes], encoding: str, found: Collector) -> None:
        self._source = source
        self._found = found
        self._encoding = encoding
        self._is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
        self.n_bytes = 0
        self._line = 1
        self._ends: dict[str, list[int]] = {"CR LF": [0, 0], "LF": [0, 0]}
        self._good_line: int | None = None
        self._bad: list[tuple[int, bytes, int]] = []
        self._n_bad = 0

    def blocks(self) -> Iterator[Block]:
        """Every block; the last one says so."""
        held: Block | None = None
        for raw in self._whole_lines():
            text = self._mended(raw)
            if held is not None:
                yield held
            held = Block(text, self._line, False)
            self._line += raw.count(b"\n")
        if held is not None:
            yield Block(held.text, held.first_line, True)

    def _pieces(self) -> Iterator[bytes]:
        """The bytes as they come, as far as they can be read."""
        try:
            for piece in self._source:
                self.n_bytes += len(piece)
                yield piece
        except InputError as flaw:
            self._found.add("unreadable", why=str(flaw))

    def _whole_lines(self) -> Iterator[bytes]:
        """Blocks that end with a line."""
        pieces = self._pieces()
        first = next(pieces, b"")
        for piece in pieces:
            first += piece
            if len(first) >= 4:
                break
        pieces = self._chained(first, pieces)
        decoder = self._decoder(first)
        if decoder is not None:
            pieces = (decoder.decode(piece).encode("utf-8") for piece in pieces)
        is_old = b"\r" in first and b"\n" not in first and decoder is None and first.count(b"\r") > 1
        if is_old:
            self._found.add("carriage-returns", line=1)
        rest = b""
        is_first = True
        for piece in pieces:
            if is_first:
                piece, is_first = piece.removeprefix(_BOM), False
            block = rest + (piece.replace(b"\r", b"\n") if is_old else piece)
            cut = block.rfind(b"\n") + 1
            rest = block[cut:]
            if cut:
                yield block[:cut]
        if rest:
            yield rest

    @staticmethod
    def _chained(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
        yield first
        yield from pieces

    def _decoder(self, head: bytes) -> codecs.IncrementalDecoder | None:
        """For files of two bytes a letter, by their mark or their zeros, and for what was asked for."""
        sample = head[:4096]
        name = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
        if name is None and len(sample) >= 4 and sample.count(0) > 0.3 * len(sample):
            name = "UTF-16LE" if sample[1::2].count(0) > sample[0::2].count(0) else "UTF-16BE"
        if name is not None:
            if self._is_utf8:
                self._found.add("utf-16", encoding=name, codec="utf-16")
            self._is_utf8 = True
            is_marked = any(head.startswith(mark) for mark in _MARKS)
            return codecs.getincrementaldecoder("utf-16" if is_marked else name)("replace")
        if codecs.lookup(self._encoding).name.startswith(("utf-16", "utf-32")):
            return codecs.getincrementaldecoder(self._encoding)("replace")
        return None

    def _mended(self, raw: bytes) -> str:
        """The block as text with one kind of line end, without marks and NULs inside."""
        self._count_ends(raw)
        text = self._decoded(raw)
        for code, sign in (("byte-order-mark", "\ufeff"), ("nul-byte", "\0")):
            if sign in text:
                for place in _places(text, sign):
                    is_start = place == 0 or text[place - 1] == "\n"
                    hint = ": probably two files were put together here" if is_start else ""
                    self._found.add(code, line=self._line + text.count("\n", 0, place), hint=hint)
                text = text.replace(sign, "")
        return text.replace("\r\n", "\n")

    def _count_ends(self, raw: bytes) -> None:
        n_pairs, n_ends = raw.count(b"\r\n"), raw.count(b"\n")
        for name, n, pattern in (("CR LF", n_pairs, rb"\r\n"), ("LF", n_ends - n_pairs, rb"(?<!\r)\n")):
            if n and not self._ends[name][0]:
                match = re.search(pattern, raw)
                assert match is not None
                self._ends[name][1] = self._line + raw.count(b"\n", 0, match.start())
            self._ends[name][0] += n

    def _decoded(self, raw: bytes) -> str:
        encoding = "utf-8" if self._is_utf8 else self._encoding
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            lines = raw.split(b"\n")
            return "\n".join(self._one_line(line, self._line + k, encoding) for k, line in enumerate(lines))
        if self._good_line is None and not text.isascii():
            place = next(place for place, sign in enumerate(text) if ord(sign) > 127)
            self._good_line = self._line + text.count("\n", 0, place)
        return text

    def _one_line(self, line: bytes, number: int, encoding: str) -> str:
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as flaw:
            self._n_bad += 1
            if len(self._bad) < N_PLACES:
                self._bad.append((number, line, flaw.start))
            return line.decode(_old_encoding(line), "replace")
        if self._good_line is None and not text.isascii():
            self._good_line = number
        return text

    def close(self, column_of: ColumnOf | None = None) -> None:
        """Says what the encoding is, and how lines end, now that all of them were seen."""
        (n_pairs, first_pair), (n_feeds, first_feed) = self._ends["CR LF"], self._ends["LF"]
        if n_pairs and n_feeds:
            this, other = ("CR LF", "LF") if n_pairs <= n_feeds else ("LF", "CR LF")
            line = first_pair if this == "CR LF" else first_feed
            count = min(n_pairs, n_feeds)
            n_other = max(n_pairs, n_feeds)
            self._found.add(
                "mixed-line-ends", line=line, count=count, this=this, other=other, n_other=n_other
            )
        if not self._bad:
            return
        _, bad, start = self._bad[0]
        guess = _old_encoding(bad)
        fields: dict[str, Any] = {
            "lines": [number for number, _, _ in self._bad],
            "count": self._n_bad,
            "column": None if column_of is None else column_of(bad[:start].decode("latin-1")),
            "byte": start + 1,
            "value": f"0x{bad[start]:02x}",
            "guess": guess,
            "text": shown(_around(bad, start).decode(guess, "replace")),
        }
        if not self._is_utf8:
            self._found.add("wrong-encoding", encoding=self._encoding, **fields)
        elif self._good_line is None:
            iconv = {"cp1252": "WINDOWS-1252", "latin-1": "ISO-8859-1"}[guess]
            self._found.add("not-utf-8", iconv=iconv, **fields)
        else:
            self._found.add("mixed-encodings", good=f"line {self._good_line}", **fields)


def _old_encoding(line: bytes) -> str:
    """What a line that is not UTF-8 was probably written in."""
    return "latin-1" if _UNDEFINED_IN_CP1252.search(line) else "cp1252"


def _around(line: bytes, place: int) -> bytes:
    """The word at a place."""
    start = max(
        line.rfind(b" ", 0, place), line.rfind(b",", 0, place), line.rfind(b"\t", 0, place), place - 20
    )
    found = re.match(rb"[^\s,;]*", line[start + 1 :])
    return found[0][:30] if found and found[0] else line[place : place + 10]


def _places(text: str, sign: str) -> Iterator[int]:
    place = text.find(sign)
    while place >= 0:
        yield place
        place = text.find(sign, place + 1)
