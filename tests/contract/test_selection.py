"""What rankings and selectors promise, and what they refuse before any work is done."""

import dataclasses
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier as TheirNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lineal
from lineal import (
    BackwardElimination,
    FloatingSelection,
    ForwardSelection,
    LinearRegression,
    LogisticRegression,
    RecursiveElimination,
    Ridge,
    SelectBest,
    TextVectorizer,
    rank_features,
)
from lineal.errors import InputError, ManyClassesWarning, ParameterError
from lineal.selection.measures import MEASURES

rng = np.random.default_rng(0)
X = rng.poisson(0.8, size=(40, 5)).astype(float)
Y = np.where(X[:, 1] + rng.normal(size=40) > 1, "yes", "no")
SEARCHES = [ForwardSelection, BackwardElimination, FloatingSelection, RecursiveElimination]
EVERY_SEARCH = pytest.mark.parametrize("kind", SEARCHES, ids=lambda kind: kind.__name__)


# ---- rankings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_a_ranking_is_a_record(measure):
    """Columns each once, scores falling, p-values of tests between 0 and 1; frozen, and it prints."""
    ranking = rank_features(X, Y, measure)
    assert sorted(ranking.columns) == list(range(5))
    assert (np.diff(ranking.scores) <= 1e-15).all()
    if MEASURES[measure].is_test:
        assert ((ranking.p_values >= 0) & (ranking.p_values <= 1)).all()
    else:
        assert ranking.p_values is None
    assert str(ranking).startswith(f"{measure} of 5 columns in 40 rows\n   1  x")
    assert ranking.top(2).columns.tolist() == ranking.columns[:2].tolist()
    with pytest.raises(dataclasses.FrozenInstanceError):
        ranking.scores = 0


def test_long_rankings_are_printed_in_part():
    """Twenty columns, and how many more there are."""
    lines = str(rank_features(rng.normal(size=(30, 33)), np.arange(30) % 2)).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "      and 13 more"


