"""The page about the command line says what the commands say."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_the_help_of_the_verbs():
    """`make reference` writes it."""
    spec = importlib.util.spec_from_file_location("command_reference", DOCS / "command_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(text) == text, "the help has changed: run `make reference`"


def test_the_first_example_shows_what_its_commands_print(tmp_path):
    """Every line shown is printed, in that order; where the page has dots, more is."""
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("```console\n")
    block, _, _ = rest.partition("```")
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": here, "PYTHONPATH": str(DOCS.parent / "examples")}
    commands = block.split("$ ")[1:]
    assert commands[0] == "cd examples\n"
    for command in commands[1:]:
        line, *shown = command.splitlines()
        found = subprocess.run(
            line, shell=True, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=True
        )
        printed = iter(text.rstrip() for text in found.stdout.splitlines())
        for text in shown:
            assert text == "..." or text in printed, text
