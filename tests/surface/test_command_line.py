"""The command line as people use it: real files, exit codes, what is printed and what is written."""

import contextlib
import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from lineal import load
from lineal.cli.main import VERBS, run
from lineal.jobs.demo import write_docstrings

WORDS = {"pos": ["good", "fine", "lovely", "great"], "neg": ["bad", "poor", "awful", "dull"]}


def reviews(n=120):
    """(text, label) pairs that are not quite separable."""
    pairs = []
    for k in range(n):
        label = "pos" if k % 2 else "neg"
        wrong = k % 17 == 0
        word = WORDS[label if not wrong else ("neg" if label == "pos" else "pos")][k // 2 % 4]
        pairs.append((f"a {word} film with number {k % 7} in its cast and plot", label))
    return pairs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with reviews.csv in it."""
    monkeypatch.chdir(tmp_path)
    with open("reviews.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(reviews())
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with reviews.csv, model.lineal and report.html."""
    home = tmp_path_factory.mktemp("trained")
    with open(home / "reviews.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(reviews())
    before = os.getcwd()
    os.chdir(home)
    try:
        assert run(["train", "reviews.csv", "-q"]) == 0
    finally:
        os.chdir(before)
    return home


def answer(capsys, *arguments):
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys, *arguments):
    """The JSON that a command prints."""
    code, out, err = answer(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_train_says_what_it_took_for_what_and_leaves_a_model_and_a_report(folder, capsys):
    """Roles, scores with intervals, the baseline, a verdict, a certificate; two files and nothing else."""
    code, out, _ = answer(capsys, "train", "reviews.csv")
    assert code == 0
    flat = " ".join(out.split())
    for words in ("text text", "label label its name", "95 % interval", "always neg", "certificate certified",
                  "model model.lineal", "report report.html", "24 of 120 rows held out"):  # fmt: skip
        assert words in flat, words
    assert sorted(path.name for path in folder.iterdir()) == ["model.lineal", "report.html", "reviews.csv"]
    assert load("model.lineal").predict(["a good film", "an awful film"]).tolist() == ["pos", "neg"]


def test_train_as_json_is_one_document_with_everything(folder, capsys):
    """Machines get columns, findings, every score with its interval, the comparison and the certificate."""
    found = document(capsys, "train", "reviews.csv", "--no-report")
    assert {column["column"]: column["role"] for column in found["columns"]} == {
        "text": "text",
        "label": "label",
    }
    score = found["evaluation"]["scores"]["accuracy"]
    assert score["low"] <= score["value"] <= score["high"]
    assert found["comparison"]["pairs"][0]["p_corrected"] <= 1
    assert found["certificate"]["converged"] is True
    assert found["report"] is None
    assert not (folder / "report.html").exists()


def test_the_same_command_gives_the_same_model(folder, capsys):
    """Every byte of the file but those that tell when it was made and how long the fit took."""

    def timeless(value):
        if isinstance(value, dict):
            return {key: timeless(item) for key, item in value.items() if key not in ("created", "seconds")}
        return [timeless(item) for item in value] if isinstance(value, list) else value

    found = []
    for _ in range(2):
        assert run(["train", "reviews.csv", "--no-report", "-q"]) == 0
        raw = (folder / "model.lineal").read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:end])
        told = header.pop("__metadata__")
        told.pop("checksum")  # of all that is told
        found.append((raw[end:], header, timeless(json.loads(told.pop("lineal"))), told))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "learner",
    ["svm", "logistic", "perceptron", "bayes", "online", "LinearClassifier(loss=Hinge(), penalty=L2(0.5))"],
)
def test_learners_by_name_or_spelled(folder, capsys, learner):
    """Each trains without a search, is stored, and is spelled in the model file."""
    found = document(capsys, "train", "reviews.csv", "--no-report", "--learner", learner)
    assert found["evaluation"]["scores"]["accuracy"]["value"] > 0.7
    assert load("model.lineal").predict(["a lovely film"]).tolist() == ["pos"]


