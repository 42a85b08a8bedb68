"""Tables with headers that programs can read aloud."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lineal.report.markup import Child, Markup, tag


def table(
    caption: str,
    header: Sequence[Child],
    rows: Sequence[Sequence[Child]],
    *,
    numbers: Collection[int] = (),
    marked: Collection[int] = (),
    class_: str = "",
) -> Markup:
    """A table whose first column names the rows; the columns of ``numbers`` are flush right.

    It scrolls by itself where it is wider than the page, and can then be reached by keyboard.
    """
    head = [
        tag("th", cell, scope="col", class_="number" if place in numbers else None)
        for place, cell in enumerate(header)
    ]
    body = [
        tag(
            "tr",
            [
                tag("td", cell, class_="number" if place in numbers else None)
                if place
                else tag("th", cell, scope="row", class_="number" if 0 in numbers else None)
                for place, cell in enumerate(row)
            ],
            class_="marked" if at in marked else None,
        )
        for at, row in enumerate(rows)
    ]
    drawn = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", head)),
        tag("tbody", body),
        class_=class_ or None,
    )
    return scrolling(drawn, caption)


def scrolling(content: Markup, label: str) -> Markup:
    """A place that scrolls sideways by itself."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex="0")


def facts(pairs: Sequence[tuple[Child, Child]]) -> Markup | None:
    """A list of names and what they are."""
    if not pairs:
        return None
    return tag("dl", [tag("div", tag("dt", key), tag("dd", value)) for key, value in pairs], class_="facts")


def folded(summary: Child, *content: Child) -> Markup:
    """Something to open."""
    return tag("details", tag("summary", summary), *content)
