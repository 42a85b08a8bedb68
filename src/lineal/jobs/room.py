"""Whether a model file has room for a table's columns, asked before anything is learned from them."""

from __future__ import annotations

import json

from lineal.errors import InputError
from lineal.jobs.roles import Roles
from lineal.model.header import MAX_HEADER_BYTES, MAX_TENSORS

# What a column takes in the header of a model file: its name ten times, and what stands around it.
_NAMES, _AROUND = 10, 130
# Arrays of a column of texts that is read in two ways, by words and by characters; and those of the rest.
_ARRAYS, _OTHER_ARRAYS = 28, 64


def check_room(path: str, roles: Roles) -> None:
    """Refuses tables with more columns, or longer names, than a model file can hold.

    Numbers, categories and dates share their arrays, so that what fills a file is their names.

    Raises
    ------
    InputError
        Before a fit whose model could not be stored.
    """
    n_texts = len(roles.of("text"))
    most_texts = (MAX_TENSORS - _OTHER_ARRAYS) // _ARRAYS
    if n_texts > most_texts:
        raise InputError(
            f"{path}: {n_texts:,} columns are taken for text, and a model file holds {most_texts:,} at most. "
            "Put texts together, or leave columns out: --drop NAME."
        )
    n_columns = len(roles.roles)
    n_bytes = sum(_NAMES * header_bytes(found.column) + _AROUND for found in roles.roles)
    if n_bytes > MAX_HEADER_BYTES:
        raise InputError(
            f"{path}: {n_columns:,} columns would take about {n_bytes / 1e6:.0f} MB for their names in a "
            f"model file, which holds {MAX_HEADER_BYTES / 1e6:.0f} MB. Leave columns out (--drop NAME), give "
            "them shorter names, or write the table as sparse rows, whose columns have none (LIBSVM)."
        )


def header_bytes(name: str) -> int:
    """Bytes of a name in the header of a model file: a string of JSON inside a string of JSON."""
    inner = json.dumps(name, ensure_ascii=False)[1:-1]
    return len(json.dumps(inner, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"))