def test_columns_keep_their_names():
    """From a data frame, a list, a vectoriser, and a pipeline; hashed columns have names too."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert rank_features(frame, Y).names[0] == "b"
    assert rank_features(X, Y, names=list("vwxyz")).names[0] == "w"
    assert rank_features(X, Y).named(list("vwxyz")).names[0] == "w"
    texts = ["good film", "good cast", "bad film", "bad cast"] * 3
    labels = [1, 1, 0, 0] * 3
    for vectorizer in (TextVectorizer(), TextVectorizer(n_features=2**10)):
        ranking = rank_features(vectorizer.fit_transform(texts), labels, k=2, names=vectorizer)
        assert set(ranking.names) == {"good", "bad"}
    model = make_pipeline(TextVectorizer(), SelectBest("chi2", k=2), LogisticRegression()).fit(texts, labels)
    assert set(model[:-1].get_feature_names_out()) == {"good", "bad"}
    assert model.predict(["a good one", "bad"]).tolist() == [1, 0]
    assert set(model[1].ranking_.named(model[0]).top(2).names) == {"good", "bad"}


def test_classes_and_numbers_are_told_apart_and_can_be_told():
    """Fractions are numbers, whole numbers classes, unless the caller knows better."""
    assert rank_features(X, X[:, 1] + 0.5, "pearson").columns[0] == 1
    whole = np.arange(40)
    by_number = rank_features(X, whole, "pearson", target="numbers")
    assert by_number.scores[0] == pytest.approx(max(abs(np.corrcoef(x, whole)[0, 1]) for x in X.T))
    assert rank_features(X, whole + 0.5, "mutual_information", target="classes").scores[0] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "beauty"}, "measure must be one of 'mutual_information'"),
        ({"k": 6}, "k=6 columns were asked for, but X has 5"),
        ({"k": 0}, "k must be a whole number >= 1"),
        ({"k": True}, "k must be a whole number >= 1"),
        ({"target": "words"}, "target must be one of 'auto'"),
        ({"max_values": 1}, "max_values must be a whole number >= 2"),
        ({"names": "abcde"}, "names must be a sequence"),
        ({"n_threads": 0}, "n_threads must be"),
    ],
)
def test_impossible_options(options, message):
    """They are refused with what is possible."""
    with pytest.raises(ParameterError, match=message):
        rank_features(X, Y, **options)


@pytest.mark.parametrize(
    ("data", "labels", "options", "message"),
    [
        (X - 1, Y, {"measure": "chi2"}, "needs values >= 0, such as counts, but column"),
        (np.where(X == 3, np.nan, X), Y, {}, "NaN or infinity, first at row"),
        (np.where(X == 3, np.inf, X), Y, {"measure": "t"}, "NaN or infinity"),
        (X, ["same"] * 40, {}, "at least 2 classes"),
        (X, Y, {"sample_weight": (Y == "yes") * 1.0}, "at least 2 classes"),
        (X, [1.5] * 40, {}, "at least 2 classes"),
        (X, Y[:-1], {}, "inconsistent numbers of samples"),
        (X, None, {}, "rank_features requires y"),
        (X, X[:, 1] + 0.5, {"measure": "t"}, "'t' compares classes, but y are numbers"),
        (X, Y, {"names": list("abc")}, "names has 3 names for 5 columns"),
        (X, Y, {"sample_weight": -np.ones(40)}, "finite and >= 0"),
        (["some", "texts"], [0, 1], {}, "TextVectorizer"),
        (X[:, 0], Y, {}, "table of rows and columns"),
        (X, np.where(Y == "yes", 0.5, np.nan), {"target": "classes"}, "NaN or infinity at row"),
        (X[:2], ["a", "b"], {"measure": "t"}, "total weight above 2"),
    ],
)
def test_impossible_data(data, labels, options, message):
    """They are refused with what was needed."""
    with pytest.raises(InputError, match=message):
        rank_features(data, labels, **options)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_data_are_refused(shape):
    """No rows, or no columns."""
    with pytest.raises(ValueError, match=r"0 sample|0 feature|at least"):
        rank_features(np.empty(shape), np.arange(shape[0]))


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_that_say_nothing(measure):
    """Constants and empty columns score 0, with p = 1, whatever their value; sparse ones too."""
    quiet = np.column_stack([X, np.full(40, 0.1), np.zeros(40), np.full(40, 1e9)])
    for table in (quiet, sp.csr_array(quiet)):
        ranking = rank_features(table, Y, measure)
        for column in (5, 6, 7) if measure != "chi2" else (6,):  # chi2 of sums sees class sizes in constants
            place = ranking.columns.tolist().index(column)
            assert ranking.scores[place] == pytest.approx(0.0, abs=1e-12)
            if ranking.p_values is not None:
                assert ranking.p_values[place] == pytest.approx(1.0)


# ---- filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_sparse_stays_sparse_and_comes_back(layout):
    """The kept columns in their order, CSR for sparse; the way back puts them where they were."""
    best = SelectBest(k=3).fit(layout(X), Y)
    small = best.transform(layout(X))
    assert sp.issparse(small) == sp.issparse(layout(X))
    if sp.issparse(small):
        assert small.format == "csr"
        assert best.inverse_transform(small).format == "csr"
    plain = small.toarray() if sp.issparse(small) else small
    np.testing.assert_array_equal(plain, X[:, best.get_support()])
    back = best.inverse_transform(small)
    back = back.toarray() if sp.issparse(back) else back
    np.testing.assert_array_equal(back, np.where(best.get_support(), X, 0))


def test_how_many_are_kept():
    """k, a share, all; a tenth and at least one by default; alpha by p-values."""
    assert SelectBest(k=2).fit(X, Y).get_support().sum() == 2
    assert SelectBest(share=0.6).fit(X, Y).get_support().sum() == 3
    assert SelectBest(k="all").fit(X, Y).get_support().all()
    assert SelectBest().fit(X, Y).get_support(indices=True).tolist() == [1]
    by_p = SelectBest("t", alpha=0.1).fit(X, Y)
    np.testing.assert_array_equal(by_p.get_support(), by_p.p_values_ <= 0.1)
    greedy = SelectBest("conditional_mutual_information", k=2).fit(X, Y)
    assert sorted(greedy.ranking_.columns) == greedy.get_support(indices=True).tolist()
    np.testing.assert_array_equal(~np.isnan(greedy.scores_), greedy.support_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 2, "share": 0.5}, "one of k, share and alpha, got k and share"),
        ({"k": 9}, "k=9 columns were asked for, but X has 5"),
        ({"k": "most"}, "k must be a whole number >= 1, 'all' or None"),
        ({"share": 1.5}, "share must lie in"),
        ({"alpha": 0.1}, "alpha needs a measure with p-values, one of 'chi2'"),
        ({"measure": "t", "alpha": 0.1, "correction": "hope"}, "correction must be one of"),
        ({"k": 2, "correction": "fdr"}, "is for alpha"),
        ({"measure": "beauty"}, "measure must be one of"),
    ],
)
def test_impossible_filters(options, message):
    """They are refused."""
    with pytest.raises(ParameterError, match=message):
        SelectBest(**options).fit(X, Y)


def test_no_significant_column_is_an_error():
    """Nothing to keep is said, with the least p-value."""
    with pytest.raises(InputError, match="no column has a p-value of at most 1e-09 by t"):
        SelectBest("t", alpha=1e-9).fit(X, Y)


# ---- searches -------------------------------------------------------------------------------------


@EVERY_SEARCH
def test_layouts_names_and_the_learner_within(kind):
    """Sparse and dense data give the same columns; names are kept; learner_ predicts from what is kept."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = kind(LogisticRegression(tol=1e-8), cv=3, n_columns=2).fit(frame, Y)
    sparse = kind(LogisticRegression(tol=1e-8), cv=3, n_columns=2).fit(sp.csr_matrix(X), Y)
    np.testing.assert_array_equal(search.support_, sparse.support_)
    assert search.get_feature_names_out().tolist() == list(np.array(list("abcde"))[search.support_])
    assert search.get_support().sum() == 2
    small = sparse.transform(sp.csr_matrix(X))
    assert small.format == "csr"
    assert set(sparse.learner_.predict(small)) <= {"yes", "no"}
    assert "x0" in str(sparse.history_)
    assert "a" in str(search.history_).split("change")[1]


