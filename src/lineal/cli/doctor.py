"""``lineal doctor``: what is wrong with a file."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import dialect_options, file_argument, json_option


@click.command("doctor")
@file_argument
@click.option("--test", type=click.Path(), help="A test file: rows in both, labels and columns in one alone.")
@click.option("--label", help="The column of labels; guessed if not given.")
@click.option("--text", multiple=True, help="A column of texts. May be repeated, as may the next one.")
@click.option("--drop", multiple=True, help="A column not to look at.")
@click.option("--task", type=click.Choice(["classification", "regression"]), help="Guessed if not given.")
@dialect_options
@json_option
def command(
    *,
    file: str,
    test: str | None,
    label: str | None,
    text: tuple[str, ...],
    drop: tuple[str, ...],
    task: str | None,
    reading: dict[str, Any],
    as_json: bool,
) -> int:
    """Reads FILE and tells every problem with line, column and what to do; exit code 1 if one is an error."""
    from lineal.cli.printing import console, print_json
    from lineal.cli.showing import show_findings
    from lineal.data.doctor import diagnose

    found = diagnose(file, test=test, label=label, text=text or None, drop=drop, task=task, **reading)
    if as_json:
        print_json(found.to_dict())
    else:
        out = console()
        show_findings(found.findings, out, most=200)
        out.print(found.summary)
    return 1 if found.has_errors else 0
