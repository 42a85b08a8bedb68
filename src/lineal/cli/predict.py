"""``lineal predict``: the rows of a file, labelled."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import file_argument, model_argument, reading_options


@click.command("predict")
@model_argument
@file_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), default="-",
              show_default=True, help="Where the predictions go.")  # fmt: skip
@click.option(
    "--to",
    type=click.Choice(["csv", "jsonl"]),
    help="CSV unless OUTPUT ends in .jsonl; a second suffix (.gz, .zst ...) packs it.",
)
@click.option("--probabilities", is_flag=True, help="Of every label, not of the predicted one alone.")
@click.option("--explain", type=click.IntRange(min=1), is_flag=False, flag_value=5, metavar="[K]",
              help="The K (5) features that weighed most.")  # fmt: skip
@click.option(
    "--carry", multiple=True, metavar="COLUMN", help="A column of FILE to write beside the predictions."
)
@click.option("--text", help="The column of texts, if it is called otherwise than in training.")
@reading_options
def command(
    *,
    model: str,
    file: str,
    output: str,
    to: str | None,
    probabilities: bool,
    explain: int | None,
    carry: tuple[str, ...],
    text: str | None,
    reading: dict[str, Any],
) -> int:
    """Labels the rows of FILE with MODEL, in their order, in constant memory.

    \b
    lineal predict model.lineal new.csv -o labels.csv
    echo "so good" | lineal predict model.lineal -
    lineal predict model.lineal new.jsonl --to jsonl --explain --carry id
    """
    from lineal.jobs.places import check_places
    from lineal.jobs.predict import predict
    from lineal.jobs.writing import kind_for, write_predictions
    from lineal.model import load

    check_places(None if output == "-" else output, inputs=(model, file))
    kind = to or kind_for(output)
    frozen = load(model)
    pieces = predict(frozen, file, text=text, carry=carry, reading=reading)
    write_predictions(
        frozen, pieces, output, kind=kind, with_probabilities=probabilities, n_terms=explain or 0, carry=carry
    )
    return 0