@EVERY_SEARCH
@pytest.mark.parametrize("n_columns", range(1, 6))
@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_number_of_columns_is_the_one_asked_for(kind, n_columns, step):
    """However many come and go at a time, and the last step of the history leaves them."""
    search = kind(LinearRegression(), n_columns=n_columns, step=step, cv=2).fit(X, X[:, 4] - 2 * X[:, 1])
    assert search.support_.sum() == len(search.columns_) == n_columns
    if kind is not RecursiveElimination and n_columns < 5:
        assert search.history_[-1].n_columns == n_columns
        assert search.stopped_.startswith(f"{n_columns} columns are ")


@EVERY_SEARCH
@pytest.mark.parametrize("cv", [3, GroupKFold(3)], ids=str)
@pytest.mark.parametrize("target", [Y, X[:, 1] + 0.5 * rng.normal(size=40)], ids=["classes", "numbers"])
def test_groups_are_held_out_whole(kind, cv, target):
    """What is scored has no row of a group that was learnt from."""
    groups = np.arange(40) // 4
    met = []

    class Watching(Ridge if target is not Y else LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.rows_ = X[:, -1]
            return super().fit(X, y, sample_weight)

    def apart(model, X, y):
        known, scored = (set(groups[rows.astype(int)].tolist()) for rows in (model.rows_, X[:, -1]))
        met.append((len(scored), known & scored))
        return 0.0

    alone = np.arange(40.0)[:, None]  # the numbers of rows are all there is to choose from
    kind(Watching(), cv=cv, scoring=apart).fit(alone, target, groups=[("day", k) for k in groups.tolist()])
    assert met
    assert all(scored and not both for scored, both in met)
    with pytest.raises(InputError, match="groups contains NaN or a null, first at row 0"):
        kind(cv=cv).fit(X, target, groups=[np.nan, *groups[1:]])
    if cv == 3:
        with pytest.raises(InputError, match="3 folds need as many groups, got 2"):
            kind(cv=cv).fit(X, target, groups=np.arange(40) % 2)
    else:
        with pytest.raises(InputError, match="cannot split 40 rows"):
            kind(cv=cv).fit(X, target)


@EVERY_SEARCH
def test_warm_and_cold_starts_end_alike(kind):
    """Where fits begin changes nothing but time, at a tight tolerance, with weights of rows too."""
    s = rng.integers(1, 4, size=40)
    warm, cold = (
        kind(LogisticRegression(tol=1e-9), cv=3, warm_start=is_warm).fit(X, Y, s) for is_warm in (True, False)
    )
    np.testing.assert_array_equal(warm.columns_, cold.columns_)
    np.testing.assert_allclose(warm.history_.scores, cold.history_.scores, atol=1e-9)


@EVERY_SEARCH
def test_candidates_come_from_a_filter(kind):
    """Only the best columns by the measure are tried; the others are not kept."""
    wide = np.column_stack([X, rng.normal(size=(40, 30))])
    search = kind(cv=2, candidates=3, measure="t", n_columns=2).fit(wide, Y)
    expected = np.sort(rank_features(wide, Y, "t", k=3).columns)
    np.testing.assert_array_equal(search.candidates_, expected)
    assert set(search.columns_) <= set(expected)


@pytest.mark.parametrize("kind", [ForwardSelection, BackwardElimination])
def test_any_learner_judges(kind):
    """scikit-learn's learners, pipelines, and any scoring."""
    for learner in (TheirNeighbors(3), make_pipeline(StandardScaler(), TheirLogisticRegression())):
        search = kind(learner, n_columns=2, cv=2, scoring="balanced_accuracy").fit(X, Y)
        assert search.get_support().sum() == 2
    with pytest.raises(InputError, match="has no weights of rows"):
        kind(TheirNeighbors(3)).fit(X, Y, np.ones(40))


def test_rows_that_are_scored_have_no_part_in_their_candidates():
    """On noise the held-out score of an elimination among the best of many columns is that of guessing."""
    noise = np.random.default_rng(0)
    scores = []
    for _ in range(6):
        wide, coins = noise.normal(size=(60, 300)), np.arange(60) % 2
        search = RecursiveElimination(candidates=4, measure="t", step=3).fit(wide, coins)
        scores.append(search.history_[0].score)
    assert np.mean(scores) < 0.65


@EVERY_SEARCH
def test_labels_of_several_types_can_be_ranked_and_searched(kind):
    """Labels that cannot be compared are classes like others, for the filter too."""
    mixed = np.array([1 if label == "yes" else "one" for label in Y], dtype=object)
    search, plain = (kind(cv=2, candidates=3, n_columns=2).fit(X, y) for y in (mixed, Y))
    np.testing.assert_array_equal(search.columns_, plain.columns_)


@EVERY_SEARCH
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_scores_that_are_no_numbers_are_refused(kind):
    """One held-out row has no R^2: NaN compares with nothing, so it is no score."""
    with pytest.raises(InputError, match=r"NaN on 1 rows.*fewer folds"):
        kind(Ridge(), cv=5).fit(X[:5], np.arange(5) / 3)


@EVERY_SEARCH
def test_a_fold_without_a_class_is_told_of(kind):
    """A score that scikit-learn does not have there is refused with advice; the library's own has one."""
    rare = np.where(np.arange(40) % 14 == 0, "rare", "usual")
    with pytest.raises(InputError, match=r"cannot be scored on a fold of 8 rows.*Use fewer folds"):
        kind(LogisticRegression(), scoring="neg_log_loss").fit(X, rare)
    assert np.isfinite(kind(LogisticRegression(), scoring="log_loss").fit(X, rare).score_)


def test_many_whole_numbers_are_classes_with_a_warning():
    """More than 20, and than a fifth of the rows, are told of, unless someone says what they are."""
    wide = rng.normal(size=(60, 3))
    ages = np.arange(60) % 30 + 20
    with pytest.warns(ManyClassesWarning, match=r"30 different whole numbers in 60 rows.*target='numbers'"):
        rank_features(wide, ages)
    with pytest.warns(ManyClassesWarning, match="pass a regressor"):
        RecursiveElimination(n_columns=1).fit(wide, ages.astype(float))
    rank_features(wide, ages, target="classes")
    rank_features(wide, ages, target="numbers")
    rank_features(wide, ages % 20)
    RecursiveElimination(Ridge(), n_columns=1).fit(wide, ages)
    rank_features(rng.normal(size=(200, 3)), np.arange(200) % 40)


@EVERY_SEARCH
def test_functions_score_with_weights_if_they_ask_for_them(kind):
    """A function of three arguments is called with three, one with sample_weight is given the weights."""
    s = np.arange(1.0, 41.0)
    met = []

    def plain(model, X, y):
        return float(np.mean(model.predict(X) == y))

    def weighted(model, X, y, sample_weight=None):
        met.append(sample_weight)
        return float(np.average(model.predict(X) == y, weights=sample_weight))

    kind(cv=2, scoring=plain).fit(X, Y, s)
    search = kind(cv=2, scoring=weighted).fit(X, Y, s)
    own = kind(cv=2).fit(X, Y, s)
    assert all(one is not None for one in met)
    np.testing.assert_allclose(search.history_.scores, own.history_.scores)


@EVERY_SEARCH
def test_a_rare_class_does_not_lower_the_number_of_folds(kind):
    """Two rows of a class are held out by two of the five folds that were asked for."""
    rare = np.where(np.arange(40) < 2, "rare", Y)
    assert {len(step.fold_scores) for step in kind(cv=5).fit(X, rare).history_} == {5}


@EVERY_SEARCH
def test_rows_of_weight_zero_are_not_there(kind):
    """Neither in fits nor in folds."""
    s = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    options = {"cv": 3, "random_state": 5}
    learner = LogisticRegression(tol=1e-9)
    weighted = kind(learner, **options).fit(X, Y, s)
    without = kind(learner, **options).fit(X[s > 0], Y[s > 0])
    np.testing.assert_array_equal(weighted.columns_, without.columns_)
    np.testing.assert_allclose(weighted.history_.scores, without.history_.scores, atol=1e-9)


@EVERY_SEARCH
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_columns": 6}, "n_columns=6 were asked for, but X has 5"),
        ({"n_columns": 0}, "n_columns must be a whole number >= 1"),
        ({"learner": LogisticRegression}, "needs a learner with fit"),
        ({"learner": "svm"}, "needs a learner with fit"),
        ({"scoring": "goodness"}, "scoring='goodness' cannot be used"),
        ({"cv": 1}, "cv must be a number of folds >= 2"),
        ({"candidates": 2, "n_columns": 3}, "candidates=2 are fewer than"),
        ({"measure": "beauty"}, "measure must be one of"),
        ({"step": 0}, "step must be a whole number"),
        ({"random_state": "now"}, "random_state must be"),
    ],
)
def test_impossible_searches(kind, options, message):
    """They are refused before any fit."""
    with pytest.raises(ParameterError, match=message):
        kind(**options).fit(X, Y)


