"""Runs every broken input and writes what is said to messages.md; ``make reference`` runs it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
# ruff: noqa: E501
HEAD = """# What is said of broken input

Each of these was run; the sentence is what came on the standard error output. Nothing was written, and whatever was
there before stayed as it was. The exit codes are those of [command-line.md](command-line.md#what-comes-out).

| what is broken | command | exit | what is said |
|---|---|---:|---|
"""


def main() -> None:
    """One row for each case."""
    from broken_inputs import CASES, GOOD
    from lineal.cli.main import run

    rows = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.chdir(home)
        Path("good.csv").write_text(GOOD)
        run(["train", "good.csv", "--no-report", "-q", "--learner", "svm", "--json"])
        model = Path("model.lineal").read_bytes()
        for number, case in enumerate(CASES):
            folder = home / str(number)
            folder.mkdir()
            os.chdir(folder)
            Path("model.lineal").write_bytes(model)
            case.make(folder)
            said = io.StringIO()
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                code = run(case.command)
            words = " ".join(said.getvalue().split()).replace(str(folder), ".").replace("|", "\\\\|")
            command = " ".join(case.command)
            for usual in (" --no-report", " -q", " -o out.lineal"):
                command = command.replace(usual, "")
            rows.append(f"| {case.kind} | `lineal {command}` | {code} | {words} |")
        os.chdir(HERE)
    (HERE / "messages.md").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
