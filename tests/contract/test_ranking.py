"""What RankSVM promises beside its optimum: refusals, budgets, groups of any kind, files."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import lineal
from lineal import ColumnScaler, RankSVM
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.evaluation import evaluate_ranking
from lineal.objective import Hinge, Log, Squared

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.arange(12) % 3
GROUPS = np.repeat(["a", "b"], 6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": 0}, "C must be"),
        ({"C": np.inf}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"tol": -1}, "tol must be"),
        ({"loss": Squared()}, "loss must be"),
        ({"loss": "hinge"}, "loss must be"),
        ({"weighting": "rows"}, "weighting must be"),
        ({"max_epochs": 0}, "max_epochs must be"),
        ({"max_seconds": 0}, "max_seconds must be"),
        ({"callbacks": [1]}, "callbacks must be"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_options_are_refused_before_data(options, words):
    """What cannot be is refused by name before X is looked at."""
    with pytest.raises(ParameterError, match=words):
        lineal.RankSVM(**options).fit(object(), [1])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"y": np.zeros(12)}, "no pair to rank"),
        ({"groups": np.arange(12)}, "no pair to rank"),
        ({"groups": GROUPS[:5]}, "one query for each of 12 rows"),
        ({"groups": [None, *GROUPS[1:]]}, "no query at row 0"),
        ({"groups": [np.nan, *range(11)]}, "no query at row 0"),
        ({"y": np.eye(12)}, "one grade for each row"),
        ({"y": [np.nan, *Y[1:]]}, "NaN"),
        ({"y": ["a"] * 12}, "numbers"),
        ({"sample_weight": -np.ones(12)}, ">= 0"),
        ({"sample_weight": np.where(Y == 2, 1.0, 0.0)}, "no pair to rank"),
        ({"query_weight": {"c": 1.0}}, "not among the groups"),
        ({"query_weight": {"a": -1.0}}, ">= 0"),
        ({"query_weight": {"a": 0.0, "b": 0.0}}, "no pair to rank"),
    ],
    ids=str,
)
def test_data_are_refused_with_what_to_do(data, words):
    """Data that hold no ranking are refused, and said so."""
    told = {"y": Y, "groups": GROUPS} | data
    with pytest.raises(InputError, match=words):
        lineal.RankSVM().fit(X, **told)


def test_pairs_need_one_shape_and_scores_need_pairs():
    """Explicit pairs come in two matrices of one shape; a score of nothing is refused."""
    with pytest.raises(InputError, match="same shape"):
        lineal.RankSVM().fit_pairs(X, X[:5])
    model = lineal.RankSVM().fit(X, Y, groups=GROUPS)
    with pytest.raises(InputError, match="no pair to judge"):
        model.score(X, np.zeros(12))
    with pytest.raises(ParameterError, match="groups"):
        lineal.verify(lineal.Ridge().fit(X, Y), X, Y, groups=GROUPS)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b"],
        [1, 2],
        [1.5, 2.5],
        [True, False],
        [b"a", b"b"],
        ["a", 1],
        [np.datetime64("2020"), np.datetime64("2021")],
    ],
    ids=str,
)
def test_queries_have_names_of_any_kind(names):
    """What a query is called changes nothing, and its rows may stand anywhere."""
    first = lineal.RankSVM(tol=1e-10).fit(X, Y, groups=GROUPS)
    groups = np.array(
        [names[g == "b"] for g in GROUPS], dtype=object if "a" in names and 1 in names else None
    )
    again = lineal.RankSVM(tol=1e-10).fit(X, Y, groups=groups)
    np.testing.assert_allclose(again.coef_, first.coef_, rtol=1e-4, atol=1e-6)
    assert sorted(again.rank(X, groups)[:6]) == [1, 2, 3, 4, 5, 6]


def test_a_fit_that_ends_early_warns_and_tells_its_gap():
    """Budgets and callbacks return the best so far, with its certificate."""
    with pytest.warns(NotCertifiedWarning, match="max_epochs=2"):
        model = lineal.RankSVM(tol=1e-12, max_epochs=2).fit(X, Y)
    assert model.certificate_.gap >= 0
    assert model.certificate_.epochs == model.trace_[-1].epoch == 2
    with pytest.warns(NotCertifiedWarning, match="callback"):
        lineal.RankSVM(tol=1e-12, callbacks=[lambda point: point.epoch >= 3]).fit(X, Y)
    with pytest.warns(NotCertifiedWarning, match="max_seconds"):
        lineal.RankSVM(tol=1e-12, max_seconds=1e-9).fit(X, Y)


@pytest.mark.parametrize("loss", [Hinge(), Log()], ids=str)
def test_a_warm_start_begins_where_the_last_fit_ended(loss):
    """The same problem again needs next to no steps, and another C fewer than a cold start."""
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(300, 5)), rng.integers(0, 10, size=300)
    grades = np.digitize(rows[:, 0] + rng.normal(size=300), [0, 1])
    model = lineal.RankSVM(1.0, loss=loss, tol=1e-6, warm_start=True).fit(rows, grades, groups=queries)
    cold = model.n_iter_
    assert model.fit(rows, grades, groups=queries).n_iter_ <= max(2, cold // 2)
    assert model.certificate_.converged


def test_a_file_keeps_scores_and_proof(tmp_path):
    """A stored model scores to the bit as the learner does, and a thawed one can be verified."""
    model = lineal.RankSVM(0.5, loss=Log()).fit(X, Y, groups=GROUPS)
    lineal.save(model, tmp_path / "ranking.lineal")
    assert np.array_equal(lineal.load(tmp_path / "ranking.lineal").predict(X), model.predict(X))


def test_a_ranking_is_judged_by_the_order_of_its_rows():
    """evaluate takes the measures of rankings by query, alone and in a pipeline; compare says what to do."""
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(200, 3)), rng.integers(0, 20, 200)
    y = np.digitize(X @ [1.0, -0.5, 0.0] + 0.5 * rng.normal(size=200), [-0.5, 1.0])
    model = RankSVM(C=0.1).fit(X, y, groups=queries)
    found = lineal.evaluate(model, X, y, groups=queries)
    wanted = evaluate_ranking(model.predict(X), y, queries)
    assert found.to_dict() == wanted.to_dict()
    assert found.task == "ranking"
    assert "20 queries" in repr(found)
    by_query = found.per_query["ndcg"]
    assert np.mean(by_query) == pytest.approx(found["ndcg"].value)
    lower = lineal.evaluate(model, X, y - 1, groups=queries)
    assert lower["ndcg"] == found["ndcg"]
    assert "grades begin at -1, which is worth 0 here" in lower.notes
    one = evaluate_ranking(model.predict(X)[queries == 3], y[queries == 3], queries[queries == 3])
    assert by_query[3] == pytest.approx(one["ndcg"].value)
    piped = make_pipeline(ColumnScaler(), model)
    piped.steps[0][1].fit(X)
    assert lineal.evaluate(piped, X, y, groups=queries).task == "ranking"
    with pytest.raises(InputError, match="pass groups=, the query of each row"):
        lineal.evaluate(model, X, y)
    with pytest.raises(ParameterError, match="no sample_weight"):
        lineal.evaluate(model, X, y, groups=queries, sample_weight=np.ones(200))
    with pytest.raises(ParameterError, match="permutation_test"):
        lineal.compare({"a": model, "b": model}, X_test=X, y_test=y, groups=queries)


def test_rankings_without_a_fault_are_doubted():
    """Where every query scores the same, nothing says how far another one may be."""
    y, queries = np.tile([2, 1, 0], 30), np.repeat(np.arange(30), 3)
    assert "every query scores the same" in evaluate_ranking(y, y, queries).doubts["ndcg"]


def test_files_of_queries_are_read_into_groups(tmp_path):
    """SVMrank's qid: comes through as the groups of a fit."""
    from lineal.data.records import read_records

    lines = [
        f"{y} qid:{7 + (g == 'b')} 1:{a!r} 2:{b!r} # row"
        for y, g, (a, b) in zip(Y, GROUPS, X.tolist(), strict=True)
    ]
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n")
    rows = read_records(tmp_path / "train.txt").rows
    found = lineal.RankSVM(tol=1e-10).fit(rows.to_scipy(), rows.labels, groups=rows.queries)
    wanted = lineal.RankSVM(tol=1e-10).fit(X, Y, groups=GROUPS)
    np.testing.assert_allclose(found.coef_, wanted.coef_, rtol=1e-6)
