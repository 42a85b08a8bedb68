"""What learners of tables promise, whatever they choose inside."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from lineal import (
    GaussianNB,
    LinearClassifier,
    LinearSVC,
    Ridge,
    TableClassifier,
    TableRegressor,
    TableVectorizer,
    TextClassifier,
    TextRegressor,
    TextVectorizer,
    verify,
)
from lineal.errors import InputError, ParameterError
from lineal.features import Dates, EachValue, Numbers, Quantiles
from lineal.learners.searched.folds import codes_of_groups, folds_of_labels, folds_of_numbers
from lineal.objective import L2, Log

CITIES = np.array(["Bath", "York", "Rome", "Oslo"])


def people(n=240, seed=0):
    """Numbers of three scales, a category, a truth value, a date, a text; gaps in some; y depends on all."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(18, 80, n)
    city = rng.choice(CITIES, n)
    member = rng.random(n) < 0.5
    mood = rng.choice(["good", "bad"], n)
    table = {
        "age": [None if rng.random() < 0.1 else float(a) for a in age],
        "income": 1e6 * rng.lognormal(size=n),
        "rooms": rng.integers(1, 7, n),
        "constant": np.ones(n),
        "nothing": [None] * n,
        "city": city,
        "member": member,
        "when": [dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 900, n)],
        "say": [f"this was a {word} number {k} place" for k, word in enumerate(mood)],
    }
    z = (
        np.where(np.abs(age - 45) < 12, 1.0, -1.0)
        + (city == "Rome")
        + 0.8 * member
        + 1.5 * (mood == "good")
        - 1.0
    )
    return table, z + 0.3 * rng.normal(size=n)


TABLE, Z = people()
LABELS = np.where(Z > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(Z, [-0.5, 1.0])]


def rows_of(table, rows):
    return {name: [values[k] for k in rows] for name, values in table.items()}


@pytest.fixture(scope="module")
def classifier():
    return TableClassifier(n_folds=2, strengths=1.0).fit(TABLE, LABELS)


@pytest.fixture(scope="module")
def regressor():
    return TableRegressor(n_folds=2, strengths=1.0).fit(TABLE, Z)


def test_every_container_of_a_table_gives_the_same_model(classifier):
    """A dict, pandas, polars, Arrow and records of the same table are learned from and predicted alike."""
    wanted = classifier.decision_function(TABLE)
    records = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    for table in (pd.DataFrame(TABLE), pl.DataFrame(TABLE, strict=False), pa.table(TABLE), records):
        np.testing.assert_array_equal(classifier.decision_function(table), wanted)
    again = clone(classifier).fit(pa.table(TABLE), LABELS)
    np.testing.assert_array_equal(again.decision_function(TABLE), wanted)


def test_columns_are_found_by_name(classifier):
    """Their order does not matter, others are ignored, and those without use need not come."""
    wanted = classifier.predict_proba(TABLE)
    other = {name: TABLE[name] for name in reversed(TABLE)} | {"extra": range(len(Z))}
    np.testing.assert_array_equal(classifier.predict_proba(other), wanted)
    del other["nothing"]
    np.testing.assert_array_equal(classifier.predict_proba(other), wanted)
    with pytest.raises(InputError, match=r"lacks columns of the fit: 'age', 'city'\. It has"):
        classifier.predict({name: TABLE[name] for name in TABLE if name not in ("age", "city")})


