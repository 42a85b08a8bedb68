"""The page about the command line says what the commands say."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_the_help_of_the_verbs():
    """`make reference` writes it."""
    spec = importlib.util.spec_from_file_location("command_reference", DOCS / "command_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(text) == text, "the help has changed: run `make reference`"
