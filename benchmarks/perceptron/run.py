"""Perceptrons on real texts: time and accuracy beside scikit-learn's, and what a proof of separability takes.

Run it with the interpreter that holds lineal. Contenders take turns, three times each, ten epochs from the
same matrix; all repeats are kept. Records go to ``results/perceptron.json``, a table to the screen.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from sklearn.linear_model import Perceptron as TheirPerceptron

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "text"), str(HERE.parent / "versus")]

from environment import machine  # noqa: E402
from sets import AbsentError, read  # noqa: E402

from lineal import Perceptron, TextVectorizer, mistake_bound  # noqa: E402

RESULTS = HERE / "results" / "perceptron.json"
SETS = ("imdb", "20newsgroups")
N_REPEATS, EPOCHS = 3, 10
CONTENDERS = {
    "lineal, plain": lambda: Perceptron("plain", epochs=EPOCHS),
    "lineal, averaged": lambda: Perceptron(epochs=EPOCHS),
    "scikit-learn": lambda: TheirPerceptron(max_iter=EPOCHS, tol=None, random_state=0),
}


def main() -> None:
    records = {"machine": machine(), "versions": {n: version(n) for n in ("lineal", "scikit-learn", "scipy")}}
    for name in SETS:
        try:
            records[name] = measure(name)
        except AbsentError as error:
            print(f"{name}: skipped, {error}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(records, indent=1) + "\n")


def measure(name: str) -> dict[str, object]:
    """All contenders on one set, then the proof."""
    train, test = read(name), read(name, "test")
    vectorizer = TextVectorizer()
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    seconds: dict[str, list[float]] = {contender: [] for contender in CONTENDERS}
    accuracy = {}
    for _ in range(N_REPEATS):
        for contender, make in CONTENDERS.items():
            began = time.perf_counter()
            model = make().fit(X, train.labels)
            seconds[contender].append(time.perf_counter() - began)
            accuracy[contender] = model.score(X_test, test.labels)
    print(f"{name}: {X.shape[0]:,} rows, {X.shape[1]:,} columns, {X.nnz:,} numbers")
    for contender, times in seconds.items():
        print(
            f"  {contender:18} {min(times):6.2f} s (to {max(times):.2f})   accuracy {accuracy[contender]:.4f}"
        )
    proof = mistake_bound(X, train.labels)
    print(f"  {proof.seconds:.1f} s: {proof}")
    bracket = {"margin": proof.margin, "margin_at_most": proof.margin_at_most, "seconds": proof.seconds}
    return {"shape": X.shape, "nnz": int(X.nnz), "seconds": seconds, "accuracy": accuracy, "proof": bracket}


if __name__ == "__main__":
    main()
