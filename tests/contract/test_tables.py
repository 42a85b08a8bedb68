"""Tables: one answer for every container, and a defined one for every oddity."""

import datetime as dt
import pickle
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from lineal import ColumnScaler, LinearClassifier, TableVectorizer
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.features import Booleans, Categories, Dates, EqualWidths, Numbers, Quantiles, Text

BERLIN = ZoneInfo("Europe/Berlin")
COLUMNS = {
    "size": [1.5, None, 3.0, 0.0],
    "rooms": [1, 2, 3, None],
    "floor": [4, 0, -1, 7],
    "garden": [True, False, None, True],
    "town": ["Bath", "York", None, "Bath"],
    "built": [dt.date(2024, 1, 31), None, dt.date(1923, 12, 1), dt.date(2020, 2, 29)],
    "seen": [dt.datetime(2024, 1, 31, 5, 59), None, dt.datetime(2023, 12, 1), dt.datetime(1960, 2, 29, 23)],
    "local": [
        dt.datetime(2024, 1, 31, 5, tzinfo=BERLIN),
        None,
        *[dt.datetime(2023, 12, 1, tzinfo=BERLIN)] * 2,
    ],
    "nothing": [None] * 4,
    "notes": ["a very good long note", "there is damp in the walls", None, "one two three four"],
    "let": [dt.timedelta(seconds=3), None, dt.timedelta(days=1), dt.timedelta(0)],
}
ROWS = [list(cells) for cells in zip(*COLUMNS.values(), strict=True)]
PANDAS = pd.DataFrame(COLUMNS)


