"""Every problem that the doctor knows: its code, how bad it is, the sentence, the fix, and an example.

The sentences are here and nowhere else; checks fill in the places. The table in docs/doctor.md is made from
this registry by :func:`table`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from lineal.data.compression import SUFFIXES as PACKED
from lineal.data.doctor.findings import SEVERITIES, Finding


@dataclass(frozen=True)
class Kind:
    """One kind of problem.

    ``message`` and ``fix`` are templates. Beside the fields of a check they may use ``file``, ``line``,
    ``count`` and ``column``, and, for commands, ``shell`` (the file's name, quoted for a shell), ``fixed`` (a
    name for the mended file), ``name`` (the column's name, quoted) and ``delete`` (a command that deletes the
    lines).
    """

    code: str
    severity: str
    message: str
    fix: str
    example: Mapping[str, Any] = field(default_factory=dict)

    def finding(
        self,
        *,
        file: str,
        column: str | None = None,
        lines: tuple[int, ...] = (),
        ends: tuple[int, ...] = (),
        rows: tuple[int, ...] = (),
        count: int = 1,
        examples: tuple[str, ...] = (),
        **fields: Any,
    ) -> Finding:
        """The finding with its sentences filled in."""
        fields |= {"count": f"{count:,}", "column": column, "file": file}
        fields |= {"line": lines[0] if lines else None, "delete": _deleting(lines, ends, rows, count, file)}
        fields |= {"shell": shlex.quote(file), "fixed": shlex.quote(mended(file))}
        fields |= {"name": shlex.quote(column or "")}
        fix = self.fix.format(**fields)
        if fields["shell"] in fix and not _is_plain(file) and not fix.endswith(fields["name"]):
            fix += " (after unpacking it)" if file not in ("", "-") else " (after writing it to a file)"
        return Finding(
            severity=self.severity,
            code=self.code,
            file=file,
            message=self.message.format(**fields),
            fix=fix,
            column=column,
            lines=lines,
            rows=rows,
            count=count,
            examples=examples,
        )

    @property
    def sample(self) -> Finding:
        """The example of the documentation."""
        return self.finding(**{"file": "reviews.csv", **self.example})


def mended(file: str) -> str:
    """A name for a repaired copy beside the file: ``reviews.fixed.csv``."""
    path = PurePath(file or "data")
    name = path.name
    for packed in PACKED:
        name = name.removesuffix(packed)
    stem, dot, suffix = name.rpartition(".")
    return str(path.with_name(f"{stem}.fixed.{suffix}" if dot else f"{name}.fixed"))


def _is_plain(file: str) -> bool:
    """Whether commands for lines can work on the file as it is."""
    return file not in ("", "-") and not file.endswith(tuple(PACKED))


def _deleting(
    lines: tuple[int, ...], ends: tuple[int, ...], rows: tuple[int, ...], count: int, file: str
) -> str:
    """A command that deletes the records, or where to begin if there are more than were kept."""
    if not lines:
        shown = ", ".join(map(str, rows)) + (", ..." if count > len(rows) else "")
        return f"in pandas, table.drop(index=[{shown}])"
    if count > len(lines):
        return f"delete the {count:,} lines, line {lines[0]} first"
    if not _is_plain(file):
        return f"delete line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    last = ends if len(ends) == len(lines) else lines
    spans = [f"{a}d" if a == b else f"{a},{b}d" for a, b in zip(lines, last, strict=True)]
    return f"sed -i '{';'.join(spans)}' {shlex.quote(file)}"


def kinds() -> dict[str, Kind]:
    """All kinds by code, in the order of the documentation."""
    from lineal.data.doctor import codes_of_files, codes_of_records, codes_of_rows

    every = (*codes_of_files.KINDS, *codes_of_records.KINDS, *codes_of_rows.KINDS)
    found = {kind.code: kind for kind in every}
    assert len(found) == len(every)
    assert all(kind.severity in SEVERITIES for kind in every)
    return found


def table(of: Iterable[Kind] | None = None) -> str:
    """The table of docs/doctor.md: code, severity, an example of the message and of the fix."""
    rows = ["| code | severity | for example | fix |", "|---|---|---|---|"]
    for kind in kinds().values() if of is None else of:
        sample = kind.sample
        message = f"{sample.place}: {sample.message}"
        rows.append(f"| `{kind.code}` | {kind.severity} | {_cell(message)} | {_cell(sample.fix)} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    """Text in a Markdown table: bars and signs of markup are escaped."""
    for sign in ("\\", "|", "<", ">", "*", "_", "`", "[", "]", "&"):
        text = text.replace(sign, "\\" + sign)
    return text
