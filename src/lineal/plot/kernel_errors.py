"""How well random maps stand for their kernels, against how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import InputError, ParameterError
from lineal.features.random_maps.base import BaseRandomMap
from lineal.features.random_maps.binning import RandomBinningFeatures
from lineal.features.random_maps.fourier import RandomFourierFeatures
from lineal.features.random_maps.nystroem import Nystroem
from lineal.kernels import Kernel
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.kernel_errors_picture import draw
from lineal.protocol import clone

_SIZES = (30, 100, 300, 1000, 3000)
# The option of each map that is its size.
_SIZE = {RandomFourierFeatures: "n_features", RandomBinningFeatures: "n_grids", Nystroem: "n_components"}
_MOST_ROWS = 2000


def kernel_errors(
    maps: Any,
    X: Any,
    *,
    sizes: Sequence[int] = _SIZES,
    n_draws: int = 10,
    confidence: float = 0.95,
) -> KernelErrors:
    """Errors of phi(x) . phi(z) as an estimate of k(x, z), for maps of several sizes, drawn several times.

    Parameters
    ----------
    maps : RandomFourierFeatures, RandomBinningFeatures or Nystroem, or a dict of names to them
        Their own sizes and seeds play no part.
    X : as for ``fit``
        At most 2000 rows, every pair of which is looked at.
    sizes : even whole numbers
        Features D, grids, or landmarks.
    n_draws : int
        Maps of each size, with the seeds 0, 1, ..
    confidence : float
        Of Hoeffding's bound for one pair.

    Returns
    -------
    KernelErrors

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import RandomFourierFeatures
    >>> from lineal.plot import kernel_errors
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> found = kernel_errors(RandomFourierFeatures(gamma=0.25), X, sizes=(100, 400, 1600))
    >>> float(found.slope("RandomFourierFeatures").round(1))
    -0.5
    """
    named = _named(maps)
    n_draws = whole("kernel_errors", "n_draws", n_draws)
    wanted = [whole("kernel_errors", "size", size) for size in sizes]
    if not wanted or sorted(set(wanted)) != wanted:
        raise ParameterError(f"kernel_errors needs sizes that grow, got {sizes!r}.")
    curves = {name: _curve(one, X, wanted, n_draws, confidence) for name, one in named.items()}
    return KernelErrors(np.array(wanted), curves, n_draws, float(confidence))


def _named(maps: Any) -> dict[str, BaseRandomMap]:
    named = (
        {str(name): one for name, one in maps.items()}
        if isinstance(maps, Mapping)
        else {type(maps).__name__: maps}
    )
    for one in named.values():
        if type(one) not in _SIZE:
            known = ", ".join(kind.__name__ for kind in _SIZE)
            raise ParameterError(f"kernel_errors knows {known}, or a dict of names to them; got {one!r}.")
    if not named:
        raise ParameterError("kernel_errors needs at least one map.")
    return named


def _curve(one: BaseRandomMap, X: Any, sizes: list[int], n_draws: int, confidence: float) -> Errors:
    option = _SIZE[type(one)]
    typical, worst, bounds = [], [], []
    truth: FloatArray | None = None
    for size in sizes:
        squares = []
        for seed in range(n_draws):
            drawn = clone(one).set_params(**{option: size, "random_state": seed}).fit(X)
            if truth is None:
                truth = _truth(drawn.kernel_, X)
            phi = drawn.transform(X)
            products = phi @ phi.T
            values = products.toarray() if hasattr(products, "toarray") else products
            squares.append((_upper(np.asarray(values, dtype=np.float64)) - truth) ** 2)
        typical.append(float(np.sqrt(np.mean(squares))))
        worst.append(float(np.sqrt(np.max(squares))))
        has_bound = hasattr(drawn, "error_bound") and not getattr(drawn, "orthogonal", False)
        bounds.append(drawn.error_bound(confidence) if has_bound else np.nan)
    return Errors(np.array(typical), np.array(worst), np.array(bounds))


def _truth(kernel: Kernel, X: Any) -> FloatArray:
    n = kernel.size(kernel.checked(X))
    if not 2 <= n <= _MOST_ROWS:
        raise InputError(
            f"kernel_errors looks at all pairs of 2 to {_MOST_ROWS:,} rows, got {n:,}. Take a sample."
        )
    return _upper(kernel.gram(X))


def _upper(K: FloatArray) -> FloatArray:
    """The values of different rows, each pair once."""
    return np.asarray(K[np.triu_indices(len(K), 1)])


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of one kind of map, one number for each size.

    Attributes
    ----------
    typical : the root of the mean square, over all pairs and draws
    worst : the greatest of all pairs and draws
    bound : Hoeffding's, for one pair; NaN where it does not speak
    """

    typical: FloatArray
    worst: FloatArray
    bound: FloatArray


@dataclass(frozen=True, eq=False)
class KernelErrors:
    """Errors of maps against their sizes; ``print`` shows them.

    Attributes
    ----------
    sizes : (r,) features, grids or landmarks
    curves : dict of names to Errors
    n_draws : maps of each size
    confidence : of the bounds
    """

    sizes: np.ndarray[Any, np.dtype[np.int64]]
    curves: dict[str, Errors]
    n_draws: int
    confidence: float

    def slope(self, name: str) -> np.float64:
        """By which power of the size the typical error falls: -1/2 for means of draws."""
        logs = np.log(self.sizes), np.log(self.curves[name].typical)
        return np.float64(np.polyfit(*logs, 1)[0])

    def __repr__(self) -> str:
        return f"<KernelErrors: {', '.join(self.curves)}>"

    def __str__(self) -> str:
        lines = [f"{'size':>7}  " + "  ".join(f"{name:>24}" for name in self.curves)]
        for place, size in enumerate(self.sizes):
            cells = (
                f"{one.typical[place]:.4f} (worst {one.worst[place]:.3f})" for one in self.curves.values()
            )
            lines.append(f"{size:>7}  " + "  ".join(f"{cell:>24}" for cell in cells))
        slopes = ", ".join(f"{name} {self.slope(name):.2f}" for name in self.curves)
        return "\n".join(
            [*lines, f"roots of mean squares over {self.n_draws} draws; powers of the size: {slopes}"]
        )

    def plot(self, ax: Any = None) -> list[Any]:
        """Typical errors against sizes, with Hoeffding's bounds and the line of 1 / sqrt(size).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
