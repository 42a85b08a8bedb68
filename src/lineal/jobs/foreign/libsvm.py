"""Models of LIBSVM: text files of support vectors, which collapse to weights where the kernel is linear."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from lineal.errors import ModelFileError
from lineal.jobs.foreign.assembling import FloatArray, assemble, numbers, two_classes, voting_classes
from lineal.jobs.foreign.lines import ModelLines
from lineal.model import Model
from lineal.model.composed import CalibratedHead
from lineal.model.features.rows import MOST_COLUMNS, RowFeatures
from lineal.model.heads import Head
from lineal.model.kernel_heads import KernelClassesHead, KernelNumbersHead
from lineal.model.kernel_profile import MOST_DEGREE, Profile
from lineal.model.kernel_sums import KernelSums, SupportVectors
from lineal.model.machine_answers import MachineAnswers

_CLASSIFIERS, _REGRESSORS, _ONE_CLASS = ("c_svc", "nu_svc"), ("epsilon_svr", "nu_svr"), "one_class"
_KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
_KEYS = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label")
_MORE_KEYS = ("probA", "probB", "prob_density_marks", "nr_sv")
_MOST_CLASSES = 1 << 12
_MOST_WEIGHTS = 1 << 26  # half a gigabyte; a hostile column number must not ask for all memory
_DENSE = 4  # support vectors of which one number in so many is there are kept with their zeros


def read_libsvm(path: Path) -> Model:
    """The model in a file that LIBSVM's ``svm-train`` or ``svm_save_model`` wrote.

    C-SVC, nu-SVC, epsilon-SVR, nu-SVR and one class are read, with linear, polynomial and radial kernels. Two
    classes trained with ``-b 1`` answer as ``svm-predict -b 1`` does, by probabilities. More classes vote as
    ``svm-predict`` lets them, without probabilities. One class is a classification into 1 and -1. A linear
    kernel becomes weights.
    """
    lines = ModelLines(path, "LIBSVM", "SV", _KEYS + _MORE_KEYS)
    kind, kernel = lines.word("svm_type"), lines.word("kernel_type")
    if kind not in (*_CLASSIFIERS, *_REGRESSORS, _ONE_CLASS):
        lines.refuse(f"there is no svm_type {kind[:40]!r}")
    profile = _profile(lines, kernel)
    K = lines.whole("nr_class", 2, _MOST_CLASSES)
    is_classifier = kind in _CLASSIFIERS
    n_pairs = K * (K - 1) // 2 if is_classifier else 1
    b = -np.array(lines.numbers("rho", n_pairs))
    coefficients, vectors = _support(lines, K - 1 if is_classifier else 1)
    labels = _labels(lines, K) if is_classifier else [1, -1]
    counts = _counts(lines, K, len(coefficients)) if is_classifier else [len(coefficients)]
    if profile.kind == "linear":
        _require_room(lines, vectors.shape[1], n_pairs)
        head = _of_weights(kind, labels, counts, coefficients, vectors, b)
    else:
        head = _of_kernel(kind, labels, counts, profile, coefficients, vectors, b)
    if is_classifier and K == 2 and "probA" in lines.header:
        head = _calibrated(lines, head, labels)
    notes: dict[str, Any] = {"from": "libsvm", "svm_type": kind, "support_vectors": vectors.shape[0]}
    if profile.kind != "linear":
        notes["kernel"] = str(profile)
    left_out = _left_out(lines, kind, K)
    if left_out:
        notes["left_out"] = left_out
    return assemble(
        RowFeatures(vectors.shape[1], None, is_open=True), head, learner=f"LIBSVM {kind}", notes=notes
    )


def _profile(lines: ModelLines, kernel: str) -> Profile:
    """The kernel and its numbers."""
    if kernel not in _KERNELS:
        lines.refuse(f"there is no kernel_type {kernel[:40]!r}")
    if kernel == "sigmoid":
        raise ModelFileError(
            f"{lines.path} has the sigmoid kernel tanh(gamma x.z + coef0), which is none: it is no dot "
            "product in any space. Train with svm-train -t 2 (radial), -t 1 (polynomial) or -t 0 (linear)."
        )
    if kernel == "precomputed":
        raise ModelFileError(
            f"{lines.path} has a precomputed kernel: it holds numbers of training rows, not the rows. Train "
            "with the kernel itself: svm-train -t 2, -t 1 or -t 0."
        )
    if kernel == "linear":
        return Profile("linear")
    (gamma,) = lines.numbers("gamma", 1)
    if kernel == "rbf":
        if gamma < 0:
            lines.refuse(f"gamma must be at least 0, but is {gamma}")
        return Profile("gaussian", gamma)
    degree, (c,) = lines.whole("degree", 0, MOST_DEGREE), lines.numbers("coef0", 1)
    # A power of 0 is 1, whatever is raised to it.
    return Profile("polynomial", gamma, c, degree) if degree else Profile("polynomial", 0.0, 1.0, 1)


def _labels(lines: ModelLines, K: int) -> list[int]:
    labels = lines.wholes("label", K)
    if len(set(labels)) < K:
        lines.refuse("a label is there twice")
    return labels


def _counts(lines: ModelLines, K: int, total: int) -> list[int]:
    """How many support vectors each class has."""
    counts = lines.wholes("nr_sv", K)
    if min(counts) < 0 or sum(counts) != total:
        lines.refuse(f"nr_sv must sum to {total} support vectors, but sums to {sum(counts)}")
    return counts


def _require_room(lines: ModelLines, n_columns: int, n_scores: int) -> None:
    if n_columns * n_scores > _MOST_WEIGHTS:
        lines.refuse(f"{n_columns} columns and {n_scores} scores are more weights than {_MOST_WEIGHTS}")


def _left_out(lines: ModelLines, kind: str, K: int) -> str:
    """What the file knows and the model does not."""
    if kind in _CLASSIFIERS:
        is_more = K > 2 and "probA" in lines.header
        return "probA and probB: the probabilities of more than two classes" if is_more else ""
    if "prob_density_marks" in lines.header:
        return "prob_density_marks: how usual a row is"
    return "probA: the width of the noise" if "probA" in lines.header else ""


# ---- answering --------------------------------------------------------------------------------


def _of_weights(
    kind: str, labels: list[int], counts: list[int], C: FloatArray, vectors: sp.csr_matrix, b: FloatArray
) -> Head:
    """A linear kernel: sums of support vectors are weights."""
    if kind in _REGRESSORS:
        return numbers(np.asarray(vectors.T @ C), b)
    if kind == _ONE_CLASS:
        return two_classes(np.asarray(vectors.T @ C)[:, 0], float(b[0]), labels[0], labels[1])
    W = _pair_weights(counts, C, vectors)
    if len(labels) > 2:
        return voting_classes(W, b, labels)
    return two_classes(W[:, 0], float(b[0]), labels[0], labels[1])


def _of_kernel(
    kind: str,
    labels: list[int],
    counts: list[int],
    profile: Profile,
    C: FloatArray,
    vectors: sp.csr_matrix,
    b: FloatArray,
) -> Head:
    """Sums of kernel values; ties are decided as LIBSVM does."""
    rows = _rows_of(vectors)
    coefficients = np.ascontiguousarray(C.T)
    if kind in _REGRESSORS:
        return KernelNumbersHead(KernelSums.of_one(profile, rows, coefficients), b)
    if len(labels) > 2:
        ends = np.cumsum([0, *counts]).astype(np.int64)
        # A score above 0 is a vote for the first of a pair, 0 one for the second; the first of most votes
        # wins, in the order of the file.
        answers = MachineAnswers(len(labels), "pairs", is_for_first=True, breaks_ties=False)
        return KernelClassesHead(KernelSums(profile, rows, coefficients, ends), b, np.array(labels), answers)
    # A score above 0 is for the first label, 0 and below for the second.
    above, below = labels
    answers = MachineAnswers(2, "two", is_for_first=above < below, is_zero_for_first=below < above)
    sums = KernelSums.of_one(profile, rows, coefficients)
    return KernelClassesHead(sums, b, np.array(sorted(labels)), answers)


def _rows_of(vectors: sp.csr_matrix) -> SupportVectors:
    n, width = vectors.shape
    if n and vectors.nnz * _DENSE >= n * width:
        return SupportVectors(width, vectors.toarray())
    sparse = (vectors.indptr.astype(np.int64), vectors.indices.astype(np.int32), vectors.data)
    return SupportVectors(width, None, sparse)


def _calibrated(lines: ModelLines, head: Head, labels: list[int]) -> Head:
    (slope,), (shift,) = lines.numbers("probA", 1), lines.numbers("probB", 1)
    assert head.classes is not None
    # p(first label) = 1 / (1 + exp(slope score + shift)); the head's score is for the greater label.
    is_turned = labels[0] < labels[1]
    slopes, shifts = (-slope, shift) if is_turned else (-slope, -shift)
    return CalibratedHead(head, head.classes, None, np.array([slopes]), np.array([shifts]))


def _pair_weights(counts: list[int], C: FloatArray, vectors: sp.csr_matrix) -> FloatArray:
    """(n_columns, n_pairs): of each pair the sum of the vectors of its two classes, as they weigh in it."""
    K, ends = len(counts), np.cumsum([0, *counts])
    W = []
    for i in range(K):
        for j in range(i + 1, K):
            first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            W.append(vectors[first].T @ C[first, j - 1] + vectors[second].T @ C[second, i])
    return np.column_stack(W)


# ---- support vectors --------------------------------------------------------------------------


def _support(lines: ModelLines, n_coefficients: int) -> tuple[FloatArray, sp.csr_matrix]:
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
    arrays = (np.array(values), np.array(columns, dtype=np.int64), np.array(starts))
    return coefficients, sp.csr_matrix(arrays, shape=(total, max(columns, default=0) + 1))


def _column(lines: ModelLines, text: bytes, where: str) -> int:
    if not (text.isdigit() and len(text) < 11 and 1 <= int(text) <= MOST_COLUMNS):
        lines.refuse(f"{where} holds column {text[:40]!r}, and columns are counted from 1")
    return int(text) - 1
