"""What the command line tells people: all of it, in words that can be acted on."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lineal import Ridge, load
from lineal.cli.main import run
from lineal.cli.printing import escaped
from lineal.errors import InputError

N = 90


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, rows):
    """A CSV file of rows of cells without commas."""
    with open(name, "w") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)


def texts(n=N, names=("neg", "pos")):
    """A header and rows of texts with labels."""
    rows = [(f"a {'good' if k % 2 else 'bad'} film seen {k} times", names[k % 2]) for k in range(n)]
    return [("text", "label"), *rows]


def table(n=N):
    """A header and rows of numbers with labels."""
    return [("a", "b", "label"), *((f"{k % 7}.5", f"{k * k % 11}.25", "yn"[k % 2]) for k in range(n))]


@pytest.mark.parametrize(
    "text", ["[bold]", r"\[x]", r"s/\[Spam]/\[spam]/", r"\\[b] [/b]", "a[0]", "end\\", "[", r"\["]
)
def test_markup_in_data_is_text(text):
    """Brackets and backslashes come out as they are, whether or not they look like markup."""
    out = io.StringIO()
    Console(file=out, width=200).print(f"[bold]{escaped(text)}[/bold]")
    assert out.getvalue() == f"{text}\n"


def test_a_finding_says_how_many_it_is(folder, capsys):
    """A problem of thirty rows is told as thirty, also where people read."""
    rows = texts()
    rows[1:61:2] = [(text, "") for text, _ in rows[1:61:2]]
    write("a.csv", rows)
    assert run(["train", "a.csv", "-q", "--no-report"]) == 0
    said = capsys.readouterr().out
    assert "line 2, column 'label': there is no label. (30 in all: lines 2, 4, 6, 8, 10, ...)" in said
    assert run(["doctor", "a.csv"]) == 1
    assert "(30 in all" in capsys.readouterr().out


def test_a_row_is_explained_only_if_it_has_the_columns_of_the_model(folder, capsys):
    """What predict refuses, explain refuses too: columns of other names are not taken for empty ones."""
    write("r.csv", table())
    assert run(["train", "r.csv", "-q", "--no-report"]) == 0
    assert run(["explain", "model.lineal", '{"A": 0.5, "bb": 1}']) == 3
    assert "lacks 'a', 'b', and the model does not know 'A', 'bb'" in capsys.readouterr().err
    assert run(["explain", "model.lineal", '{"a": 0.5, "b": null, "label": "y"}']) == 0


def test_columns_are_called_as_the_file_calls_them(folder, capsys):
    """Indices of LIBSVM count from 1, in what is shown of a model and in what it takes."""
    with open("a.svm", "w") as file:
        file.writelines("1 1:0.5 3:1\n-1 2:1 3:0.25\n" for _ in range(30))
    assert run(["train", "a.svm", "-q", "--no-report"]) == 0
    assert run(["explain", "model.lineal", '{"1": 0.5, "3": 1}', "--json"]) == 0
    found = json.loads(capsys.readouterr().out.partition("model.lineal")[2].partition("\n")[2])
    assert {term["name"] for term in found["terms"]} == {"1", "3"}
    assert run(["inspect", "model.lineal", "--json"]) == 0
    known = json.loads(capsys.readouterr().out)["top_features"]
    assert {feature["name"] for features in known.values() for feature in features} <= {"1", "2", "3"}


def test_a_file_that_was_learned_from_is_recognised(folder, capsys):
    """Scores on the rows a model has learned from are said to flatter; those on other rows are not."""
    write("a.csv", texts())
    write("b.csv", texts(60))
    for name in "mn":
        assert run(["train", "a.csv", "-q", "--no-report", "-o", f"{name}.lineal"]) == 0
    capsys.readouterr()
    hint = "learned from this very file"
    for arguments, is_own in (
        (["evaluate", "m.lineal", "a.csv"], True),
        (["evaluate", "m.lineal", "b.csv"], False),
        (["compare", "m.lineal", "n.lineal", "a.csv"], True),
        (["compare", "m.lineal", "n.lineal", "b.csv"], False),
    ):
        assert run(arguments) == 0
        said = capsys.readouterr().out
        assert (hint in said) is is_own
        assert "held-out rows" not in said
        assert "0 s" not in said
    assert run(["update", "m.lineal", "b.csv"]) == 0
    capsys.readouterr()
    assert run(["evaluate", "m.lineal", "b.csv"]) == 0
    assert hint in capsys.readouterr().out


def test_an_update_is_told_by_the_model(folder, capsys):
    """After an update the record has its date, command and file, and keeps what it said of the training."""
    write("a.csv", texts())
    write("b.csv", texts(60))
    assert run(["train", "a.csv", "-q", "--no-report"]) == 0
    before = load("model.lineal").about
    for _ in range(2):
        assert run(["update", "model.lineal", "b.csv"]) == 0
    about = load("model.lineal").about
    assert about.created is not None
    assert about.notes["trained"] == {"command": before.command, "created": before.created}
    assert [(found["file"], found["rows"]) for found in about.notes["updates"]] == [("b.csv", 60)] * 2
    assert about.fingerprint == before.fingerprint
    capsys.readouterr()
    assert run(["inspect", "model.lineal"]) == 0
    assert capsys.readouterr().out.count("b.csv") >= 2


def test_labels_do_not_reach_the_terminal_as_commands(folder, capsys):
    """Escape characters of labels are shown as signs by every verb that prints labels."""
    write("a.csv", texts(names=("neg", "\x1b[31mpos")))
    assert run(["train", "a.csv", "-q", "--no-report"]) == 0
    assert run(["evaluate", "model.lineal", "a.csv"]) == 0
    assert run(["inspect", "model.lineal"]) == 0
    assert run(["explain", "model.lineal", "a good film"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\\x1b[31mpos" in said


@pytest.mark.parametrize("seed", range(4))
def test_a_test_part_of_one_row_is_stored(folder, seed):
    """One row has no interval by resampling: the model is stored all the same, and inspected."""
    write(
        "few.csv",
        [("text", "label"), ("good film", "p"), ("bad film", "n"), ("good one", "p"), ("bad one", "n")],
    )
    write("three.csv", [("x", "price"), (1, 2.5), (2, 3.5), (3, 5.1)])
    for file, label in (("few.csv", "label"), ("three.csv", "price")):
        options = ["--holdout", "0.2", "--seed", str(seed), "-q", "--no-report"]
        assert run(["train", file, "--label", label, *options]) == 0
        assert run(["inspect", "model.lineal"]) == 0


def test_a_target_that_does_not_vary_is_refused(folder, capsys):
    """There is nothing to learn, and no advice to use a metric that cannot be chosen."""
    write("a.csv", [("x", "price"), *((f"{k % 7}.5", 2.5) for k in range(30))])
    assert run(["train", "a.csv", "--label", "price", "--task", "regression", "--no-report"]) == 3
    assert "every value to predict is 2.5" in capsys.readouterr().err


@pytest.mark.parametrize("size", ["e60", "e150", "e200"])
def test_targets_that_overflow_are_to_be_rescaled(folder, capsys, size):
    """Numbers whose powers cannot be added up are refused with what to do, not with a mistake of ours."""
    write("a.csv", [("x", "price"), *((f"{k % 7}.5", f"{k % 5 + 1}.5{size}") for k in range(40))])
    assert run(["train", "a.csv", "--label", "price", "--task", "regression", "--no-report"]) == 3
    assert "Divide the column by a power of ten" in capsys.readouterr().err
    X = np.arange(10.0)[:, None]
    with pytest.raises(InputError, match="Rescale the data"):
        Ridge().fit(X, X[:, 0] * 1e200)


def test_a_file_without_a_header_is_told_before_its_first_row_is_lost(folder, capsys):
    """The cheap part of the doctor sees that the names of columns are values."""
    write("a.csv", texts()[1:])
    assert run(["train", "a.csv", "-q", "--no-report"]) == 0
    said = capsys.readouterr().out
    assert "line 1: the first line looks like data" in said
    assert "--no-header" in said
    write("b.csv", texts())
    assert run(["train", "b.csv", "-q", "--no-report"]) == 0
    assert "looks like data" not in capsys.readouterr().out


def test_the_example_of_tune_works_without_a_learner(folder, capsys):
    """Settings of a learner, and of texts, are searched with the usual learner."""
    write("a.csv", texts())
    space = ["learner.C=[0.1, 1]", "text.ngrams=[(1, 1), (1, 2)]"]
    assert run(["tune", "a.csv", *space, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["params"]) == {"learner__C", "vectorizer__ngrams"}
    assert len(found["trials"]) == 4
    write("r.csv", table())
    assert run(["tune", "r.csv", "learner.C=[0.1, 1]", "--json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tune", "a.csv", "learner.C=[1]", "--metric", "acuracy"], "no such scorer. There are"),
        (["train", "a.csv", "--drop", "nothing"], "there is no column 'nothing' to drop."),
        (["train", "a.csv", "-o", "/proc/m.lineal"], "the folder /proc takes no new files.\n"),
        (["train", "a.csv", "--learner", "foo"], "(gaussian-bayes and neighbors in Python alone"),
        (["evaluate", "r.lineal", "r.csv", "--text", "a"], "leave it out"),
        (["predict", "r.lineal", "r.csv", "--text", "a"], "reads columns by their own names, so --text says"),
    ],
)  # fmt: skip
def test_refusals_say_what_is_meant(folder, capsys, arguments, said):
    """A refusal names what was wrong and what there is, in few words."""
    write("a.csv", texts())
    write("r.csv", table())
    assert run(["train", "r.csv", "-q", "--no-report", "-o", "r.lineal"]) == 0
    capsys.readouterr()
    assert run(arguments) in (2, 3)
    err = capsys.readouterr().err
    assert said in err
    assert len(err) < 450


def test_a_column_of_texts_is_refused_by_models_that_read_none(folder, capsys):
    """By one of tables and by one of rows; nothing is written."""
    write("r.csv", table())
    lines = "".join(f"{'+1' if k % 2 else '-1'} 1:{k % 2} 2:{k}\n" for k in range(40))
    Path("r.svm").write_text(lines)
    for data in ("r.csv", "r.svm"):
        assert run(["train", data, "-q", "--no-report", "-o", "m.lineal"]) == 0
        assert run(["predict", "m.lineal", data, "--text", "a", "-o", "out.csv"]) == 2
        assert "leave it out" in capsys.readouterr().err
        assert not Path("out.csv").exists()
