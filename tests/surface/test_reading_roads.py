"""Every verb reads a file alike: what can be learned from can be labelled, the rest is refused by all."""

import gzip
import io
import json
import lzma
import sys

import pytest

from lineal import load
from lineal.cli.main import run
from lineal.data import read_records
from lineal.data.compression import SUFFIXES, compression_of
from lineal.errors import InputError
from lineal.jobs.predict import predict
from lineal.jobs.update import update

WORDS = {"pos": ["good", "fine", "lovely", "great"], "neg": ["bad", "poor", "awful", "dull"]}
ROWS = [
    (f"a {WORDS[label][k // 2 % 4]} caf\xe9 film with number {k % 7}", label)
    for k, label in enumerate(["neg", "pos"] * 30)
]


def delimited(mark=",", end="\n", header=("text", "label")):
    """The rows as they are written with a mark between fields."""
    return "".join(mark.join(row) + end for row in ([header] if header else []) + ROWS)


def json_lines(text="text", **more):
    return "".join(json.dumps({text: words, "label": label, **more}) + "\n" for words, label in ROWS)


FORMATS = {
    "csv.csv": (delimited().encode(), []),
    "semicolons.csv": (delimited(";").encode(), []),
    "bars.csv": (delimited("|").encode(), []),
    "tabs.tsv": (delimited("\t").encode(), []),
    "carriage_returns.csv": (delimited(end="\r").encode(), []),
    "both_ends.csv": (delimited(end="\r\n").encode(), []),
    "marked.csv": (delimited().encode("utf-8-sig"), []),
    "wide.csv": (delimited().encode("utf-16"), ["--encoding", "utf-16"]),
    "latin.csv": (delimited(";").encode("latin-1"), ["--encoding", "latin-1"]),
    "packed.csv.gz": (gzip.compress(delimited().encode()), []),
    "lines.jsonl": (json_lines().encode(), []),
    "nested.jsonl": (json_lines(more={"a": [1]}).encode(), []),
    "array.json": (json.dumps([{"text": words, "label": label} for words, label in ROWS]).encode(), []),
    "spread_array.json": (
        json.dumps([{"text": words, "label": label} for words, label in ROWS], indent=1).encode(),
        [],
    ),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of texts, trained with columns text and label."""
    home = tmp_path_factory.mktemp("model")
    (home / "good.csv").write_text(delimited(), encoding="utf-8")
    path = home / "model.lineal"
    assert (
        run(["train", str(home / "good.csv"), "-o", str(path), "--no-report", "-q", "--learner", "svm"]) == 0
    )
    return path


@pytest.fixture
def answer(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder: exit code, standard output, standard error output."""
    monkeypatch.chdir(tmp_path)

    def answered(*arguments, piped=None):
        if piped is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(piped))))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return answered


@pytest.fixture
def labels(answer, model):
    """The labels that `predict` gives, and nothing but success."""

    def found(*arguments, using=model, **more):
        code, out, err = answer("predict", using, *arguments, **more)
        assert code == 0, err
        head, *rows = out.splitlines()
        assert head == "prediction,probability"
        return [row.split(",")[0] for row in rows]

    return found


