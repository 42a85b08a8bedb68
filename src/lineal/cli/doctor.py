"""``lineal doctor``: what is wrong with a file."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import file_argument, json_option, reading_options


@click.command("doctor")
@file_argument
@click.option("--test", type=click.Path(), help="A test file: rows in both, labels and columns in one alone.")
@click.option("--label", help="The column of labels.")
@click.option("--text", help="The column of texts.")
@reading_options
@json_option
def command(
    *,
    file: str,
    test: str | None,
    label: str | None,
    text: str | None,
    reading: dict[str, Any],
    as_json: bool,
) -> int:
    """Reads FILE and tells every problem with line, column and what to do; exit code 1 if one is an error."""
    from lineal.cli.printing import console, print_json
    from lineal.cli.showing import show_findings
    from lineal.data.doctor import diagnose

    found = diagnose(file, test=test, label=label, text=text, **reading)
    if as_json:
        print_json(found.to_dict())
    else:
        out = console()
        show_findings(found.findings, out, most=200)
        out.print(found.summary)
    return 1 if found.has_errors else 0
