"""Numbers, intervals and tables as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def brief(value: float) -> str:
    """A number as short as it can be read: four decimals below 1, four digits above, commas in thousands."""
    size = abs(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if math.isnan(value):
        return "nan"
    if float(value).is_integer():
        return f"{value:,.0f}"
    if size < 1:
        return f"{value:.4f}" if size >= 1e-3 else f"{value:.3g}"
    return f"{value:#.4g}" if size < 1000 else f"{value:,.0f}"


def p_text(p: float) -> str:
    """``p = 0.21``, ``p = 0.052``, ``p = 0.0031``, ``p < 0.0001``."""
    if math.isnan(p):
        return "p undefined"
    if p < 1e-4:
        return "p < 0.0001"
    if p >= 0.995:
        return "p = 1"
    return f"p = {p:.2g}" if p >= 0.1 or p < 0.01 else f"p = {p:.3f}"


def percent(level: float) -> str:
    """0.95 as ``95 %``."""
    return f"{100 * level:g} %"


def counted(n: float, one: str, many: str | None = None) -> str:
    """``1 example``, ``1,000 examples``."""
    whole = f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"
    return f"{whole} {one if n == 1 else many or one + 's'}"


def visible(text: str) -> str:
    """Control characters, which could rewrite a terminal, as signs that can be seen."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: the first column from the left, the others from the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
