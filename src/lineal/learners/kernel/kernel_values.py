"""Kernel values in NumPy and float64, from dot products: what ``verify`` rests on in place of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.kernels import Kernel, Precomputed
from lineal.kernels.products import Differences
from lineal.objective.losses import FloatArray

IntArray = NDArray[np.int64]

_FEW_COLUMNS = 1024
# gamma |x|^2 from which on distances are not taken from dot products; and -log of what is 0 in float64.
_FAR, _NOTHING = 1e4, 800.0


def require_training_data(kernel: Kernel, items: Any, support: IntArray, known: Any) -> None:
    """Refuses items whose support vectors are not those that the model keeps."""
    message = "these are not the rows that the model was fitted on: verify on the training data."
    if len(support) and int(support.max()) >= kernel.size(items):
        raise InputError(message)
    mine = kernel.take(items, support)
    if isinstance(kernel, Precomputed):
        mine, known = mine.values, known.values
    if sp.issparse(mine):
        is_same = mine.shape == known.shape and (mine != known).nnz == 0
    elif isinstance(mine, np.ndarray):
        is_same = np.array_equal(mine, known)
    else:
        is_same = True  # strings, trees and other things: scores will tell
    if not is_same:
        raise InputError(message)


def kernel_values(kernel: Kernel, items: Any, support: Any) -> FloatArray:
    """Kernel values from dot products of NumPy's and SciPy's; as the kernel computes them where it is no
    function of those.
    """
    profile = kernel.profile
    if profile is None:
        return kernel.compute(items, support, 1)
    if profile.kind == "gaussian" and not sp.issparse(items) and len(support):
        centre = support.mean(axis=0)  # distances stay, and squares lose fewer digits
        items, support = items - centre, support - centre
    products = _products(items, support)
    if profile.kind == "linear":
        return products
    if profile.kind == "polynomial":
        return np.asarray((profile.gamma * products + profile.c) ** profile.degree)
    total = _squared_lengths(items)[:, None] + _squared_lengths(support)
    squares = total - 2.0 * products
    if profile.gamma * float(total.max(initial=0.0)) > _FAR:
        # What is left of such sums says nothing about rows that are near each other: differences do.
        i, j = np.nonzero(profile.gamma * (squares - 1e-12 * total) < _NOTHING)
        squares[i, j] = Differences(items, support, 1.0)(i, j)
    return np.asarray(np.exp(-profile.gamma * np.maximum(squares, 0.0)))


def _products(items: Any, support: Any) -> FloatArray:
    """Dot products of all with all; sparse rows of few columns are quickest as dense ones."""
    if sp.issparse(items) and items.shape[1] <= _FEW_COLUMNS:
        items, support = items.toarray(), support.toarray()
    products = items @ support.T
    return products.toarray() if sp.issparse(products) else np.asarray(products)


def _squared_lengths(items: Any) -> FloatArray:
    squares = items.multiply(items).sum(axis=1) if sp.issparse(items) else np.square(items).sum(axis=1)
    return np.asarray(squares).ravel()
