"""What the doctor says: findings with a place, a sentence and a fix, and the diagnosis that holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One problem of the data, wherever it occurs.

    Attributes
    ----------
    severity : "error", "warning" or "note"
        An error stops training or makes it wrong; a warning probably does; a note is good to know.
    code : str
        Which problem it is, such as ``"label-typo"``; the codes are listed in docs/doctor.md.
    file : str
        The file as it was named.
    message, fix : str
        What is wrong, and what to do about it.
    column : str, optional
    lines : tuple of int
        The first few lines where it occurs, as an editor counts: from 1, also behind line ends in quotes.
    rows : tuple of int
        The same as rows of the table, from 0, where they are known; the only place that Parquet has.
    count : int
        How many places there are in all.
    examples : tuple of str
        Some of the values that are meant.

    Examples
    --------
    >>> print(Finding(severity="note", code="blank-line", file="a.csv", message="the line is blank.",
    ...               fix="Delete it.", lines=(3, 8), count=9))
    a.csv, line 3: the line is blank. (9 in all: lines 3, 8, ...) Fix: Delete it.
    """

    severity: str
    code: str
    file: str
    message: str
    fix: str
    column: str | None = None
    lines: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    count: int = 1
    examples: tuple[str, ...] = ()

    @property
    def line(self) -> int | None:
        """The first line, where lines are known."""
        return self.lines[0] if self.lines else None

    @property
    def row(self) -> int | None:
        """The first row of the table, from 0, where rows are known."""
        return self.rows[0] if self.rows else None

    @property
    def place(self) -> str:
        """File, line and column in words, such as ``"reviews.csv, line 17, column 'label'"``."""
        parts = [self.file] if self.file else []
        if self.lines:
            parts.append(f"line {self.lines[0]}")
        elif self.rows:
            parts.append(f"row {self.rows[0]}")
        if self.column is not None:
            parts.append(f"column {self.column!r}")
        return ", ".join(parts)

    @property
    def others(self) -> str:
        """Where else it occurs, in words; empty if nowhere else."""
        places, word = (self.lines, "lines") if self.lines else (self.rows, "rows")
        if self.count < 2 or not places:
            return ""
        shown = ", ".join(map(str, places)) + (", ..." if len(places) < self.count else "")
        return f"({self.count:,} in all: {word} {shown})" if len(places) > 1 else f"({self.count:,} in all)"

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        others = f" {self.others}" if self.others else ""
        return f"{place}{self.message}{others} Fix: {self.fix}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "severity": self.severity,
            "code": self.code,
            "file": self.file,
            "line": self.line,
            "row": self.row,
            "column": self.column,
            "message": self.message,
            "fix": self.fix,
            "count": self.count,
            "lines": list(self.lines),
            "rows": list(self.rows),
            "examples": list(self.examples),
        }


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """All findings about a file, the worst first, and what the file was found to be.

    Attributes
    ----------
    file, format : str
    n_rows, n_bytes : int
        Records that could be read, and bytes behind any compression.
    columns : tuple of str
    label : str, optional
    text : tuple of str
        The columns taken for texts.
    findings : tuple of Finding
    left_out : mapping of str to int
        How many more findings of a code there are than are listed.
    """

    file: str
    format: str
    n_rows: int
    n_bytes: int
    columns: tuple[str, ...]
    label: str | None
    text: tuple[str, ...]
    findings: tuple[Finding, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_errors(self) -> bool:
        """Whether training cannot work, or will be wrong, as the file is."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """Findings by severity."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    @property
    def summary(self) -> str:
        """One sentence: what was read, and how many problems there are."""
        said = ", ".join(f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in self.counts.items() if n)
        roles = f", label {self.label!r}" if self.label is not None else ""
        roles += f", text {', '.join(map(repr, self.text))}" if self.text else ""
        return (
            f"{self.file}: {self.format}, {self.n_rows:,} rows{roles}: {said or 'nothing to complain about'}."
        )

    def of(self, code: str) -> list[Finding]:
        """The findings with a code."""
        return [finding for finding in self.findings if finding.code == code]

    def __str__(self) -> str:
        lines = [self.summary]
        for finding in self.findings:
            lines += ["", f"{finding.severity}[{finding.code}] {finding.place}"]
            lines.append(f"  {finding.message}{' ' + finding.others if finding.others else ''}")
            lines.append(f"  Fix: {finding.fix}")
        for code, n_more in self.left_out.items():
            lines += ["", f"and {n_more:,} more of {code}"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "file": self.file,
            "format": self.format,
            "n_rows": self.n_rows,
            "n_bytes": self.n_bytes,
            "columns": list(self.columns),
            "label": self.label,
            "text": list(self.text),
            "has_errors": self.has_errors,
            "counts": self.counts,
            "findings": [finding.to_dict() for finding in self.findings],
            "left_out": dict(self.left_out),
        }
