"""The registry of problems: every code has its sentence, its fix and its row in the documentation."""

import string
from pathlib import Path

import pytest

from lineal.data.doctor import codes

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"
KINDS = codes.kinds()


def test_the_page_has_the_table_of_the_registry():
    """docs/doctor.md ends with the table that the registry makes."""
    assert PAGE.read_text(encoding="utf-8").split("<!-- codes -->\n\n")[1] == codes.table() + "\n"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_code_has_an_example(kind):
    """The example fills in every field, so that the sentence reads well and the fix can be carried out."""
    sample = kind.sample
    fields = {name for _, name, _, _ in string.Formatter().parse(kind.message + kind.fix) if name}
    known = {"file", "line", "lines", "count", "column", "shell", "fixed", "name", "delete"}
    assert fields - known <= set(kind.example), fields
    assert sample.code == kind.code
    assert sample.message.endswith(".")
    assert str(sample).count("Fix: ") == 1
    assert "None" not in sample.message + sample.fix
    assert kind.code == kind.code.lower().replace(" ", "-")


def test_mended_files_have_another_name():
    """Fixes write beside the file, never over it, and without the suffix of the compression."""
    assert codes.mended("a/b.csv") == "a/b.fixed.csv"
    assert codes.mended("a/b.csv.gz") == "a/b.fixed.csv"
    assert codes.mended("b") == "b.fixed"
