"""``lineal convert``: data to other formats, models of other libraries to model files."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import FORMATS, json_option, reading_options
from lineal.errors import ParameterError

_MODELS = ("liblinear", "libsvm", "fasttext", "sklearn")


@click.command("convert")
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path(allow_dash=True))
@click.option("--from", "model_format", type=click.Choice(_MODELS), help="Of a model; guessed if not given.")
@click.option("--to", type=click.Choice(FORMATS[:-2]), help="Of the data written; by the name if not given.")
@click.option("--label", help="The column of labels, where LIBSVM or VW is written.")
@click.option("--drop", multiple=True, help="A column of the data not to write.")
@click.option("--check", "check_path", type=click.Path(), metavar="DATA", help="Predict these rows with both "
              "models and tell the difference.")  # fmt: skip
@click.option("--trust", is_flag=True, help="Open a scikit-learn model, although a pickle can run any code.")
@reading_options
@json_option
def command(
    *,
    source: str,
    target: str,
    model_format: str | None,
    to: str | None,
    label: str | None,
    drop: tuple[str, ...],
    check_path: str | None,
    trust: bool,
    reading: dict[str, Any],
    as_json: bool,
) -> int:
    """Writes the data of SOURCE to TARGET in another format; or, if TARGET ends in .lineal, a model.

    Models may come from LIBLINEAR, LIBSVM (linear, polynomial and radial kernels), fastText (supervised) and
    scikit-learn (linear models and pipelines). What cannot be carried over exactly is refused.

    \b
    lineal convert rows.libsvm rows.parquet
    lineal convert reviews.csv.gz reviews.jsonl.zst
    lineal convert news.bin news.lineal --check news.txt
    """
    from lineal.cli.printing import console, print_json
    from lineal.jobs.convert import convert_data, convert_model
    from lineal.jobs.places import check_places

    check_places(None if target == "-" else target, inputs=(source, check_path))
    if target == "-" and as_json:
        raise ParameterError("the data go to the standard output already: leave out --json, or name a file.")
    if target.endswith(".lineal"):
        found = convert_model(
            source, target, format=model_format, check=check_path, trust=trust, reading=reading
        )
        sentence, document = found.sentence, found.to_dict()
    else:
        n_rows = convert_data(source, target, to=to, label=label, drop=drop, reading=reading)
        sentence, document = f"{n_rows:,} rows written to {target}.", {"n_rows": n_rows, "target": target}
    if as_json:
        print_json(document)
    elif target != "-":
        console().print(sentence, markup=False)
    return 0
