"""``lineal inspect``: what a model file holds."""

from __future__ import annotations

import click

from lineal.cli.options import json_option, model_argument


@click.command("inspect")
@model_argument
@click.option(
    "--top", type=click.IntRange(min=0), default=8, show_default=True, help="Features of each label."
)
@click.option("--no-check", is_flag=True, help="Do not recompute the stored example predictions.")
@json_option
def command(*, model: str, top: int, no_check: bool, as_json: bool) -> int:
    """Says what MODEL is, what was proved of it, its heaviest features, its size and where it comes from."""
    from lineal.cli.inspecting import inspection_document, show_inspection
    from lineal.cli.printing import print_json
    from lineal.model import load

    frozen = load(model, check=not no_check)
    if as_json:
        print_json(inspection_document(frozen, top))
    else:
        show_inspection(frozen, top)
    return 0