def test_every_option_of_the_library_is_within_reach(folder, capsys):
    """--set reaches the learner, the reading of texts and the search; wrong names list what there is."""
    found = document(
        capsys, "train", "reviews.csv", "--no-report", "--learner", "svm", "--set", "learner.C=0.125",
        "--set", "text.ngrams=(1, 1)", "--set", "text.lowercase=False",
    )  # fmt: skip
    assert "C=0.125" in found["learner"]
    assert not any(" " in name for name in load("model.lineal").get_feature_names_out())
    code, _, err = answer(capsys, "train", "reviews.csv", "--set", "learner.X=1", "--learner", "svm")
    assert code == 2
    assert "C" in err


def test_folds_groups_and_test_files(folder, capsys):
    """--cv judges every row once, --group keeps groups together, --test judges by that file alone."""
    found = document(capsys, "train", "reviews.csv", "--no-report", "--cv", "4", "--learner", "svm")
    assert found["n_test"] == 120
    rows = [[*pair, f"g{k % 10}"] for k, pair in enumerate(reviews())]
    with open("grouped.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text", "label", "who"], *rows])
    found = document(capsys, "train", "grouped.csv", "--no-report", "--group", "who", "--learner", "svm")
    assert found["n_test"] in range(12, 48, 12)
    found = document(
        capsys, "train", "reviews.csv", "--no-report", "--test", "grouped.csv", "--learner", "svm"
    )
    assert (found["n_train"], found["n_test"]) == (120, 120)


def test_predict_streams_labels_in_the_order_of_the_rows(trained, tmp_path, monkeypatch, capsys):
    """CSV with a probability; JSON lines with all of them, reasons and carried columns; the same labels."""
    monkeypatch.chdir(tmp_path)
    model = trained / "model.lineal"
    (tmp_path / "new.csv").write_text('text,id\na good film,7\n"an awful, dull film",8\n,9\n')
    code, out, _ = answer(capsys, "predict", model, "new.csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["prediction"] for row in rows][:2] == ["pos", "neg"]
    assert len(rows) == 3
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)
    code, out, _ = answer(
        capsys,
        "predict",
        model,
        "new.csv",
        "--to",
        "jsonl",
        "--carry",
        "id",
        "--probabilities",
        "--explain",
        "2",
    )
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["prediction"] for line in lines] == [row["prediction"] for row in rows]
    assert [int(line["id"]) for line in lines] == [7, 8, 9]
    assert lines[0]["because"][0]["feature"] in ("good", "a good", "good film", "a good film")
    assert abs(sum(lines[0]["probabilities"].values()) - 1) < 1e-12
    assert answer(capsys, "predict", model, "new.csv", "-o", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "prediction,probability"


def test_evaluate_compare_inspect_and_explain(trained, monkeypatch, capsys):
    """Verbs that read a model and print; each also as JSON."""
    monkeypatch.chdir(trained)
    assert document(capsys, "evaluate", "model.lineal", "reviews.csv")["n_rows"] == 120
    assert (
        run(["train", "reviews.csv", "--no-report", "-q", "--learner", "perceptron", "-o", "other.lineal"])
        == 0
    )
    found = document(capsys, "compare", "model.lineal", "other.lineal", "reviews.csv")
    assert set(found["scores"]) == {"model", "other"}
    found = document(capsys, "inspect", "model.lineal")
    assert found["certificate"]["converged"] is True
    assert found["about"]["n_rows"] == 96
    found = document(capsys, "explain", "model.lineal", "a good film")
    assert found["prediction"] == "pos"
    total = found["intercept"] + sum(term["contribution"] for term in found["terms"])
    assert found["n_terms"] > len(found["terms"]) or abs(total - found["score"]) < 1e-9
    for verb in (["evaluate", "model.lineal", "reviews.csv"], ["inspect", "model.lineal"],
                 ["explain", "model.lineal", "a good film"]):  # fmt: skip
        code, out, _ = answer(capsys, *verb)
        assert code == 0
        assert out.strip()


def test_verify_proves_the_stored_certificate_again(trained, monkeypatch, capsys):
    """From the same file, with the same rows held out; of other data nothing is proved, and the code is 1."""
    monkeypatch.chdir(trained)
    found = document(capsys, "verify", "model.lineal", "reviews.csv")
    assert found["converged"] is True
    assert found["is_same_file"] is True
    assert found["n_rows"] == 96
    (trained / "other.csv").write_text("text,label\n" + "\n".join(f"{t},{l}" for t, l in reviews(60)))
    code, out, _ = answer(capsys, "verify", "model.lineal", "other.csv")
    assert code == 1
    assert "not the bytes" in out


def test_update_learns_on_and_takes_new_labels(trained, tmp_path, monkeypatch, capsys):
    """The old file is replaced, or another written; labels that are new are said."""
    monkeypatch.chdir(tmp_path)
    more = [("a so-so film, neither this nor that", "meh")] * 8 + reviews(40)
    with open("more.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text", "label"], *more])
    found = document(capsys, "update", trained / "model.lineal", "more.csv", "-o", "new.lineal")
    assert found["n_rows"] == 48
    assert found["new_labels"] == ["meh"]
    assert load("new.lineal").classes_.tolist() == ["meh", "neg", "pos"]


