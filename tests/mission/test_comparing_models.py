"""The lecture on comparing models: its t-test of two printed samples."""

import numpy as np
import pytest
from scipy import stats

from lineal.evaluation import t_test

A = [1.36929026, 0.45171207, 1.980284, 2.69894659, 3.58459313, 1.02503278, 1.5443674, 3.75178741]
A += [0.79744317, 1.48595977]
B = [1.97056194, -0.44926516, -0.1049745, -1.02613361, -2.1329443, 0.7991724, 0.60720041, 1.22176851]
B += [-1.22300267, -0.21052362]


def test_the_printed_samples():
    """The two samples that are printed have t = 3.6306002155 and p = 0.00191245447 with df 18."""
    found = t_test(A, B)
    assert found.statistic == pytest.approx(3.6306002155, abs=5e-11)
    assert found.p_value == pytest.approx(0.00191245447, abs=5e-12)
    assert found.degrees_of_freedom == (18.0,)


def test_the_printed_formula():
    """t = (mean a - mean b) / (s sqrt(2/N)) with s² = (var a + var b)/2, df = 2N - 2, p = 2 (1 - cdf(t))."""
    a, b, n = np.array(A), np.array(B), 10
    s = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    t = (a.mean() - b.mean()) / (s * np.sqrt(2 / n))
    found = t_test(a, b)
    assert found.statistic == pytest.approx(t, rel=1e-13)
    assert found.p_value == pytest.approx(2 * (1 - stats.t.cdf(t, df=2 * n - 2)), rel=1e-11)


def test_the_printed_t_belongs_to_its_printed_p():
    """t = 4.26411975457851, which belongs to another draw, has p = 0.0004668051407590 with df 18.

    Samples are made that have this t: moving one of them by a constant moves t, and leaves s.
    """
    wanted = 4.26411975457851
    a, b = np.array(A), np.array(B)
    s = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    found = t_test(a + (wanted - t_test(a, b).statistic) * s * np.sqrt(2 / 10), b)
    assert found.statistic == pytest.approx(wanted, rel=1e-12)
    assert found.p_value == pytest.approx(0.0004668051407590, rel=1e-11)
