"""Which bytes a model was learned from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lineal.data.compression import Fingerprint, fingerprint
from lineal.data.records import Records


def fingerprint_of(records: Records, path: str) -> Fingerprint:
    """The fingerprint of what was read: a file, the standard input, or a folder's files and their names."""
    if records.fingerprint is not None:
        return records.fingerprint
    folder = Path(path)
    if not folder.is_dir():
        return fingerprint(path)
    digest, n_bytes = hashlib.sha256(), 0
    for file in sorted(found for found in folder.rglob("*") if found.is_file()):
        part = fingerprint(file)
        digest.update(f"{file.relative_to(folder).as_posix()}\0{part.sha256}\n".encode())
        n_bytes += part.n_bytes
    return Fingerprint(n_bytes, digest.hexdigest())
