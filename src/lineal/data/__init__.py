"""Data on their way in: arrays, texts and files from outside, checked before anything is computed.

What reads texts needs NumPy and the core alone, since a stored model does; ``checked_rows``, which needs
SciPy, is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lineal.data.compression import Fingerprint, fingerprint
from lineal.data.corpus import Corpus
from lineal.data.documents import chunks, documents
from lineal.data.files import read_texts, stream_texts
from lineal.data.records import Records, read_records, stream_records
from lineal.data.threads import thread_count

if TYPE_CHECKING:
    from lineal.data.arrays import checked_rows

__all__ = [
    "Corpus",
    "Fingerprint",
    "Records",
    "checked_rows",
    "chunks",
    "documents",
    "fingerprint",
    "read_records",
    "read_texts",
    "stream_records",
    "stream_texts",
    "thread_count",
]


def __getattr__(name: str) -> Any:
    if name == "checked_rows":
        return import_module("lineal.data.arrays").checked_rows
    raise AttributeError(f"module 'lineal.data' has no attribute {name!r}")
