"""Small files of labelled rows that nothing is wrong with, to be broken by the tests of the doctor."""

import json

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
]


def sentence(k):
    """A short text that no other number has."""
    return " ".join(WORDS[(k * step + k // 7) % len(WORDS)] for step in (1, 3, 5, 7)) + f" number {k}"


def reviews(n=24):
    """Rows of two classes with a text and a number, all different."""
    return [["pos" if k % 3 else "neg", sentence(k), str(10 + k * k % 17)] for k in range(n)]


def csv_lines(n=24, end="\n"):
    rows = [["label", "text", "size"], *reviews(n)]
    return [",".join(row) + end for row in rows]


def json_lines(n=24):
    return [json.dumps({"label": a, "text": b, "size": int(c)}) + "\n" for a, b, c in reviews(n)]


def svm_lines(n=24):
    return [f"{1 if k % 3 else -1} {1 + k % 3}:0.{k}5 {7 + k}:1 {50 + k}:2.5\n" for k in range(n)]


def changed(lines, number, text):
    """The lines with one put in the place of line ``number``, counted from 1."""
    return "".join([*lines[: number - 1], text, *lines[number:]])


def column(name, values, more=""):
    """A CSV file with a label, a text and one column of the given values, repeated with new texts."""
    rows = [f"{'pos' if k % 3 else 'neg'},{sentence(k)},{value}{more}\n" for k, value in enumerate(values)]
    return "".join([f"label,text,{name}\n", *rows])


CSV, JSON, SVM = csv_lines(), json_lines(), svm_lines()
NUMBERS = [str(3 + k % 9) for k in range(30)]


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
