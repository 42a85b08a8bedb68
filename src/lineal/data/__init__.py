"""Data on their way in: arrays, texts and files from outside, checked before anything is computed."""

from lineal.data.arrays import checked_rows, thread_count
from lineal.data.corpus import Corpus
from lineal.data.documents import chunks, documents
from lineal.data.files import read_texts, stream_texts

__all__ = [
    "Corpus",
    "checked_rows",
    "chunks",
    "documents",
    "read_texts",
    "stream_texts",
    "thread_count",
]
