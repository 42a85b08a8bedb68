"""Their side, in a process of its own: ``peers.py WORK CONTENDER FOLDER SEED``.

Learns once from the reviews in the order of the seed, with the steps that a library takes by default, is
tested with the same model, and prints one line of JSON. What a peer is fed with is made before it is timed.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from given import MEMORY, Given, write_lines

N_HASHED = 2**22
N_WARM = 50
# river learns from as many reviews as it manages in so many seconds; its rows are made by blocks.
RIVER_SECONDS, RIVER_BLOCK = 60.0, 1000


# ---- scikit-learn ---------------------------------------------------------------------------------


def scikit_learn(given: Given, work: str) -> dict[str, Any]:
    """``SGDClassifier``, one call; hashing of texts is counted, as it is in ours."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    vectorizer = HashingVectorizer(n_features=N_HASHED, ngram_range=(1, 2))

    def rows(part: str) -> Any:
        return given.texts(part) if work == "text" else given.matrix(work, part)

    def matrix(rows: Any) -> Any:
        return vectorizer.transform(rows) if work == "text" else rows

    def learn(rows: Any, labels: np.ndarray) -> Any:
        # Everyone goes in the order given; the model would shuffle what one call brings.
        model = SGDClassifier(loss="log_loss", shuffle=False)
        return model.partial_fit(matrix(rows), labels, classes=["neg", "pos"])

    train, labels = rows("train"), given.labels("train")
    learn(train[:N_WARM], labels[:N_WARM])
    began = time.perf_counter()
    model = learn(train, labels)
    seconds = time.perf_counter() - began
    return judged(given, seconds, len(labels), model.predict(matrix(rows("test"))) == "pos")


# ---- Vowpal Wabbit --------------------------------------------------------------------------------


def from_lines(options: list[str], lines: list[str], path: Path) -> tuple[float, Any]:
    """A file of lines in memory, as its command reads them: one thread parses, another learns."""
    from vowpalwabbit import Workspace

    write_lines(path, lines)
    began = time.perf_counter()
    model = Workspace(arg_list=[*options, "-d", str(path)])  # comes back when all is learned
    return time.perf_counter() - began, model


def from_cache(options: list[str], lines: list[str], path: Path) -> tuple[float, Any]:
    """Its own binary file, written beforehand: words are hashed and numbers read."""
    from vowpalwabbit import Workspace

    write_lines(path, lines)
    cache = ["--cache_file", str(path.with_suffix(".cache"))]
    Workspace(arg_list=[*options, *cache, "-d", str(path)]).finish()
    began = time.perf_counter()
    model = Workspace(arg_list=[*options, *cache])
    model.run_parser()
    return time.perf_counter() - began, model


def from_examples(options: list[str], lines: list[str], path: Path) -> tuple[float, Any]:
    """Example objects that were parsed beforehand, their pairs of words made: learning alone."""
    import pylibvw
    from vowpalwabbit import Workspace

    model = Workspace(arg_list=options)
    examples = [model.parse(line) for line in lines]
    learn = pylibvw.vw.learn  # without the checks of the Python class around it
    began = time.perf_counter()
    for example in examples:
        learn(model, example)
    seconds = time.perf_counter() - began
    for example in examples:
        model.finish_example(example)
    return seconds, model


def from_strings(options: list[str], lines: list[str], path: Path) -> tuple[float, Any]:
    """Lines as Python's strings, one call each."""
    from vowpalwabbit import Workspace

    model = Workspace(arg_list=options)
    began = time.perf_counter()
    for line in lines:
        model.learn(line)
    return time.perf_counter() - began, model


def vowpal_wabbit(way: Callable[..., tuple[float, Any]]) -> Callable[[Given, str], dict[str, Any]]:
    """Logistic loss, 2^22 weights, its default steps; words come tokenised, pairs of them it makes itself.

    With 2^20 weights, as Lineal has them, it would be faster by some percent and less accurate.
    """

    def contender(given: Given, work: str) -> dict[str, Any]:
        options = ["--quiet", "--loss_function", "logistic", "-b", str(N_HASHED.bit_length() - 1)]
        options += ["--ngram", "2"] if work == "text" else []
        lines = given.lines(work, "train")
        with TemporaryDirectory(dir=MEMORY) as folder:
            seconds, model = way(options, lines, Path(folder, "train.vw"))
        unlabelled = (line.partition(" ")[2] for line in given.lines(work, "test"))
        answers = np.array([model.predict(line) > 0 for line in unlabelled])
        return judged(given, seconds, len(lines), answers)

    return contender


# ---- river ----------------------------------------------------------------------------------------


def river(given: Given, work: str) -> dict[str, Any]:
    """``LogisticRegression``, an example a call; rows of matrices as dictionaries, which are not counted."""
    from river.feature_extraction import BagOfWords
    from river.linear_model import LogisticRegression

    if work == "text":
        model = BagOfWords(ngram_range=(1, 2)) | LogisticRegression()
        train, test, examples_of = given.texts("train"), given.texts("test"), list
    else:
        model = LogisticRegression()
        train, test, examples_of = given.matrix(work, "train"), given.matrix(work, "test"), dictionaries
    is_positive = (given.labels("train") == "pos").tolist()
    seconds, n_learned = 0.0, 0
    while n_learned < len(is_positive) and seconds < RIVER_SECONDS:
        end = n_learned + RIVER_BLOCK
        block = list(zip(examples_of(train[n_learned:end]), is_positive[n_learned:end], strict=True))
        began = time.perf_counter()
        for example, target in block:
            model.learn_one(example, target)
        seconds += time.perf_counter() - began
        n_learned += len(block)
    blocks = (
        examples_of(test[k : k + RIVER_BLOCK]) for k in range(0, len(given.labels("test")), RIVER_BLOCK)
    )
    answers = np.array([model.predict_one(example) for block in blocks for example in block])
    return judged(given, seconds, n_learned, answers)


def dictionaries(X: Any) -> list[dict[int, float]]:
    columns, values, ends = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    return [dict(zip(columns[begin:end], values[begin:end], strict=True)) for begin, end in pairwise(ends)]


# ---- all ------------------------------------------------------------------------------------------


def judged(given: Given, seconds: float, n_learned: int, is_positive: np.ndarray) -> dict[str, Any]:
    accuracy = float(np.mean(is_positive == (given.labels("test") == "pos")))
    return {"seconds": seconds, "n_learned": n_learned, "accuracy": accuracy}


CONTENDERS = {
    "scikit-learn": (scikit_learn, "scikit-learn"),
    "Vowpal Wabbit, file of lines": (vowpal_wabbit(from_lines), "vowpalwabbit"),
    "Vowpal Wabbit, its cache": (vowpal_wabbit(from_cache), "vowpalwabbit"),
    "Vowpal Wabbit, parsed examples": (vowpal_wabbit(from_examples), "vowpalwabbit"),
    "Vowpal Wabbit, strings": (vowpal_wabbit(from_strings), "vowpalwabbit"),
    "river": (river, "river"),
}


def main(work: str, contender: str, given: Given) -> None:
    warnings.simplefilter("ignore")
    run, package = CONTENDERS[contender]
    print(json.dumps(run(given, work) | {"version": f"{package} {version(package)}"}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Given(Path(sys.argv[3]), int(sys.argv[4])))
