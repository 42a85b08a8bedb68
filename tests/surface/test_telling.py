"""What the command line tells people: all of it, in words that can be acted on."""

import io

import pytest
from rich.console import Console

from lineal.cli.main import run
from lineal.cli.printing import escaped

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
