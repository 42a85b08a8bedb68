"""Models of fastText for labels: binary files of a vocabulary and two matrices, which multiply out."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ModelFileError
from lineal.jobs.foreign.assembling import assemble, numbers
from lineal.model import Model
from lineal.model.features.fasttext import LABEL, MOST_GRAMS, FastTextFeatures
from lineal.model.heads import ClassesHead, Head

MAGIC = 793712314
_LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}
_MODELS = {1: "cbow", 2: "skipgram", 3: "supervised"}
_PIECE = 1 << 16  # rows of the input matrix that are multiplied at a time
_MOST_WEIGHTS = 1 << 29
_DOUBLE_UP_TO = 1 << 22  # more weights are kept as fastText computes, in 32 bits


def read_fasttext(path: Path) -> Model:
    """The model in a ``.bin`` file of ``fasttext supervised``.

    Softmax, ova and negative sampling are read, with n-grams of words and parts of words. Scores are those of
    fastText but for rounding: it computes in 32 bits. A text is one line to it; ends of lines in a text are
    white space here. Labels lose the prefix ``__label__``. Under ova and negative sampling fastText looks
    probabilities up in a table with steps of 1/32 of a score, and so cannot tell labels apart that are
    closer; the model can, and there their answers may differ.

    The weights are input matrix times output matrix, one for each feature and label: smaller than the
    file wherever there are fewer labels than dimensions.
    """
    file = _File(path)
    if file.one("i") != MAGIC:
        file.refuse("it does not begin as one")
    version = file.one("i")
    if version not in (11, 12):
        file.refuse(f"version {version} of the format is not 11 or 12")
    dim, _, _, _, _, word_ngrams, loss, model, n_buckets, least, most, _ = file.many("i", 12)
    file.one("d")
    if model != 3:
        raise ModelFileError(
            f"{path} is a {_MODELS.get(model, 'strange')} model of words, which has no labels."
        )
    if loss not in _LOSSES or not 1 <= dim <= 1 << 20 or word_ngrams < 1 or n_buckets < 0 or least < 0:
        file.refuse("its arguments cannot be")
    if max(word_ngrams, least, most) > MOST_GRAMS:
        raise ModelFileError(f"{path} has -wordNgrams {word_ngrams} -maxn {most}; {MOST_GRAMS} is the most.")
    if loss == 1:
        raise ModelFileError(
            f"{path} was trained with a hierarchical softmax, whose answers are products along a tree and no "
            "sums of weights. Train with -loss softmax or -loss ova."
        )
    if version == 11:
        most = 0  # as fastText does: parts of words came later
    words, labels = _vocabulary(file)
    if word_ngrams == 1 and most == 0:
        n_buckets = 0
    W = _product(file, len(words) + n_buckets, dim, len(labels))
    features = FastTextFeatures(words, frozenset(labels), n_buckets, word_ngrams, (least, max(most, 0)))
    notes: dict[str, Any] = {"from": "fasttext", "loss": _LOSSES[loss], "dimensions": dim}
    return assemble(
        features, _head(W, labels, _LOSSES[loss], notes), learner=f"fastText {_LOSSES[loss]}", notes=notes
    )


def _head(W: NDArray[Any], labels: tuple[bytes, ...], loss: str, notes: dict[str, Any]) -> Head:
    has_prefix = all(label.startswith(LABEL) for label in labels)
    names = [label.decode("utf-8", "replace") for label in labels]
    if has_prefix:
        names = [name.removeprefix(LABEL.decode()) for name in names]
        notes["label_prefix"] = LABEL.decode()
    if len(names) == 1:
        return ClassesHead(numbers(W, np.zeros(1)).linear, np.array(names))
    if len(names) == 2:
        link = "softmax" if loss == "softmax" else "none"
        # Labels of ova have a probability each, of which one score does not know both.
        first, second = np.argsort(names)
        return ClassesHead(numbers(W[:, [second]] - W[:, [first]], [0.0]).linear, np.sort(names), link)
    if loss != "softmax":
        notes["probabilities"] = "each label's own, divided by their sum"
    scores = numbers(W[:, np.argsort(names)], np.zeros(len(names))).linear
    return ClassesHead(scores, np.sort(names), "softmax" if loss == "softmax" else "own")


def _vocabulary(file: _File) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    size, n_words, n_labels = file.many("i", 3)
    file.one("q")
    n_pruned = file.one("q")
    if min(n_words, n_labels) < 0 or size != n_words + n_labels or n_labels < 1 or size > file.left:
        file.refuse("its vocabulary cannot be")
    if n_pruned >= 0:
        raise ModelFileError(
            f"{file.path} was quantised with its features pruned. Give the .bin file it was made from."
        )
    entries = []
    for number in range(size):
        word = file.string()
        _, kind = file.one("q"), file.one("b")
        if kind != (number >= n_words):
            file.refuse("a label is among the words of its vocabulary")
        entries.append(word)
    if len(set(entries)) < size:
        file.refuse("a word is there twice in its vocabulary")
    return tuple(entries[:n_words]), tuple(entries[n_words:])


def _product(file: _File, n_columns: int, dim: int, n_labels: int) -> NDArray[Any]:
    """(n_columns, n_labels): what each feature says for each label."""
    A = file.matrix(n_columns, dim, "input")
    O = file.matrix(n_labels, dim, "output").astype(np.float64)
    if file.left:
        file.refuse(f"{file.left} bytes are left behind its matrices")
    if n_columns * n_labels > _MOST_WEIGHTS:
        raise ModelFileError(
            f"{file.path} has {n_columns} features and {n_labels} labels, whose products are more than "
            f"{_MOST_WEIGHTS} weights. Train with a smaller -bucket."
        )
    W = np.empty((n_columns, n_labels), np.float64 if n_columns * n_labels <= _DOUBLE_UP_TO else np.float32)
    for start in range(0, n_columns, _PIECE):
        W[start : start + _PIECE] = A[start : start + _PIECE].astype(np.float64) @ O.T
    if not np.isfinite(W).all():
        file.refuse("its matrices hold numbers that are not finite")
    return W


class _File:
    """Bytes that are read one after the other, and never past their end; matrices stay in the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes = (
            np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.empty(0, np.uint8)
        )
        self._place = 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._bytes) - self._place

    def refuse(self, flaw: str) -> NoReturn:
        raise ModelFileError(f"{self.path} is no model of fastText, or is damaged: {flaw}.")

    def _take(self, n_bytes: int) -> NDArray[np.uint8]:
        if n_bytes > self.left:
            self.refuse("it ends too early")
        self._place += n_bytes
        return self._bytes[self._place - n_bytes : self._place]

    def one(self, code: str) -> Any:
        return self.many(code, 1)[0]

    def many(self, code: str, count: int) -> tuple[Any, ...]:
        form = f"<{count}{code}"
        return struct.unpack(form, self._take(struct.calcsize(form)).tobytes())

    def string(self) -> bytes:
        """Bytes up to a NUL."""
        piece = self._bytes[self._place : self._place + 4096].tobytes()
        length = piece.find(b"\0")
        if length < 0:
            self.refuse("a word has more than 4096 bytes")
        self._place += length + 1
        return piece[:length]

    def matrix(self, n_rows: int, n_columns: int, name: str) -> NDArray[np.float32]:
        """A matrix that must have this shape."""
        if self.one("b"):
            raise ModelFileError(
                f"{self.path} is quantised (.ftz), so that its weights are rounded to few bits in a code of "
                "their own. Give the .bin file it was made from."
            )
        shape = self.many("q", 2)
        if shape != (n_rows, n_columns):
            self.refuse(f"its {name} matrix has shape {shape} where {(n_rows, n_columns)} is needed")
        return self._take(4 * n_rows * n_columns).view("<f4").reshape(n_rows, n_columns)
