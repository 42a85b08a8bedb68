"""The entry point: finds the verb, runs it, and turns what goes wrong into a line and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from lineal.errors import FileWriteError, InputError, LinealError, ModelFileError, ParameterError
from lineal.protocol import take_light_classes

# What each verb does, in the words of the overview.
VERBS = {
    "train": "Learn from a labelled file: a model, how good it is, and a report.",
    "predict": "Label the rows of a file with a model.",
    "evaluate": "Judge a model by a labelled file.",
    "compare": "Models side by side on a labelled file, with tests.",
    "explain": "Why a text or a row gets its label.",
    "inspect": "What a model file holds: learner, certificate, features, origin.",
    "update": "Go on learning from more rows, one by one.",
    "tune": "Search settings of a learner on held-out rows.",
    "convert": "Data to other formats; models of other libraries to model files.",
    "verify": "Prove a model's certificate again from its training data.",
    "doctor": "What is wrong with a file: line, column, and how to mend it.",
    "demo": "The whole of it on data that every machine has.",
    "completion": "What to add to your shell for completion of names.",
}
# Options of functions, as they are spelled on the command line.
_OPTION = r"\b(text|label|format|delimiter|encoding|errors|header|quoting|group|test|cv|drop)="
_SPELLINGS = (
    # Only a model, or a training file, tells the command line where indices begin.
    (
        re.compile("Say that columns are counted from 0: first_index=0"),
        "In training columns were counted from 1: number these so, too",
    ),
    (re.compile(_OPTION + "False"), r"--no-\1"),
    (re.compile(_OPTION + "True"), r"--\1"),
    (re.compile(_OPTION + r'"([^"]*)"'), r"--\1 \2"),
    (re.compile(_OPTION + r"(?=[\s.,:;)])"), r"--\1"),
    (re.compile(_OPTION + r"(?!=)"), r"--\1 "),
)


class ClosedPipe(Exception):  # noqa: N818
    """Whoever read the output has stopped; click would make it an error."""


class Verbs(click.Group):
    """Verbs that are imported when they are called."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ClosedPipe from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        found: click.Command = import_module(f"lineal.cli.{name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, n=1) if args else []
            if not near:
                raise
            said = f"{error.message.rstrip('.')}. Did you mean {near[0]!r}?"
            raise click.UsageError(said, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"lineal {version('lineal')}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
def lineal() -> None:
    """Linear models from labelled files: trained, certified, explained, compared.

    \b
    lineal train reviews.csv                 a model, a table, and report.html
    lineal predict model.lineal new.csv      labels and probabilities
    lineal explain model.lineal "so good"    what each word added
    lineal doctor reviews.csv                what is wrong with the file

    Exit codes: 0 done, 1 the answer is no, 2 usage, 3 data or files, 4 model file, 130 Ctrl-C.
    """


class NoDataFrames:
    """Keeps pandas out: no verb needs it, and other libraries would spend half a second to import it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Tells whoever tries, and can do without, that there is none."""
        if name == "pandas" and "pandas" not in sys.modules:
            raise ModuleNotFoundError("the command line works without pandas", name="pandas")


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and leaves with its exit code."""
    sys.meta_path.insert(0, NoDataFrames())
    take_light_classes()
    # Importing and reading make objects by the hundred thousand, none of them garbage; to look at so many
    # takes 20 to 40 ms.
    gc.set_threshold(1_000_000)
    # Threads of BLAS that wait for work sleep (2^4 cycles) instead of keeping our own from their core (2^26).
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    code = run(arguments)
    if code != 130:  # then a thread may still be reading a large file, and would be waited for
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # Python would take its modules and arrays apart one by one, which takes a twentieth of a second.
    os._exit(code)


def run(arguments: list[str] | None = None) -> int:
    """The exit code of a command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: nobody listens, which is no error
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal lacks must not end the run
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        outcome = lineal.main(args=arguments, prog_name="lineal", standalone_mode=False)
        sys.stdout.flush()
        return int(outcome) if isinstance(outcome, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted.")
        return 130
    except (ClosedPipe, BrokenPipeError):
        # Python would complain once more when it closes the pipe at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (LinealError, OSError, MemoryError) as error:
        return _told(error)
    except Exception as error:
        if os.environ.get("LINEAL_TRACEBACK"):
            raise
        _say(
            f"this is a mistake in Lineal, not in what you did: {type(error).__name__}: {error}. Set "
            "LINEAL_TRACEBACK=1 to see where it comes from."
        )
        return 70


def _told(error: Exception) -> int:
    if isinstance(error, MemoryError):
        _say("there is not enough memory for this. Give fewer rows, or hash features with text.n_features.")
        return 3
    if isinstance(error, FileWriteError):
        _say(str(error))
        return 3
    if isinstance(error, OSError):
        place = f" {error.filename}" if error.filename is not None else ""
        _say(f"a file cannot be read or written{':' + place if place else ''}: {error.strerror or error}.")
        return 3
    said = str(error)
    for option, spelling in _SPELLINGS:
        said = option.sub(spelling, said)
    _say(said)
    if isinstance(error, ModelFileError):
        return 4
    if isinstance(error, ParameterError):
        return 2
    return 3 if isinstance(error, InputError) else 1


def _say(sentence: str) -> None:
    click.echo(f"lineal: {sentence}", err=True)


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {message}", err=True)
