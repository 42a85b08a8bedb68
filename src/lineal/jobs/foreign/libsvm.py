"""Models of LIBSVM with a linear kernel: text files of support vectors, which collapse to weights."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from lineal.errors import ModelFileError
from lineal.jobs.foreign.assembling import FloatArray, assemble, numbers, two_classes, voting_classes
from lineal.jobs.foreign.lines import ModelLines
from lineal.model import Model
from lineal.model.composed import CalibratedHead
from lineal.model.features.rows import MOST_COLUMNS, RowFeatures
from lineal.model.heads import Head

_CLASSIFIERS, _REGRESSORS = ("c_svc", "nu_svc"), ("epsilon_svr", "nu_svr")
_KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
_KEYS = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label")
_MORE_KEYS = ("probA", "probB", "prob_density_marks", "nr_sv")
_MOST_CLASSES = 1 << 12
_MOST_WEIGHTS = 1 << 26  # half a gigabyte; a hostile column number must not ask for all memory


def read_libsvm(path: Path) -> Model:
    """The model in a file that LIBSVM's ``svm-train`` or ``svm_save_model`` wrote, if its kernel is linear.

    C-SVC, nu-SVC, epsilon-SVR and nu-SVR are read. Two classes trained with ``-b 1`` answer as
    ``svm-predict -b 1`` does, by probabilities. More classes vote as ``svm-predict`` lets them, without
    probabilities.
    """
    lines = ModelLines(path, "LIBSVM", "SV", _KEYS + _MORE_KEYS)
    kind, kernel = lines.word("svm_type"), lines.word("kernel_type")
    if kind == "one_class":
        raise ModelFileError(f"{path}: svm_type one_class says what is usual, which is no class or number.")
    if kind not in _CLASSIFIERS + _REGRESSORS:
        lines.refuse(f"there is no svm_type {kind[:40]!r}")
    if kernel not in _KERNELS:
        lines.refuse(f"there is no kernel_type {kernel[:40]!r}")
    if kernel != "linear":
        raise ModelFileError(
            f"{path} has the kernel {kernel}, whose model is no sum of weights and cannot be linear. "
            "Train with a linear kernel: svm-train -t 0."
        )
    K = lines.whole("nr_class", 2, _MOST_CLASSES)
    is_classifier = kind in _CLASSIFIERS
    n_pairs = K * (K - 1) // 2 if is_classifier else 1
    b = -np.array(lines.numbers("rho", n_pairs))
    coefficients, vectors = _support(lines, K - 1 if is_classifier else 1, n_pairs)
    if is_classifier:
        W = _pair_weights(lines, K, coefficients, vectors)
        head = _classes(lines, K, W, b)
    else:
        W = np.asarray(vectors.T @ coefficients)
        head = numbers(W, b)
    notes = {"from": "libsvm", "svm_type": kind, "support_vectors": vectors.shape[0]}
    if is_classifier and K > 2 and "probA" in lines.header:
        notes["left_out"] = "probA and probB: the probabilities of more than two classes"
    return assemble(RowFeatures(W.shape[0], None, is_open=True), head, learner=f"LIBSVM {kind}", notes=notes)


def _classes(lines: ModelLines, K: int, W: FloatArray, b: FloatArray) -> Head:
    labels = lines.wholes("label", K)
    if len(set(labels)) < K:
        lines.refuse("a label is there twice")
    if K > 2:
        return voting_classes(W, b, labels)
    head = two_classes(W[:, 0], float(b[0]), labels[0], labels[1])
    if "probA" not in lines.header:
        return head
    (slope,), (shift,) = lines.numbers("probA", 1), lines.numbers("probB", 1)
    # p(first label) = 1 / (1 + exp(slope score + shift)); the head's score is for the greater label.
    is_turned = labels[0] < labels[1]
    slopes, shifts = (-slope, shift) if is_turned else (-slope, -shift)
    return CalibratedHead(head, head.classes, None, np.array([slopes]), np.array([shifts]))


def _support(lines: ModelLines, n_coefficients: int, n_scores: int) -> tuple[FloatArray, sp.csr_matrix]:
    """(n_vectors, n_coefficients) and the vectors."""
    rows = lines.rows()
    total = lines.whole("total_sv", 0, 2**31 - 1)
    if len(rows) != total:
        lines.refuse(f"there should be {total} support vectors, but there are {len(rows)}")
    coefficients = np.empty((total, n_coefficients))
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    for place, (number, pieces) in enumerate(rows):
        if len(pieces) < n_coefficients:
            lines.refuse(f"line {number} should begin with {n_coefficients} coefficients")
        where = f"line {number}"
        coefficients[place] = [lines.number(piece, where) for piece in pieces[:n_coefficients]]
        for piece in pieces[n_coefficients:]:
            column, _, value = piece.partition(b":")
            columns.append(_column(lines, column, where))
            values.append(lines.number(value, where))
        own = columns[starts[-1] :]
        if any(after <= before for before, after in pairwise(own)):
            lines.refuse(f"{where} has columns that do not rise")
        starts.append(len(columns))
    n_columns = max(columns, default=0) + 1
    if n_columns * n_scores > _MOST_WEIGHTS:
        lines.refuse(f"{n_columns} columns and {n_scores} scores are more weights than {_MOST_WEIGHTS}")
    arrays = (np.array(values), np.array(columns, dtype=np.int64), np.array(starts))
    return coefficients, sp.csr_matrix(arrays, shape=(total, n_columns))


def _column(lines: ModelLines, text: bytes, where: str) -> int:
    if not (text.isdigit() and len(text) < 11 and 1 <= int(text) <= MOST_COLUMNS):
        lines.refuse(f"{where} holds column {text[:40]!r}, and columns are counted from 1")
    return int(text) - 1


def _pair_weights(lines: ModelLines, K: int, C: FloatArray, vectors: sp.csr_matrix) -> FloatArray:
    """(n_columns, n_pairs): of each pair the sum of the vectors of its two classes, as they weigh in it."""
    counts = lines.wholes("nr_sv", K)
    if min(counts) < 0 or sum(counts) != len(C):
        lines.refuse(f"nr_sv must sum to {len(C)} support vectors, but sums to {sum(counts)}")
    ends = np.cumsum([0, *counts])
    W = []
    for i in range(K):
        for j in range(i + 1, K):
            first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            W.append(vectors[first].T @ C[first, j - 1] + vectors[second].T @ C[second, i])
    return np.column_stack(W)
