"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

Command = Callable[..., Any]
FORMATS = ("csv", "tsv", "jsonl", "parquet", "libsvm", "vw", "lines", "folder")


# What is meant where nothing is said.
_USUAL = {"format": None, "delimiter": None, "header": True, "quoting": None, "encoding": "utf-8",
          "errors": "strict"}  # fmt: skip


def reading_options(function: Command) -> Command:
    """``--format``, ``--delimiter`` and the like, handed on as one dict, ``reading``, of what was said."""
    mends = click.option(
        "--errors", type=click.Choice(["strict", "replace"]), default="strict", show_default=True,
        help="What to do with bytes that are no text.",
    )  # fmt: skip
    return dialect_options(mends(function))


def dialect_options(function: Command) -> Command:
    """The same without ``--errors``, for whoever looks for bytes that are no text."""

    @click.option(
        "--format", "format_", type=click.Choice(FORMATS), help="Of the file; guessed if not given."
    )
    @click.option("--delimiter", help="What is between the fields of CSV or TSV.")
    @click.option("--no-header", is_flag=True, help="The first row holds values; columns are 0, 1, ...")
    @click.option("--quoting/--no-quoting", default=None, help="Whether fields may be in quotes.")
    @click.option("--encoding", default="utf-8", show_default=True, help="Of the text in the file.")
    @wraps(function)
    def with_reading(
        *, format_: str | None, delimiter: str | None, no_header: bool, quoting: bool | None, encoding: str,
        errors: str = "strict", **others: Any,
    ) -> Any:  # fmt: skip
        reading = {
            "format": format_,
            "delimiter": None if delimiter is None else delimiter.replace("\\t", "\t"),
            "header": not no_header,
            "quoting": quoting,
            "encoding": encoding,
            "errors": errors,
        }
        said = {name: value for name, value in reading.items() if value != _USUAL[name]}
        return function(reading=said, **others)

    return with_reading


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead of tables."
)
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads; all cores if not given."
)
confidence_option = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of all intervals.",
)
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on the standard error output.")
model_argument = click.argument("model", type=click.Path(dir_okay=False))
file_argument = click.argument("file", type=click.Path(allow_dash=True))
