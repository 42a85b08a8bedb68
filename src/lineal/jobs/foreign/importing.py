"""Models of other libraries as models of Lineal."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineal.errors import ModelFileError, ParameterError
from lineal.model import Model

FORMATS = ("liblinear", "libsvm", "fasttext", "sklearn")
# Pickles begin with their protocol; joblib's may be compressed.
_PICKLES = (
    b"\x80\x02",
    b"\x80\x03",
    b"\x80\x04",
    b"\x80\x05",
    b"\x78\x01",
    b"\x78\x5e",
    b"\x78\x9c",
    b"\x78\xda",
)
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x04\x22\x4d\x18")


def import_model(source: Any, *, format: str | None = None, trust: bool = False) -> Model:
    """A model of another library, with the same answers.

    Read are model files of LIBLINEAR (every solver but the one-class machine), LIBSVM (all machines, with
    linear, polynomial and radial kernels; votes of pairs as they are), ``fasttext supervised`` (``.bin``),
    and fitted linear estimators and pipelines of scikit-learn, live or pickled. What cannot be honoured
    exactly is refused by name.

    Parameters
    ----------
    source
        A path, or a fitted estimator or pipeline of scikit-learn.
    format
        ``"liblinear"``, ``"libsvm"``, ``"fasttext"`` or ``"sklearn"``; by default what the file begins
        with.
    trust
        Pickles run code when they are opened, whatever code their maker put in: they are opened only if you
        say with ``trust=True`` that you trust where the file comes from.

    Returns
    -------
    Model
        Its ``about.notes["imported"]`` says where it comes from and what was left out.

    Raises
    ------
    ModelFileError
        For a file that is damaged, something else, or a model that cannot be read.
    ParameterError
        For options that cannot be honoured exactly, and pickles without ``trust=True``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> import_model(fitted).predict([[0.5], [2.5]]).tolist()
    ['low', 'high']
    """
    if format is not None and format not in FORMATS:
        raise ParameterError(f"There is no format {format!r}: give one of {', '.join(map(repr, FORMATS))}.")
    if not isinstance(source, str | os.PathLike):
        return _live(source, format)
    path = Path(source)
    found = format_of(path) if format is None else format
    _check_file(path)
    if found == "sklearn" and not trust:
        raise ParameterError(
            f"{path} is a pickle, and opening it runs whatever code is in it. If you trust where it comes "
            "from, say trust=True (on the command line: --trust)."
        )
    return _reader(found)(path)


def _live(estimator: Any, format: str | None) -> Model:
    if isinstance(estimator, Model):
        return estimator
    if format not in (None, "sklearn"):
        raise ParameterError(f"A model of {format} is given as a path, not as {type(estimator).__name__}.")
    from lineal.jobs.foreign.scikit_learn import from_estimator

    return from_estimator(estimator)


def _reader(format: str) -> Callable[[Path], Model]:
    """Readers are imported when they are needed: scikit-learn takes a second."""
    if format == "liblinear":
        from lineal.jobs.foreign.liblinear import read_liblinear

        return read_liblinear
    if format == "libsvm":
        from lineal.jobs.foreign.libsvm import read_libsvm

        return read_libsvm
    if format == "fasttext":
        from lineal.jobs.foreign.fasttext import read_fasttext

        return read_fasttext
    from lineal.jobs.foreign.scikit_learn import read_pickle

    return read_pickle


def _check_file(path: Path) -> None:
    try:
        status = path.stat()
    except OSError as flaw:
        raise ModelFileError(f"{path} cannot be read: {flaw.strerror or flaw}.") from None
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(f"{path} is no file on a disk. Give the path of a model file.")


def format_of(path: Path) -> str:
    """What a file's first bytes say."""
    _check_file(path)
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as flaw:
        raise ModelFileError(f"{path} cannot be read: {flaw.strerror or flaw}.") from None
    if head.startswith(b"solver_type "):
        return "liblinear"
    if head.startswith(b"svm_type "):
        return "libsvm"
    if head.startswith((793712314).to_bytes(4, "little")):
        return "fasttext"
    if head.startswith(_PICKLES + _PACKED):
        return "sklearn"
    if head[8:9] == b"{":
        raise ModelFileError(f"{path} looks like a model of Lineal: load it with lineal.load.")
    raise ModelFileError(
        f"{path} begins like no model of LIBLINEAR, LIBSVM, fastText or scikit-learn. If it is one, say "
        "which with format=."
    )