def test_tune_writes_the_best_model(folder, capsys):
    """The space is spelled like settings; the result says what was tried."""
    found = document(
        capsys, "tune", "reviews.csv", "learner.C=[0.1, 1.0]", "text.ngrams=[(1, 1), (1, 2)]",
        "--learner", "svm", "--cv", "3",
    )  # fmt: skip
    assert len(found["trials"]) == 4
    assert load("model.lineal").predict(["a lovely film"]).tolist() == ["pos"]


def test_tune_takes_groups_tables_and_other_methods(folder, capsys):
    """Draws and halving; whole groups held out; a table without a space is searched for its strength."""
    rows = [[*pair, k % 7, f"g{k % 10}"] for k, pair in enumerate(reviews())]
    with open("grouped.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text", "label", "size", "who"], *rows])
    space = ["learner.C=[0.1, 1.0, 10.0]", "--learner", "svm", "--cv", "3", "--drop", "size"]
    for method in ("random", "halving"):
        found = document(
            capsys, "tune", "grouped.csv", *space, "--method", method, "--group", "who", "--trials", "2"
        )
        assert found["is_honest"] is False
        assert set(found["params"]) == {"learner__C"}
    assert document(capsys, "tune", "grouped.csv", *space, "--group", "who", "--outer", "2")["is_honest"]
    found = document(capsys, "tune", "grouped.csv", "--drop", "text", "--drop", "who", "--cv", "2")
    assert set(found["params"]) == {"strengths"}
    code, _, err = answer(capsys, "tune", "grouped.csv", "text.ngrams=[(1, 1)]", "--drop", "who")
    assert (code, "--set text.ngrams" in err) == (2, True)
    code, out, _ = answer(capsys, "tune", "grouped.csv", *space)
    assert "--outer 5 gives an honest one" in out


def test_convert_writes_other_formats(folder, capsys):
    """CSV to JSON lines to Parquet and back gives the same rows."""
    for source, target in (
        ("reviews.csv", "r.jsonl.gz"),
        ("r.jsonl.gz", "r.parquet"),
        ("r.parquet", "back.csv"),
    ):
        assert answer(capsys, "convert", source, target)[0] == 0
    with open("reviews.csv") as a, open("back.csv") as b:
        assert list(csv.reader(a)) == list(csv.reader(b))


def test_doctor_leaves_with_one_if_there_are_errors(folder, capsys):
    """A clean file gives 0; a row with too many fields is named by its line."""
    assert answer(capsys, "doctor", "reviews.csv")[0] == 0
    (folder / "broken.csv").write_text("text,label\ngood film,pos\nbad, very bad film,neg\n")
    code, out, _ = answer(capsys, "doctor", "broken.csv")
    assert code == 1
    assert "line 3" in out


def test_doctor_leaves_out_columns_and_takes_the_task_as_told(folder, capsys):
    """--drop keeps a column out of sight, --task says what the numbers of the label are."""
    rows = "".join(f"{k % 7},{k % 7 * 10},same\n" for k in range(40))
    (folder / "numbers.csv").write_text("label,a,b\n" + rows)
    codes = {found["code"] for found in document(capsys, "doctor", "numbers.csv")["findings"]}
    assert {"decides-label", "constant-column"} <= codes
    told = document(capsys, "doctor", "numbers.csv", "--drop", "b", "--drop", "a", "--task", "regression")
    assert not {"decides-label", "constant-column"} & {found["code"] for found in told["findings"]}
    code, _, err = answer(capsys, "doctor", "numbers.csv", "--drop", "c")
    assert (code, "'a'" in err) == (2, True)


