"""A section of a page: an anchor, a heading, how to read it, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from lineal.report.markup import Child, Markup, tag
from lineal.report.wording import HOW_TO_READ


@dataclass(frozen=True)
class Section:
    """A section: ``key`` is its anchor and finds its how-to-read line."""

    key: str
    title: str
    body: Child
    how: str = ""  # its line, if it is not the usual one

    def drawn(self) -> Markup:
        """The section as HTML."""
        return tag(
            "section",
            tag("h2", self.title, id=f"{self.key}-title"),
            tag("p", self.how or HOW_TO_READ[self.key], class_="how"),
            self.body,
            id=self.key,
            aria_labelledby=f"{self.key}-title",
        )
