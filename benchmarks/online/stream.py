"""A long stream learned as it comes: resident memory, speed and accuracy over five million examples.

Run it with the interpreter that holds lineal and matplotlib. Examples are made on the fly, the same for the
same seed: twenty words each, drawn by Zipf's law from a vocabulary that keeps growing and hashed to 2^18
columns. There are three labels at first, and one more after each fifth of the stream. Nothing but the model
is kept from one chunk to the next. A whole run is kept as ``results/stream.json``, a shorter one as
``build/online/stream.json``; the picture is ``build/online/stream.png``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

from alone import memory  # noqa: E402
from environment import machine  # noqa: E402

RESULTS, SCRATCH = HERE / "results", ROOT / "build" / "online"
N_EXAMPLES, N_CHUNK = 5_000_000, 10_000
N_COLUMNS, N_WORDS = 2**18, 20
LABELS = np.array(["sport", "science", "music", "travel", "law", "food", "war"])
N_LABELS_AT_FIRST = 3
N_PARTS = 1 + len(LABELS) - N_LABELS_AT_FIRST  # of the stream, each with one label more
# A word in seven belongs to the label; one label in twenty is drawn anew, so nobody is right always.
SHARE_OF_LABEL, SHARE_OF_NOISE = 1 / 7, 1 / 20
VOCABULARY_AT_FIRST, EXAMPLES_PER_NEW_WORD = 20_000, 10


class Chunk(NamedTuple):
    """Examples that come together."""

    X: sp.csr_matrix
    y: np.ndarray


def stream(n_examples: int, seed: int) -> Iterator[Chunk]:
    """Chunks, each a function of the seed and of where it begins."""
    for begin in range(0, n_examples, N_CHUNK):
        n_labels = N_LABELS_AT_FIRST + begin * N_PARTS // n_examples
        rng = np.random.default_rng([seed, begin])
        yield _chunk(rng, min(N_CHUNK, n_examples - begin), n_labels, begin)


def _chunk(rng: np.random.Generator, n: int, n_labels: int, begin: int) -> Chunk:
    label = rng.integers(n_labels, size=n)
    n_ranks = VOCABULARY_AT_FIRST + begin // EXAMPLES_PER_NEW_WORD
    # P(rank <= r) = log(r + 1) / log(n_ranks + 1): Zipf's law, by the inverse of its distribution.
    rank = np.floor((n_ranks + 1.0) ** rng.random((n, N_WORDS))).astype(np.uint64)
    is_of_label = rng.random((n, N_WORDS)) < SHARE_OF_LABEL
    owner = np.where(is_of_label, label[:, None] + 1, 0).astype(np.uint64)
    columns = _hashed(rank * np.uint64(len(LABELS) + 1) + owner)
    ends = np.arange(0, n * N_WORDS + 1, N_WORDS, dtype=np.int32)
    X = sp.csr_matrix((np.ones(n * N_WORDS), columns.ravel(), ends), shape=(n, N_COLUMNS))
    X.sum_duplicates()
    is_noise = rng.random(n) < SHARE_OF_NOISE
    return Chunk(X, LABELS[np.where(is_noise, rng.integers(n_labels, size=n), label)])


def _hashed(words: np.ndarray) -> np.ndarray:
    """Columns of words: the mixing of splitmix64, and of it the high bits."""
    mixed = words * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(64 - (N_COLUMNS.bit_length() - 1))).astype(np.int32)


def measure(n_examples: int, seed: int) -> dict[str, Any]:
    """A record of every chunk: what was seen so far, and what it took."""
    from lineal import OnlineClassifier

    about = machine()
    model = OnlineClassifier()
    before = memory("VmRSS")
    names = ("n_seen", "n_classes", "resident_bytes", "examples_per_second", "accuracy", "online_accuracy")
    columns: dict[str, list[float]] = {name: [] for name in names}
    n_seen = n_right = 0
    for X, y in stream(n_examples, seed):
        began = time.perf_counter()
        model.partial_fit(X, y)
        seconds = time.perf_counter() - began
        n_seen, n_right_before = n_seen + len(y), n_right
        n_right = round(model.online_accuracy_ * n_seen)  # each example was predicted before it was learned
        row = (n_seen, len(model.classes_), memory("VmRSS"), len(y) / seconds)
        accuracies = ((n_right - n_right_before) / len(y), float(model.online_accuracy_))
        for column, value in zip(columns.values(), (*row, *accuracies), strict=True):
            column.append(float(f"{value:.6g}") if isinstance(value, float) else value)
        if n_seen % (n_examples // N_PARTS) < N_CHUNK:
            print(told(columns), flush=True)
    return {
        "machine": about,
        "versions": {name: version(name) for name in ("lineal", "numpy", "scipy")},
        "n_examples": n_examples,
        "n_chunk": N_CHUNK,
        "n_columns": N_COLUMNS,
        "seed": seed,
        "resident_bytes_before": before,
        "chunks": columns,
    }


def told(columns: dict[str, list[float]]) -> str:
    """The last chunk in one line."""
    last = {name: column[-1] for name, column in columns.items()}
    return (
        f"{last['n_seen']:>9,} examples, {last['n_classes']} labels: {last['resident_bytes'] / 1e6:.0f} MB, "
        f"{last['examples_per_second']:,.0f} examples/s, accuracy {last['accuracy']:.3f}, "
        f"{last['online_accuracy']:.3f} of all"
    )


def draw(record: dict[str, Any], path: Path) -> None:
    """Memory, accuracy and speed, one above another; where a label first appears there is a line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chunks = {name: np.array(column) for name, column in record["chunks"].items()}
    seen = chunks["n_seen"] / 1e6
    figure, axes = plt.subplots(3, 1, figsize=(9, 8), sharex=True, layout="constrained")
    memory_axis, accuracy_axis, speed_axis = axes
    memory_axis.plot(seen, chunks["resident_bytes"] / 1e6, color="C0", label="process, data and all")
    memory_axis.axhline(
        record["resident_bytes_before"] / 1e6, color="0.5", linestyle=":", label="before the first example"
    )
    memory_axis.set(ylabel="resident memory (MB)")
    accuracy_axis.plot(seen, chunks["accuracy"], color="C1", linewidth=0.8, label="in each chunk")
    accuracy_axis.plot(seen, chunks["online_accuracy"], color="C3", label="of all so far")
    accuracy_axis.set(ylabel="right before it is learned", ylim=(None, 1.0))
    speed_axis.plot(
        seen, chunks["examples_per_second"] / 1e3, color="C2", linewidth=0.8, label="in each chunk"
    )
    speed_axis.set(ylabel="thousand examples/s", xlabel="million examples")
    for axis, name, unit in ((memory_axis, "resident_bytes", 1e6), (speed_axis, "examples_per_second", 1e3)):
        axis.set(xlim=(0.0, seen[-1]), ylim=(0.0, 1.1 * chunks[name].max() / unit))
    for axis in axes:
        axis.legend(loc="lower right", fontsize=9)
        axis.grid(alpha=0.3)
    for k in np.flatnonzero(np.diff(chunks["n_classes"])) + 1:
        place = seen[k - 1]
        for axis in axes:
            axis.axvline(place, color="0.3", linestyle="--", linewidth=0.8)
        count = f" {chunks['n_classes'][k]} labels"
        memory_axis.text(place, 1.01, count, transform=memory_axis.get_xaxis_transform(), fontsize=9)
    title = f"{record['n_examples']:,} examples, {N_WORDS} words each, {record['n_columns']:,} hashed columns"
    memory_axis.set_title(title, loc="left", fontsize=11, pad=18)
    beside = path.with_name(f".{path.name}")
    figure.savefig(beside, dpi=110)
    os.replace(beside, path)


def as_text(record: dict[str, Any]) -> str:
    """JSON with an array a line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda array: " ".join(array.group().split()), text) + "\n"


def main() -> None:
    """Learn the stream, keep the record, draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--examples", type=int, default=N_EXAMPLES, help=f"how many ({N_EXAMPLES:,}); others are a try"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the stream (0)")
    parser.add_argument("--draw", action="store_true", help="measure nothing, only draw what is kept")
    options = parser.parse_args()
    if options.examples < N_PARTS:
        parser.error(f"--examples needs at least {N_PARTS}, not {options.examples}")
    folder = RESULTS if options.examples == N_EXAMPLES else SCRATCH
    for place in (folder, SCRATCH):
        place.mkdir(parents=True, exist_ok=True)
    path = folder / "stream.json"
    if not options.draw:
        path.write_text(as_text(measure(options.examples, options.seed)))
    draw(json.loads(path.read_text()), SCRATCH / "stream.png")
    print(f"wrote {path.relative_to(ROOT)} and {(SCRATCH / 'stream.png').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
