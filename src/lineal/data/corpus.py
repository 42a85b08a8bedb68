"""Documents with their labels, and which columns of a file they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.data.targets import plain_array
from lineal.errors import InputError

# Names that a column of texts, or of labels, is commonly given.
TEXT_NAMES = (
    "text",
    "texts",
    "document",
    "content",
    "body",
    "sentence",
    "review",
    "message",
    "comment",
    "tweet",
)
LABEL_NAMES = ("label", "labels", "class", "category", "target", "y")

Name = str | int
Label = str | int | Literal[False] | None


class Corpus(NamedTuple):
    """Documents, and the labels of each if there are any."""

    documents: _core.Documents
    labels: NDArray[Any] | None


@contextmanager
def named_in_errors(path: Path | str) -> Iterator[None]:
    """Puts the name of the file before what is wrong in it."""
    try:
        yield
    except InputError as flaw:
        joint = ", " if str(flaw).startswith(("line ", "row ")) else ": "
        raise type(flaw)(f"{path}{joint}{flaw}") from None


def choose_columns(
    names: Sequence[Name],
    text: Name | None,
    label: Label,
    *,
    with_text: Sequence[Name] | None = None,
    is_delimited: bool = False,
) -> tuple[int, int | None]:
    """Places of the text and of the label among the columns: the named ones, else the ones with usual names.

    ``with_text`` are the columns that may be the text, where the file tells; a column that is alone in that,
    beside the label, needs no name. ``is_delimited``: they are the fields of a first record.
    """
    shown = _shown(names)
    mark = _other_delimiter(names) if is_delimited else ""
    otherwise = f"; if {mark!r} is between the fields, read with delimiter={mark!r}" if mark else ""
    if len(set(names)) < len(names):
        or_none = ", or read with header=False" if is_delimited else ""
        raise InputError(f"two columns have the same name: {shown}. Rename them{or_none}.")

    def named(wanted: Name, option: str) -> int:
        if wanted not in names:
            raise InputError(
                f"there is no column {wanted!r}. Choose with {option}= among {shown}{otherwise}."
            )
        return names.index(wanted)

    def usual(candidates: Sequence[Name], usual_names: Sequence[str], option: str) -> list[Name]:
        found = [name for name in candidates if str(name).strip().lower() in usual_names]
        if len(found) > 1:
            several = " and ".join(map(repr, found))
            raise InputError(f"{several} may both be meant. Choose with {option}= among {shown}.")
        return found

    if text is not None and label is not None and label is not False and text == label:
        raise InputError(f"the text and the label cannot both be column {text!r}. Choose among {shown}.")
    rest = [name for name in names if name != text]
    labels = [] if label is False else usual(rest, LABEL_NAMES, "label") if label is None else [label]
    label_place = named(labels[0], "label") if labels else None
    if text is not None:
        return named(text, "text"), label_place
    candidates = [name for name in (names if with_text is None else with_text) if name not in labels]
    found = usual(candidates, TEXT_NAMES, "text") or (candidates if len(candidates) == 1 else [])
    if with_text is not None and not candidates:
        there = f"there are {shown}" if names else "there is none"
        raise InputError(
            f"no column holds strings that could be the texts: {there}. "
            "Write texts as strings; if one is missing at first, choose its column with text=."
        )
    if not found:
        header = "; read with header=False if the first record is not a header" if is_delimited else ""
        among = _shown(candidates or names)
        raise InputError(
            f"it is not clear which column holds the texts. Choose with text= among {among}{header}."
        )
    if mark and any(part.strip().lower() in TEXT_NAMES for part in str(found[0]).split(mark)):
        raise InputError(
            f"there is one column, {shown}{otherwise}. Choose it with text= if it is one indeed."
        )
    return named(found[0], "text"), label_place


def _shown(names: Sequence[Name]) -> str:
    return ", ".join(map(repr, names[:30])) + (", ..." if len(names) > 30 else "")


def _other_delimiter(names: Sequence[Name]) -> str:
    """What would part the only name into several; empty if there is no such thing."""
    marks = (mark for mark in (";", "\t", "|", ",") if len(names) == 1 and mark in str(names[0]))
    return next(marks, "")


def label_values(labels: Sequence[str]) -> NDArray[Any]:
    """The labels that the core's readers found, by code: strings, whole numbers, numbers or truth values."""
    kind, texts = labels[0][0] if labels else "s", [label[1:] for label in labels]
    if kind == "s":
        return plain_array(texts) if texts else np.array([], dtype=np.str_)
    if kind == "b":
        return np.array([text == "true" for text in texts])
    try:
        return np.array([int(text) for text in texts])
    except ValueError:
        return np.array([float(text) for text in texts])