def test_one_row_is_predicted_as_among_many(classifier, regressor):
    """A list of one dict, a dict of single values and a row of many give one answer."""
    row = {name: values[3] for name, values in TABLE.items()}
    for model in (classifier, regressor):
        wanted = model.predict(TABLE)[3]
        assert model.predict([row])[0] == wanted
        assert model.predict(row)[0] == wanted
    del row["age"]  # in a record an absent value is a missing one
    assert classifier.predict([row])[0] in ("yes", "no")


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
def test_an_explanation_adds_up_to_the_score(y):
    """Intercept + features = score = intercept + columns, for every label; tokens share a text's column."""
    model = TableClassifier(n_folds=2, strengths=1.0).fit(TABLE, y)
    row = {name: values[5] for name, values in TABLE.items()}
    scores = np.atleast_1d(model.decision_function([row])[0])
    for place, label in enumerate(model.classes_):
        found = model.explain(row, label)
        wanted = scores[place] if len(scores) > 1 else scores[0] * (1 if place == 1 else -1)
        assert found.score == pytest.approx(wanted, rel=1e-9)
        assert found.intercept + sum(term.contribution for term in found.terms) == pytest.approx(found.score)
        assert found.intercept + sum(share for _, share in found.columns) == pytest.approx(found.score)
        by_column = dict(found.columns)
        assert by_column.keys() <= TABLE.keys()
        assert [token for token, _ in found.tokens] == row["say"].split()
        assert sum(share for _, share in found.tokens) == pytest.approx(by_column["say"])
    told = model.explain(row)
    assert str(told).startswith(str(model.predict([row])[0]))
    with pytest.raises(InputError, match="not one of the labels"):
        model.explain(row, "maybe")
    with pytest.raises(InputError, match="One row"):
        model.explain(rows_of(TABLE, [1, 2]))


def test_a_regressor_explains_and_ranks(regressor):
    """Contributions add up to the prediction, and features that raise and lower it have names of columns."""
    row = {name: values[7] for name, values in TABLE.items()}
    found = regressor.explain(row)
    assert found.score == pytest.approx(regressor.predict([row])[0], rel=1e-9)
    top = regressor.top_features(5)
    assert all(feature.weight > 0 for feature in top["raise"])
    assert all(feature.weight < 0 for feature in top["lower"])
    names = regressor.get_feature_names_out()
    assert regressor.coef_.shape == (len(names),)
    assert regressor.transform(TABLE).shape == (len(Z), len(names))
    others = [name for name in names if not name.startswith("say:")]
    assert len(set(others)) == len(others)


def test_features_are_named_after_columns(classifier):
    """Numbers, bins, levels, indicators and words tell where they come from; what is missing is told once."""
    names = list(classifier.get_feature_names_out())
    assert {"age", "age is missing", "city=Rome", "member", "rooms", "when epoch_day", "say:good"} <= set(
        names
    )
    assert names.count("age is missing") == 1
    assert len(names) == classifier.coef_.shape[1]
    assert any(feature.name.startswith("say:") for feature in classifier.top_features()["yes"])


def test_the_model_inside_is_certified(classifier, regressor):
    """What verify proves again is the fit of the final model on the table's own matrix."""
    assert verify(classifier.model_, classifier.transform(TABLE), LABELS).relative_gap <= 2e-3
    assert verify(regressor.model_, regressor.transform(TABLE), Z).relative_gap <= 2e-4
    assert classifier.certificate_.converged
    assert regressor.certificate_.converged


def test_the_search_is_told_and_repeats_itself():
    """The plan names the choice and its score; the same seed gives the same model, on one thread or more."""
    table = {name: TABLE[name] for name in ("age", "income", "rooms", "city")}
    model = TableClassifier().fit(table, LABELS)
    assert [trial.recipe for trial in model.trials_[:2]] == [
        "columns scaled",
        "columns scaled, numbers beside 10 bins",
    ]
    assert len(model.trials_) == 2 + 2
    chosen = [
        t
        for t in model.trials_
        if t.strength == model.strength_ and model.plan_.startswith(f"{t.recipe}, strength")
    ]
    assert f"{chosen[0].score:.4f}" in model.plan_
    again = TableClassifier(n_threads=1).fit(table, LABELS)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert model.plan_ == again.plan_
    part = TableClassifier(search_bytes=2000, strengths=1.0).fit(table, LABELS)
    assert "of 240 rows" in part.plan_


