"""LIBSVM and Vowpal Wabbit, read in spite of their flaws: labels with their lines, every flaw said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from lineal.data.doctor.collector import Collector, shown
from lineal.data.doctor.lines import Block, Rows

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SOUND = re.compile(rf"{_NUMBER}(?: +qid:\d+)?((?: +\d+:{_NUMBER})*) *")
_MOST_COLUMNS = 2**31 - 1
_LABEL = re.compile(rf"{_NUMBER}(,{_NUMBER})*")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class SparseLines:
    """Reads the blocks of a LIBSVM file: a label, and index:value pairs whose indices go up."""

    def __init__(self, found: Collector) -> None:
        self._found = found

    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The labels of every block."""
        for block in blocks:
            numbers: list[int] = []
            labels: list[str | None] = []
            for number, raw in enumerate(block.text.split("\n"), block.first_line):
                line = raw.partition("#")[0].strip()
                if line:
                    numbers.append(number)
                    labels.append(self._label(line, number))
                elif not raw and number != block.first_line + block.text.count("\n"):
                    self._found.add("blank-line", line=number)
            yield Rows(numbers, {"label": labels})

    def _label(self, line: str, number: int) -> str | None:
        """The label, after a look at the pairs."""
        sound = _SOUND.fullmatch(line)
        tokens = line.split()
        if sound is not None:
            # Every second part of what is cut at colons and spaces is an index.
            parts = sound[1].replace(":", " ").split()[::2]
            indices = list(map(int, parts))
            is_rising = all(a < b for a, b in pairwise(indices))
            if is_rising and indices[:1] != [0] and max(indices, default=0) < _MOST_COLUMNS:
                return tokens[0]
        if ":" in tokens[0] or not _LABEL.fullmatch(tokens[0]):
            self._found.add("svm-label", line=number, text=shown(tokens[0]))
            label = None
        else:
            label = tokens[0]
        self._pairs(tokens[1:] if ":" not in tokens[0] else tokens, tokens[0], number)
        return label

    def _pairs(self, tokens: list[str], label: str, number: int) -> None:
        before = -1
        seen: dict[int, str] = {}
        is_ordered = True
        for place, token in enumerate(tokens):
            name, colon, value = token.partition(":")
            if place == 0 and name == "qid":
                continue
            index = int(name) if re.fullmatch(r"[+-]?\d{1,18}", name) else None
            if re.fullmatch(r"\d+", name) and int(name) >= _MOST_COLUMNS:
                repaired = f"a smaller index, such as 1:{value}"
                self._found.add("svm-pair", line=number, key="large", text=shown(token), repaired=repaired)
                continue
            parsed = _number(value)
            if not colon or index is None or parsed is None:
                match = re.fullmatch(rf"(\d+)\D+({_NUMBER})", token)
                repaired = f"{match[1]}:{match[2]}" if match else "index:value"
                self._found.add("svm-pair", line=number, key="pair", text=shown(token), repaired=repaired)
                continue
            if not math.isfinite(parsed):
                self._found.add("svm-not-finite", line=number, text=shown(token))
            if index < 0:
                self._found.add("svm-negative-index", line=number, index=index, repaired=f"{-index}:{value}")
                continue  # its place among the others is not known
            if index == 0:
                self._found.add("svm-index-zero", line=number)
            if index in seen:
                text = f"{seen[index]!r} and {token!r}"
                self._found.add("svm-twice", line=number, index=index, text=text)
            elif index < before and is_ordered:
                is_ordered = False
                pairs = sorted(
                    (t for t in tokens if re.match(r"\d+:", t)), key=lambda t: int(t.split(":")[0])
                )
                repaired = " ".join([label, *pairs])
                if len(repaired) > 100:
                    repaired = f"{repaired[:75]} ..."
                self._found.add("svm-order", line=number, after=index, before=before, repaired=repaired)
            seen[index] = token
            before = max(before, index)

    def close(self) -> None:
        """Nothing more is known at the end."""

    def column_of(self, before: str) -> str | None:
        """There are no columns with names."""
        return None


class WabbitLines:
    """Reads the blocks of a Vowpal Wabbit file: a label before the first bar."""

    def __init__(self, found: Collector) -> None:
        self._found = found

    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The labels of every block."""
        for block in blocks:
            numbers: list[int] = []
            labels: list[str | None] = []
            for number, line in enumerate(block.text.split("\n"), block.first_line):
                if not line.strip():
                    continue
                head, bar, _ = line.partition("|")
                tokens = head.split()
                if not bar:
                    first, *rest = tokens
                    repaired = f"{first} | {' '.join(rest)}"[:100]
                    self._found.add("vw-bar", line=number, text=shown(line), repaired=repaired)
                    continue
                label = tokens[0] if tokens and not tokens[0].startswith("'") else None
                if label is not None and _number(label) is None:
                    self._found.add("vw-label", line=number, text=shown(label))
                    label = None
                numbers.append(number)
                labels.append(label)
            yield Rows(numbers, {"label": labels})

    def close(self) -> None:
        """Nothing more is known at the end."""

    def column_of(self, before: str) -> str | None:
        """There are no columns with names."""
        return None


class PlainLines:
    """Reads the blocks of a file with a text to a line."""

    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The lines of every block."""
        for block in blocks:
            lines: list[str | None] = list(block.text.split("\n"))
            if lines and not lines[-1]:
                lines.pop()
            yield Rows(range(block.first_line, block.first_line + len(lines)), {"text": lines})

    def close(self) -> None:
        """Nothing more is known at the end."""

    def column_of(self, before: str) -> str | None:
        """The only column."""
        return "text"
