"""What verbs print: tables for people, one JSON document for machines."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from typing import Any

import click

from lineal.evaluation.wording import visible

_PLAIN_BRACKET = re.compile(r"(\\+)\[(?![a-z#/@][^[]*?\])")


def console() -> Any:
    """Where people read: the standard output, plain where it is no terminal."""
    from rich.console import Console

    class Leaving(Console):
        """Leaves it to the command line how to end when nobody reads on: rich itself would leave with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else 110
    return Leaving(width=width, highlight=False, soft_wrap=not sys.stdout.isatty())


class Teller:
    """Tells of steps as they begin, a line each, on the standard error output if it is a terminal.

    ``is_heard`` says whether anybody reads along; learners then show their trials and their gap there, too.
    """

    def __init__(self, is_quiet: bool) -> None:
        self.is_heard = not is_quiet and sys.stderr.isatty()

    def __call__(self, sentence: str) -> None:
        if self.is_heard:
            click.echo(click.style(visible(sentence), dim=True), err=True)


def table(columns: list[str], rows: list[list[str]], *, right: tuple[int, ...] = ()) -> Any:
    """A table without lines; columns with these numbers end flush."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def escaped(text: str) -> str:
    """Text as it is, in a place that would read markup."""
    from rich.markup import escape

    # A bracket that begins no markup loses a backslash before it, so it gets one more.
    kept = _PLAIN_BRACKET.sub(r"\1\\[", visible(text))
    return escape(kept)


def command_line() -> str:
    """What was typed."""
    return shlex.join(["lineal", *sys.argv[1:]])


def print_json(document: Any) -> None:
    """One document; what JSON has no word for (NaN, infinity) becomes null."""
    click.echo(json.dumps(_plain(document), ensure_ascii=False, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)
