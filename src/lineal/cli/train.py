"""``lineal train``: from a labelled file to a model."""

from __future__ import annotations

from typing import Any

import click

from lineal.cli.options import (
    confidence_option,
    file_argument,
    json_option,
    quiet_option,
    reading_options,
    seed_option,
    threads_option,
)


@click.command("train")
@file_argument
@click.option("--label", help="The column to predict; guessed from its name if not given.")
@click.option(
    "--text", multiple=True, help="A column to read as text. May be repeated, as may the next three."
)
@click.option("--category", multiple=True, help="A column to read as names.")
@click.option("--drop", multiple=True, help="A column to leave out.")
@click.option(
    "--keep", multiple=True, help="A column to learn from although it looks useless, or tells the label."
)
@click.option("--group", help="Rows with the same value here are never parted between learning and testing.")
@click.option("--weight", help="How much each row counts.")
@click.option("--task", type=click.Choice(["classification", "regression"]), help="Guessed if not given.")
@click.option("--test", type=click.Path(), help="Judge by this file.")
@click.option("--cv", "n_folds", type=click.IntRange(min=2), help="Judge by so many folds.")
@click.option("--holdout", "share", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2,
              show_default=True, help="Judge by this share of the rows.")  # fmt: skip
@click.option("--learner", metavar="NAME", help="svm, kernel-svm, logistic, ridge, bayes, ... or a spelled "
              "one: 'LinearClassifier(loss=Hinge())'. The default searches.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Any option of the library: learner.C=10, 'text.ngrams=(1, 3)', n_folds=5.")  # fmt: skip
@click.option(
    "--refit",
    "is_refitted",
    is_flag=True,
    help="After judging, fit once more to all rows, as --cv always does.",
)
@click.option("-o", "--output", default="model.lineal", show_default=True, type=click.Path(dir_okay=False))
@click.option(
    "--report", "report_path", default="report.html", show_default=True, type=click.Path(dir_okay=False)
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@confidence_option
@seed_option
@threads_option
@reading_options
@json_option
@quiet_option
def command(
    *,
    file: str,
    label: str | None,
    text: tuple[str, ...],
    category: tuple[str, ...],
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    group: str | None,
    weight: str | None,
    task: str | None,
    test: str | None,
    n_folds: int | None,
    share: float,
    learner: str | None,
    settings: tuple[str, ...],
    is_refitted: bool,
    output: str,
    report_path: str,
    no_report: bool,
    confidence: float,
    seed: int,
    threads: int | None,
    reading: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> int:
    """Learns from FILE and says how good the model is.

    FILE is CSV, TSV, JSON lines, Parquet, LIBSVM, VW or a folder of text files by class, also compressed
    (.gz, .xz, .zst); - is the standard input. Columns and label are guessed, and every guess is said. Rows
    are held out to judge the model, which is written to model.lineal and shown in report.html.

    \b
    lineal train reviews.csv
    lineal train reviews.csv --test more.csv --learner svm --set learner.C=0.5
    lineal train houses.csv --label price --drop address
    lineal train mails.jsonl --label is_spam --group sender --cv 5
    """
    from lineal.jobs.places import check_places

    report = None if no_report else report_path
    check_places(output, report, inputs=(file, test))
    from lineal.data.ahead import ReadAhead

    # The core reads the files while Python imports what learns from them.
    read = ReadAhead([file] if test is None else [file, test], **reading)
    from lineal.cli.printing import Teller, command_line, print_json
    from lineal.cli.showing import show_training, training_document
    from lineal.jobs.learner import Learner
    from lineal.jobs.storing import store
    from lineal.jobs.train import train
    from lineal.jobs.training import Columns, Judging

    columns = Columns(
        label=label, text=text, category=category, drop=drop, keep=keep, group=group, weight=weight, task=task
    )
    judging = Judging(test=test, n_folds=n_folds, share=share, confidence=confidence, seed=seed)
    tell = Teller(quiet or as_json)
    wanted = Learner(name=learner, settings=settings, n_threads=threads, progress=tell.is_heard)
    training = train(
        file, columns=columns, learner=wanted, judging=judging, reading=reading, read=read,
        is_refitted=is_refitted, tell=tell,
    )  # fmt: skip
    stored = store(training, output, report, command=command_line(), tell=tell)
    if as_json:
        print_json(training_document(stored, output, report))
    else:
        show_training(stored, output, report)
    if stored.interrupted:
        click.echo(f"lineal: interrupted: {stored.interrupted}.", err=True)
        return 130
    return 0
