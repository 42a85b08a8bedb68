"""Labels that have an order, and where it comes from."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ParameterError
from lineal.learners.targets import classes_and_codes, codes_among, labels_of_rows, plain_array

# Kinds of NumPy whose values have an order of their own: truth, numbers, dates, spans of time.
_ORDERED = "biufMm"


def ordered_labels(y: Any, order: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """All labels from the lowest to the highest, which may be more than y holds, and each row's place.

    The order is ``order``, that of an ordered categorical of pandas or of an ``Enum`` of polars, or that of
    numbers and dates. Names have none that could be guessed; two of them need none.
    """
    labels = labels_of_rows(y, n_rows)
    ranks = _stated(order) if order is not None else _of_container(y)
    if ranks is None:
        ranks, codes = classes_and_codes(labels)
        if len(ranks) > 2 and not _has_order(ranks):
            raise InputError(
                f"labels such as {ranks.tolist()[:3]} have no order of their own. Say which it is: "
                "order=['low', 'middle', 'high'], numbers, or an ordered categorical of pandas."
            )
        return ranks, codes
    return ranks, codes_among(ranks, labels, "Add them to order=, in their place, or drop their rows.")


def ranks_of(order: NDArray[Any], y: Any, n_rows: int) -> NDArray[np.int32]:
    """Each row's place among labels that are known."""
    return codes_among(order, labels_of_rows(y, n_rows), "Their place in the order is not known.")


def check_order(order: Any) -> None:
    """Refuses what is no list of different labels."""
    if order is not None:
        _stated(order)


def _stated(order: Any) -> NDArray[Any]:
    if isinstance(order, (str, bytes)) or not isinstance(order, Iterable):
        raise ParameterError(f"order must list labels from the lowest to the highest, got {order!r}.")
    listed = list(order)
    try:
        n_different = len(set(listed))
    except TypeError as error:
        raise ParameterError(f"order must list labels that can be told apart: {error}.") from error
    if n_different < len(listed) or len(listed) < 2:
        raise ParameterError(f"order must list at least two labels, each once, got {listed!r}.")
    return plain_array(listed)


def _of_container(y: Any) -> NDArray[Any] | None:
    """The order that a container states: an ordered categorical of pandas, an Enum of polars."""
    dtype = getattr(y, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return None
    is_stated = getattr(dtype, "ordered", None) is True or type(dtype).__name__ == "Enum"
    return plain_array(categories) if is_stated else None


def _has_order(labels: NDArray[Any]) -> bool:
    if labels.dtype.kind in _ORDERED:
        return True
    return labels.dtype.kind == "O" and all(isinstance(label, numbers.Real) for label in labels.tolist())
