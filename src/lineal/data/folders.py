"""Documents from a folder: one to a file, labelled with the sub-folder that it lies in."""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lineal import _core
from lineal.data.blocks import pieces
from lineal.data.corpus import Corpus, named_in_errors
from lineal.errors import InputError, LeftOutWarning


def read_folder(
    folder: Path, n_bytes: int | None, encoding: str, errors: str, *, has_labels: bool
) -> Iterator[Corpus]:
    """Parts of ``n_bytes`` at least, or all at once; files in the order of their names.

    A file may lie deeper in its sub-folder. Files beside sub-folders have no label and are left out, with a
    warning; so are, without one, those whose names begin with a dot.
    """
    has_groups, found_files = labelled_files(folder, is_flat=not has_labels)
    if has_labels and (said := said_of_unlabelled(folder)):
        warnings.warn(f"{folder}: {said}", LeftOutWarning, stacklevel=4 if n_bytes is None else 3)
    has_labels = has_labels and has_groups
    texts: list[bytes] = []
    labels: list[str] = []
    files: list[Path] = []
    size, n_parts = 0, 0

    def part() -> Corpus:
        found = _core.Documents.from_sequence(texts)
        if flaw := found.check():
            row, byte = flaw
            raise InputError(
                f"{files[row]}: byte {byte} (0x{texts[row][byte]:02x}) is not UTF-8. "
                'Give the encoding with encoding=, or read on with errors="replace".'
            )
        return Corpus(found, np.array(labels, dtype=np.str_) if has_labels else None)

    for label, path in found_files:
        with named_in_errors(path):
            text = b"".join(pieces(path, None, encoding, errors)).removeprefix(codecs.BOM_UTF8)
        texts.append(text)
        labels.append(label)
        files.append(path)
        size += len(text)
        if n_bytes is not None and size >= n_bytes:
            yield part()
            n_parts += 1
            texts, labels, files, size = [], [], [], 0
    if texts:
        yield part()
    elif n_parts == 0:
        raise InputError(f"There are no files in {folder}. Put each document into a file of its own.")


def labelled_files(folder: Path, *, is_flat: bool = False) -> tuple[bool, Iterator[tuple[str, Path]]]:
    """Whether there are sub-folders, and every file with the name of the one it lies in.

    Without sub-folders, or if they are to mean nothing, the name is that of the folder itself.
    """
    groups = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return bool(groups), _files(folder, None if is_flat or not groups else groups)


def unlabelled_files(folder: Path) -> list[Path]:
    """Files that lie beside sub-folders, and so have no label."""
    has_groups, _ = labelled_files(folder)
    found = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    return sorted(found) if has_groups else []


def said_of_unlabelled(folder: Path) -> str:
    """A sentence about such files; empty if there are none."""
    left_out = unlabelled_files(folder)
    if not left_out:
        return ""
    shown = ", ".join(path.name for path in left_out[:3]) + (", ..." if len(left_out) > 3 else "")
    return (
        f"files beside the sub-folders have no label and were left out: {len(left_out)} ({shown}). "
        "Move them into the sub-folder of their label."
    )


def _files(folder: Path, groups: list[Path] | None) -> Iterator[tuple[str, Path]]:
    for group in [folder] if groups is None else groups:
        for path in sorted(group.rglob("*")):
            is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.is_file() and not is_hidden:
                yield group.name, path
