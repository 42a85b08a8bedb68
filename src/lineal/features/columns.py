"""Tables as columns; they are read in ``lineal.data.columns``."""

from lineal.data.columns import Column, Table, clock, is_missing, read_column, read_table

__all__ = ["Column", "Table", "clock", "is_missing", "read_column", "read_table"]
