"""``lineal evaluate``: a model judged by a labelled file."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import confidence_option, file_argument, json_option, model_argument, reading_options


@click.command("evaluate")
@model_argument
@file_argument
@click.option("--label", help="The column of labels; the model's own if not given.")
@click.option("--text", help="The column of texts, if it is called otherwise than in training.")
@click.option("--weight", help="How much each row counts.")
@click.option("--group", help="Rows with the same value here are one draw, and intervals are by group; the "
              "model's own column if not given.")  # fmt: skip
@confidence_option
@reading_options
@json_option
def command(
    *,
    model: str,
    file: str,
    label: str | None,
    text: str | None,
    weight: str | None,
    group: str | None,
    confidence: float,
    reading: dict[str, Any],
    as_json: bool,
) -> int:
    """Judges MODEL by the labelled rows of FILE; every number has an interval."""
    from lineal.cli.printing import console, print_json
    from lineal.jobs.judge import evaluate_file
    from lineal.model import load

    judged = evaluate_file(
        load(model),
        file,
        label=label,
        text=text,
        weight=weight,
        group=group,
        reading=reading,
        confidence=confidence,
    )
    if as_json:
        print_json(judged.evaluation.to_dict())
    else:
        console().print(judged.evaluation)
    return 0
