"""``lineal explain``: why a text or a row gets its label."""

from __future__ import annotations

import click

from lineal.cli.options import json_option, model_argument


@click.command("explain")
@model_argument
@click.argument("given", metavar="TEXT")
@click.option("--label", help="Whose score is taken apart; the predicted label's if not given.")
@click.option("--top", type=click.IntRange(min=1), default=12, show_default=True, help="How many features.")
@json_option
def command(*, model: str, given: str, label: str | None, top: int, as_json: bool) -> int:
    """Takes the score of TEXT apart: what each word, or each column of a row, added to it.

    For a model of tables TEXT is a JSON object of columns; - reads it from the standard input.

    \b
    lineal explain model.lineal "so good, not bad at all"
    lineal explain houses.lineal '{"rooms": 3, "city": "Bath"}'
    """
    from lineal.cli.explaining import explanation_document, show_explanation
    from lineal.cli.printing import print_json
    from lineal.jobs.explain import explain

    found = explain(model, given, label=label)
    if as_json:
        print_json(explanation_document(found, top))
    else:
        show_explanation(found, top)
    return 0
