"""Models from files."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from lineal.errors import ModelFileError
from lineal.model import container
from lineal.model.header import parse_json
from lineal.model.model import FORMAT, VERSION, Model, checksum


def load(path: str | os.PathLike[str], *, check: bool = True) -> Model:
    """The model in a file that ``lineal.save`` wrote.

    Nothing in the file is run. Arrays stay in the file, mapped into memory, until they are used, so that a
    large model costs milliseconds and processes share it.

    Parameters
    ----------
    path
        The file.
    check
        Whether checksums are compared and golden predictions taken again: those of texts with more than
        260,000 features when the model is first asked, since their vocabulary is put together then.

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        For a file that is no model, is damaged, was changed, or was made by a later version.

    Examples
    --------
    >>> import tempfile, lineal
    >>> texts = ["good", "bad", "very good", "very bad"]
    >>> fitted = lineal.TextClassifier(strengths=1.0).fit(texts, [1, 0, 1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lineal.save(fitted, f"{folder}/opinions.lineal")
    ...     lineal.load(f"{folder}/opinions.lineal").predict(["so good", "so bad"])
    array([1, 0])
    """
    read = container.read(path)
    try:
        record = _record(read.metadata)
        if check:
            _check_sums(record, read.tensors)
        model = Model(record, read.tensors, Path(path))
        if check:
            model._check_soon()
    except ModelFileError as flaw:
        raise ModelFileError(f"{path}: {flaw}") from None
    return model


def _record(metadata: Mapping[str, str]) -> dict[str, Any]:
    """The record of a file of a version that is known."""
    if metadata.get("format") != FORMAT:
        raise ModelFileError("the file holds arrays, but no model of Lineal. Files are made by lineal.save.")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10) or int(version) < 1:
        raise ModelFileError(f"the file's version is {version[:40]!r}, which is none. Make the file again.")
    text = metadata.get("lineal", "")
    if int(version) > VERSION:
        raise ModelFileError(
            f"the file was made by {_maker(text)}, in version {version} of the format, and this Lineal reads "
            f"up to "
            f"version {VERSION}. Update: pip install -U lineal."
        )
    if metadata.get("checksum") != str(zlib.crc32(text.encode())):
        raise ModelFileError(
            "the model's record was changed: its checksum differs. Make or copy the file again."
        )
    record = parse_json(text)
    if not isinstance(record, dict):
        raise ModelFileError("the model's record is no object.")
    return record


def _maker(text: str) -> str:
    """Which Lineal made a file of a later version, if it says so where this one would."""
    try:
        return f"Lineal {parse_json(text)['about']['version']!s:.40}"
    except (ModelFileError, TypeError, KeyError):
        return "a later Lineal"


def _check_sums(record: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
    sums = record.get("checksums")
    if not isinstance(sums, dict):
        raise ModelFileError("the model's record is damaged: checksums, an object, is missing.")
    for name, array in tensors.items():
        if sums.get(name) != checksum(array):
            raise ModelFileError(
                f"the array {name!r} was changed: its checksum differs. Make or copy the file again; "
                "load(path, check=False) loads it as it is."
            )
