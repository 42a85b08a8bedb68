"""The lectures on Fisher's discriminant: direction, criterion and threshold as they are printed."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import norm

from lineal import FisherDiscriminant


def two_classes(seed=0):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(60, 2)) @ [[2.0, 1.5], [0.0, 0.5]] + [2.0, 0.0]
    second = rng.normal(size=(40, 2)) @ [[1.0, 0.9], [0.0, 0.8]]
    return np.vstack([first, second]), np.repeat(["C1", "C0"], [60, 40])


@pytest.mark.parametrize("seed", range(3))
def test_the_direction_maximises_the_criterion(seed):
    """w* = argmax (m_2 - m_1)^2 / (s_1^2 + s_2^2) found by search, is S_W^-1 (m_1 - m_2)."""
    X, y = two_classes(seed)

    def minus_criterion(angle):
        t = X @ [np.cos(angle[0]), np.sin(angle[0])]
        one, two = t[y == "C1"], t[y == "C0"]
        return -((one.mean() - two.mean()) ** 2) / (
            np.sum((one - one.mean()) ** 2) + np.sum((two - two.mean()) ** 2)
        )

    starts = [minimize(minus_criterion, [a], method="Nelder-Mead", tol=1e-12) for a in (0.0, 0.8, 1.6, 2.4)]
    best = min(starts, key=lambda found: found.fun).x[0]
    w = FisherDiscriminant().fit(X, y).direction_
    assert abs(np.dot(w / np.linalg.norm(w), [np.cos(best), np.sin(best)])) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_threshold_is_where_the_densities_meet(seed):
    """p(c | C_1) = p(c | C_2) for Gaussians of maximum likelihood, and x is in C_1 if w.x >= c."""
    X, y = two_classes(seed)
    model = FisherDiscriminant().fit(X, y)
    t = X @ model.direction_
    one, two = t[y == "C1"], t[y == "C0"]

    def difference(c):
        return norm.logpdf(c, one.mean(), one.std()) - norm.logpdf(c, two.mean(), two.std())

    assert model.threshold_ == pytest.approx(
        brentq(difference, two.mean(), one.mean(), xtol=1e-14), abs=1e-10
    )
    np.testing.assert_array_equal(model.predict(X) == "C1", t >= model.threshold_)