class Stream:
    """A container that says nothing but how to stream it."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def _arrow(**replaced):
    return pa.table({**{name: pa.array(cells) for name, cells in COLUMNS.items()}, **replaced})


TABLES = {
    "dict of lists": COLUMNS,
    "dict of arrays": {name: np.array(cells, dtype=object) for name, cells in COLUMNS.items()},
    "dict of series": {name: PANDAS[name] for name in COLUMNS},
    "list of dicts": [dict(zip(COLUMNS, row, strict=True)) for row in ROWS],
    "list of dicts without nulls": [
        {name: cell for name, cell in zip(COLUMNS, row, strict=True) if cell is not None or name == "nothing"}
        for row in ROWS
    ],
    "structured array": np.array([tuple(row) for row in ROWS], dtype=[(name, object) for name in COLUMNS]),
    "pandas": PANDAS,
    "pandas' nullable types": PANDAS.convert_dtypes(),
    "pandas on Arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas with a category": PANDAS.astype({"town": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars with a category": pl.DataFrame(COLUMNS).with_columns(pl.col("town").cast(pl.Categorical)),
    "Arrow": _arrow(),
    "Arrow record batch": pa.record_batch(COLUMNS),
    "Arrow with a dictionary": _arrow(town=pa.array(COLUMNS["town"]).dictionary_encode()),
    "Arrow with nanoseconds": _arrow(seen=pa.array(COLUMNS["seen"], pa.timestamp("ns"))),
    "Arrow stream": Stream(pl.DataFrame(COLUMNS)),
}
REFERENCE = TableVectorizer().fit(COLUMNS)


def dense(vectorizer, table):
    """The matrix of a table, as an array."""
    return vectorizer.transform(table).toarray()


@pytest.mark.parametrize("container", TABLES)
def test_containers_of_one_table_give_one_matrix(container):
    """Kinds, names and every bit are those of the dict of lists, fitted on either, transformed on either."""
    fitted = TableVectorizer().fit(TABLES[container])
    assert fitted.kinds_ == REFERENCE.kinds_
    assert fitted.get_feature_names_out().tolist() == REFERENCE.get_feature_names_out().tolist()
    expected = dense(REFERENCE, COLUMNS)
    for vectorizer, table in ((fitted, COLUMNS), (REFERENCE, TABLES[container])):
        np.testing.assert_array_equal(dense(vectorizer, table), expected)


@pytest.mark.parametrize("rows", [ROWS, [tuple(row) for row in ROWS], np.array(ROWS, dtype=object)])
def test_tables_without_names_give_the_same_numbers(rows):
    """Columns without names are x0, x1 ...; there is no feature_names_in_."""
    fitted = TableVectorizer().fit(rows)
    np.testing.assert_array_equal(dense(fitted, rows), dense(REFERENCE, COLUMNS))
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.inverse_names()[0] == "x0"


def test_the_kinds_of_the_columns():
    """Every kind is inferred, beside missing values too."""
    assert REFERENCE.kinds_ == {
        **{"size": "number", "rooms": "number", "floor": "number", "garden": "boolean", "town": "category"},
        **{
            "built": "date",
            "seen": "date",
            "local": "date",
            "nothing": "empty",
            "notes": "text",
            "let": "number",
        },
    }


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, Decimal("3.5"), True], "number"),
        ([True, 0], "number"),
        (np.array([1, 2], dtype=np.uint8), "number"),
        (["2024-02-29", "2023-01-01 10:00"], "date"),
        (["2024-02-30", "2023-01-01"], "category"),
        (["02139", "10001"], "category"),
        (["a", 1], "category"),
        (["one two three four"] * 3, "category"),
        (np.array(["b", "a"]), "category"),
        (np.array([b"b", b"a"]), "category"),
        (np.array(["2024", "2025"], dtype="datetime64[Y]"), "date"),
    ],
)
def test_inference(cells, kind):
    """What is read as what; a category stays one even if its text could be a number."""
    assert TableVectorizer().fit({"x": cells}).kinds_ == {"x": kind}


def test_fit_transform_is_fit_then_transform():
    """One call or two, one answer; the table is left as it is."""
    before = PANDAS.copy(deep=True)
    np.testing.assert_array_equal(
        TableVectorizer().fit_transform(PANDAS).toarray(), dense(REFERENCE, COLUMNS)
    )
    pd.testing.assert_frame_equal(PANDAS, before)


def test_an_unseen_category_is_no_crash():
    """A new level has no 1 anywhere, or one under "is rare" if the fit had rare levels; both on request."""
    towns = {"town": ["Bath"] * 3 + ["York"] * 2 + ["Hull"]}
    new = {"town": ["Rome", "Hull", "York"]}
    assert dense(TableVectorizer().fit(towns), new).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    rare = TableVectorizer(categories=Categories(min_count=2)).fit(towns)
    assert rare.get_feature_names_out().tolist() == ["town=Bath", "town=York", "town is rare"]
    assert dense(rare, new).tolist() == [[0, 0, 1], [0, 0, 1], [0, 1, 0]]
    zero = TableVectorizer(categories=Categories(max_levels=1, unseen="zero")).fit(towns)
    assert dense(zero, new).tolist() == [[0, 0], [0, 1], [0, 1]]
    with pytest.raises(InputError, match=r"one of the 3 levels .* but row 0 has 'Rome'"):
        TableVectorizer({"town": Categories(unseen="refuse")}).fit(towns).transform(new)


def test_of_equally_frequent_levels_the_first_stay():
    """max_levels breaks ties by the order of levels, so the order of rows does not matter."""
    for cells in (["c", "a", "b", "c"], ["b", "c", "c", "a"]):
        fitted = TableVectorizer(categories=Categories(max_levels=2)).fit({"x": cells})
        assert fitted.get_feature_names_out().tolist() == ["x=a", "x=c", "x is rare"]


def test_levels_are_told_apart_by_their_text():
    """3, 3.0 and "3" are one level, in whatever type a container keeps them; long numbers keep all digits."""
    fitted = TableVectorizer({"zip": "category"}).fit({"zip": [3, 10, None]})
    for cells in ([3, 10], [3.0, 10.0], ["3", "10"], np.array([3, 10], dtype=np.int8)):
        assert dense(fitted, {"zip": cells}).tolist() == [[1, 0, 0], [0, 1, 0]]
    long = TableVectorizer({"id": "category"}).fit({"id": [2**60, 2**60 + 1]})
    assert long.get_feature_names_out().tolist() == [f"id={2**60}", f"id={2**60 + 1}"]


@pytest.mark.parametrize(("missing", "fill"), [("mean", 3.0), ("median", 2.0), (-7.5, -7.5)])
def test_missing_numbers(missing, fill):
    """Filled from the training data, with an indicator if the training data had missing values."""
    fitted = TableVectorizer(numbers=Numbers(missing=missing)).fit(
        {"x": [1.0, 2.0, 6.0, np.nan], "y": [1, 2, 6, 2]}
    )
    assert fitted.get_feature_names_out().tolist() == ["x", "x is missing", "y"]
    answer = dense(fitted, {"x": [None, 5.0], "y": [None, 5.0]})
    np.testing.assert_allclose(answer, [[fill, 1, 2.75 if missing == "mean" else fill], [5, 0, 5]])


@pytest.mark.parametrize("kind", [Numbers, Booleans, Categories, Dates, Text])
def test_missing_values_are_refused_on_request(kind):
    """missing="refuse" names the column and the row, in training and afterwards."""
    cells = {Numbers: [1, 2], Booleans: [True, False], Dates: [dt.date(2024, 1, 1)] * 2}.get(
        kind, ["ab", "cd"]
    )
    with pytest.raises(InputError, match="column 'x' has no value at row 2"):
        TableVectorizer({"x": kind(missing="refuse")}).fit({"x": [*cells, None]})
    fitted = TableVectorizer({"x": kind(missing="refuse")}).fit({"x": cells})
    with pytest.raises(InputError, match="column 'x' has no value at row 0"):
        fitted.transform({"x": [None]})


def test_every_column_may_be_missing_later():
    """A row without any value is encoded, whatever type its container gives to nothing."""
    nothing = dict.fromkeys(COLUMNS)
    expected = dense(REFERENCE, [nothing])
    assert expected[0, REFERENCE.get_feature_names_out().tolist().index("seen is missing")] == 1
    np.testing.assert_array_equal(dense(REFERENCE, [{}]), expected)
    as_float = pd.DataFrame({name: [np.nan] for name in COLUMNS})
    np.testing.assert_array_equal(dense(REFERENCE, as_float), expected)
    as_date = pd.DataFrame({name: pd.to_datetime([None]) for name in COLUMNS})
    np.testing.assert_array_equal(dense(REFERENCE, as_date), expected)


def test_masked_values_are_missing():
    """The mask of a masked array is not forgotten, in a table or in a column."""
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, False], [True, False]])
    expected = TableVectorizer().fit_transform([[1.0, 2.0], [None, 4.0]]).toarray()
    np.testing.assert_array_equal(TableVectorizer().fit_transform(masked).toarray(), expected)
    columns = {"a": masked[:, 0], "b": masked[:, 1]}
    np.testing.assert_array_equal(TableVectorizer().fit_transform(columns).toarray(), expected)


def test_a_fit_that_fails_leaves_the_last_one():
    """A vectorizer whose second fit is refused still answers as after its first."""
    fitted = TableVectorizer().fit({"x": [1, 2]})
    with pytest.raises(InputError, match="finite"):
        fitted.fit({"y": [1, 2], "x": [1, np.inf]})
    assert dense(fitted, {"x": [3]}).tolist() == [[3]]


def test_a_column_without_values_makes_no_features():
    """Nothing to learn from is nothing to say, also when values come later."""
    fitted = TableVectorizer().fit({"a": [None, np.nan], "b": [1, 2]})
    assert fitted.get_feature_names_out().tolist() == ["b"]
    assert dense(fitted, {"a": ["text", "5"], "b": [1, 2]}).tolist() == [[1], [2]]
    alone = TableVectorizer().fit({"a": [None]})
    assert alone.transform({"a": [1, 2]}).shape == (2, 0)


def test_constant_columns():
    """A constant is kept: a number as it is, one bin, one level."""
    table = {"n": [2.0, 2.0], "c": ["a", "a"], "d": [dt.date(2024, 1, 1)] * 2}
    names = TableVectorizer().fit(table).get_feature_names_out().tolist()
    assert names[:3] == ["n", "c=a", "d year"]
    for bins in (Quantiles(3), EqualWidths(3)):
        binned = TableVectorizer({"n": Numbers(bins=bins)}).fit({"n": [2.0, 2.0]})
        assert binned.get_feature_names_out().tolist() == ["n at all"]
        assert dense(binned, {"n": [-1e300, 9.0]}).tolist() == [[1], [1]]


def test_bins_have_names_and_no_end():
    """A border belongs to the bin above it; beyond the training range the end bins go on."""
    fitted = TableVectorizer(numbers=Numbers(bins=EqualWidths(3))).fit({"age": [0.0, 30.0]})
    assert fitted.get_feature_names_out().tolist() == ["age < 10", "10 <= age < 20", "20 <= age"]
    answer = dense(fitted, {"age": [-100.0, 9.9, 10.0, 1e9]})
    assert answer.argmax(axis=1).tolist() == [0, 0, 1, 2]
    assert (answer.sum(axis=1) == 1).all()


def test_numbers_may_be_scaled():
    """A scale is learned from the filled column and used again."""
    kind = Numbers(scale=ColumnScaler("[0,1]", shift=True))
    fitted = TableVectorizer(numbers=kind).fit({"x": [2.0, 4.0, 6.0]})
    assert dense(fitted, {"x": [2.0, 5.0, 8.0]}).tolist() == [[0], [0.75], [1.5]]
    assert not hasattr(kind.scale, "scale_")
    assert fitted.transform({"x": []}).shape == (0, 1)


def test_parts_of_dates():
    """2024-02-29 10:30 was a Thursday: year 2024, month 2, day 29, weekday 3, hour 10."""
    moment = {"t": [dt.datetime(2024, 2, 29, 10, 30), dt.datetime(1969, 12, 31, 23)]}
    parts = ("year", "month", "day", "weekday", "hour", "epoch_day")
    numbers = TableVectorizer(dates=Dates(parts, cycles="number")).fit(moment)
    assert numbers.get_feature_names_out().tolist() == [f"t {part}" for part in parts]
    np.testing.assert_allclose(
        dense(numbers, moment), [[2024, 2, 29, 3, 10, 19782.4375], [1969, 12, 31, 2, 23, -1 / 24]]
    )
    one_hot = TableVectorizer(dates=Dates(("weekday", "month"), cycles="one_hot")).fit(moment)
    names = one_hot.get_feature_names_out()
    assert [names[row > 0].tolist() for row in dense(one_hot, moment)] == [
        ["t weekday=3", "t month=2"],
        ["t weekday=2", "t month=12"],
    ]
    circle = TableVectorizer(dates=Dates(("hour",))).fit(moment)
    np.testing.assert_allclose(dense(circle, moment)[0], [np.sin(np.pi * 10 / 12), np.cos(np.pi * 10 / 12)])
    np.testing.assert_allclose((dense(circle, moment) ** 2).sum(axis=1), 1.0)


def test_text_cells_can_be_asked_to_be_anything():
    """Numbers, booleans and dates are read from text, blanks are missing, and nonsense has a place."""
    kinds = {"n": "number", "b": "boolean", "d": "date"}
    table = {"n": ["1.5", " ", "-2"], "b": ["yes", "False", ""], "d": ["2024-02-29", "", "2023-01-01T10:00"]}
    answer = TableVectorizer(kinds).fit(table)
    plain = {
        "n": [1.5, None, -2],
        "b": [True, False, None],
        "d": [dt.datetime(2024, 2, 29), None, dt.datetime(2023, 1, 1, 10)],
    }
    np.testing.assert_array_equal(dense(answer, table), TableVectorizer().fit_transform(plain).toarray())
    for name, needed in (("n", "numbers"), ("b", "booleans"), ("d", "dates or text in ISO 8601")):
        with pytest.raises(InputError, match=f"column '{name}' needs {needed}, but row 1 has 'what'"):
            answer.transform({**table, name: [table[name][0], "what", ""]})


@pytest.mark.parametrize("infinite", [np.inf, -np.inf, 10**400])
def test_infinity_is_refused(infinite):
    """With row and column, in training and afterwards, binned or not."""
    for kind in (Numbers(), Numbers(bins=Quantiles(2))):
        with pytest.raises(InputError, match="column 'x' needs finite numbers, but row 1"):
            TableVectorizer({"x": kind}).fit({"x": [1.0, infinite]})
        with pytest.raises(InputError, match="column 'x' needs finite numbers, but row 0"):
            TableVectorizer({"x": kind}).fit({"x": [1.0, 2.0]}).transform({"x": [infinite]})


@pytest.mark.parametrize("size", [1e308, 1e-308])
def test_huge_and_tiny_numbers(size):
    """Means, medians and borders of numbers near the ends of doubles are finite and right."""
    cells = [-size, size, size, None]
    for missing, fill in (("mean", size / 3), ("median", size)):
        fitted = TableVectorizer(numbers=Numbers(missing=missing)).fit({"x": cells})
        np.testing.assert_allclose(dense(fitted, {"x": [None]})[0, 0], fill, rtol=1e-12)
    for bins in (Quantiles(2), EqualWidths(2)):
        fitted = TableVectorizer(numbers=Numbers(bins=bins)).fit({"x": cells[:3]})
        assert dense(fitted, {"x": [-size, size]}).argmax(axis=1).tolist() in ([0, 1], [0, 0])


# ---- names ----------------------------------------------------------------------------------------


def test_columns_are_found_by_name():
    """The order of columns at transform time does not matter."""
    np.testing.assert_array_equal(dense(REFERENCE, PANDAS[PANDAS.columns[::-1]]), dense(REFERENCE, PANDAS))


def test_columns_that_are_missing_or_extra():
    """Both are named; what came too much may be ignored, what lacks cannot."""
    fitted = TableVectorizer().fit({"a": [1, 2], "b": [3, 4]})
    with pytest.raises(InputError, match=r"lacks columns of the fit: 'b'\. It has 'a'"):
        fitted.transform({"a": [1]})
    with pytest.raises(InputError, match=r"that the fit did not have: 'c'\. .* set extra='ignore'"):
        fitted.transform({"a": [1], "b": [1], "c": [1]})
    ignoring = TableVectorizer(extra="ignore").fit({"a": [1, 2], "b": [3, 4]})
    assert dense(ignoring, {"c": [9], "b": [8], "a": [7]}).tolist() == [[7, 8]]
    with pytest.raises(InputError, match="X has 3 features, but TableVectorizer is expecting 2 features"):
        TableVectorizer().fit([[1, 2]]).transform([[1, 2, 3]])


def test_names_on_one_side_only_warn():
    """As in scikit-learn: columns are then taken by their place."""
    named, bare = TableVectorizer().fit({"a": [1], "b": [2]}), TableVectorizer().fit([[1, 2]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert dense(named, [[5, 6]]).tolist() == [[5, 6]]
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert dense(bare, {"a": [5], "b": [6]}).tolist() == [[5, 6]]


def test_names_that_cannot_be():
    """Names occur once, and are all text or none of them is."""
    with pytest.raises(InputError, match=r"occur more than once: \['a'\]"):
        TableVectorizer().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputTypeError, match="all be text, or none; 3 is of type int"):
        TableVectorizer().fit(pd.DataFrame([[1, 2]], columns=["a", 3]))
    for table in ({0: [1], 1: [2]}, [{0: 1, 1: 2}]):
        with pytest.raises(InputTypeError, match="keys of a dict must be text; 0 is of type int"):
            TableVectorizer().fit(table)
    assert TableVectorizer().fit(pd.DataFrame([[1, 2]])).kinds_ == {"x0": "number", "x1": "number"}


def test_feature_names_are_distinct_and_lead_back():
    """A name that two columns would make is numbered; inverse_names gives the column of each."""
    fitted = TableVectorizer().fit({"a": ["b", "c=d"], "a=b": [1, 2], "a=c": ["d", "e"]})
    names = fitted.get_feature_names_out().tolist()
    assert names == ["a=b", "a=c=d", "a=b (2)", "a=c=d (2)", "a=c=e"]
    assert fitted.inverse_names() == ["a", "a", "a=b", "a=c", "a=c"]
    assert fitted.inverse_names(["a=c=e", "a=b"]) == ["a=c", "a"]
    with pytest.raises(InputError, match="no such features: 'zz'"):
        fitted.inverse_names(["zz"])
    assert fitted.get_feature_names_out(["a", "a=b", "a=c"]).tolist() == names
    with pytest.raises(InputError, match="not equal to feature_names_in_"):
        fitted.get_feature_names_out(["x"])


# ---- shapes and options that cannot be ------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "0 feature"),
        ([], "Reshape your data"),
        ({"a": []}, "0 sample"),
        (pd.DataFrame({"a": [], "b": []}), r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        ([{}, {}], r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([1, 2, 3], "Reshape your data"),
        (pd.Series([1, 2]), "Reshape your data"),
        ("text", "Reshape your data"),
        ([[1, 2], [3]], "rows must have equally many cells, got from 1 to 2"),
        ({"a": [1, 2], "b": [1]}, "columns must be equally long, but 'b' has 1 rows and others 2"),
        ({"a": np.ones((2, 2))}, "one value a row, got an array of shape"),
        ({"a": [1j]}, "Complex data not supported"),
        ({"a": ["x", {"y": 1}]}, "one value in each cell, but row 1 has {'y': 1}"),
        (sp.eye_array(2), "sparse matrix"),
        ({"a": [[1, 2], [3, 4]]}, r"one value in each cell, but row 0 has \[1, 2\]"),
        (pl.DataFrame({"a": [[1, 2], [3, 4]]}), r"one value in each cell, but row 0 has \[1, 2\]"),
        ({"a": 1}, "For one row, give a list of one dict"),
        ({"a": "text"}, "For one row, give a list of one dict"),
        ([[1, 2], 3], "could not be read as a table"),
    ],
)
def test_what_is_no_table(table, said):
    """Every refusal says what came."""
    with pytest.raises(InputError, match=said):
        TableVectorizer().fit(table)


def test_no_rows_are_a_table_to_transform():
    """A table without rows has a matrix without rows."""
    width = len(REFERENCE.get_feature_names_out())
    assert REFERENCE.transform(PANDAS[:0]).shape == (0, width)
    assert REFERENCE.transform({name: [] for name in COLUMNS}).shape == (0, width)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Numbers(missing="mode"), "missing must be one of"),
        (lambda: Numbers(missing=np.inf), "missing must be a finite number"),
        (lambda: Numbers(scale=ColumnScaler(), bins=Quantiles()), "choose one of the two"),
        (lambda: Quantiles(1), "n_bins must be a whole number >= 2"),
        (lambda: Categories(min_count=0), "min_count must be a whole number >= 1"),
        (lambda: Categories(unseen="drop"), "unseen must be one of"),
        (lambda: Dates(parts=("century",)), "parts must be one of"),
        (lambda: Dates(cycles="sine"), "cycles must be one of"),
        (lambda: TableVectorizer({"b": "number"}).fit({"a": [1]}), "does not have: 'b'. It has 'a'"),
        (lambda: TableVectorizer({"a": "numeric"}).fit({"a": [1]}), "must be one of 'number', 'boolean'"),
        (lambda: TableVectorizer(["a"]).fit({"a": [1]}), "kinds must be a dict"),
        (lambda: TableVectorizer(numbers="mean").fit({"a": [1]}), r"such as Numbers\(\), got 'mean'"),
        (lambda: TableVectorizer(extra="drop").fit({"a": [1]}), "extra must be"),
        (lambda: TableVectorizer(dtype=int).fit({"a": [1]}), "dtype must be"),
    ],
)
def test_options_that_cannot_be(make, said):
    """Refused with what was needed and what came."""
    with pytest.raises(ParameterError, match=said):
        make()


def test_columns_may_be_dropped():
    """A dropped column must come, and says nothing."""
    fitted = TableVectorizer({"id": "drop"}).fit({"id": [1, 2], "x": [3, 4]})
    assert dense(fitted, {"id": [{}], "x": [5]}).tolist() == [[5]]
    assert fitted.kinds_["id"] == "drop"


def test_text_takes_any_transformer():
    """Whatever fits and transforms a list of str; it is cloned, and need not have names."""

    class Length:
        def fit(self, texts):
            return self

        def transform(self, texts):
            return np.array([[len(text)] for text in texts])

    counts = CountVectorizer()
    fitted = TableVectorizer({"t": Text(counts)}).fit({"t": ["ab cd", "ab"]})
    assert fitted.get_feature_names_out().tolist() == ["t:ab", "t:cd"]
    assert not hasattr(counts, "vocabulary_")
    length = TableVectorizer({"t": Text(Length())}).fit({"t": ["abc", None]})
    assert length.get_feature_names_out().tolist() == ["t:0", "t is missing"]
    assert dense(length, {"t": ["abcd", None]}).tolist() == [[4, 0], [0, 1]]
    with pytest.raises(InputError, match="column 't', taken as text, could not be learned from"):
        TableVectorizer({"t": "text"}).fit({"t": ["", "?"]})


# ---- company --------------------------------------------------------------------------------------


def test_precision():
    """dtype chooses the precision; what does not fit is refused."""
    made = TableVectorizer(dtype=np.float32).fit_transform(COLUMNS)
    assert made.dtype == np.float32
    assert sp.issparse(made)
    assert made.format == "csr"
    with pytest.raises(InputError, match="beyond float32, first at row 1, column 0"):
        TableVectorizer(dtype=np.float32).fit_transform({"x": [1.0, 1e300]})


def test_clones_and_pickles():
    """A clone is unfitted and equal in options; a pickle is fitted and equal in answers."""
    options = {"kinds": {"rooms": Numbers(bins=Quantiles(2))}, "categories": Categories(min_count=2)}
    vectorizer = TableVectorizer(**options).fit(COLUMNS)
    copy = clone(vectorizer)
    assert not hasattr(copy, "kinds_")
    assert copy.kinds == vectorizer.kinds
    np.testing.assert_array_equal(dense(copy.fit(COLUMNS), COLUMNS), dense(vectorizer, COLUMNS))
    thawed = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(dense(thawed, COLUMNS), dense(vectorizer, COLUMNS))


def test_a_frame_comes_out_on_request():
    """With sparse_output=False set_output gives a data frame under the features' names."""
    vectorizer = TableVectorizer(sparse_output=False).set_output(transform="pandas")
    frame = vectorizer.fit_transform(PANDAS[["size", "town"]])
    assert frame.columns.tolist() == ["size", "size is missing", "town=Bath", "town=York", "town is missing"]


def test_pipelines():
    """A table goes in, labels come out; new rows may have new categories and missing values."""
    table = {"age": [20, 30, 60, 70] * 5, "town": ["Bath", "York"] * 10}
    y = ["young", "young", "old", "old"] * 5
    model = make_pipeline(TableVectorizer(), ColumnScaler("variance"), LinearClassifier()).fit(table, y)
    assert model.predict([{"age": 22, "town": "Rome"}, {"age": 65}]).tolist() == ["young", "old"]
