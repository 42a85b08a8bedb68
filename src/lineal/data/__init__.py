"""Data on their way in: arrays from outside, checked before anything is computed."""

from lineal.data.arrays import checked_rows, thread_count

__all__ = ["checked_rows", "thread_count"]
