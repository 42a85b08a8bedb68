"""Gathers what checks find: a finding per problem and column, with its first few places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lineal.data.doctor.codes import kinds
from lineal.data.doctor.findings import SEVERITIES, Finding

N_PLACES = 5
_LONGEST_SHOWN = 60


def shown(value: Any) -> str:
    """A value in a sentence: quoted, and cut if it is long."""
    if isinstance(value, str) and len(value) > _LONGEST_SHOWN:
        return repr(value[: _LONGEST_SHOWN - 3] + "...")
    return repr(value)


def percent(share: float) -> str:
    """A share in words: ``86.6 %``; 100 and 0 only if it is all or nothing."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    if text == "100" and share < 1:
        text = "more than 99.9"
    if text == "0" and share > 0:
        text = "less than 0.1"
    return f"{text} %"


@dataclass
class _Group:
    fields: dict[str, Any]
    lines: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    count: int = 0


class Collector:
    """Findings in the making.

    Parameters
    ----------
    file : str
        What findings are about unless they name another.
    limit : int
        How many findings of one code are kept; the rest are counted in ``left_out``.
    """

    def __init__(self, file: str, limit: int = 10) -> None:
        self.file = file
        self._limit = limit
        self._groups: dict[tuple[str, str, str | None, Any], _Group] = {}
        self._n_groups: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self._refused: set[tuple[str, str, str | None, Any]] = set()

    def add(
        self,
        code: str,
        *,
        line: int | None = None,
        lines: Iterable[int] = (),
        ends: Iterable[int] = (),
        rows: Iterable[int] = (),
        column: str | None = None,
        file: str | None = None,
        count: int = 1,
        key: Any = None,
        examples: Sequence[str] = (),
        **fields: Any,
    ) -> None:
        """Adds places to the finding of this code, file, column and key; the first call gives the fields."""
        name = (code, self.file if file is None else file, column, key)
        group = self._groups.get(name)
        if group is None:
            if self._n_groups[code] >= self._limit:
                # A bounded memory of what was refused: beyond it a repeated problem counts as another.
                if name not in self._refused:
                    self.left_out[code] += 1
                    if len(self._refused) < 10_000:
                        self._refused.add(name)
                return
            self._n_groups[code] += 1
            group = self._groups[name] = _Group(fields)
        group.count += count
        places = lines if line is None else (line, *lines)
        for kept, new in ((group.lines, places), (group.ends, ends), (group.rows, rows)):
            for place in new:
                # One line may have a flaw twice.
                if len(kept) < N_PLACES and kept[-1:] != [int(place)]:
                    kept.append(int(place))
        if len(group.examples) < N_PLACES:
            group.examples += list(examples)[: N_PLACES - len(group.examples)]

    def has(self, code: str, column: str | None = None) -> bool:
        """Whether there is such a finding already."""
        return any(name[0] == code and column in (None, name[2]) for name in self._groups)

    def update(self, code: str, **fields: Any) -> None:
        """Changes fields of all findings of a code, when more is known at the end of the file."""
        for name, group in self._groups.items():
            if name[0] == code:
                group.fields |= fields

    def join(self, other: Collector) -> None:
        """Adds all that another has found."""
        for (code, file, column, key), group in other._groups.items():
            self.add(
                code,
                lines=group.lines,
                ends=group.ends,
                rows=group.rows,
                column=column,
                file=file,
                count=group.count,
                key=key,
                examples=group.examples,
                **group.fields,
            )
        self.left_out.update(other.left_out)

    def findings(self) -> tuple[Finding, ...]:
        """All of them, the worst first, and among equals by file, line and order of discovery."""
        registry = kinds()
        made = [
            registry[code].finding(
                file=file,
                column=column,
                lines=tuple(group.lines),
                ends=tuple(group.ends),
                rows=tuple(group.rows),
                count=group.count,
                examples=tuple(group.examples),
                **group.fields,
            )
            for (code, file, column, _), group in self._groups.items()
        ]
        return tuple(
            sorted(made, key=lambda finding: (SEVERITIES.index(finding.severity), finding.line or 0))
        )
