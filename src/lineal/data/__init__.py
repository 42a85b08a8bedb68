"""Data on their way in: arrays, texts and files from outside, checked before anything is computed.

Public names are loaded when they are first used: what reads texts for a stored model needs NumPy and the core
alone, and little of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# The one name that is a module's too: who asks for it here means the function.
from lineal.data.documents import documents

if TYPE_CHECKING:
    from lineal.data.arrays import checked_rows
    from lineal.data.compression import Fingerprint, fingerprint
    from lineal.data.corpus import Corpus
    from lineal.data.doctor import Diagnosis, Finding, diagnose
    from lineal.data.documents import chunks
    from lineal.data.files import read_texts, stream_texts
    from lineal.data.records import Records, read_records, stream_records
    from lineal.data.sparse_records import SparseRows
    from lineal.data.threads import thread_count
    from lineal.data.writing import write_records

_HOMES = {
    "lineal.data.arrays": ("checked_rows",),
    "lineal.data.compression": ("Fingerprint", "fingerprint"),
    "lineal.data.corpus": ("Corpus",),
    "lineal.data.doctor": ("Diagnosis", "Finding", "diagnose"),
    "lineal.data.documents": ("chunks",),
    "lineal.data.files": ("read_texts", "stream_texts"),
    "lineal.data.records": ("Records", "read_records", "stream_records"),
    "lineal.data.sparse_records": ("SparseRows",),
    "lineal.data.threads": ("thread_count",),
    "lineal.data.writing": ("write_records",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Corpus",
    "Diagnosis",
    "Finding",
    "Fingerprint",
    "Records",
    "SparseRows",
    "checked_rows",
    "chunks",
    "diagnose",
    "documents",
    "fingerprint",
    "read_records",
    "read_texts",
    "stream_records",
    "stream_texts",
    "thread_count",
    "write_records",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'lineal.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
