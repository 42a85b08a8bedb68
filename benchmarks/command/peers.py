"""Their side of file to model to test accuracy, in a process of its own: ``peers.py CONTENDER FOLDER``.

Each contender is timed from outside, as a whole process, and prints one line of JSON: its accuracy, its
version, and the seconds without the start of Python and of the library.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path


def scikit_learn(folder: Path) -> dict[str, object]:
    """The script that most people write: tf-idf of words and pairs, a linear support vector machine."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    began = time.perf_counter()

    def read(name: str) -> tuple[list[str], np.ndarray]:
        rows = [json.loads(line) for line in (folder / name).open(encoding="utf-8")]
        return [row["text"] for row in rows], np.array([row["label"] for row in rows])

    texts, labels = read("train.jsonl")
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), LinearSVC())
    model.fit(texts, labels)
    texts, labels = read("test.jsonl")
    accuracy = float(np.mean(model.predict(texts) == labels))
    return {"accuracy": accuracy, "seconds": time.perf_counter() - began, "version": version("scikit-learn")}


def vowpal_wabbit(folder: Path) -> dict[str, object]:
    """One pass over lines that were made for it beforehand, then the test lines."""
    from vowpalwabbit import Workspace

    options = ["--loss_function", "logistic", "--ngram", "2", "-b", "22", "--quiet"]
    began = time.perf_counter()
    model = Workspace(arg_list=[*options, "-d", str(folder / "train.vw"), "-f", str(folder / "model.vw")])
    model.finish()
    predictions = folder / "predictions.txt"
    tester = Workspace(
        arg_list=["--quiet", "-t", "-i", str(folder / "model.vw"), "-d", str(folder / "test.vw"), "-p",
                  str(predictions)]
    )  # fmt: skip
    tester.finish()
    truth = [line.startswith("1 ") for line in (folder / "test.vw").open(encoding="utf-8")]
    found = [float(line.split()[0]) > 0 for line in predictions.open()]
    accuracy = sum(a == b for a, b in zip(truth, found, strict=True)) / len(truth)
    return {"accuracy": accuracy, "seconds": time.perf_counter() - began, "version": version("vowpalwabbit")}


def fasttext(folder: Path) -> dict[str, object]:
    """Words and pairs, its own number of epochs, two threads."""
    import fasttext

    began = time.perf_counter()
    model = fasttext.train_supervised(str(folder / "train.ft"), wordNgrams=2, thread=2, verbose=0)
    _, precision, _ = model.test(str(folder / "test.ft"))
    return {
        "accuracy": precision,
        "seconds": time.perf_counter() - began,
        "version": version("fasttext-wheel"),
    }


CONTENDERS = {"scikit-learn script": scikit_learn, "Vowpal Wabbit": vowpal_wabbit, "fastText": fasttext}

if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](Path(sys.argv[2]))))
