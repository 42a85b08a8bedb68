"""``lineal update``: a model goes on learning."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import file_argument, json_option, model_argument, quiet_option, reading_options


@click.command("update")
@model_argument
@file_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where the new model goes; over the "
              "old one if not given.")  # fmt: skip
@click.option("--label", help="The column of labels; the model's own if not given.")
@click.option("--text", help="The column of texts, if it is called otherwise than in training.")
@click.option("--weight", help="How much each row counts.")
@reading_options
@json_option
@quiet_option
def command(
    *,
    model: str,
    file: str,
    output: str | None,
    label: str | None,
    text: str | None,
    weight: str | None,
    reading: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> int:
    """Learns from the rows of FILE, one by one and in their order, and stores the model again.

    Labels may be new. Each piece is predicted before it is learned from: the accuracy shown is honest.
    """
    from lineal.cli.printing import Teller, command_line, console, escaped, print_json
    from lineal.jobs.places import check_places
    from lineal.jobs.update import update

    place = output or model
    check_places(place, inputs=(file,))
    tell = Teller(quiet or as_json)
    found = update(
        *(model, file),
        label=label,
        text=text,
        weight=weight,
        reading=reading,
        command=command_line(),
        tell=tell,
    )
    found.model.save(place)
    document = {
        "model": place,
        "n_rows": found.n_rows,
        "accuracy_before_learning": found.progressive,
        "new_labels": list(found.new_labels),
    }
    if as_json:
        print_json(document)
        return 0
    out = console()
    before = (
        "" if found.progressive is None else f"; {found.progressive:.1%} right before it learned from them"
    )
    out.print(f"{found.n_rows:,} rows learned from{before}.")
    if found.new_labels:
        out.print(f"new labels: {escaped(', '.join(map(str, found.new_labels)))}")
    out.print(f"[bold]model[/bold]  {escaped(place)}")
    return 0
