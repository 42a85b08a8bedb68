"""``lineal verify``: the certificate, proved again."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import file_argument, json_option, model_argument, reading_options


@click.command("verify")
@model_argument
@file_argument
@click.option("--label", help="The column of labels; the model's own if not given.")
@click.option("--tol", type=click.FloatRange(min=0, min_open=True), help="The relative gap that will do.")
@reading_options
@json_option
def command(
    *, model: str, file: str, label: str | None, tol: float | None, reading: dict[str, Any], as_json: bool
) -> int:
    """Proves from the training data in FILE how far MODEL is from the best one, in NumPy alone.

    Leaves with 1 where the tolerance is not proved. The rows held out in training are held out again.
    """
    from lineal.cli.printing import console, escaped, print_json
    from lineal.jobs.verify import verify_file

    found = verify_file(model, file, label=label, tol=tol, reading=reading)
    if as_json:
        print_json({**vars(found.certificate), "is_same_file": found.is_same_file, "n_rows": found.n_rows})
    else:
        out = console()
        if found.is_same_file is False:
            out.print("[yellow]these are not the bytes that the model was trained on[/yellow]")
        out.print(escaped(f"{found.n_rows:,} rows: {found.certificate}"))
    return 0 if found.certificate.converged else 1
