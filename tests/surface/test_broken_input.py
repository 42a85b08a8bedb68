"""Broken input gets a sentence that says what to do, an exit code, and leaves nothing behind."""

import csv
import os
import re
from pathlib import Path

import pytest

from broken_inputs import CASES, GOOD
from lineal.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "messages.md"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The bytes of a model of texts."""
    home = tmp_path_factory.mktemp("model")
    (home / "good.csv").write_text(GOOD)
    before = os.getcwd()
    os.chdir(home)
    try:
        assert run(["train", "good.csv", "--no-report", "-q", "--learner", "svm"]) == 0
    finally:
        os.chdir(before)
    return (home / "model.lineal").read_bytes()


def said(case, model, folder, capsys):
    """Exit code and message of a case in an empty folder; what was there before stays as it was."""
    (folder / "model.lineal").write_bytes(model)
    case.make(folder)
    before = {path.name for path in folder.iterdir()}
    capsys.readouterr()
    code = run(case.command)
    _, err = capsys.readouterr()
    assert {path.name for path in folder.iterdir()} == before, "something was left behind"
    assert (folder / "model.lineal").read_bytes() == model
    return code, err


@pytest.mark.parametrize("case", CASES, ids=[case.kind.replace(" ", "-") for case in CASES])
def test_broken_input_is_refused_with_a_sentence(case, model, tmp_path, monkeypatch, capsys):
    """The code that was promised, words that help, no traceback, no half-written file."""
    monkeypatch.chdir(tmp_path)
    code, err = said(case, model, tmp_path, capsys)
    assert code == case.code, err
    assert case.words in err
    assert "Traceback" not in err
    assert len(err.strip()) < 1500


def test_there_are_forty_kinds_and_the_page_names_them_all():
    """docs/messages.md has a row for each."""
    assert len(CASES) >= 40
    named = re.findall(r"^\| ([^|]+?) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [name for name in named if name not in ("what is broken", "---")] == [case.kind for case in CASES]


def test_the_good_file_is_good():
    """What the cases break can be read."""
    assert len(list(csv.reader(GOOD.splitlines()))) == 41
