"""Data on their way in: arrays and texts from outside, checked before anything is computed."""

from lineal.data.arrays import checked_rows, thread_count
from lineal.data.documents import chunks, documents

__all__ = ["checked_rows", "chunks", "documents", "thread_count"]
