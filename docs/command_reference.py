"""Writes the help of every verb into command-line.md: ``make reference``. A test holds the page to it."""

from __future__ import annotations

from pathlib import Path

import click

PAGE = Path(__file__).with_name("command-line.md")
BEGIN, END = "<!-- reference:begin -->", "<!-- reference:end -->"


def reference() -> str:
    """The help of all verbs."""
    from lineal.cli.main import VERBS, lineal

    parts = []
    context = lineal.make_context("lineal", [], resilient_parsing=True)
    for verb in VERBS:
        command = lineal.get_command(context, verb)
        assert command is not None
        own = click.Context(
            command, info_name=verb, parent=context, terminal_width=100, max_content_width=100
        )
        parts.append(f"### `lineal {verb}`\n\n```text\n{command.get_help(own)}\n```\n")
    return "\n".join(parts)


def filled(text: str) -> str:
    """The page with the present help."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{reference()}{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
