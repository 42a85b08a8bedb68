"""What letters tell: text that was decoded twice, lost letters, control characters, marks of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.entities import name2codepoint
from typing import Any

from lineal.data.doctor.collector import Collector, shown

# UTF-8 of two or three bytes, read as cp1252: the first byte becomes one of these letters, the rest signs.
_FIRST = "\u00c2\u00c3\u00c4\u00c5\u00ce\u00cf\u00d0\u00d1\u00e2\u00e3\u00ef\u00f0"
_REST = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xC0))
_TWICE = re.compile(f"[{_FIRST}][{re.escape(_REST)}\u0080-\u009f]+")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HTML = re.compile(
    r"</?(?:br|p|b|i|a|div|span|em|strong|ul|li|td|tr|h[1-6]|img|font)(?:\s+[a-z-]+\s*=[^<>]{0,200})?\s*/?>"
    r"|&([a-zA-Z]{2,8});|&#\d{2,5};",
    re.IGNORECASE,
)
_WITHOUT_CONTROLS = dict.fromkeys(range(0x80, 0xA0))


def mend(text: str) -> tuple[str, str] | None:
    """What text that was decoded twice meant, and how it was decoded; None if it was not."""
    for codec in ("cp1252", "latin-1"):
        try:
            meant = text.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        if meant != text:
            return meant, codec
    return None


class Contents:
    """Looks at the letters of one column, block by block."""

    def __init__(self, column: str, found: Collector) -> None:
        self._column = column
        self._found = found
        self._n_html = 0
        self._has_control = False
        self._n_rows = 0
        self._html: list[tuple[int, int, str]] = []

    def add(self, values: Sequence[str | None], lines: Sequence[int] | None, first_row: int) -> None:
        """More values, with their lines if they have any."""
        texts = [value or "" for value in values]
        whole = "\n".join(texts)
        self._n_rows += len(texts)
        checks = []
        if not whole.isascii():
            checks += [self._twice] if _TWICE.search(whole) else []
            checks += [self._lost] if "\ufffd" in whole else []
        checks += [self._control] if _CONTROL.search(whole) else []
        checks += [self._marked] if _HTML.search(whole) else []
        for check in checks:
            for place, text in enumerate(texts):
                check(text, None if lines is None else int(lines[place]), first_row + place)

    def _say(self, code: str, line: int | None, row: int, **fields: Any) -> None:
        self._found.add(code, line=line, rows=[row], column=self._column, **fields)

    def _twice(self, text: str, line: int | None, row: int) -> None:
        for match in _TWICE.finditer(text):
            mended = mend(match[0])
            if mended is not None:
                start = max(text.rfind(" ", 0, match.start()) + 1, match.start() - 20)
                word = re.match(r"\S*", text[start : match.end() + 20])
                shown_word = word[0] if word and mend(word[0]) else match[0]
                meant, codec = mend(shown_word) or mended
                self._say(
                    "double-encoded",
                    line,
                    row,
                    text=shown(shown_word),
                    meant=shown(meant),
                    guess=codec,
                    examples=[shown_word],
                )
                return

    def _lost(self, text: str, line: int | None, row: int) -> None:
        place = text.find("\ufffd")
        if place >= 0:
            self._say("replacement-character", line, row, text=shown(text[max(0, place - 20) : place + 20]))

    def _control(self, text: str, line: int | None, row: int) -> None:
        match = _CONTROL.search(text)
        if match is None:
            return
        code = ord(match[0])
        if self._has_control:
            self._found.add("control-character", line=line, rows=[row], column=self._column)
            return
        self._has_control = True
        around = shown(text[max(0, match.start() - 15) : match.start() + 15])
        hint, advice = "", f"Remove it: text.replace({match[0]!r}, ' ')"
        if code >= 0x80 and text.translate(_WITHOUT_CONTROLS).isascii():
            meant = bytes([code]).decode("cp1252", "ignore")
            if meant:
                hint = f", which is {meant!r} in cp1252"
                advice = f"Write the sign that was meant: text.replace({match[0]!r}, {meant!r})"
        self._say("control-character", line, row, point=code, text=around, hint=hint, advice=advice)

    def _marked(self, text: str, line: int | None, row: int) -> None:
        marks = _HTML.finditer(text) if "<" in text or "&" in text else ()
        match = next((mark for mark in marks if mark[1] is None or mark[1] in name2codepoint), None)
        if match is not None:
            self._n_html += 1
            if len(self._html) < 5:
                self._html.append((row, line or 0, match[0]))

    def html(self) -> tuple[int, int, list[tuple[int, int, str]]]:
        """How many of how many values have marks of HTML, and the first of them: row, line, mark."""
        return self._n_html, self._n_rows, self._html
