"""How formulas are put together: parentheses where they are needed, numbers as short as they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# How tightly a formula is bound, loosest first.
SUM, PRODUCT, POWER, ATOM = range(4)


def enclosed(text: str, level: int, outer: int) -> str:
    """The text, in parentheses where it is bound less tightly than what stands around it."""
    return text if level >= outer else f"({text})"


def number(value: float) -> str:
    """A number as formulas show it: six digits, and no more than it needs."""
    return f"{value:.6g}"


def name_of(function: Callable[..., Any], otherwise: str) -> str:
    """What a function is called, or a letter for one without a name."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if name.isidentifier() else otherwise