def test_bins_are_chosen_where_a_line_does_not_do():
    """A class in the middle of a number's range is found by its bins, and by nothing else."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = (np.abs(x[:, 0]) < 0.7).astype(int)
    model = TableClassifier().fit(x[:400], y[:400])
    assert "bins" in model.plan_
    assert model.score(x[400:], y[400:]) > 0.9
    z = np.where(np.abs(x[:, 0]) < 0.7, 3.0, 1.0)
    assert TableRegressor().fit(x[:400], z[:400]).score(x[400:], z[400:]) > 0.7


def test_a_bin_for_each_value():
    """Every training value has a bin of its own, a new one falls to the nearest; many are quantiles."""
    values = {"x": [3.0, -1.0, 7.0, 3.0, 100.0]}
    vectorizer = TableVectorizer(numbers=Numbers(bins=EachValue())).fit(values)
    assert vectorizer.transform(values).toarray().argmax(axis=1).tolist() == [1, 0, 2, 1, 3]
    assert vectorizer.transform({"x": [-1e300, 0.9, 1.1, 54.0, 1e300]}).toarray().argmax(axis=1).tolist() == [
        0,
        0,
        1,
        3,
        3,
    ]
    many = {"x": np.arange(100.0)}
    ours, theirs = (
        TableVectorizer(numbers=Numbers(bins=kind(20))).fit(many) for kind in (EachValue, Quantiles)
    )
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_scaled_dates_have_no_unit():
    """Days and years less their mean over their deviation; a missing date is 0, and one date alone, too."""
    days = [dt.date(2020, 1, 1), None, dt.date(2022, 1, 1), dt.date(2021, 1, 1)]
    kinds = {"when": Dates(("year", "epoch_day"), scaled=True)}
    found = TableVectorizer(kinds).fit_transform({"when": days}).toarray()
    np.testing.assert_allclose(found[[0, 2, 3]][:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found[[0, 2, 3]][:, :2].std(axis=0), 1.0)
    np.testing.assert_array_equal(found[1], [0.0, 0.0, 1.0])
    assert not TableVectorizer(kinds).fit_transform({"when": days[:1] * 3}).toarray().any()


def test_a_held_out_label_does_not_reach_the_weights_of_words():
    """Permuted labels are learned no better than chance, which leaking naive-Bayes weights would be."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 3000, 12)) for _ in range(300)]
    y = rng.permutation(np.arange(300) % 2)
    model = TableClassifier(strengths=1.0).fit({"say": texts, "x": rng.normal(size=300)}, y)
    assert any("naive-Bayes" in trial.recipe for trial in model.trials_)
    assert all(abs(trial.score - 0.5) < 0.12 for trial in model.trials_)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_a_group_stay_together(seed):
    """No group is in the training and the test part of a fold, of labels and of numbers."""
    rng = np.random.default_rng(seed)
    groups = codes_of_groups(rng.choice(["a", "b", "c", "d", "e"], 60), 60)
    for folds in (
        folds_of_labels(rng.integers(0, 3, 60), groups, 4, seed),
        folds_of_numbers(rng.normal(size=60), groups, 4, seed),
    ):
        assert len(folds) >= 2
        for train, test in folds:
            assert not set(groups[train]) & set(groups[test])
            assert sorted([*train, *test]) == list(range(60))


@pytest.mark.parametrize("kind", [TableClassifier, TextClassifier, TableRegressor, TextRegressor])
def test_groups_are_held_out_whole_by_the_search(kind):
    """What tells groups apart, and nothing else, is worth nothing in a search that holds them out whole."""
    rng = np.random.default_rng(0)
    group = np.arange(200) % 40
    by_group = rng.permutation(np.arange(40) % 2)
    y = by_group[group]
    is_text = kind in (TextClassifier, TextRegressor)
    names = [f"group{g} writes this" for g in group]
    X = names if is_text else {"who": [name.split()[0] for name in names], "x": rng.normal(size=200)}
    score = lambda truth, found: float(np.mean(np.round(found) == truth))  # noqa: E731
    options = {"vectorizer": TextVectorizer()} if is_text else {}
    known = kind(scoring=score, **options).fit(X, y)
    unknown = kind(scoring=score, **options).fit(X, y, groups=group)
    assert max(trial.score for trial in known.trials_) > 0.95
    assert max(trial.score for trial in unknown.trials_) < 0.75
    with pytest.raises(InputError, match="groups must name"):
        kind().fit(X, y, groups=[1, 2])


