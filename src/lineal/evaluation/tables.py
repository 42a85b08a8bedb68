"""Tables as plain text and as rich ones, from the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineal.evaluation.records import Score
from lineal.evaluation.wording import aligned, brief, visible

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


@dataclass(frozen=True)
class Section:
    """A table with a caption above it, or, without a header, lines of text.

    Attributes
    ----------
    caption : str
    header : list of str
    rows : list of rows of cells
        With a header; the first column is set from the left, the others from the right.
    """

    caption: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()

    def plain(self) -> str:
        """Lines of text."""
        lines = [self.caption] if self.caption else []
        return "\n".join([*lines, *(aligned(self.header, self.rows) if self.header else [])])

    def rich(self) -> Group | Text:
        """For a terminal."""
        from rich.box import SIMPLE_HEAD
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if not self.header:
            return Text(visible(self.caption))
        table = Table(box=SIMPLE_HEAD)
        for place, name in enumerate(self.header):
            table.add_column(Text(visible(name)), justify="right" if place else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        return Group(Text(visible(self.caption), style="bold"), table)


def plain(sections: Sequence[Section]) -> str:
    """All sections, a blank line between them."""
    return "\n\n".join(section.plain() for section in sections)


def rich(sections: Sequence[Section]) -> Group:
    """All sections for a terminal."""
    from rich.console import Group

    return Group(*(section.rich() for section in sections))


def ends(score: Score) -> str:
    """An interval as a cell."""
    return f"{brief(score.low)} .. {brief(score.high)}"
