"""From a file of texts to a model to the accuracy on a test file, in a process of its own.

    python pipeline.py CONTENDER TRAIN TEST [LIMIT]

Prints one JSON line. Each contender imports what it needs and nothing else, so that whole processes may be
compared too.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

PEER, FIXED, FREE = "scikit-learn", "lineal, fixed recipe", "lineal, no options"


def main() -> None:
    """Read, learn, predict, count."""
    warnings.simplefilter("ignore")
    contender, train, test = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    limit = int(sys.argv[4]) if len(sys.argv) > 4 else None
    model = {PEER: peer, FIXED: fixed, FREE: free}[contender]()
    read = read_json if contender == PEER else read_natively
    began = time.perf_counter()
    model.fit(*read(train, limit))
    learned = time.perf_counter()
    texts, labels = read(test, limit)
    accuracy = float(np.mean(model.predict(texts) == np.asarray(labels)))
    found = {"seconds": time.perf_counter() - began, "train_seconds": learned - began, "accuracy": accuracy}
    print(json.dumps(found | {"plan": getattr(model, "plan_", None)}))


def peer(analyzer: str = "word") -> Any:
    """scikit-learn's best simple pipeline: words and their pairs, or for languages characters in words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    ngrams = (1, 2) if analyzer == "word" else (2, 5)
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=ngrams, min_df=2, sublinear_tf=True)
    return make_pipeline(vectorizer, LinearSVC())


def fixed() -> Any:
    """Ours without a search."""
    from lineal import TextClassifier, TextVectorizer

    return TextClassifier(vectorizer=TextVectorizer(ngrams=(1, 2), min_df=2), strengths=1.0)


def free() -> Any:
    """Ours as it is."""
    from lineal import TextClassifier

    return TextClassifier()


def read_json(path: Path, limit: int | None) -> tuple[Any, Any]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        records = [json.loads(line) for line in lines]
    records = records[:: step(len(records), limit)]
    return [record["text"] for record in records], [record["label"] for record in records]


def read_natively(path: Path, limit: int | None) -> tuple[Any, Any]:
    from lineal.data import read_texts

    documents, labels = read_texts(path)
    if limit is None:
        return documents, labels
    rows = np.arange(0, len(documents), step(len(documents), limit))
    return documents.take(rows), labels[rows]


def step(n: int, limit: int | None) -> int:
    return max(n // limit, 1) if limit else 1


if __name__ == "__main__":
    main()
