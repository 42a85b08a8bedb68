"""Many columns at once are what each of them is alone: learned, encoded, stored and looked through."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import lineal
from lineal.data.doctor import diagnose_records, leaks
from lineal.errors import InputError
from lineal.features import (
    Booleans,
    ColumnScaler,
    EachValue,
    EqualWidths,
    Numbers,
    Quantiles,
    TableVectorizer,
)
from lineal.features.kinds import numeric as kinds
from lineal.model import container
from lineal.model.encodings import numeric as encodings

N = 57
WAYS = {
    "as they are": Numbers(),
    "with medians": Numbers(missing="median"),
    "with a number": Numbers(missing=-1.5),
    "scaled": Numbers(scale=ColumnScaler("variance", shift=True)),
    "stretched": Numbers(scale=ColumnScaler("[-1,1]")),
    "to ranges": Numbers(scale=ColumnScaler("[0,1]", shift=True)),
    "quantiles": Numbers(bins=Quantiles(7)),
    "equal widths": Numbers(bins=EqualWidths(4)),
    "each value": Numbers(bins=EachValue(12)),
}


def mixed(seed=0, n_numbers=40):
    """Numbers of all sizes, some missing, with columns of other kinds between them."""
    rng = np.random.default_rng(seed)
    table = {}
    for k in range(n_numbers):
        column = rng.normal(size=N) * 10.0 ** rng.integers(-8, 9) + rng.normal()
        if k % 3 == 1:
            column = rng.integers(0, 9, N).astype(float)
        if k % 4 == 2:
            column[rng.random(N) < rng.choice([0.1, 0.5])] = np.nan
        if k % 7 == 3:
            table[f"whole {k}"] = rng.integers(-5, 5, N)
        if k % 9 == 4:
            table[f"flag {k}"] = rng.random(N) < 0.5
        if k % 11 == 5:
            table[f"name {k}"] = rng.choice(["a", "b", "c"], N).tolist()
        if k % 13 == 6:
            table[f"day {k}"] = [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 900, N)]
        table[f"x{k} "] = column
    table["constant"] = np.full(N, 3.25)
    table["nothing"] = np.full(N, np.nan)
    table["huge"] = rng.uniform(-1, 1, N) * 1.7e308
    return table


def same(A, B):
    """Whether two matrices have the same bits."""
    return all(
        np.array_equal(getattr(A, part), getattr(B, part), equal_nan=True)
        for part in ("indptr", "indices", "data")
    )


def later(table, seed=1):
    """Rows that were not learned from: other numbers, others missing."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, N, 31)
    made = {}
    for name, column in table.items():
        column = np.asarray(column, dtype=object)[rows]
        column[rng.random(31) < 0.1] = None
        made[name] = column.tolist()
    return made


@pytest.mark.parametrize("way", WAYS)
def test_columns_together_have_the_bits_of_each_alone(way):
    """A table is the columns of one-column tables side by side, in training and afterwards."""
    table, numbers = mixed(), WAYS[way]
    whole = TableVectorizer(numbers=numbers)
    alone = {name: TableVectorizer(numbers=numbers) for name in table}
    columns = [alone[name].fit_transform({name: column}) for name, column in table.items()]
    assert same(whole.fit_transform(table), sp.csr_array(sp.hstack(columns, format="csr")))
    names = [name for own in alone.values() for name in own.get_feature_names_out()]
    assert whole.get_feature_names_out().tolist() == names
    new = later(table)
    columns = [alone[name].transform({name: column}) for name, column in new.items()]
    assert same(whole.transform(new), sp.csr_array(sp.hstack(columns, format="csr")))


def test_numbers_are_those_of_plain_formulas():
    """Means, deviations and bins have the bits of NumPy's functions of one column."""
    for column in (c for c in mixed().values() if np.asarray(c).dtype.kind == "f"):
        present = column[~np.isnan(column)]
        if not len(present):
            continue
        unit = np.abs(present).max() or 1.0
        (as_it_is,) = TableVectorizer().fit({"x": column})._encodings.values()
        assert as_it_is.fill == np.mean(present / unit) * unit
        (binned,) = TableVectorizer(numbers=Numbers(bins=Quantiles(7))).fit({"x": column})._encodings.values()
        borders = np.unique(2 * np.quantile(present / 2, np.linspace(0, 1, 8)))[1:-1]
        np.testing.assert_array_equal(binned.borders, borders)
        filled = np.where(np.isnan(column), binned.fill, column)
        made = TableVectorizer(numbers=Numbers(bins=Quantiles(7))).fit_transform({"x": column})
        codes = np.searchsorted(borders, filled, side="right")
        np.testing.assert_array_equal(made.toarray()[np.arange(N), codes], 1.0)
        if unit > 1e300:  # scikit-learn's checks add numbers up
            continue
        scaler = ColumnScaler("variance", shift=True)
        scaled = TableVectorizer(numbers=Numbers(scale=scaler)).fit_transform({"x": column})
        filled = np.where(np.isnan(column), as_it_is.fill, column)
        np.testing.assert_array_equal(scaled.toarray()[:, 0], scaler.fit_transform(filled[:, None])[:, 0])