def test_tables_that_are_hard_on_a_scale_are_learned():
    """Huge, tiny, constant, empty and gappy columns are no obstacle to a certificate or to a good model."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = {
        "huge": 1e300 * x,
        "tiny": 1e-300 * rng.normal(size=200),
        "offset": 1e9 + rng.normal(size=200),
        "constant": np.full(200, 1e18),
        "gaps": np.where(rng.random(200) < 0.9, np.nan, x),
        "none": np.full(200, np.nan),
        "ids": [f"id{k}" for k in range(200)],
    }
    y = x > 0.1
    model = TableClassifier().fit(table, y)
    assert model.certificate_.converged
    assert model.score(table, y) > 0.95
    assert model.kinds_["none"] == "empty"
    z = TableRegressor().fit(table, x)
    assert z.certificate_.converged
    assert z.score(table, x) > 0.95


def test_kinds_are_taken_as_they_are_asked_for():
    """A word or an object settles a column's kind; "drop" leaves it out, also when predicting."""
    table = {"zip": [1, 2, 3, 2] * 20, "age": np.arange(80.0), "name": ["a", "b"] * 40}
    y = [0, 1, 0, 1] * 20
    kinds = {"zip": "category", "age": Numbers(bins=Quantiles(4)), "name": "drop"}
    model = TableClassifier(kinds=kinds, strengths=1.0).fit(table, y)
    assert model.kinds_ == {"zip": "category", "age": "number", "name": "drop"}
    assert {"zip=1", "zip=2", "zip=3"} < set(model.get_feature_names_out())
    assert not any("name" in name for name in model.get_feature_names_out())
    assert model.plan_.endswith("nothing was left to choose.")
    del table["name"]
    assert model.score(table, y) > 0.9


@pytest.mark.parametrize(
    ("learner", "kind"),
    [(LinearClassifier(Log(), L2(0.3)), TableClassifier), (Ridge(alpha=3.0), TableRegressor)],
)
def test_a_learner_of_ones_own(learner, kind):
    """A given learner is used as it is."""
    y = LABELS if kind is TableClassifier else Z
    model = kind(learner=learner, n_folds=2).fit(TABLE, y)
    assert model.model_.get_params() == learner.get_params()
    assert "the given learner" in model.plan_
    assert cross_val_score(clone(model), pd.DataFrame(TABLE), y, cv=2).mean() > 0.5


def test_a_learner_without_linear_scores_is_used_too():
    """Naive Bayes of numbers fits a table, predicts and gives probabilities."""
    table = {name: TABLE[name] for name in ("age", "rooms", "income")}
    model = TableClassifier(learner=GaussianNB(), n_folds=2).fit(table, LABELS)
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
def test_probabilities_agree_with_labels(y):
    """They add up to 1 and the largest is the predicted label's; a pickle gives the same bits."""
    model = TableClassifier(n_folds=2, strengths=1.0).fit(TABLE, y)
    p = model.predict_proba(TABLE)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(TABLE))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(TABLE), p)
    assert str(again.explain([{name: values[0] for name, values in TABLE.items()}]))


def test_a_stream_goes_on_after_a_fit():
    """partial_fit learns with the columns and weights of the fit; before one it is refused with advice."""
    first, later = rows_of(TABLE, range(160)), rows_of(TABLE, range(160, 240))
    model = TableClassifier(n_folds=2, strengths=1.0).fit(first, LABELS[:160])
    before, names = model.coef_.copy(), list(model.get_feature_names_out())
    model.partial_fit(later, LABELS[160:])
    assert list(model.get_feature_names_out()) == names
    assert not np.array_equal(model.coef_, before)
    assert not hasattr(model, "certificate_")
    assert not hasattr(model, "plan_")
    assert model.score(TABLE, LABELS) > 0.8
    model.partial_fit(rows_of(TABLE, range(3)), ["perhaps"] * 3)
    assert list(model.classes_) == ["no", "perhaps", "yes"]
    assert model.decision_function(later).shape == (80, 3)
    numbers = TableRegressor(n_folds=2, strengths=1.0).fit(first, Z[:160]).partial_fit(later, Z[160:])
    assert numbers.score(TABLE, Z) > 0.5
    with pytest.raises(ParameterError, match="OnlineClassifier"):
        TableClassifier().partial_fit(first, LABELS[:160])
    with pytest.raises(ParameterError, match="TextRegressor"):
        TableRegressor().partial_fit(first, Z[:160])
    model.kinds = {"age": "category"}
    with pytest.raises(ParameterError, match="kinds or learner was changed"):
        model.partial_fit(later, LABELS[160:])


