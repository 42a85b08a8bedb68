# ruff: noqa: E501
"""Forty and more kinds of broken input, each a real file or command, with the code and words that must come.

``tests/surface/test_broken_input.py`` runs them, ``docs/messages.md`` shows what each one says.
"""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

GOOD = "text,label\n" + "".join(
    f"a {'good' if k % 2 else 'bad'} film with number {k % 5},{'pos' if k % 2 else 'neg'}\n"
    for k in range(40)
)


class Broken(NamedTuple):
    """What is broken, how it is made, which command meets it, and how that must end."""

    kind: str
    make: Callable[[Path], None]
    command: list[str]
    code: int
    words: str


def _text(name: str, content: str | bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)

    return make


def _nothing(folder: Path) -> None:
    """The command alone is what is broken."""


def _good(folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)


def _both(*makers: Callable[[Path], None]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for maker in makers:
            maker(folder)

    return make


def _cut_gzip(folder: Path) -> None:
    (folder / "cut.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-20])


def _model(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A copy of the fixture's model, changed."""

    def make(folder: Path) -> None:
        (folder / "broken.lineal").write_bytes(change((folder / "model.lineal").read_bytes()))

    return make


def _later(raw: bytes) -> bytes:
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + n])
    header["__metadata__"]["version"] = "99"
    made = json.dumps(header, separators=(",", ":")).encode()
    made += b" " * (-len(made) % 8)
    return struct.pack("<Q", len(made)) + made + raw[8 + n :]


def _flipped(raw: bytes) -> bytes:
    place = len(raw) - 40
    return raw[:place] + bytes([raw[place] ^ 0x40]) + raw[place + 1 :]


def _train(name: str, *more: str) -> list[str]:
    return ["train", name, "--no-report", "-q", "-o", "out.lineal", *more]


def _rows(n: int, text: str, label: str) -> str:
    return "text,label\n" + f"{text},{label}\n" * n


CASES = [
    Broken("no such file", _nothing, _train("absent.csv"), 3, "There is no file or folder absent.csv"),
    Broken("an empty file", _text("a.csv", ""), _train("a.csv"), 3, "there is not even a header"),
    Broken("a header and no rows", _text("a.csv", "text,label\n"), _train("a.csv"), 3, "no rows below them"),
    Broken("one row", _text("a.csv", "text,label\ngood film,pos\n"), _train("a.csv"), 3, "one label"),
    Broken("one class", _text("a.csv", _rows(30, "a film of many", "pos")), _train("a.csv"), 3, "one label"),
    Broken("too many fields in a row", _text("a.csv", GOOD + "bad, very bad,neg\n"), _train("a.csv"), 3, "line 42"),
    Broken("too few fields in a row", _text("a.csv", GOOD + "bad\n"), _train("a.csv"), 3, "line 42"),
    Broken("a quote that is not closed", _text("a.csv", GOOD + '"bad film,neg\n'), _train("a.csv"), 3, "line 42"),
    Broken("bytes that are not UTF-8", _text("a.csv", GOOD.encode() + b"caf\xe9 film,neg\n"), _train("a.csv"), 3,
           "line 42"),
    Broken("UTF-16", _text("a.csv", GOOD.encode("utf-16")), _train("a.csv"), 3, "utf-16"),
    Broken("two columns of one name", _text("a.csv", "text,text,label\na,b,c\n"), _train("a.csv"), 3, "'text'"),
    Broken("no column that could be the label", _text("a.csv", "p,q,r\n" + "1,2,3\n4,5,6\n" * 10), _train("a.csv"), 3,
           "--label among"),
    Broken("a label column that is not there", _good, _train("good.csv", "--label", "mood"), 2, "'mood'"),
    Broken("the label also dropped", _good, _train("good.csv", "--label", "label", "--drop", "label"), 2, "both"),
    Broken("no labels at all", _text("a.csv", "text,label\n" + "a film of many words,\n" * 20), _train("a.csv"), 3,
           "no row has a label in column 'label'"),
    Broken("nothing left to learn from", _good, _train("good.csv", "--drop", "text"), 3, "no column is left to learn from"),
    Broken("JSON that is cut off", _text("a.jsonl", '{"text": "good", "label": "pos"}\n{"text": "ba'),
           _train("a.jsonl"), 3, "line 2"),
    Broken("JSON with single quotes", _text("a.jsonl", "{'text': 'good', 'label': 'pos'}\n"), _train("a.jsonl"), 3,
           "line 1"),
    Broken("nested JSON", _text("a.jsonl", '{"text": {"body": "good"}, "label": "pos"}\n' * 9), _train("a.jsonl"), 3,
           "key 'text' holds an object"),
    Broken("a cut gzip file", _cut_gzip, _train("cut.csv.gz"), 3, "cut off"),
    Broken("a ZIP archive", _text("a.csv", b"PK\x03\x04" + b"\0" * 60), _train("a.csv"), 3, "ZIP archive"),
    Broken("a web page", _text("a.csv", "<!doctype html><html></html>"), _train("a.csv"), 3, "web page"),
    Broken("a pickle", _text("a.csv", b"\x80\x04\x95" + b"\0" * 60), _train("a.csv"), 3, "pickle"),
    Broken("Parquet that is cut off", _text("a.parquet", b"PAR1" + b"\0" * 90), _train("a.parquet"), 3, "pyarrow cannot read the file"),
    Broken("a LIBSVM line without a number", _text("a.libsvm", "1 1:0.5 2:1\n-1 1:x\n"), _train("a.libsvm"), 3,
           "line 2"),
    Broken("a LIBSVM index twice", _text("a.libsvm", "1 1:0.5 2:1\n-1 2:1 2:1\n"), _train("a.libsvm"), 3, "line 2"),
    Broken("a row of each label alone", _text("a.libsvm", "1 1:0.5\n-1 2:1\n"), _train("a.libsvm"), 3, "one label"),
    Broken("an empty folder", lambda folder: (folder / "texts").mkdir(), _train("texts"), 3, "no files in texts"),
    Broken("infinity in a number", _text("a.csv", "x,y,label\n" + "1,2,a\n3,5,b\n" * 20 + "inf,2,a\n"),
           _train("a.csv"), 3, "column 'x' needs finite numbers"),
    Broken("text where numbers are to be predicted", _good, _train("good.csv", "--task", "regression"), 3, "cannot be predicted as a number"),
    Broken("a learner that there is not", _good, _train("good.csv", "--learner", "svmm"), 2, "Did you mean 'svm'"),
    Broken("a learner of another task", _good, _train("good.csv", "--learner", "huber"), 2, "It is a learner for regression"),
    Broken("a learner that runs code", _good, _train("good.csv", "--learner", "__import__('os').system('true')"), 2,
           "is not allowed"),
    Broken("an option that there is not", _good, _train("good.csv", "--learner", "svm", "--set", "learner.K=1"), 2,
           "has no option 'K'"),
    Broken("an option without a value", _good, _train("good.csv", "--set", "learner.C"), 2, "name=value"),
    Broken("an option that cannot be", _good, _train("good.csv", "--learner", "svm", "--set", "learner.C=-1"), 2, "needs C > 0"),
    Broken("a test file without the label", _both(_good, _text("t.csv", "text\ngood film\n")),
           _train("good.csv", "--test", "t.csv"), 3, "'label'"),
    Broken("folds and a test file", _good, _train("good.csv", "--test", "good.csv", "--cv", "3"), 2, "one of them"),
    Broken("more folds than rows", _good, _train("good.csv", "--cv", "400"), 3, "400 folds need as many rows"),
    Broken("one group", _text("a.csv", "text,label,g\n" + "a film,pos,x\nb film,neg,x\n" * 20),
           _train("a.csv", "--group", "g"), 3, "there is one group"),
    Broken("a folder to write to that is not there", _good, ["train", "good.csv", "-o", "no/m.lineal"], 2, "no folder"),
    Broken("a model that is not there", _good, ["predict", "absent.lineal", "good.csv"], 4, "absent.lineal"),
    Broken("a CSV file as a model", _good, ["predict", "good.csv", "good.csv"], 4, "is no model file"),
    Broken("a model that is cut off", _both(_good, _model(lambda raw: raw[:-100])),
           ["predict", "broken.lineal", "good.csv"], 4, "bytes, but"),
    Broken("a model with a bit flipped", _both(_good, _model(_flipped)), ["predict", "broken.lineal", "good.csv"], 4,
           "its checksum differs"),
    Broken("a model of a later version", _both(_good, _model(_later)), ["predict", "broken.lineal", "good.csv"], 4,
           "pip install -U lineal"),
    Broken("an empty model", _both(_good, _model(lambda raw: b"")), ["inspect", "broken.lineal"], 4, "it has 0 bytes"),
    Broken("a header that claims too much", _both(_good, _model(lambda raw: b"\xff" * 8 + raw[8:])),
           ["inspect", "broken.lineal"], 4, "its header would have"),
    Broken("rows to label without the texts", _text("n.csv", "id,words\n1,good\n2,bad\n"),
           ["predict", "model.lineal", "n.csv"], 3, "'text'"),
    Broken("a column to carry that is not there", _good, ["predict", "model.lineal", "good.csv", "--carry", "id"], 3,
           "'id'"),
    Broken("a label to explain that is none", _nothing, ["explain", "model.lineal", "good", "--label", "meh"], 2,
           "'meh'"),
    Broken("one model to compare", _good, ["compare", "model.lineal", "good.csv"], 2, "two models"),
    Broken("a verb that there is not", _nothing, ["trian", "good.csv"], 2, "Did you mean 'train'"),
    Broken("an empty folder in place of a file", lambda folder: (folder / "good.csv").mkdir(),
           ["predict", "model.lineal", "good.csv"], 3, "no files in good.csv"),
]  # fmt: skip