@EVERY_SEARCH
def test_impossible_data_of_searches(kind):
    """One class, a class too rare to be held out, NaN, and no y."""
    with pytest.raises(InputError, match="only one class: 'same'"):
        kind().fit(X, ["same"] * 40)
    with pytest.raises(InputError, match="2 rows of every class"):
        kind().fit(X, ["rare", *["common"] * 39])
    with pytest.warns(ManyClassesWarning), pytest.raises(InputError, match="pass a regressor"):
        kind().fit(X, np.arange(40))
    for cv in ("five", [(np.arange(20), np.arange(20, 41))]):
        with pytest.raises(InputError, match="cannot split 40 rows"):
            kind(cv=cv).fit(X, Y, np.ones(40))
    with pytest.raises(InputError, match="NaN or infinity"):
        kind().fit(np.where(X == 3, np.nan, X), Y)
    with pytest.raises(InputError, match="requires y"):
        kind().fit(X, None)


@pytest.mark.parametrize("kind", [SelectBest, *SEARCHES], ids=lambda kind: kind.__name__)
def test_a_fit_that_is_refused_changes_nothing(kind):
    """What was fitted before it goes on as it was."""
    selector = kind(**({"k": 2} if kind is SelectBest else {"cv": 2})).fit(X, Y)
    before = selector.transform(X)
    with pytest.raises(InputError):
        selector.fit(X[:, :3], Y[:-1])
    np.testing.assert_array_equal(selector.transform(X), before)


