"""CSV and TSV, read in spite of their flaws: every record with its line, and every flaw said.

Where fields do not fit, the record is mended in the likeliest way, so that what follows is looked at too.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from lineal.data.corpus import TEXT_NAMES
from lineal.data.doctor.collector import Collector, shown
from lineal.data.doctor.cutting import Cut, cut, joined
from lineal.data.doctor.lines import Block, Rows

# What Excel writes before the header to say its delimiter.
_EXCEL = re.compile('"?sep=(.)"?', re.IGNORECASE)
_MARKS = (",", ";", "\t", "|")
# A quoted value of more bytes, or lines, than these was probably never closed.
_LONGEST_RECORD, _MOST_LINES = 1 << 24, 20_000


class Delimited:
    """Reads the blocks of a file; ``names`` are known after the first."""

    def __init__(
        self,
        format: str,
        delimiter: str | None,
        header: bool,
        quoting: bool,
        text: str | None,
        found: Collector,
    ) -> None:
        self._format = format
        self._is_given = delimiter is not None
        self.delimiter = delimiter or ("\t" if format == "tsv" else ",")
        self._header = header
        self._quoting = quoting
        self._text = text
        self._found = found
        self.names: list[str] = []
        self.raw_names: list[str] = []
        self.header_line: int | None = None
        self._text_place = 0
        self._held: list[str] = []
        self._held_line = 1
        self._n_rows = 0
        self._quoted: Counter[int] = Counter()
        self._first_quoted: dict[int, tuple[int, str]] = {}

    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The records of every block."""
        for block in blocks:
            lines = block.text.split("\n")
            if lines and not lines[-1]:
                lines.pop()
            first = block.first_line
            if self._held:
                lines, first = [*self._held, *lines], self._held_line
                self._held = []
            if not self.names:
                skipped = self._read_header(lines, first)
                lines, first = lines[skipped:], first + skipped
            if lines and self.names:
                yield self._records(lines, first, is_last=block.is_last)

    def _read_header(self, lines: list[str], first: int) -> int:
        """Finds delimiter and names; returns how many lines are done with."""
        start = next((k for k, line in enumerate(lines) if line.strip()), len(lines))
        for k in range(start):
            self._found.add("blank-line", line=first + k)
        if start == len(lines):
            return start
        if match := _EXCEL.fullmatch(lines[start].strip()):
            self._found.add("separator-line", line=first + start, text=shown(lines[start].strip()))
            self.delimiter, self._is_given = match[1], True
            return start + 1 + self._read_header(lines[start + 1 :], first + start + 1)
        self._guess_delimiter(lines[start : start + 20], first + start)
        n_lines = 1
        fields = self._cut(lines[start])
        while fields.open_field is not None and start + n_lines < len(lines) and n_lines < 20:
            n_lines += 1
            fields = self._cut("\n".join(lines[start : start + n_lines]))
        names = fields.fields
        if self._header:
            self.header_line = first + start
            self.raw_names = names
            self._name_columns(names)
        else:
            n_lines = 0
            self.names = [str(k) for k in range(len(names))]
        self._guess_text(lines[start + n_lines : start + n_lines + 200])
        return start + n_lines

    def _cut(self, line: str) -> Cut:
        if self._quoting and '"' in line:
            return cut(line, self.delimiter)
        return Cut(line.split(self.delimiter), [])

    def _guess_delimiter(self, lines: list[str], number: int) -> None:
        if self._is_given or self.delimiter in lines[0]:
            return
        second = next((line for line in lines[1:] if line.strip()), lines[0])
        for mark in _MARKS:
            n = len(cut(lines[0], mark).fields)
            if n > 1 and len(cut(second, mark).fields) == n:
                expected, self.delimiter = self.delimiter, mark
                self._found.add(
                    "wrong-delimiter", line=number, found=mark, expected=expected, quoted=shlex.quote(mark)
                )
                return

    def _name_columns(self, names: list[str]) -> None:
        counts = Counter(name.strip() for name in names)
        stripped = [name.strip() for name in names]
        seen: Counter[str] = Counter()
        for place, name in enumerate(stripped):
            if not name:
                filled = [n or ("row" if p == 0 else f"column_{p + 1}") for p, n in enumerate(stripped)]
                hint = "; it numbers the rows, as pandas writes its index" if place == 0 else ""
                self._found.add(
                    "unnamed-column",
                    line=self.header_line,
                    key=place,
                    place=place + 1,
                    hint=hint,
                    repaired=joined(filled, self.delimiter),
                )
            elif names[place] != name:
                self._found.add(
                    "column-name-space",
                    line=self.header_line,
                    column=names[place],
                    plain=name,
                    repaired=joined(stripped, self.delimiter),
                )
            seen[name] += 1
            if name and counts[name] > 1 and seen[name] == 2:
                self._found.add(
                    "duplicate-column", line=self.header_line, column=name, n=counts[name], other=f"{name}_2"
                )
            own = name or str(place)
            self.names.append(own if seen[name] == 1 else f"{own}_{seen[name]}")

    def _guess_text(self, lines: list[str]) -> None:
        """Where a delimiter is likeliest to be in a value: in texts, or else in the longest values."""
        if self._text in self.names:
            self._text_place = self.names.index(self._text)
            return
        usual = [place for place, name in enumerate(self.names) if name.lower() in TEXT_NAMES]
        sample = [self._cut(line).fields for line in lines]
        sample = [fields for fields in sample if len(fields) == len(self.names)]
        lengths = [sum(len(fields[place]) for fields in sample) for place in range(len(self.names))]
        self._text_place = usual[0] if usual else lengths.index(max(lengths))

    def _records(self, lines: list[str], first: int, *, is_last: bool) -> Rows:
        n = len(self.names)
        has_quotes = any('"' in line for line in lines)
        # The quick way: no quotes, and every line is right.
        is_plain = not (has_quotes and self._quoting) and (n > 1 or all(lines))
        if is_plain and all(line.count(self.delimiter) == n - 1 for line in lines):
            cells = self.delimiter.join(lines).split(self.delimiter)
            if not any(map(self._is_header, lines)):
                return self._made(
                    range(first, first + len(lines)), [list(cells[place::n]) for place in range(n)]
                )
        numbers: list[int] = []
        ends: list[int] = []
        records: list[list[str | None]] = []
        k = 0
        while k < len(lines):
            fields, n_lines = self._record(lines, k, first, is_last=is_last)
            if n_lines == 0:
                self._held, self._held_line = lines[k:], first + k
                break
            if fields is not None:
                numbers.append(first + k)
                ends.append(first + k + n_lines - 1)
                records.append(fields)
            k += n_lines
        columns = (
            [list(column) for column in zip(*records, strict=True)] if records else [[] for _ in range(n)]
        )
        return self._made(numbers, columns, ends)

    def _made(
        self, numbers: Sequence[int], columns: list[list[str | None]], ends: Sequence[int] | None = None
    ) -> Rows:
        self._n_rows += len(numbers)
        if not self._quoting:
            self._note_quotes(numbers, columns)
        return Rows(numbers, dict(zip(self.names, columns, strict=True)), ends)

    def _is_header(self, line: str) -> bool:
        if not self._header or len(self.names) < 2 or not line.startswith(self.raw_names[0]):
            return False
        return line.split(self.delimiter) == self.raw_names

    def _record(
        self, lines: list[str], k: int, first: int, *, is_last: bool
    ) -> tuple[list[str | None] | None, int]:
        """The fields of the record that begins at line ``k``, None for none, and how many lines it takes.

        No lines are taken if the record goes on behind the block.
        """
        line = lines[k]
        if not line.strip() and (len(self.names) == 1 or self.delimiter not in line):
            self._found.add("blank-line", line=first + k)
            return None, 1
        if self._is_header(line):
            self._found.add("header-repeated", line=first + k)
            return None, 1
        found, n_lines = self._cut(line), 1
        if '"' in line and self._quoting and (found.stray or found.open_field is not None):
            mended = self._mended_quotes(line, first + k)
            if mended is not None:
                return list(mended.fields), 1
        if found.open_field is not None:
            longer = self._over_lines(lines, k, is_last=is_last)
            if longer is None:
                return None, 0
            record, n_lines = longer
            if n_lines == 1:
                self._say_unclosed(first + k, line, found)
            found = record
        self._say_stray(found, first + k)
        return self._fitted(found.fields, line, first + k), n_lines

    def _mended_quotes(self, line: str, number: int) -> Cut | None:
        """The record, if its quotes are written in another usual way: after a backslash, or a space."""
        spaced = re.sub(f'({re.escape(self.delimiter)}) +(?=")', r"\1", line)
        for code, other in (("escaped-quote", line.replace('\\"', '""')), ("space-before-quote", spaced)):
            found = self._cut(other) if other != line else None
            if (
                found
                and not found.stray
                and found.open_field is None
                and len(found.fields) == len(self.names)
            ):
                self._found.add(code, line=number, delimiter=self.delimiter, repaired=_short(other))
                return found
        return None

    def _over_lines(self, lines: list[str], k: int, *, is_last: bool) -> tuple[Cut, int] | None:
        """A record whose quote is open at the end of its first line; one line if it is never closed.

        None if more lines are needed than there are.
        """
        size = len(lines[k])
        for n_lines in range(2, min(len(lines) - k, _MOST_LINES) + 1):
            last = lines[k + n_lines - 1]
            size += len(last) + 1
            if '"' not in last:
                if size > _LONGEST_RECORD:
                    break
                continue
            found = cut("\n".join(lines[k : k + n_lines]), self.delimiter)
            if found.open_field is None:
                if self._is_sound(found, lines[k : k + n_lines]):
                    return found, n_lines
                break
        else:
            if not is_last and len(lines) - k < _MOST_LINES and size <= _LONGEST_RECORD:
                return None
        return cut(lines[k] + '"', self.delimiter), 1

    def _is_sound(self, found: Cut, lines: list[str]) -> bool:
        """Whether a record over several lines is one, rather than a quote that was not closed."""
        if any("\n" in found.fields[place] for place in found.stray):
            return False
        n = len(self.names)
        if len(found.fields) == n:
            return True
        alone = [self._cut(line) for line in lines[1:]]
        return not all(len(part.fields) == n and part.open_field is None for part in alone)

    def _say_unclosed(self, number: int, line: str, found: Cut) -> None:
        assert found.open_field is not None
        place = min(found.open_field, len(self.names) - 1)
        self._found.add(
            "unclosed-quote",
            line=number,
            column=self.names[place],
            field=found.open_field + 1,
            repaired=_short(line + '"'),
        )

    def _say_stray(self, found: Cut, number: int) -> None:
        for place in found.stray:
            value = found.fields[place]
            inner = value[1:] if value.startswith('"') else value
            self._found.add(
                "stray-quote",
                line=number,
                column=self.names[min(place, len(self.names) - 1)],
                text=shown(value),
                repaired=joined([inner], self.delimiter),
                examples=[value[:80]],
            )

    def _fitted(self, fields: list[str], line: str, number: int) -> list[str | None]:
        """The fields, as many as there are columns."""
        n, given = len(self.names), len(fields)
        if given == n:
            return list(fields)
        if given == 1:
            for mark in _MARKS:
                parts = cut(line, mark).fields
                if len(parts) == n:
                    repaired = joined(parts, self.delimiter)
                    self._found.add(
                        "mixed-delimiters",
                        line=number,
                        found=mark,
                        expected=self.delimiter,
                        repaired=repaired,
                    )
                    return list(parts)
        if given > n:
            return self._too_many(fields, number)
        padded: list[str | None] = [*fields, *[None] * (n - given)]
        self._found.add(
            "too-few-fields",
            line=number,
            n=given,
            expected=n,
            column=self.names[given],
            absent=repr(self.names[given]),
            delimiter=repr(self.delimiter),
            repaired=joined(padded, self.delimiter),
        )
        return padded

    def _too_many(self, fields: list[str], number: int) -> list[str | None]:
        n, given = len(self.names), len(fields)
        place, surplus = self._text_place, given - n
        value = self.delimiter.join(fields[place : place + surplus + 1])
        kept: list[str | None] = [*fields[:place], value, *fields[place + surplus + 1 :]]
        if not any(field.strip() for field in fields[n:]):
            kept = list(fields[:n])
            mark = "\\t" if self.delimiter == "\t" else self.delimiter
            end = "".join(f"{mark} *" if field else mark for field in fields[n:])
            edit = f"sed -i {shlex.quote(f'{number}s/{end}$//')} {shlex.quote(self._found.file)}"
            advice = f"Delete the {self.delimiter!r} at the end of the line: {edit}"
        elif self._quoting:
            advice = f"Put the value in quotes: {joined(kept, self.delimiter)}"
        else:
            text = joined(
                [*fields[:place], value.replace(self.delimiter, " "), *fields[place + surplus + 1 :]], "\t"
            )
            advice = f"Write a space in place of the {self.delimiter!r} in the value: {text}"
        self._found.add(
            "too-many-fields",
            line=number,
            column=self.names[place],
            n=given,
            expected=n,
            delimiter=repr(self.delimiter),
            advice=advice,
        )
        return kept

    def _note_quotes(self, numbers: Sequence[int], columns: list[list[str | None]]) -> None:
        """Quotes where there should be none: values in quotes, and values that begin with one."""
        for place, values in enumerate(columns):
            for row, value in enumerate(values):
                if value and value[0] == '"':
                    if len(value) > 1 and value[-1] == '"':
                        self._quoted[place] += 1
                        self._first_quoted.setdefault(place, (numbers[row], value))
                    else:
                        self._found.add(
                            "quote-in-tsv", line=numbers[row], column=self.names[place], text=shown(value)
                        )

    def close(self) -> None:
        """Says what only the whole file shows."""
        for place, n in self._quoted.items():
            if 2 * n > self._n_rows:
                line, value = self._first_quoted[place]
                self._found.add("quoted-tsv", line=line, column=self.names[place], count=n, text=shown(value))

    def column_of(self, before: str) -> str | None:
        """The column of a place in a line, by what is before it."""
        place = len(self._cut(before).fields) - 1
        return self.names[place] if place < len(self.names) else None


def _short(line: str) -> str:
    return line if len(line) <= 100 else f"{line[:50]} ... {line[-25:]}"
