"""Named arrays and strings in one file, in the layout of safetensors.

A file is the length of the header (8 bytes, little-endian), the header (JSON), and the arrays, little-endian
and without gaps. It is read and written here rather than by the safetensors package because a model must load
with NumPy alone, because the arrays are views of a memory map, and because a hostile file must be refused
quickly and in bounded memory: the header is scanned as the small language it is, and the scan ends at the
first thing that does not belong. That package reads what is written here, and the other way round.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.atomic import atomic_file
from lineal.errors import ModelFileError
from lineal.model.header import (
    DTYPES,
    MAX_DIMENSIONS,
    MAX_HEADER_BYTES,
    METADATA,
    Entry,
    scan_header,
)

_LENGTH_BYTES = 8
_ALIGNMENT = 8  # of the first array; the others follow by falling size of their numbers, so all are aligned
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Container:
    """What is in a file: read-only arrays that are views of it, and strings."""

    tensors: Mapping[str, NDArray[Any]]
    metadata: dict[str, str]
    n_bytes: int


def write(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Writes arrays and strings to a file, whole or not at all.

    The same arrays and strings give the same bytes, in whatever order they come. Whatever :func:`read` would
    refuse is refused here, before the old file is touched.

    Raises
    ------
    ModelFileError
        Too many arrays, too long a header, numbers of a type that the file cannot hold.
    FileWriteError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "model", {"W": np.eye(2)}, {"format": "example"})
    ...     read(Path(folder) / "model").tensors["W"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    parts = list(encode(tensors, metadata))
    with atomic_file(path) as file:
        for part in parts:
            file.write(part)


def encode(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> Iterator[memoryview | bytes]:
    """The bytes of the file, part by part; arrays are not copied if they lie as the file wants them."""
    arrays = {name: _storable(name, array) for name, array in tensors.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {}
    if metadata:
        header[METADATA] = {key: metadata[key] for key in sorted(metadata)}
    begin = 0
    for name in order:
        array = arrays[name]
        end = begin + array.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    text = _header_text(header, begin)
    yield len(text).to_bytes(_LENGTH_BYTES, "little")
    yield text
    for name in order:
        if arrays[name].nbytes:
            yield arrays[name].reshape(-1).view(np.uint8).data


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(name, str) or name == METADATA:
        raise ModelFileError(f"{name!r} cannot be the name of an array.")
    array = np.asarray(array, order="C")
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _NAMES:
        raise ModelFileError(f"The array {name!r} is of type {array.dtype}, which a model file cannot hold.")
    if array.ndim > MAX_DIMENSIONS:
        raise ModelFileError(
            f"The array {name!r} has {array.ndim} dimensions; {MAX_DIMENSIONS} are the most."
        )
    return array.astype(dtype, copy=False)


def _header_text(header: dict[str, Any], n_data: int) -> bytes:
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise ModelFileError("A name or a string of the model holds half of a surrogate pair.") from None
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    if len(encoded) > MAX_HEADER_BYTES:
        raise ModelFileError(
            f"The model cannot be written: its names and records have {len(encoded)} bytes;"
            f" {MAX_HEADER_BYTES} are the most. Leave out notes, or parts of its records."
        )
    try:
        _checked(encoded, n_data)  # by the reader itself, so that no file is written that cannot be read
    except ModelFileError as flaw:
        raise ModelFileError(f"The model cannot be written: {flaw}") from None
    return encoded


def read(path: str | os.PathLike[str]) -> Container:
    """The arrays and strings in a file.

    Arrays are views of a memory map: nothing but the header is read before it is used, and processes that
    read the same file share it in memory. The file may be replaced meanwhile (as :func:`write` does), but
    must not be cut short in place. The cost before the arrays are touched is that of the header: at most 16
    MB.

    Raises
    ------
    ModelFileError
        There is no such file, or it is damaged, or it is something else.
    """
    named = Path(path)
    try:
        status = named.stat()  # before it is opened: to open a pipe is to wait for its writer
        if stat.S_ISDIR(status.st_mode):
            raise ModelFileError(f"{named} is a folder, not a model file.")
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{named} is no file on a disk: copy the model to a file and load that.")
        with named.open("rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            if n_bytes < _LENGTH_BYTES:  # and nothing at all cannot be mapped
                content: bytes | mmap.mmap = file.read(_LENGTH_BYTES)
            else:
                content = mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {named}. The current folder is {Path.cwd()}.") from None
    except OSError as flaw:
        raise ModelFileError(f"{named} cannot be read: {flaw.strerror or flaw}.") from None
    return decode(content, named)


def decode(content: bytes | mmap.mmap, source: str | os.PathLike[str] = "the model") -> Container:
    """The arrays and strings in bytes that are in memory or mapped; ``source`` names them in errors."""
    try:
        header, begin = _header(content)
        metadata, entries = _checked(header, len(content) - begin)
        tensors = {name: _view(name, entry, content, begin) for name, entry in entries.items()}
    except ModelFileError as flaw:
        raise ModelFileError(
            f"{source} is no model file, or is damaged: {flaw} Copy it again from where it was made."
        ) from None
    return Container(tensors, metadata, len(content))


def _header(content: bytes | mmap.mmap) -> tuple[bytes, int]:
    """The header and the place where the data begin."""
    if len(content) < _LENGTH_BYTES:
        raise ModelFileError(f"it has {len(content)} bytes, and the smallest has {_LENGTH_BYTES + 2}.")
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if length > MAX_HEADER_BYTES:
        raise ModelFileError(f"its header would have {length} bytes; {MAX_HEADER_BYTES} are the most.")
    if length > len(content) - _LENGTH_BYTES:
        raise ModelFileError(f"its header should have {length} bytes, but the file ends before.")
    begin = _LENGTH_BYTES + length
    return content[_LENGTH_BYTES:begin], begin


def _checked(header: bytes, n_data: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """What the header says, once its ranges are known to fit its shapes and to fill the data."""
    metadata, entries = scan_header(header)
    for name, entry in entries.items():
        # Python's whole numbers do not overflow. An empty side must not hide that the others are impossible.
        extent = math.prod(max(side, 1) for side in entry.shape) * entry.dtype.itemsize
        needed = 0 if 0 in entry.shape else extent
        if extent >= 2**63 or needed != entry.end - entry.begin:
            raise ModelFileError(
                f"the array {_short(name)} of shape {entry.shape} should have {needed} bytes,"
                f" but has {entry.end - entry.begin}."
            )
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != reached:
            what = "overlaps another" if entry.begin < reached else "leaves a hole before it"
            raise ModelFileError(f"the array {_short(name)} at byte {entry.begin} {what}.")
        reached = entry.end
    if reached != n_data:
        raise ModelFileError(f"its arrays have {reached} bytes, but {n_data} follow the header.")
    return metadata, entries


def _view(name: str, entry: Entry, content: bytes | mmap.mmap, begin: int) -> NDArray[Any]:
    array: NDArray[Any] = np.ndarray(entry.shape, entry.dtype, buffer=content, offset=begin + entry.begin)
    if not array.flags.aligned:
        # Other writers need not align; the native core must not meet numbers at odd addresses.
        array = array.copy()
        array.flags.writeable = False
    if entry.dtype == np.bool_ and array.size and int(array.view(np.uint8).max()) > 1:
        raise ModelFileError(f"the array {_short(name)} of truth values holds other numbers than 0 and 1.")
    return array


def _short(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:39] + "…")
