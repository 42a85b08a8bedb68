"""How far an imported model is from the model it was: the other library is asked itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.jobs.foreign.importing import format_of
from lineal.model import Model

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """How two models differ on the same rows.

    Attributes
    ----------
    n : rows
    n_labels_differ : how many of them got another label; None for numbers
    largest_score_difference : of any score, probability or prediction; None where there are none to compare
    """

    n: int
    n_labels_differ: int | None
    largest_score_difference: float | None

    def __str__(self) -> str:
        said = []
        if self.n_labels_differ is not None:
            said.append(f"{self.n_labels_differ} of {self.n} labels differ")
        if self.largest_score_difference is not None:
            said.append(f"no score differs by more than {self.largest_score_difference:.2g}")
        return f"On {self.n} rows: {', '.join(said)}."


@dataclass(frozen=True)
class _Answers:
    labels: Sequence[Any] | None
    numbers: FloatArray | None = None  # (n, ...) in the order of the model's classes
    question: str = "decision_function"  # that the model answers with the same


def difference(
    model: Model, foreign: Any, data: Any, *, format: str | None = None, trust: bool = False
) -> Difference:
    """Predictions of a model against those of the library that it came from.

    Parameters
    ----------
    model
        What ``import_model(foreign)`` gave.
    foreign
        The path, or the estimator, that it was imported from. For a path the library itself must be
        installed: ``liblinear-official``, ``libsvm-official`` or ``fasttext``.
    data
        Records of a file, texts, or rows of numbers.
    format, trust
        As in ``import_model``.

    Raises
    ------
    ParameterError
        The other library is not installed.
    """
    X = _inputs(model, data)
    if not isinstance(foreign, str | os.PathLike):
        other = _of_estimator(model, foreign, X)
    else:
        path = Path(foreign)
        found = format_of(path) if format is None else format
        if found == "sklearn":
            if not trust:
                raise ParameterError(
                    f"{path} is a pickle; opening it runs code. Say trust=True if you trust it."
                )
            from lineal.jobs.foreign.scikit_learn import unpickled

            other = _of_estimator(model, unpickled(path), X)
        else:
            other = _PEERS[found](model, path, X)
    return _difference(model, X, other)


def _difference(model: Model, X: Any, other: _Answers) -> Difference:
    labels = model.predict(X)
    differ = None
    if other.labels is not None:
        differ = sum(ours != theirs for ours, theirs in zip(labels.tolist(), other.labels, strict=True))
    largest = None
    if other.numbers is not None:
        ours = labels if model.task == "regression" else np.asarray(getattr(model, other.question)(X))
        largest = float(np.abs(ours - other.numbers).max(initial=0.0))
    return Difference(len(labels), differ, largest)


# ---- data -------------------------------------------------------------------------------------


def _inputs(model: Model, data: Any) -> Any:
    """What the model takes, out of what was given."""
    rows, table = getattr(data, "rows", None), getattr(data, "table", None)
    if rows is None and table is None:
        return data
    if model.inputs == "rows" and rows is not None:
        width = max(int(rows.n_columns), model.n_features_in_)
        return sp.csr_matrix((rows.values, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, width))
    if table is None:
        raise InputError("the model reads texts, and the data are rows of numbers.")
    return _texts(table) if model.inputs == "texts" else _columns(model, table)


def _texts(table: Any) -> list[str]:
    import pyarrow as pa

    names = [f.name for f in table.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    chosen = "text" if "text" in names else names[0] if len(names) == 1 else None
    if chosen is None:
        raise InputError(f"which of the columns {names} holds the texts? Call it 'text'.")
    return ["" if text is None else text for text in table.column(chosen).to_pylist()]


def _columns(model: Model, table: Any) -> FloatArray:
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if not names:
        names = [f.name for f in table.schema if str(f.type) in ("int64", "double", "float", "int32", "bool")]
        if len(names) == model.n_features_in_ + 1 and "label" in names:
            names.remove("label")
    missing = [name for name in names if name not in table.column_names]
    if missing or len(names) != model.n_features_in_:
        raise InputError(
            f"the model needs {model.n_features_in_} columns of numbers, but the data have {len(names)}"
            f"{f' and lack {missing[:5]}' if missing else ''}."
        )
    return np.column_stack([np.asarray(table.column(name), dtype=np.float64) for name in names])


# ---- the other libraries ----------------------------------------------------------------------


def _peer(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ParameterError(
            f"To compare with the library itself it must be installed: pip install {package}."
        ) from None


def _of_estimator(model: Model, estimator: Any, X: Any) -> _Answers:
    labels = np.asarray(estimator.predict(X))
    if model.task == "regression":
        return _Answers(None, labels)
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name) and hasattr(model, name):
            return _Answers(labels.tolist(), np.asarray(getattr(estimator, name)(X)), name)
    return _Answers(labels.tolist())


def _sparse(model: Model, X: Any) -> sp.csr_matrix:
    return sp.csr_matrix(X, dtype=np.float64)


def _of_liblinear(model: Model, path: Path, X: Any) -> _Answers:
    peer = _peer("liblinear.liblinearutil", "liblinear-official")
    theirs = peer.load_model(str(path))
    labels, _, values = peer.predict([], _sparse(model, X), theirs, "-q")
    return _of_svm(model, labels, values, theirs.get_labels() if model.task == "classification" else [])


def _of_libsvm(model: Model, path: Path, X: Any) -> _Answers:
    peer = _peer("libsvm.svmutil", "libsvm-official")
    theirs = peer.svm_load_model(str(path))
    known = theirs.get_labels() if model.task == "classification" else []
    if model.about.notes.get("imported", {}).get("svm_type") == "one_class":
        known = [1, -1]
    if len(known) > 2:
        return _Answers(_votes_of_libsvm(theirs, _sparse(model, X)))
    is_pair = len(known) == 2 and theirs.is_probability_model()
    labels, _, values = peer.svm_predict([], _sparse(model, X), theirs, "-q -b 1" if is_pair else "-q")
    if is_pair:
        order = [known.index(label) for label in model.classes_.tolist()]
        return _Answers([int(label) for label in labels], np.array(values)[:, order], "predict_proba")
    return _of_svm(model, labels, values, known)


def _votes_of_libsvm(theirs: Any, X: sp.csr_matrix) -> list[int]:
    """Row by row: svm_predict of libsvm-official 3.37 writes past its memory for nu-SVC of three classes."""
    native = _peer("libsvm.svm", "libsvm-official")
    labels = []
    for row in X:
        pairs = dict(zip((row.indices + 1).tolist(), row.data.tolist(), strict=True))
        nodes, _ = native.gen_svm_nodearray(pairs)
        labels.append(int(native.libsvm.svm_predict(theirs, nodes)))
    return labels


def _of_svm(model: Model, labels: Any, values: Any, known: list[int]) -> _Answers:
    if model.task == "regression":
        return _Answers(None, np.asarray(labels, dtype=np.float64))
    found = np.asarray(values, dtype=np.float64)
    if len(known) == 2:
        sign = 1.0 if known[0] == model.classes_[1] else -1.0
        return _Answers([int(label) for label in labels], sign * found[:, 0])
    return _Answers(
        [int(label) for label in labels], found[:, [known.index(label) for label in model.classes_.tolist()]]
    )


def _of_fasttext(model: Model, path: Path, X: Any) -> _Answers:
    peer = _peer("fasttext", "fasttext")
    theirs = peer.load_model(str(path))
    notes = model.about.notes.get("imported", {})
    prefix = notes.get("label_prefix", "")
    places = {prefix + label: place for place, label in enumerate(model.classes_.tolist())}
    P = np.zeros((len(X), len(places)))
    labels = []
    for row, text in enumerate(X):
        # The method behind predict, which is broken under NumPy 2 in fasttext 0.9.
        found = theirs.f.predict(" ".join(text.split("\n")) + "\n", -1, 0.0, "strict")
        labels.append(found[0][1].removeprefix(prefix))
        for probability, label in found:
            P[row, places[label]] = probability
    # Labels of other losses have a probability each, which the model divides by their sum.
    return _Answers(labels, P if notes.get("loss") == "softmax" else None, "predict_proba")


_PEERS = {"liblinear": _of_liblinear, "libsvm": _of_libsvm, "fasttext": _of_fasttext}
