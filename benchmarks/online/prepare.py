"""IMDB as all contenders are given it: lines of JSON, labels, two matrices, and lines for Vowpal Wabbit."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from given import PARTS, write_lines
from sets import path_of
from sklearn.feature_extraction.text import HashingVectorizer

from lineal import TextVectorizer

N_HASHED = 2**22
_WORD = re.compile(r"\w+")
_SIGNS = {"neg": "-1", "pos": "1"}


def prepare(folder: Path, limit: int | None) -> dict[str, Any]:
    """Fills a folder with about ``limit`` reviews of each part (all), and says what it holds."""
    folder.mkdir(parents=True, exist_ok=True)
    texts, labels = {}, {}
    for part in PARTS:
        lines = path_of("imdb", f"{part}.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        lines = lines[:: max(len(lines) // limit, 1) if limit else 1]
        records = [json.loads(line) for line in lines]
        texts[part] = [record["text"] for record in records]
        labels[part] = [record["label"] for record in records]
        write_lines(folder / f"{part}.jsonl", lines)
        np.save(folder / f"{part}.npy", np.array(labels[part]))
        words = [" ".join(_WORD.findall(text.lower())) for text in texts[part]]
        write_lines(folder / f"text-{part}.vw", _signed(labels[part], words))
    about: dict[str, Any] = {f"n_{part}": len(texts[part]) for part in PARTS}
    about["n_bytes"] = sum(len(text.encode()) for text in texts["train"])
    for work, vectorizer in _vectorizers().items():
        X = vectorizer.fit_transform(texts["train"])
        for part, rows in (("train", X), ("test", vectorizer.transform(texts["test"]))):
            sp.save_npz(folder / f"{work}-{part}.npz", rows, compressed=False)
            write_lines(folder / f"{work}-{part}.vw", _signed(labels[part], _features(rows)))
        about[work] = {"n_columns": X.shape[1], "n_stored": int(X.nnz)}
    _require_same_hash(texts["train"][:1000])
    return about


def _vectorizers() -> dict[str, TextVectorizer]:
    """Words and their pairs: their tf-idf by default, and whether they occur, hashed as scikit-learn does."""
    hashed = {"n_features": N_HASHED, "weighting": "occurrence", "norm": None, "compat": "sklearn"}
    return {"tf-idf": TextVectorizer(dtype=np.float64), "hashed": TextVectorizer(**hashed)}


def _require_same_hash(texts: list[str]) -> None:
    """The hashed matrix is what anyone can make with scikit-learn."""
    options = {"binary": True, "norm": None, "alternate_sign": False}
    theirs = HashingVectorizer(n_features=N_HASHED, ngram_range=(1, 2), **options).transform(texts)
    ours = _vectorizers()["hashed"].transform(texts)
    if theirs.dtype != ours.dtype or (theirs != ours).nnz:
        raise RuntimeError(
            "the hashed matrix is not scikit-learn's: TextVectorizer(compat='sklearn') is broken"
        )


def _signed(labels: list[str], rest: list[str]) -> list[str]:
    return [f"{_SIGNS[label]} | {features}" for label, features in zip(labels, rest, strict=True)]


def _features(X: sp.csr_matrix) -> list[str]:
    """Column and value of every stored number; Vowpal Wabbit takes 1 where no value is written."""
    names, values, ends = X.indices.tolist(), X.data.tolist(), X.indptr.tolist()
    entries = [
        f"{name}" if value == 1.0 else f"{name}:{value:.6g}"
        for name, value in zip(names, values, strict=True)
    ]
    return [" ".join(entries[begin:end]) for begin, end in pairwise(ends)]