@pytest.mark.parametrize(
    "verb", ["train", "predict", "evaluate", "verify", "update", "convert", "doctor", "tune"]
)
def test_options_of_files_mean_the_same_to_every_verb(trained, tmp_path, monkeypatch, capsys, verb):
    """A file in another encoding, with another delimiter and a flaw that is to be mended."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{text} caf\xe9\t{label}\n" for text, label in reviews())
    (tmp_path / "latin.txt").write_bytes(("text\tlabel\n" + rows).encode("latin-1"))
    model = [trained / "model.lineal"] if verb in ("predict", "evaluate", "verify", "update") else []
    more = {
        "train": ["--no-report", "--learner", "svm"],
        "convert": ["out.jsonl"],
        "update": ["-o", "new.lineal"],
        "tune": ["learner.C=[1.0]", "--learner", "svm", "--cv", "2"],
        "verify": ["--tol", "10"],
    }
    mended = [] if verb == "doctor" else ["--errors", "replace"]
    code, _, err = answer(
        capsys, verb, *model, "latin.txt", *more.get(verb, []), "--format", "csv", "--delimiter", "\\t",
        "--encoding", "latin-1", *mended,
    )  # fmt: skip
    assert code == 0, err


def test_weights_of_rows_to_compare_by(trained, monkeypatch, capsys):
    """A row of weight 2 counts as the row twice."""
    monkeypatch.chdir(trained)
    assert run(["train", "reviews.csv", "--no-report", "-q", "--learner", "bayes", "-o", "bayes.lineal"]) == 0
    for name, copies in (("once.csv", 1), ("twice.csv", 2)):
        lines = [
            line
            for k, (text, label) in enumerate(reviews())
            for line in [f"{text},{label},{3 - copies if k % 3 == 0 else 1}\n"]
            * (copies if k % 3 == 0 else 1)
        ]
        (trained / name).write_text("text,label,times\n" + "".join(lines))
    once, twice = (
        document(capsys, "compare", "model.lineal", "bayes.lineal", name, "--weight", "times")
        for name in ("once.csv", "twice.csv")
    )
    for model in ("model", "bayes"):
        assert once["scores"][model]["value"] == pytest.approx(twice["scores"][model]["value"], rel=1e-12)
    plain = document(capsys, "compare", "model.lineal", "bayes.lineal", "once.csv")
    assert plain["scores"]["model"]["value"] != once["scores"]["model"]["value"]


def test_the_overview_names_every_verb_and_each_has_help(capsys):
    """--help of all, without a model or a file."""
    code, out, _ = answer(capsys, "--help")
    assert code == 0
    for verb in VERBS:
        assert verb in out
        code, text, _ = answer(capsys, verb, "--help")
        assert code == 0
        assert "Usage: lineal " + verb in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, capsys):
    """The script that a shell evaluates names the program and its variable."""
    code, out, _ = answer(capsys, "completion", shell)
    assert code == 0
    assert "_LINEAL_COMPLETE" in out


def lineal(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "lineal", *map(str, arguments)], **options)


def on_a_terminal(*arguments):
    """Exit code of a command, and what it shows on the standard error output where that is a terminal."""
    ours, theirs = pty.openpty()
    shown = b""
    with lineal(
        *arguments, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # how Linux says that the other end was closed
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        return process.wait(timeout=60), shown.decode()


def test_progress_with_the_gap_is_shown_on_a_terminal_and_nowhere_else(folder):
    """Steps, trials and the gap of the fit; nothing where nobody looks, and no trace of it in the model."""
    code, shown = on_a_terminal("train", "reviews.csv", "--no-report")
    assert code == 0
    for words in ("reading reviews.csv", "learning from 96 rows", "strength 1: ", "gap "):
        assert words in shown, words
    assert "progress" not in load("model.lineal").about.learner
    for quiet in ("--quiet", "--json"):
        assert on_a_terminal("train", "reviews.csv", "--no-report", quiet, "-o", "quiet.lineal") == (0, "")
    with lineal("train", "reviews.csv", "--no-report", "-o", "piped.lineal", stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stderr.read() == b""
    assert (load("piped.lineal").coef_ == load("model.lineal").coef_).all()


def test_predict_and_help_start_without_large_libraries(trained):
    """Neither SciPy, scikit-learn, pyarrow nor pandas is imported to label a line."""
    code = (
        "import sys; from lineal.cli.main import run; code = run(sys.argv[1:]);"
        "large = {'scipy', 'sklearn', 'pyarrow', 'pandas', 'rich'} & set(sys.modules);"
        "print(sorted(large), file=sys.stderr); sys.exit(code)"
    )
    for arguments in (["--help"], ["predict", str(trained / "model.lineal"), "-"]):
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments], input="a good film\n", capture_output=True, text=True
        )
        assert found.returncode == 0, found.stderr
        assert found.stderr.strip() == "[]"
    assert found.stdout.splitlines()[1].startswith("pos,")


def test_pipes_are_read_and_may_be_closed(trained, tmp_path):
    """Rows come through the standard input; a reader that stops early is no error to be seen."""
    many = tmp_path / "many.txt"
    many.write_text("a good film\n" * 400_000)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with lineal("predict", trained / "model.lineal", many, **pipes) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


READERS = {
    "train": ["train", "reviews.csv", "--no-report", "-q", "--learner", "svm"],
    "train --json": ["train", "reviews.csv", "--no-report", "-q", "--learner", "svm", "--json"],
    "evaluate": ["evaluate", "model.lineal", "reviews.csv"],
    "compare": ["compare", "model.lineal", "other.lineal", "reviews.csv"],
    "doctor": ["doctor", "reviews.csv"],
    "inspect": ["inspect", "model.lineal"],
    "explain": ["explain", "model.lineal", "a good film"],
    "update": ["update", "model.lineal", "reviews.csv", "-o", "new.lineal"],
    "predict": ["predict", "model.lineal", "reviews.csv"],
}


@pytest.fixture
def at_work(trained, tmp_path, monkeypatch):
    """A folder of its own with the reviews and two models."""
    monkeypatch.chdir(tmp_path)
    for name, source in (("reviews.csv", "reviews.csv"), ("model.lineal", "model.lineal"),
                         ("other.lineal", "model.lineal")):  # fmt: skip
        (tmp_path / name).write_bytes((trained / source).read_bytes())


@pytest.mark.parametrize("verb", READERS)
def test_a_closed_pipe_ends_every_verb_quietly_with_141(at_work, verb):
    """Also those whose tables are drawn by another library, which has an exit code of its own."""
    ours, theirs = os.pipe()
    os.close(ours)
    with lineal(*READERS[verb], stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("verb", ["train", "train --json", "evaluate", "predict"])
def test_without_a_standard_output_the_work_is_done(at_work, verb):
    """Nobody listens, which is no mistake."""
    found = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "lineal", *READERS[verb]],
        capture_output=True,
    )
    assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.parametrize(
    "lines",
    [
        ("a good film\n", "an awful film\n"),
        ("text,id\na good film,1\n", "an awful film,2\n"),
        ('{"text": "a good film"}\n', '{"text": "an awful film"}'),
    ],
    ids=["lines", "csv", "jsonl"],
)
def test_a_text_of_a_pipe_is_answered_before_the_next_one_comes(trained, lines):
    """Whoever writes a line and waits for its label gets it; the last one needs no line end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with lineal("predict", trained / "model.lineal", "-", **pipes) as process:
        process.stdin.write(lines[0].encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"prediction,probability\n"
        assert process.stdout.readline().startswith(b"pos,")
        process.stdin.write(lines[1].encode())
        process.stdin.close()
        assert process.stdout.readline().startswith(b"neg,")
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0


def test_ctrl_c_ends_a_command_with_130_and_leaves_no_file(trained, tmp_path):
    """Half an output file is not left behind."""
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with lineal("predict", trained / "model.lineal", "-", "-o", tmp_path / "out.csv", **pipes) as process:
        process.stdin.write(b"a good film\n" * 10)
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)  # the hidden file that is being written
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert b"interrupted" in process.stderr.read()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_fit_keeps_the_best_model_so_far_and_leaves_with_130(folder):
    """The model is written, says that it was interrupted, and predicts; what was printed says so, too."""
    endless = "LinearClassifier(solver='gd', penalty=L2(1e-7), tol=1e-13)"
    ours, theirs = pty.openpty()
    options = {"stdout": subprocess.PIPE, "stderr": theirs, "env": {**os.environ, "TERM": "xterm"}}
    with lineal("train", "reviews.csv", "--learner", endless, **options) as process:
        os.close(theirs)
        shown = b""
        while b"gap " not in shown:
            shown += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        out = process.stdout.read().decode()
        assert process.wait(timeout=60) == 130
    assert "lineal: interrupted: " in shown.decode()
    assert "interrupted  the fit was broken off by Ctrl-C" in out
    model = load("model.lineal")
    assert "Ctrl-C" in model.about.notes["interrupted"]
    assert model.predict(["a good film"]).tolist() == ["pos"]
    assert sorted(path.name for path in folder.iterdir()) == ["model.lineal", "report.html", "reviews.csv"]


