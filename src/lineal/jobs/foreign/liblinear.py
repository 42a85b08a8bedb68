"""Models of LIBLINEAR: text files with a weight to a line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lineal.data.atomic import atomic_file
from lineal.errors import ModelFileError, ParameterError
from lineal.jobs.foreign.assembling import FloatArray, assemble, many_classes, numbers, two_classes
from lineal.jobs.foreign.lines import ModelLines
from lineal.model import Model
from lineal.model.features.rows import MOST_COLUMNS, RowFeatures
from lineal.model.heads import ClassesHead, Head, NumbersHead

_LOGISTIC = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
_MARGIN = ("L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "MCSVM_CS", "L1R_L2LOSS_SVC")
_REGRESSION = ("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL")
_KEYS = ("solver_type", "nr_class", "label", "nr_feature", "bias", "rho")
_MOST_CLASSES = 1 << 20


def read_liblinear(path: Path) -> Model:
    """The model in a file that LIBLINEAR's ``train`` or ``save_model`` wrote.

    Every solver but the one-class machine is read. Labels are those of ``predict``, also where scores are 0,
    and the probabilities of the logistic solvers those of ``predict -b 1``.
    """
    lines = ModelLines(path, "LIBLINEAR", "w", _KEYS)
    solver = lines.word("solver_type")
    if solver == "ONECLASS_SVM":
        raise ModelFileError(f"{path}: solver ONECLASS_SVM says what is usual, which is no class or number.")
    if solver not in _LOGISTIC + _MARGIN + _REGRESSION:
        lines.refuse(f"there is no solver_type {solver[:40]!r}")
    K, n_columns = lines.whole("nr_class", 1, _MOST_CLASSES), lines.whole("nr_feature", 1, MOST_COLUMNS)
    (bias,) = lines.numbers("bias", 1)
    n_scores = 1 if K == 2 and solver != "MCSVM_CS" else K
    if solver in _REGRESSION:
        n_scores = 1
    table = _weights(lines, n_columns + (bias >= 0), n_scores)
    W, b = table[:n_columns], table[n_columns] * bias if bias >= 0 else np.zeros(n_scores)
    head = _head(lines, solver, K, W, b)
    features = RowFeatures(n_columns, None, is_open=True)  # columns that were not seen count nothing
    return assemble(
        features, head, learner=f"LIBLINEAR {solver}", notes={"from": "liblinear", "solver": solver}
    )


def _weights(lines: ModelLines, n_rows: int, n_scores: int) -> FloatArray:
    rows = lines.rows()
    if len(rows) != n_rows:
        lines.refuse(f"there should be weights of {n_rows} features, but there are {len(rows)} lines of them")
    table = np.empty((n_rows, n_scores))
    for place, (number, pieces) in enumerate(rows):
        if len(pieces) != n_scores:
            lines.refuse(f"line {number} should have {n_scores} weights, but has {len(pieces)}")
        table[place] = [lines.number(piece, f"line {number}") for piece in pieces]
    return table


def _head(lines: ModelLines, solver: str, K: int, W: FloatArray, b: FloatArray) -> Head:
    if solver in _REGRESSION:
        return numbers(W, b)
    labels = lines.wholes("label", K)
    if len(set(labels)) < K:
        lines.refuse("a label is there twice")
    if K == 1:
        return ClassesHead(numbers(W[:, :1], b[:1]).linear, np.array(labels))
    if K == 2:
        # Of two classes the first score decides alone, also where MCSVM_CS has another.
        link = "softmax" if solver in _LOGISTIC else "none"
        return two_classes(W[:, 0], float(b[0]), labels[0], labels[1], link)
    return many_classes(W, b, labels, "own" if solver in _LOGISTIC else "none")


def export_liblinear(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes a model of rows for LIBLINEAR's ``predict``: the same labels and numbers, without probabilities.

    Classes must be whole numbers of 32 bits, as LIBLINEAR's are, and scores plain sums of weights. The
    intercept becomes the weight of a constant 1.

    Raises
    ------
    ParameterError
        For texts and tables, whose features LIBLINEAR cannot read, and for other answers.
    """
    head = model._head
    if not isinstance(model._features, RowFeatures) or not isinstance(head, ClassesHead | NumbersHead):
        raise ParameterError("LIBLINEAR has linear models of rows of numbers, and this model is another.")
    scores = head.scores[0]
    if scores.linear.barrier is not None or scores.threshold is not None:
        raise ParameterError("LIBLINEAR has plain sums of weights, and this model's scores are others.")
    W, b = scores.linear.W.astype(np.float64), scores.linear.b
    kind, labels = "L2R_L2LOSS_SVC", []
    if isinstance(head, NumbersHead):
        if not head.is_one:
            raise ParameterError(f"LIBLINEAR predicts one number, and this model predicts {W.shape[1]}.")
        kind = "L2R_L2LOSS_SVR"
    else:
        labels = _whole_labels(head)
        if len(labels) == 2:  # its first label has the scores above 0
            labels = labels[::-1]
    with atomic_file(path, "w") as file:
        file.write(f"solver_type {kind}\nnr_class {max(len(labels), 2) if len(labels) != 1 else 1}\n")
        if labels:
            file.write(f"label {' '.join(map(str, labels))}\n")
        file.write(f"nr_feature {len(W)}\nbias 1\nw\n")
        for row in (*W, b):
            file.write(" ".join(repr(float(weight)) for weight in row) + " \n")


def _whole_labels(head: ClassesHead) -> list[int]:
    labels = head.classes.tolist()
    if not all(type(label) is int and -(2**31) <= label < 2**31 for label in labels):
        raise ParameterError(f"LIBLINEAR's labels are whole numbers, and this model's are {labels[:5]}.")
    if head.link == "joint" and len(labels) == 2:
        raise ParameterError("LIBLINEAR has one score for two classes, and this model has two.")
    return labels
