"""``lineal tune``: settings searched on held-out rows."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import (
    file_argument,
    json_option,
    quiet_option,
    reading_options,
    seed_option,
    threads_option,
)


@click.command("tune")
@file_argument
@click.argument("space", nargs=-1)
@click.option("--label", help="The column to predict; guessed from its name if not given.")
@click.option("--text", multiple=True, help="A column to read as text.")
@click.option("--drop", multiple=True, help="A column to leave out.")
@click.option("--group", help="Rows with the same value here are never parted.")
@click.option("--task", type=click.Choice(["classification", "regression"]))
@click.option("--learner", metavar="NAME", help="svm, ... or a spelled one. If not given, logistic for "
              "labels and ridge for numbers, or without SPACE what the data call for.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Options that stay as they are.")
@click.option("--method", type=click.Choice(["grid", "random", "halving", "optuna"]), default="grid",
              show_default=True)  # fmt: skip
@click.option("--cv", "n_folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--outer", type=click.IntRange(min=2), help="Outer folds, for an honest score.")
@click.option("--metric", help="A scorer's name, as in scikit-learn: accuracy, f1_macro, r2, ...")
@click.option("--trials", "max_trials", type=click.IntRange(min=1))
@click.option("--seconds", "max_seconds", type=click.FloatRange(min=0, min_open=True))
@click.option("-o", "--output", default="model.lineal", show_default=True, type=click.Path(dir_okay=False))
@seed_option
@threads_option
@reading_options
@json_option
@quiet_option
def command(
    *,
    file: str,
    space: tuple[str, ...],
    label: str | None,
    text: tuple[str, ...],
    drop: tuple[str, ...],
    group: str | None,
    task: str | None,
    learner: str | None,
    settings: tuple[str, ...],
    output: str,
    seed: int,
    threads: int | None,
    reading: dict[str, Any],
    as_json: bool,
    quiet: bool,
    **search: Any,
) -> int:
    """Tries the settings of SPACE on held-out rows of FILE, and stores the best model.

    \b
    lineal tune reviews.csv "learner.C=[0.1, 1, 10]" "text.ngrams=[(1, 1), (1, 2)]"
    lineal tune houses.csv --label price --learner ridge --outer 5
    """
    from lineal.cli.printing import Teller, console, print_json
    from lineal.jobs.learner import Learner
    from lineal.jobs.places import check_places
    from lineal.jobs.training import Columns
    from lineal.jobs.tune import tune_file

    check_places(output, inputs=(file,))
    tell = Teller(quiet or as_json)
    found = tune_file(
        file,
        space,
        columns=Columns(label=label, text=text, drop=drop, group=group, task=task),
        learner=Learner(name=learner, settings=settings, n_threads=threads),
        seed=seed,
        reading=reading,
        progress=tell.is_heard,
        tell=tell,
        **search,
    )
    found.model.save(output)
    if as_json:
        print_json(tuning_document(found, output))
    else:
        out = console()
        out.print(str(found.tuning).replace("outer=", "--outer "), markup=False)  # as it is said here
        out.print(f"[bold]model[/bold]  {output}")
    if found.is_interrupted:
        click.echo("lineal: interrupted: the best model so far was kept.", err=True)
        return 130
    return 0


def tuning_document(found: Any, output: str) -> dict[str, Any]:
    """The search for machines."""
    tuning = found.tuning
    low, high = tuning.interval
    return {
        "params": tuning.params,
        "score": tuning.score,
        "low": low,
        "high": high,
        "is_honest": tuning.is_honest,
        "metric": tuning.metric,
        "n_rows": found.n_rows,
        "trials": tuning.rows(),
        "model": output,
    }