@pytest.mark.parametrize("way", ["scaled", "quantiles"])
def test_steps_leave_no_trace(way, monkeypatch):
    """However many cells are worked on at once, the matrix is the same."""
    expected = TableVectorizer(numbers=WAYS[way]).fit_transform(mixed())
    for module in (kinds, encodings):
        monkeypatch.setattr(module, "CELLS", 130)
    assert same(TableVectorizer(numbers=WAYS[way]).fit_transform(mixed()), expected)


def test_the_first_column_with_a_flaw_is_named():
    """Of several columns that cannot be read, the first in the table's order is said, with its row."""
    table = {"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0], "d": [1.0, 2.0]}
    vectorizer = TableVectorizer().fit(table)
    for columns in ({"b": [1.0, np.inf], "c": ["word", 1.0]}, {"b": ["word", 1.0], "c": [np.inf, 1.0]}):
        with pytest.raises(InputError, match="column 'b'"):
            vectorizer.transform(table | columns)
    refusing = TableVectorizer(numbers=Numbers(missing="refuse")).fit(table)
    with pytest.raises(InputError, match="column 'c' has no value at row 1"):
        refusing.transform(table | {"c": [1.0, None], "d": [None, 1.0]})


def wide(n_columns, n_rows=24):
    """A fitted pipeline of a wide table, and the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).round(2)
    X[rng.random(X.shape) < 0.01] = np.nan
    table = {f"g{k}": X[:, k] for k in range(n_columns)} | {"flag": X[:, 0] > 0}
    y = np.where(np.arange(n_rows) % 2, "odd", "even")
    vectorizer = TableVectorizer({"g1": Numbers(), "flag": Booleans()}, numbers=Numbers(bins=Quantiles(3)))
    learner = lineal.LinearClassifier(max_epochs=3, tol=1.0)
    return make_pipeline(vectorizer, learner).fit(table, y), table


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_file_has_no_more_arrays_for_more_columns(tmp_path):
    """20,000 columns come back with the bits they had, from as many arrays as twenty take."""
    arrays = {}
    for n_columns in (20, 20_000):
        fitted, table = wide(n_columns)
        path = tmp_path / f"{n_columns}.lineal"
        lineal.save(fitted, path)
        model = lineal.load(path)
        arrays[n_columns] = set(container.read(path).tensors)
        np.testing.assert_array_equal(model.decision_function(table), fitted.decision_function(table))
        assert model.get_feature_names_out().tolist() == fitted[0].get_feature_names_out().tolist()
    assert arrays[20] == arrays[20_000]


def leaking(seed, n, label):
    """A table with columns that tell the label, nearly tell it, or have nothing to do with it."""
    rng = np.random.default_rng(seed)
    codes = np.unique(label, return_inverse=True)[1]
    columns = {f"noise {k}": rng.normal(size=n) for k in range(12)}
    columns |= {f"few {k}": rng.integers(0, 3, n) for k in range(6)}
    columns["cut"] = codes + rng.random(n) * 0.5
    columns["cut with gaps"] = np.where(rng.random(n) < 0.02, np.nan, columns["cut"])
    columns["value"] = codes * 7
    nearly = codes.copy()
    nearly[: max(1, n // 300)] = codes[::-1][: max(1, n // 300)]
    columns["nearly"] = nearly
    columns["large"] = codes + 2**60
    columns["zeros"] = np.where(codes > 0, 0.0, -0.0)
    columns["gaps tell"] = np.where(codes > 0, np.nan, 1.0)
    columns["same"] = np.full(n, 2.5)
    columns["infinite"] = np.where(codes > 0, np.inf, rng.random(n))
    columns["written"] = [str(code) for code in codes]
    return pa.table({**columns, "label": label})


@pytest.mark.parametrize("n", [30, 200, 1500])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_leaks_are_found_among_many_columns_as_one_by_one(n, n_classes, seed, monkeypatch):
    """Whoever is acquitted in a matrix of columns is acquitted alone."""
    label = np.random.default_rng(seed + 7).integers(0, n_classes, n)
    names = [None if k == 3 else f"class {code}" for k, code in enumerate(label)]
    for labels, task in ((np.array(names, dtype=object), "classification"), (label * 1.5, "regression")):
        filled = np.array([one or "class 0" for one in labels]) if task == "classification" else labels
        table = leaking(seed, n, filled)
        table = table.set_column(table.num_columns - 1, "label", pa.array(labels.tolist()))
        asked = {"label": "label", "features": table.column_names[:-1], "task": task, "file": "t.csv"}
        asked["max_findings_per_kind"] = 100
        found = diagnose_records(table, **asked)
        assert any(finding.code == "decides-label" for finding in found)
        with monkeypatch.context() as patched:
            for road in ("acquitted_of_classes", "acquitted_of_numbers"):
                patched.setattr(leaks, road, lambda *given: set())
            assert diagnose_records(table, **asked) == found
