"""Our side, in a process of its own: ``ours.py WORK CONTENDER FOLDER SEED``.

Learns once from the reviews in the order of the seed, is tested, and prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from given import MEMORY, Given, write_lines

from lineal.data import read_texts

N_WARM = 50


def from_matrix(X: sp.csr_matrix, labels: np.ndarray) -> Any:
    from lineal import OnlineClassifier

    return OnlineClassifier().partial_fit(X, labels)


def from_texts(texts: list[str], labels: np.ndarray) -> Any:
    from lineal import TextClassifier

    return TextClassifier().partial_fit(texts, labels)


def from_file(path: Path) -> Any:
    """Lines of JSON, parsed inside the clock."""
    corpus = read_texts(path)
    return from_texts(corpus.documents, corpus.labels)


def on_matrix(given: Given, work: str) -> dict[str, Any]:
    X, labels = given.matrix(work, "train"), given.labels("train")
    from_matrix(X[:N_WARM], labels[:N_WARM])  # imports and starts what is needed at first use
    seconds, model = timed(lambda: from_matrix(X, labels))
    # A plain sum over the same arrays: what memory allows to a single look at every stored number.
    look = min(timed(lambda: (X.data.sum(), X.indices.sum()))[0] for _ in range(3))
    n_bytes = X.data.nbytes + X.indices.nbytes
    answers = model.predict(given.matrix(work, "test"))
    return judged(given, seconds, answers) | {"n_bytes": n_bytes, "look_seconds": look}


def on_texts(given: Given) -> dict[str, Any]:
    texts, labels = given.texts("train"), given.labels("train")
    from_texts(texts[:N_WARM], labels[:N_WARM])
    seconds, model = timed(lambda: from_texts(texts, labels))
    return judged(given, seconds, model.predict(given.texts("test")))


def on_file(given: Given) -> dict[str, Any]:
    lines = given.records("train")
    with TemporaryDirectory(dir=MEMORY) as folder:
        from_file(write_lines(Path(folder, "warm.jsonl"), lines[:N_WARM]))
        path = write_lines(Path(folder, "train.jsonl"), lines)
        seconds, model = timed(lambda: from_file(path))
    return judged(given, seconds, model.predict(given.texts("test")))


def timed(learn: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of them."""
    began = time.perf_counter()
    made = learn()
    return time.perf_counter() - began, made


def judged(given: Given, seconds: float, answers: Any) -> dict[str, Any]:
    accuracy = float(np.mean(answers == given.labels("test")))
    return {"seconds": seconds, "n_learned": len(given.labels("train")), "accuracy": accuracy}


def main(work: str, contender: str, given: Given) -> None:
    warnings.simplefilter("ignore")
    if work != "text":
        found = on_matrix(given, work)
    else:
        found = on_file(given) if contender.endswith("file of JSON") else on_texts(given)
    print(json.dumps(found | {"version": f"lineal {version('lineal')}"}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Given(Path(sys.argv[3]), int(sys.argv[4])))
