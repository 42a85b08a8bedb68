"""Texts and rows made up from a fixed seed: for growth beyond what real data hold, and where none are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

SEED = 20_261_117
N_WORDS = 2_000_000
N_TELLING = 2_000  # words of its own that each class has
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on")]


@cache
def _words() -> np.ndarray:
    """The spelling of every rank: frequent words are short, as they are in languages."""
    size = len(_SYLLABLES)
    spelt = list(_SYLLABLES)
    for k in range(size, N_WORDS):
        spelt.append(
            spelt[k // size] + _SYLLABLES[k % size]
            if k >= size**2
            else _SYLLABLES[k % size] + spelt[k // size]
        )
    return np.array(spelt[:N_WORDS], dtype=object)


def ranks(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ranks of words by Zipf's law as texts have it: word k is drawn about as often as (k + 2.7)^-1.2."""
    shift, power = 2.7, 0.2
    first, last = shift**-power, (N_WORDS + shift) ** -power
    drawn = (first + (last - first) * rng.random(n)) ** (-1.0 / power) - shift
    return np.minimum(drawn.astype(np.int64), N_WORDS - 1)


def texts(n: int, mean_words: float, n_classes: int = 2, seed: int = SEED) -> Iterator[tuple[str, int]]:
    """Texts with their classes; one word in eight is one of its class's own."""
    rng, words = np.random.default_rng(seed), _words()
    for first in range(0, n, 10_000):
        size = min(10_000, n - first)
        lengths = 1 + rng.poisson(mean_words - 1.0, size)
        classes = rng.integers(n_classes, size=size)
        drawn = ranks(rng, int(lengths.sum()))
        is_telling = rng.random(len(drawn)) < 0.125
        own = N_WORDS - 1 - np.repeat(classes, lengths) * N_TELLING - rng.integers(N_TELLING, size=len(drawn))
        spelt = words[np.where(is_telling, own, drawn)]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        for k in range(size):
            yield " ".join(spelt[ends[k] : ends[k + 1]]), int(classes[k])


def make_stand_ins(home: Path, files: Sequence[str], share: float) -> Path:
    """Files of the shape of the real ones, made where they are missing."""
    for file in files:
        path = home / file
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _MAKERS[file.split("/")[0]](path, share)
    return home


def _jsonl(path: Path, share: float) -> None:
    n, mean, labels = {
        "imdb": (25_000, 230.0, ["neg", "pos"]),
        "20newsgroups": (11_314 if path.stem == "train" else 7_532, 280.0, [f"group.{k}" for k in range(20)]),
    }[path.parent.name]
    made = texts(round(n * share), mean, len(labels), SEED + (path.stem == "test"))
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text, "label": labels[c]}) + "\n" for text, c in made)


def _tsv(path: Path, share: float) -> None:
    n, mean, labels = {
        "sms_spam": (5_574, 16.0, ["ham", "spam"]),
        "rt_polarity": (10_662, 21.0, ["neg", "pos"]),
        "l10n_langid": (940_000 if path.stem == "train" else 20_000, 6.0, [f"l{k}" for k in range(89)]),
    }[path.parent.name]
    made = texts(round(n * share), mean, len(labels), SEED + (path.stem == "test"))
    with path.open("w", encoding="utf-8") as file:
        file.write("label\ttext\n")
        file.writelines(f"{labels[c]}\t{text}\n" for text, c in made)


def _reviews(path: Path, share: float) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("deceptive,hotel,polarity,source,text\n")
        for k, (text, c) in enumerate(texts(round(1_600 * share), 150.0)):
            file.write(f"{('deceptive', 'truthful')[c]},hotel{k % 20},positive,made,{text}\n")


def _libsvm(path: Path, share: float) -> None:
    """Rows of numbers about a mean of their class, with as many columns and classes as the file has."""
    n, d, per_row, n_classes = {
        "a9a": (32_561, 123, 14, 2),
        "a9a.t": (16_281, 123, 14, 2),
        "ijcnn1": (49_990, 22, 13, 2),
        "w8a": (49_749, 300, 12, 2),
        "letter.scale": (15_000, 16, 16, 26),
        "letter.scale.t": (5_000, 16, 16, 26),
    }[path.name.removesuffix(".svm")]
    means = np.random.default_rng(SEED).normal(size=(n_classes, d))
    rng = np.random.default_rng(SEED + len(path.name))
    with path.open("w", encoding="utf-8") as file:
        for _ in range(round(n * share)):
            c = int(rng.integers(n_classes))
            columns = np.sort(rng.choice(d, per_row, replace=False))
            values = means[c, columns] + rng.normal(size=per_row)
            label = 2 * c - 1 if n_classes == 2 else c + 1
            pairs = " ".join(f"{j + 1}:{v:.4f}" for j, v in zip(columns, values, strict=True))
            file.write(f"{label} {pairs}\n")


_MAKERS = {
    "imdb": _jsonl,
    "20newsgroups": _jsonl,
    "sms_spam": _tsv,
    "rt_polarity": _tsv,
    "l10n_langid": _tsv,
    "op_spam": _reviews,
    "libsvm": _libsvm,
}
