"""``lineal demo``: the whole of it on data that every machine has."""

from __future__ import annotations

import click


@click.command("demo")
@click.argument("folder", default="lineal-demo", type=click.Path(file_okay=False))
def command(*, folder: str) -> int:
    """Trains on the docstrings of your own Python: which module does a docstring come from?

    Data, model and report go to FOLDER. Ends with three commands to try next.
    """
    import shlex
    from pathlib import Path

    from lineal.cli.explaining import show_explanation
    from lineal.cli.printing import Teller, console
    from lineal.cli.showing import show_training
    from lineal.jobs.demo import write_docstrings
    from lineal.jobs.explain import explain
    from lineal.jobs.learner import Learner
    from lineal.jobs.storing import store
    from lineal.jobs.train import train

    out, place = console(), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    data, model, report = (str(place / name) for name in ("docstrings.jsonl", "model.lineal", "report.html"))
    tell = Teller(is_quiet=False)
    tell("reading the docstrings of the standard library")
    write_docstrings(Path(data))
    training = train(data, learner=Learner(progress=tell.is_heard), tell=tell)
    command = shlex.join(["lineal", "train", data, "-o", model, "--report", report])
    stored = store(training, model, report, command=command, tell=tell)
    out.print("[bold]Which module is this docstring from?[/bold]\n")
    show_training(stored, model, report)
    question = "Return the arc cosine (measured in radians) of x."
    out.print(f'\n[bold]why[/bold] "{question}" is from')
    show_explanation(explain(model, question), 6)
    named = shlex.quote(model)
    said = (
        f"\nOpen {report}, then try:\n"
        f"  lineal explain {named} 'Wait for the lock to be released'\n"
        f"  echo 'Compile a pattern' | lineal predict {named} -\n"
        f"  lineal inspect {named}"
    )
    out.print(said, markup=False, soft_wrap=True)  # commands that can be copied as they are
    return 0
