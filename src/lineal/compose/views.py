"""Two views of the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from lineal.errors import InputError, ParameterError

View = list[Any] | slice | Callable[[Any], Any] | None


def checked_views(views: Any) -> tuple[View, View] | str | None:
    """A pair of views, "pair", or None, as it was given."""
    if views is None or (isinstance(views, str) and views == "pair"):
        return views
    is_pair = isinstance(views, (tuple, list)) and len(views) == 2
    if not is_pair or not all(_is_view(view) for view in views):
        raise ParameterError(
            "views must be two of: a list of columns, a slice, a function of X, None for all of X; or 'pair' "
            f"if X is a tuple of two; got {views!r}."
        )
    return (views[0], views[1])


def _is_view(view: Any) -> bool:
    if view is None or callable(view) or isinstance(view, slice):
        return True
    return isinstance(view, (list, tuple, np.ndarray, range)) and len(view) > 0


def split(X: Any, views: tuple[View, View] | str | None) -> list[Any]:
    """X as the two views show it; the halves of its columns where there are none."""
    if views is None:
        n_columns = int(X.shape[1]) if len(getattr(X, "shape", ())) == 2 else 0
        if n_columns < 2:
            came = f"{n_columns} feature(s)" if n_columns else f"rows without columns ({type(X).__name__})"
            raise InputError(
                f"two halves of the columns need at least 2 columns, got {came}: pass views=, such as a pair "
                "of functions of X."
            )
        views = (slice(0, n_columns // 2), slice(n_columns // 2, n_columns))
    return [_seen(X, view) for view in views]


def _seen(X: Any, view: Any) -> Any:
    if view is None:
        return X
    if callable(view):
        return view(X)
    columns = view if isinstance(view, slice) else list(view)
    try:
        return _safe_indexing(X, columns, axis=1)
    except (IndexError, KeyError, ValueError) as error:
        raise ParameterError(f"views has columns that X does not: {error}") from error
