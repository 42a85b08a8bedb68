"""Pictures of kernels: numbers first, then a drawing that leaves matplotlib alone."""

import numpy as np
import pytest

from lineal import Nystroem, RandomBinningFeatures, RandomFourierFeatures
from lineal.errors import InputError, ParameterError
from lineal.plot import kernel_errors

X = np.random.default_rng(0).normal(size=(25, 3))
MAPS = {
    "cosines": RandomFourierFeatures(gamma=0.5),
    "orthogonal": RandomFourierFeatures(gamma=0.5, orthogonal=True),
    "grids": RandomBinningFeatures(0.5),
    "landmarks": Nystroem(gamma=0.5),
}


def test_errors_are_those_of_the_maps():
    """Every number is the error of maps with the seeds 0, 1, ..; the given maps stay unfitted."""
    found = kernel_errors(MAPS, X, sizes=(4, 10), n_draws=3)
    pairs = np.triu_indices(25, 1)
    errors = []
    for seed in range(3):
        drawn = RandomFourierFeatures(gamma=0.5, n_features=10, random_state=seed).fit(X)
        phi = drawn.transform(X)
        errors.append((phi @ phi.T - drawn.kernel_.gram(X))[pairs])
    curve = found.curves["cosines"]
    assert curve.typical[1] == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert curve.worst[1] == pytest.approx(np.abs(errors).max())
    assert curve.bound[1] == drawn.error_bound(0.95)
    assert np.isnan(found.curves["orthogonal"].bound).all()
    assert not any(hasattr(one, "kernel_") for one in MAPS.values())
    assert "grids" in str(found)
    assert "powers of the size" in str(found)


def test_drawings_are_the_numbers(plt):
    """Lines hold the errors and the bounds, on new axes and on given ones."""
    found = kernel_errors(MAPS, X, sizes=(4, 10), n_draws=2)
    (panel,) = found.plot()
    _, given = plt.subplots()
    assert found.plot(given) == [given]
    for axes in (panel, given):
        drawn = [line.get_ydata().tolist() for line in axes.get_lines()]
        for curve in found.curves.values():
            assert curve.typical.tolist() in drawn
        assert found.curves["grids"].bound.tolist() in drawn
        assert axes.get_xlabel()


def test_refusals():
    """Other things than maps, sizes that do not grow, and too many rows are refused in words."""
    with pytest.raises(ParameterError, match="RandomFourierFeatures"):
        kernel_errors(object(), X)
    with pytest.raises(ParameterError, match="at least one"):
        kernel_errors({}, X)
    with pytest.raises(ParameterError, match="sizes that grow"):
        kernel_errors(MAPS, X, sizes=(10, 4))
    with pytest.raises(ParameterError, match="n_draws"):
        kernel_errors(MAPS, X, n_draws=0)
    with pytest.raises(InputError, match="Take a sample"):
        kernel_errors(RandomFourierFeatures(gamma=1.0), np.zeros((2001, 1)), sizes=(2,), n_draws=1)