@pytest.mark.slow
def test_the_demo_does_the_whole_of_it(tmp_path):
    """Data, a model and a report in the folder asked for; a certificate, a reason, three commands to try."""
    found = subprocess.run(
        [sys.executable, "-W", "error", "-m", "lineal", "demo", str(tmp_path / "new")],
        capture_output=True, encoding="utf-8", timeout=300, check=True,
    )  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        *("docstrings.jsonl", "model.lineal", "report.html"),
    ]
    for words in ("certified: objective", "is better than always", "score of math"):
        assert words in found.stdout
    path, *commands = found.stdout.rstrip().splitlines()[-4:]
    assert path == f"Open {tmp_path / 'new' / 'report.html'}, then try:"
    here = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    for command in commands:
        subprocess.run(command, shell=True, env={**os.environ, "PATH": here}, capture_output=True, check=True)


def test_docstrings_are_texts_with_labels(tmp_path):
    """Thousands of lines, dozens of modules, each text once."""
    n = write_docstrings(tmp_path / "docstrings.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "docstrings.jsonl").read_text().splitlines()]
    assert len(rows) == n > 1000
    assert len({row["label"] for row in rows}) > 10
    assert len({row["text"] for row in rows}) == n


def test_sparse_rows_keep_their_columns(folder, capsys):
    """VW by name and LIBSVM by index, from 0 or 1 as in training, to predict, explain, verify and update."""
    rows = [(k, 1 if k % 2 else -1, "good" if (k % 2) ^ (k % 11 == 0) else "bad") for k in range(120)]
    (folder / "a.vw").write_text(
        "".join(f"{y} |w {word} film{k % 7} |n size:{k % 5}\n" for k, y, word in rows)
    )
    assert document(capsys, "train", "a.vw", "--no-report", "-o", "vw.lineal")["n_rows"] == 120
    (folder / "new.vw").write_text("|w unknown good\n|w bad\n")
    code, out, _ = answer(capsys, "predict", "vw.lineal", "new.vw")
    assert [line.split(",")[0] for line in out.splitlines()] == ["prediction", "1", "-1"]
    assert document(capsys, "explain", "vw.lineal", '{"w^good": 1}')["terms"][0]["name"] == "w^good"
    assert document(capsys, "verify", "vw.lineal", "a.vw")["converged"] is True
    assert document(capsys, "update", "vw.lineal", "a.vw", "-o", "vw2.lineal")["n_rows"] == 120
    (folder / "zero.svm").write_text("".join(f"{y} 0:{y * 1.5 + k % 3 / 4} 2:{k % 5}\n" for k, y, _ in rows))
    assert document(capsys, "train", "zero.svm", "--no-report", "-o", "zero.lineal")["n_rows"] == 120
    (folder / "new.svm").write_text("1 2:4\n")  # has no index 0 to show where it counts from
    code, out, _ = answer(capsys, "predict", "zero.lineal", "new.svm")
    assert code == 0
    said = document(capsys, "explain", "zero.lineal", '{"2": 4}')
    assert [term["name"] for term in said["terms"]] == ["2"]
    likely = max(said["probabilities"].values())
    assert float(out.splitlines()[1].split(",")[1]) == pytest.approx(likely, rel=1e-5)  # as it is printed
    moved = document(capsys, "explain", "zero.lineal", '{"1": 4}')
    assert moved["terms"] != said["terms"]  # what a file read from 1 on would have said
    code, _, err = answer(capsys, "predict", "zero.lineal", "reviews.csv")
    assert code == 3
    assert "sparse rows" in err
