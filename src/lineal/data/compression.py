"""The bytes of a file as they were before it was packed: gzip, xz, bzip2, Zstandard, known by first bytes.

A packed file is unpacked as it is read, never as a whole. Nothing here needs more than the standard library,
except Zstandard: that takes pyarrow, which is imported when the first such file is met.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from lineal.errors import InputError, ParameterError

SUFFIXES = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".bz2": "bzip2"}
_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2"}
_LONGEST_MAGIC = max(map(len, _MAGIC))
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


class Fingerprint(NamedTuple):
    """What a file is known by: how many bytes it has, and their SHA-256 in hexadecimal digits."""

    n_bytes: int
    sha256: str


def fingerprint(path: str | Path) -> Fingerprint:
    """The fingerprint of a file's bytes as they are stored, read a megabyte at a time.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.txt")
    >>> _ = path.write_bytes(b"ab")
    >>> fingerprint(path).n_bytes
    2
    """
    try:
        with Path(path).open("rb", buffering=0) as file:
            seen = Tapped(file, is_hashed=True)
            block = bytearray(1 << 20)
            while seen.readinto(block):
                pass
    except OSError as flaw:
        raise InputError(f"{path}: the file cannot be read: {flaw.strerror or flaw}.") from None
    return seen.fingerprint


class Tapped(io.RawIOBase):
    """A file of bytes that counts, and if asked hashes, what passes through."""

    def __init__(self, file: Any, *, is_hashed: bool) -> None:
        super().__init__()
        # One read of what has come: a pipe is not waited for until the buffer is full.
        self._readinto = getattr(file, "readinto1", file.readinto)
        self._hash = hashlib.sha256() if is_hashed else None
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._readinto(buffer) or 0
        self.n_bytes += n_bytes
        if self._hash is not None:
            self._hash.update(memoryview(buffer)[:n_bytes])
        return n_bytes

    @property
    def fingerprint(self) -> Fingerprint:
        """Of what was read so far."""
        return Fingerprint(self.n_bytes, self._hash.hexdigest() if self._hash is not None else "")


def compression_of(head: bytes) -> str | None:
    """How a file that begins so is packed; None if it is not."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def raw_pieces(path: Path | None, n_bytes: int | None, *, tap: list[Tapped] | None = None) -> Iterator[bytes]:
    """The unpacked bytes, about ``n_bytes`` at a time or all at once; standard input where path is None.

    A reader of standard input that is appended to ``tap`` knows its fingerprint when all was read.
    """
    try:
        if path is None:
            tapped = Tapped(_standard_input(), is_hashed=True)
            if tap is not None:
                tap.append(tapped)
            yield from _read(unpacking(io.BufferedReader(tapped, 1 << 16)), n_bytes)
        else:
            # Without a buffer of Python's own, which would cost a copy; what cannot be wound back needs one.
            with path.open("rb", buffering=0) as plain:
                if plain.seekable() and compression_of(plain.read(_LONGEST_MAGIC)) is None:
                    plain.seek(0)
                    yield from _read(plain, n_bytes)
                else:
                    if plain.seekable():
                        plain.seek(0)
                    with io.BufferedReader(plain) as buffered:
                        yield from _read(unpacking(buffered), n_bytes)
    except _DAMAGED as flaw:
        raise InputError(f"the compressed file is damaged or cut off: {flaw}. Make it again.") from None
    except OSError as flaw:
        raise InputError(f"the file cannot be read: {flaw.strerror or flaw}.") from None


def _standard_input() -> Any:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("there is no standard input to read from. Name a file.")
    return stream


def unpacking(file: io.BufferedReader[Any]) -> Any:
    """A stream of the unpacked bytes of a buffered stream; the stream itself if it is not packed."""
    name = compression_of(file.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC])
    if name == "gzip":
        return gzip.GzipFile(fileobj=file)
    if name == "xz":
        return lzma.LZMAFile(file)
    if name == "bzip2":
        return bz2.BZ2File(file)
    return _Zstandard(file) if name == "zstd" else file


def _read(stream: Any, n_bytes: int | None) -> Iterator[bytes]:
    if n_bytes is not None and hasattr(stream, "read1"):
        while piece := stream.read1(n_bytes):  # what has come through a pipe, without waiting for more
            yield piece
        return
    while piece := stream.read(-1 if n_bytes is None else n_bytes):
        yield piece


class _Zstandard(io.RawIOBase):
    """Zstandard by pyarrow, which notices a file that is cut off; several frames in a row are one text."""

    def __init__(self, file: io.BufferedReader[Any]) -> None:
        super().__init__()
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return bytes(self._stream.read(None if size < 0 else size))
        except OSError as flaw:
            raise EOFError(str(flaw)) from None


def packing(file: IO[bytes], name: str | None) -> Any:
    """A stream whose bytes arrive packed in ``file``; closing it leaves ``file`` open."""
    if name is None:
        return file
    if name == "gzip":
        # Neither a name nor a time goes in, so that equal data give equal bytes.
        return gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
    if name == "xz":
        return lzma.LZMAFile(file, "wb")
    if name == "bzip2":
        return bz2.BZ2File(file, "wb")
    if name != "zstd":
        raise ParameterError(f"There is no compression {name!r}: it is one of {', '.join(SUFFIXES)}.")
    import pyarrow as pa

    return pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), mode="w"), "zstd")


class _KeptOpen(io.RawIOBase):
    """A way into a file that can be closed without closing the file."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)