@pytest.mark.parametrize("is_piped", [False, True], ids=["file", "pipe"])
@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_every_format_get_the_same_labels(labels, tmp_path, name, is_piped):
    """How rows are written changes neither how many there are nor what is said of them."""
    content, options = FORMATS[name]
    (tmp_path / name).write_bytes(content)
    expected = [label for _, label in ROWS]
    assert labels("-" if is_piped else name, *options, piped=content if is_piped else None) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_labelled_is_judged(answer, model, tmp_path, name):
    """`evaluate` and `update` read each of these files, and count its rows."""
    content, options = FORMATS[name]
    (tmp_path / name).write_bytes(content)
    code, out, err = answer("evaluate", model, name, *options, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["n_rows"] == len(ROWS)
    code, out, err = answer("update", model, name, *options, "-o", "new.lineal", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["n_rows"] == len(ROWS)


TABLES_WITHOUT_THE_TEXT = {
    "lines.jsonl": json_lines("review"),
    "array.json": json.dumps([{"review": "nice film"}]),
    "one.jsonl": '{"review": "nice film"}\n',
    "comma.csv": delimited(header=("words", "label")),
    "semicolon.csv": delimited(";", header=("words", "label")),
    "two.csv": "words,number\na good film,1\na bad film,2\n",
    "header.csv": "words,label\n",
}


@pytest.mark.parametrize("name", TABLES_WITHOUT_THE_TEXT)
def test_a_table_without_the_text_is_refused(answer, model, tmp_path, name):
    """By file, by pipe, and with columns carried along: nothing is labelled in its place."""
    content = TABLES_WITHOUT_THE_TEXT[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    carried = "review" if "review" in content else "words"
    for arguments in (["-"], [name], [name, "--carry", carried], ["-", "--carry", carried]):
        code, out, err = answer("predict", model, *arguments, piped=content.encode())
        assert (code, out) == (3, ""), arguments
        assert "'text'" in err
        assert "--text" in err
        assert carried in err


@pytest.mark.parametrize(
    "name", [name for name, content in TABLES_WITHOUT_THE_TEXT.items() if "film" in content]
)
def test_the_text_of_another_name_is_read_if_it_is_named(answer, labels, tmp_path, name):
    """--text leads to the same labels through a file and a pipe; a name that is not there is refused."""
    content = TABLES_WITHOUT_THE_TEXT[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    column = "review" if "review" in content else "words"
    found = labels(name, "--text", column)
    assert found == labels("-", "--text", column, piped=content.encode())
    assert len(found) in (1, 2, len(ROWS))


@pytest.mark.parametrize(
    "lines",
    [
        "so good, but bad\nfine, thanks\n",
        "great, thanks\nno, never\n",
        "[laughs] good\n",
        "good\n\nbad",
        "a; b\n",
        "\n",
        "good,bad\n",
    ],
)
def test_plain_lines_of_a_pipe_are_texts(labels, lines):
    """Commas and brackets in sentences make no table: a label to a line."""
    assert len(labels("-", piped=lines.encode())) == len(lines.splitlines())


def test_lines_have_no_columns_to_choose(answer, model, tmp_path):
    """--text is refused for plain lines, instead of being forgotten."""
    (tmp_path / "plain.txt").write_text("a good film\n")
    for arguments, piped in ((["plain.txt"], None), (["-"], b"a good film\n")):
        code, out, err = answer("predict", model, *arguments, "--text", "words", piped=piped)
        assert (code, out) == (3, "")
        assert "'words'" in err


def test_a_later_object_may_have_the_key_that_the_first_ones_lack(labels, tmp_path):
    """A missing text is an empty one, as in training, as long as some object has the key."""
    (tmp_path / "late.jsonl").write_text('{"id": 1}\n{"id": 2, "text": "a good film"}\n{"text": null}\n')
    assert labels("late.jsonl")[1] == "pos"
    assert len(labels("late.jsonl")) == 3


def test_a_column_that_was_dropped_for_its_kind_stands_in_nobodys_way(answer, tmp_path):
    """Trained with --drop, judged, labelled, proved and gone on with; one that is needed is refused."""
    (tmp_path / "a.jsonl").write_text(json_lines(more={"a": [1]}, kind="x"))
    options = ["--drop", "more", "--no-report", "-q", "--learner", "svm"]
    assert answer("train", "a.jsonl", *options, "-o", "table.lineal", "--keep", "kind")[0] == 0
    for verb, *more in (["predict"], ["evaluate"], ["verify"], ["update", "-o", "new.lineal"]):
        code, _, err = answer(verb, "table.lineal", "a.jsonl", *more)
        assert (code, err) == (0, ""), verb
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": ["a", "b"], "label": "pos", "kind": "x"}) + "\n")
    for verb, *more in (["predict"], ["evaluate"], ["verify"], ["update", "-o", "new.lineal"]):
        code, _, err = answer(verb, "table.lineal", "b.jsonl", *more)
        assert code == 3
        assert "'text'" in err


def test_files_without_a_header_are_learned_from_and_labelled(answer, labels, tmp_path):
    """Columns are called 0, 1 ... by every verb."""
    (tmp_path / "bare.csv").write_text(delimited(header=None), encoding="utf-8")
    more = ["--no-header", "--label", "1", "--no-report", "-q", "--learner", "svm", "-o", "bare.lineal"]
    assert answer("train", "bare.csv", *more)[0] == 0
    expected = [label for _, label in ROWS]
    using = tmp_path / "bare.lineal"
    assert labels("bare.csv", "--no-header", using=using) == expected
    piped = delimited(header=None).encode()
    assert labels("-", "--no-header", using=using, piped=piped) == expected


def test_texts_in_a_folder_are_read_in_their_encoding(answer, model, labels, tmp_path):
    """--encoding and --errors hold for every file of a folder."""
    for number, (text, label) in enumerate(ROWS):
        (tmp_path / "texts" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / label / f"{number:02d}.txt").write_bytes(text.encode("latin-1"))
    code, _, err = answer("predict", model, "texts")
    assert code == 3
    assert "00.txt" in err
    for options in (["--encoding", "latin-1"], ["--errors", "replace"]):
        assert labels("texts", *options) == sorted(label for _, label in ROWS)


@pytest.mark.parametrize("verb", ["predict", "evaluate", "update"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.csv.gz", gzip.compress(delimited().encode())[:-20]),
        ("cut.csv.xz", lzma.compress(delimited().encode())[:-20]),
        ("wide.csv", delimited().encode("utf-16")),
        ("wide_without_mark.csv", delimited().encode("utf-16-le")),
        ("latin.csv", delimited().encode("latin-1")),
    ],
)
def test_a_file_that_cannot_be_read_is_named(answer, model, tmp_path, verb, name, content):
    """Whichever verb meets it: the message begins with the file."""
    (tmp_path / name).write_bytes(content)
    code, _, err = answer(verb, model, name, *(["-o", "new.lineal"] if verb == "update" else []))
    assert code == 3
    assert err.startswith(f"lineal: {name}"), err


def table(n=60, **cells):
    """Rows of a boolean, a number, a date, a category and a label; some cells are given by column and row."""
    lines = ["flag,number,day,country,label"]
    for row in range(n):
        made = {
            "flag": "true" if row % 3 else "false",
            "number": str(row % 11),
            "day": f"2020-01-{row % 28 + 1:02d}",
            "country": ["NA", "DE"][row % 2],
            "label": ["neg", "pos"][row // 3 % 2],
        }
        made.update({name: given[row] for name, given in cells.items() if row in given})
        lines.append(",".join(made.values()))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def table_model(tmp_path_factory):
    """A model of a table, and nothing but success."""
    home = tmp_path_factory.mktemp("table")
    (home / "table.csv").write_text(table())
    path = home / "table.lineal"
    kept = [word for name in ("flag", "number", "day", "country") for word in ("--keep", name)]
    more = ["-o", str(path), "--no-report", "-q", "--learner", "svm", *kept]
    assert run(["train", str(home / "table.csv"), *more]) == 0
    return path


@pytest.mark.parametrize("spelling", ["NA", "nan", "?", "null", "None", "#N/A"])
def test_what_is_missing_in_training_is_missing_everywhere(answer, table_model, tmp_path, spelling):
    """The usual words among numbers, booleans and dates are as good as a blank; NA is a country."""
    (tmp_path / "words.csv").write_text(table(flag={3: spelling}, number={4: spelling}, day={5: spelling}))
    (tmp_path / "blanks.csv").write_text(table(flag={3: ""}, number={4: ""}, day={5: ""}))
    for verb, *more in (["predict", "--probabilities"], ["evaluate", "--json"]):
        said = [answer(verb, table_model, name, *more)[:2] for name in ("words.csv", "blanks.csv")]
        assert said[0][0] == 0
        assert said[0] == said[1], verb
    code, out, err = answer("update", table_model, "words.csv", "-o", "new.lineal", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["n_rows"] == 60


def test_a_label_that_is_missing_among_numbers_is_none(answer, tmp_path):
    """A row without a number to learn is left out by `update` as by `train`."""
    rows = "".join(f"{k},{'NA' if k == 30 else 2 * k + k % 3}\n" for k in range(60))
    (tmp_path / "numbers.csv").write_text("x,y\n" + rows)
    options = [
        "--label",
        "y",
        "--no-report",
        "-q",
        "--learner",
        "ridge",
        "--task",
        "regression",
        "--keep",
        "x",
    ]
    code, _, err = answer("train", "numbers.csv", *options, "-o", "line.lineal")
    assert code == 0, err
    code, out, err = answer("update", "line.lineal", "numbers.csv", "-o", "new.lineal", "--json")
    assert code == 0, err
    assert json.loads(out)["n_rows"] == 59


@pytest.mark.parametrize("n_bytes", [64, 1 << 22])
def test_a_cell_that_cannot_be_read_has_its_file_and_its_line(table_model, tmp_path, n_bytes):
    """However small the pieces are, lines are those of the file, with rows that have no label among them."""
    path = tmp_path / "bad.csv"
    path.write_text(table(number={50: "many"}, label={7: ""}))
    with pytest.raises(InputError, match=r"bad\.csv: column 'number' needs numbers, but line 52 has 'many'"):
        list(predict(load(table_model), str(path), n_bytes=n_bytes))
    with pytest.raises(InputError, match=r"bad\.csv: column 'number' needs numbers, but line 52 has 'many'"):
        update(str(table_model), str(path), n_bytes=n_bytes)


@pytest.mark.parametrize("packed", ["", ".gz", ".xz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.json", "out.txt"])
def test_predictions_are_written_as_the_name_ends(answer, model, tmp_path, name, packed):
    """The file is what its name says: read back it has a row for each text, and packed ones are packed."""
    (tmp_path / "new.csv").write_text(delimited(), encoding="utf-8")
    assert answer("predict", model, "new.csv", "-o", name + packed)[:2] == (0, "")
    found = read_records(name + packed, **({"format": "csv"} if name == "out.txt" else {}))
    assert found.table.column("prediction").to_pylist() == [label for _, label in ROWS]
    assert compression_of((tmp_path / (name + packed)).read_bytes()[:8]) == SUFFIXES.get(packed)


@pytest.mark.parametrize("name", ["out.parquet", "out.tsv", "out.libsvm", "out.vw.gz"])
def test_predictions_are_not_written_under_a_name_that_says_otherwise(answer, model, tmp_path, name):
    """A format that cannot be is refused before anything is read, and nothing is left there."""
    code, _, err = answer("predict", model, "nowhere.csv", "-o", name)
    assert code == 2
    assert "lineal convert" in err
    assert not (tmp_path / name).exists()


def test_a_folder_without_labels_is_not_learned_from(answer, model, tmp_path):
    """The names of files are no labels: sub-folders are asked for, though the texts can be labelled."""
    (tmp_path / "texts").mkdir()
    for number, (text, _) in enumerate(ROWS):
        (tmp_path / "texts" / f"{number}.txt").write_text(text, encoding="utf-8")
    for verb, *more in (["train", "--no-report"], ["tune", "learner.C=[1.0]", "--learner", "svm"]):
        code, _, err = answer(verb, "texts", *more)
        assert code == 3
        assert "sub-folders" in err
    assert len(answer("predict", model, "texts")[1].splitlines()) == 1 + len(ROWS)


@pytest.mark.parametrize("verb", ["train", "predict", "evaluate", "update", "verify", "convert", "tune"])
def test_an_empty_name_is_no_name_of_the_current_folder(answer, model, verb):
    """What a script with an unset variable gives is refused by every verb."""
    before = [model] if verb in ("predict", "evaluate", "update", "verify") else []
    after = {"convert": ["out.csv"], "tune": ["learner.C=[1.0]"]}.get(verb, [])
    code, _, err = answer(verb, *before, "", *after)
    assert code == 3
    assert "name of the file is empty" in err


def test_advice_can_be_followed(answer, model, tmp_path):
    """Options that `convert` names are options of `convert`."""
    (tmp_path / "a.jsonl").write_text('{"text": "a", "n": 1, "label": 1, "more": [1]}\n')
    code, _, err = answer("convert", "a.jsonl", "a.csv")
    assert (code, "--drop" in err) == (3, True)
    assert answer("convert", "a.jsonl", "a.csv", "--drop", "more")[0] == 0
    code, _, err = answer("convert", "a.csv", "a.libsvm")
    assert (code, "--drop" in err) == (3, True)
    assert answer("convert", "a.csv", "a.libsvm", "--drop", "text")[0] == 0
    code, _, err = answer("convert", "a.csv", "a.unknown")
    assert (code, "--to" in err, "--format" in err) == (2, True, False)
    assert answer("convert", "a.csv", "a.unknown", "--to", "jsonl")[0] == 0
    (tmp_path / "a.bin").write_bytes(b"anything")
    code, _, err = answer("convert", "a.bin", "a.lineal")
    assert (code, "--from" in err, "--format" in err) == (4, True, False)


def test_indices_that_begin_elsewhere_than_in_training_are_said_to(answer, tmp_path):
    """There is no option for it: the model knows where its columns begin."""
    (tmp_path / "one.libsvm").write_text("".join(f"{k % 2} 1:{k % 7} 2:{k % 2}\n" for k in range(40)))
    (tmp_path / "zero.libsvm").write_text("".join(f"{k % 2} 0:{k % 7} 1:{k % 2}\n" for k in range(40)))
    assert answer("train", "one.libsvm", "--no-report", "-q", "-o", "rows.lineal", "--learner", "svm")[0] == 0
    for verb in ("predict", "evaluate"):
        code, _, err = answer(verb, "rows.lineal", "zero.libsvm")
        assert code == 3
        assert "first_index" not in err
        assert "counted from 1" in err
