"""What is true of learners of tables, whatever the table."""

from __future__ import annotations

import numpy as np
import pytest

from lineal import TableClassifier, TableRegressor
from lineal.learners.searched.search import _is_hopeless


def _table(seed, n=120):
    rng = np.random.default_rng(seed)
    table = {
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
        "count": rng.integers(0, 9, n).astype(float),
        "town": rng.choice(["Bath", "York", "Rome"], n),
    }
    z = np.nan_to_num(table["size"]) - (table["count"] > 4) + (table["town"] == "York") + rng.normal(size=n)
    return table, z


@pytest.mark.parametrize("kind", [TableClassifier, TableRegressor])
@pytest.mark.parametrize("seed", range(3))
def test_units_do_not_matter(kind, seed):
    """Numbers in units of 2^k give the same predictions, bit for bit: scales and bins take them up."""
    table, z = _table(seed)
    y = z > 1 if kind is TableClassifier else z
    other = table | {"size": table["size"] * 2.0**40, "count": table["count"] * 2.0**-40}
    np.testing.assert_array_equal(kind().fit(table, y).predict(table), kind().fit(other, y).predict(other))


@pytest.mark.parametrize("seed", range(3))
def test_numbers_to_predict_may_be_shifted_and_stretched(seed):
    """y -> a y + b makes predictions p -> a p + b; least squares of few columns is solved to rounding."""
    table, z = _table(seed)
    p = TableRegressor().fit(table, z).predict(table)
    q = TableRegressor().fit(table, 1e6 * z - 3e7).predict(table)
    np.testing.assert_allclose((q + 3e7) / 1e6, p, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_names_of_labels_do_not_matter(seed):
    """Other names in the same order: the same scores, bit for bit."""
    table, z = _table(seed)
    codes = np.digitize(z, [0.5, 2.0])
    names = np.array(["a", "b", "c"])
    ours, theirs = TableClassifier().fit(table, codes), TableClassifier().fit(table, names[codes])
    np.testing.assert_array_equal(ours.decision_function(table), theirs.decision_function(table))
    np.testing.assert_array_equal(names[ours.predict(table)], theirs.predict(table))


def test_columns_that_say_nothing_change_nothing():
    """Empty columns make no features, and the weight of a constant one is 0."""
    table, z = _table(0)
    wanted = TableRegressor(strengths=1.0, n_folds=2).fit(table, z).predict(table)
    other = table | {"empty": np.full(len(z), np.nan), "constant": np.full(len(z), 7.0)}
    found = TableRegressor(strengths=1.0, n_folds=2).fit(other, z).predict(other)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("peak", [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])
def test_strengths_that_are_left_out_are_not_the_best(peak):
    """Of scores with one peak along the strengths, those that the search leaves out never hold the best."""
    strengths = [1.0, 10.0, 0.1, 100.0, 0.01, 1000.0]
    along = {}
    for strength in strengths:
        if not along or not _is_hopeless(strength, along):
            along[strength] = -abs(np.log(strength / peak))
    assert max(along, key=along.get) == peak
    assert len(along) < len(strengths)