def test_elimination_needs_weights():
    """A learner without coef_ is refused with one that would do."""
    with pytest.raises(InputError, match=r"needs a learner with coef_.*BackwardElimination"):
        RecursiveElimination(lineal.KNeighborsClassifier(), n_columns=2).fit(X, Y)


def test_ctrl_c_keeps_the_best_so_far():
    """During the third step the columns of two steps remain; before the first there is nothing to keep."""
    numbers = X @ [1.0, 2.0, 3.0, 4.0, 5.0]

    def interrupted(after):
        calls = []

        def criterion(model, data, y):
            calls.append(0)
            if len(calls) == after:
                signal.raise_signal(signal.SIGINT)
            return model.score(data, y)

        return ForwardSelection(LinearRegression(), criterion=criterion)

    search = interrupted(5 + 4 + 2).fit(X, numbers)
    assert search.stopped_.startswith("interrupted")
    assert len(search.columns_) == len(search.history_) == 2
    assert search.transform(X).shape == (40, 2)
    with pytest.raises(KeyboardInterrupt):
        interrupted(2).fit(X, numbers)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class InterruptedRegression(LinearRegression):
    """Ctrl-C comes during its third fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        """Counts."""
        type(self).fits += 1
        if type(self).fits == 3:
            signal.raise_signal(signal.SIGINT)
        return super().fit(X, y, sample_weight)


@pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")
def test_ctrl_c_ranks_what_is_left_by_its_weights():
    """An elimination that is broken off still ranks every column."""
    InterruptedRegression.fits = 0
    search = RecursiveElimination(InterruptedRegression(), n_columns=2).fit(X, X @ [1.0, 2.0, 3.0, 4.0, 5.0])
    assert search.stopped_.startswith("interrupted")
    assert sorted(search.ranking_) == [1, 2, 3, 4, 5]
    assert len(search.history_) == 2


# ---- names and kinds of targets -------------------------------------------------------------------


def test_steps_are_told_in_words():
    """A search behind a vectoriser has columns without names; the vectoriser gives them."""
    texts, y = ["good fine day", "bad sad day", "good happy", "sad bad night"] * 5, [1, 0, 1, 0] * 5
    vectorizer = lineal.TextVectorizer()
    search = lineal.ForwardSelection(n_columns=2).fit(vectorizer.fit_transform(texts), y)
    words = vectorizer.get_feature_names_out()
    told = str(search.history_.named(vectorizer))
    for step in search.history_:
        assert all(f"+{words[column]}" in told for column in step.columns)
    assert str(search.history_.named(words)) == told
    with pytest.raises(InputError, match="1 names"):
        search.history_.named(["a"])


def test_tables_of_pyarrow_have_their_names():
    """Their ``columns`` are the arrays themselves."""
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    ranking = lineal.rank_features(pa.table({"size": a, "noise": b}), a > 0, "t")
    assert ranking.names.tolist() == ["size", "noise"]


@pytest.mark.parametrize(
    ("y", "is_told"),
    [
        (np.round(75 + 20 * np.random.default_rng(0).normal(size=1000)), True),
        (np.datetime64("2020-01-01") + np.arange(1000) % 200, True),
        (np.arange(1000) % 105, False),
        (1.0 + np.arange(1000) % 26, False),
    ],
    ids=["measured", "times", "105 classes", "letters"],
)
def test_measurements_that_are_taken_for_classes_are_told(y, is_told):
    """Whole numbers that are no codes of classes, and times, warn; codes from 0 or 1 on do not."""
    X = np.random.default_rng(1).normal(size=(1000, 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lineal.rank_features(X, y, "pearson")
    assert any(issubclass(each.category, ManyClassesWarning) for each in told) == is_told


def test_welch_needs_classes_that_weigh_more_than_a_row():
    """Weights are numbers of rows: with a thousandth of a row each there is no variance."""
    X, y = np.random.default_rng(0).normal(size=(120, 2)), np.arange(120) % 2
    with pytest.raises(InputError, match="weigh above 1"):
        lineal.rank_features(X, y, "welch", sample_weight=np.full(120, 1e-3))
