"""``lineal compare``: models side by side."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import confidence_option, json_option, reading_options


@click.command("compare")
@click.argument("models", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--label", help="The column of labels; the models' own if not given.")
@click.option("--text", help="The column of texts, if it is called otherwise than in training.")
@click.option("--weight", help="How much each row counts.")
@click.option("--group", help="Rows with the same value here are one draw, and intervals are by group; the "
              "models' own column if not given.")  # fmt: skip
@click.option("--metric", help="accuracy, f1_macro, roc_auc, r2, ...; accuracy or R² if not given.")
@confidence_option
@reading_options
@json_option
def command(
    *,
    models: tuple[str, ...],
    file: str,
    label: str | None,
    text: str | None,
    weight: str | None,
    group: str | None,
    metric: str | None,
    confidence: float,
    reading: dict[str, Any],
    as_json: bool,
) -> int:
    """Two or more MODELS on the labelled rows of FILE: scores with intervals, and a verdict for every pair.

    \b
    lineal compare old.lineal new.lineal test.csv
    """
    from lineal.cli.printing import console, print_json
    from lineal.jobs.judge import compare_files

    found = compare_files(
        models,
        file,
        label=label,
        text=text,
        weight=weight,
        group=group,
        metric=metric,
        reading=reading,
        confidence=confidence,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        console().print(found)
    return 0