def test_a_sparse_matrix_is_a_table_of_numbers():
    """Zeros stay unstored, columns are scaled, one row is predicted and explained as among many."""
    rng = np.random.default_rng(0)
    X = sp.random(300, 40, 0.1, random_state=0, format="csr") @ sp.diags(10.0 ** rng.integers(-3, 4, 40))
    X = sp.csr_matrix(X)
    z = (X > 0) @ rng.normal(size=40)
    y = np.where(z > np.median(z), 1, -1)
    model = TableClassifier().fit(X, y)
    assert model.transform(X).nnz == X.nnz
    assert model.score(X, y) > 0.8
    np.testing.assert_array_equal(model.predict(X.toarray()), model.predict(X))
    found = model.explain(X[3])
    assert found.score == pytest.approx(abs(model.decision_function(X[3])[0]))
    assert found.columns[0][0].startswith("x")
    assert TableRegressor().fit(X, z).score(X, z) > 0.7
    wide = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(300, 5000))
    assert len(TableClassifier(strengths=1.0).fit(wide, y).trials_) == 0
    with pytest.raises(InputError, match="expecting 40 features"):
        model.predict(wide)
    with pytest.raises(ParameterError, match="sparse matrix"):
        TableClassifier(kinds={"x0": "category"}).fit(X, y)


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: TableClassifier().fit({"a": [1, 2, 3]}, [0, 1]), "3 rows, but 2 labels"),
        (lambda: TableClassifier().fit({"a": []}, []), "no labels"),
        (lambda: TableClassifier().fit({"a": [1, 2]}, ["x", "x"]), "at least 2 classes"),
        (lambda: TableClassifier().fit({"a": [None, None]}, [0, 1]), "anything to learn from"),
        (lambda: TableClassifier().fit({"a": [1, np.inf]}, [0, 1]), "row 1"),
        (lambda: TableClassifier().fit({"a": [1, 2]}, None), "requires y"),
        (lambda: TableClassifier().fit({"a": [1, 2]}, [0.5, 1.5]), "continuous"),
        (lambda: TableRegressor().fit({"a": [1, 2]}, [1.0, np.nan]), "row 1"),
        (lambda: TableRegressor().fit({"a": [1, 2]}, ["x", "y"]), "must be numbers"),
        (lambda: TableRegressor().fit([[1], [2]], [[1, 2], [2, 3]]), "1d array"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(fit, words):
    """What was needed, what came, where."""
    with pytest.raises(ValueError, match=words):
        fit()


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": "number"},
        {"kinds": {"a": "words"}},
        {"kinds": {"b": "number"}},
        {"strengths": [-1.0]},
        {"strengths": []},
        {"n_folds": 1},
        {"search_bytes": 0},
        {"random_state": "x"},
    ],
)
def test_options_that_cannot_be(options):
    """They are refused before anything is learned."""
    with pytest.raises(ParameterError):
        TableClassifier(**options).fit({"a": [1, 2, 3, 4]}, [0, 1, 0, 1])


# The search deals rows into folds, which a repeated row changes, and scales come from all rows alike.
_DEALT = "rows are dealt into folds and scaled before they are weighed"
EXPECTED = {
    "check_estimators_partial_fit_n_features": "a stream begins with a fit, which learns the columns",
    "check_n_features_in_after_fitting": "a stream begins with a fit, which learns the columns",
} | dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    _DEALT,
)


@parametrize_with_checks(
    [TableClassifier(n_folds=2, strengths=1.0), TableRegressor(n_folds=2, strengths=1.0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator, check):
    """An estimator with fewer trials than usual obeys scikit-learn's conventions."""
    check(estimator)


def test_a_given_svm_has_probabilities_from_the_search():
    """A learner without probabilities of its own gets them by a temperature, where rows were held out."""
    table = {name: TABLE[name] for name in ("age", "rooms", "city")}
    model = TableClassifier(learner=LinearSVC(), n_folds=2).fit(table, LABELS)
    p = model.predict_proba(table)
    assert model.model_.temperature_ != 1.0
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(table))
