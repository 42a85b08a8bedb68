"""What the jobs behind the command line promise, on real files: nothing is lost or claimed in vain."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.jobs.answers import Answers
from lineal.jobs.dataset import Dataset
from lineal.jobs.judge import evaluate_file
from lineal.jobs.labels import labels_like
from lineal.jobs.learner import Learner
from lineal.jobs.places import check_places
from lineal.jobs.report_scores import scores_of
from lineal.jobs.room import header_bytes
from lineal.jobs.splitting import folds, held_out
from lineal.jobs.train import train
from lineal.jobs.training import Columns, Judging
from lineal.jobs.update import update
from lineal.jobs.verify import verify_file

WORDS = {True: ["good", "fine", "lovely", "great"], False: ["bad", "poor", "awful", "dull"]}


def rows(n=160, names=("neg", "pos")):
    """Texts and labels that are not quite separable."""
    signs = [(k % 2 == 1) ^ (k % 19 == 0) for k in range(n)]
    texts = [
        f"a {WORDS[sign][k // 2 % 4]} film, number {k % 7}, seen {k} times" for k, sign in enumerate(signs)
    ]
    return {"text": texts, "label": [names[k % 2] for k in range(n)]}


def written(path, columns):
    pa.csv.write_csv(pa.table(columns), path)
    return str(path)


def dataset(y, groups=None):
    y = np.asarray(y)
    return Dataset("table", pa.table({"x": np.arange(len(y))}), y, np.arange(len(y)), groups)


# ---- splitting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 0.2, 0.3, 0.4, 0.45, 0.6, 0.75])
def test_the_share_that_was_asked_for_is_held_out(share):
    """Of 1,000 rows the held-out part differs from the share by less than one in a hundred."""
    (learned, held), *_ = held_out(dataset(np.arange(1000) % 3), "classification", share, 0).splits
    assert abs(len(held) / 1000 - share) < 0.01
    assert sorted([*learned, *held]) == list(range(1000))


@pytest.mark.parametrize("share", [0.0001, 0.9999])
def test_a_tiny_share_is_at_least_a_part_of_the_rows(share):
    """However small a share is, there are rows on both sides."""
    (learned, held), *_ = held_out(dataset(np.arange(40.0)), "regression", share, 0).splits
    assert len(learned) > 0
    assert len(held) > 0


def test_many_labels_with_few_rows_each_can_be_dealt():
    """Labels with fewer rows than parts are dealt evenly: no label loses more than one row to a part."""
    y = np.repeat(np.arange(300), 3)
    data = dataset(y)
    (learned, held), *_ = held_out(data, "classification", 0.2, 0).splits
    assert np.bincount(y[held]).max() == 1
    assert len(set(y[learned].tolist())) == 300
    parts = [test for _, test in folds(data, "classification", 5, 0).splits]
    assert sorted(np.concatenate(parts).tolist()) == list(range(900))


def test_many_labels_in_groups_stay_in_their_groups():
    """Groups are whole where every label is rarer than the parts are many."""
    y, groups = np.repeat(np.arange(100), 2), np.array([f"g{k % 23}" for k in range(200)])
    (learned, held), *_ = held_out(dataset(y, groups), "classification", 0.2, 0).splits
    assert not set(groups[learned]) & set(groups[held])
    assert len(learned) + len(held) == 200


# ---- places -------------------------------------------------------------------------------------


def test_nothing_that_is_read_is_written_over(tmp_path):
    """Results never take the place of data, of each other, or of the standard output."""
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.write_text("x")
    link.symlink_to(data)
    with pytest.raises(ParameterError, match="would be written over"):
        check_places(str(link), inputs=(str(data), None))
    with pytest.raises(ParameterError, match="two results"):
        check_places(str(tmp_path / "a"), str(tmp_path / "." / "a"))
    with pytest.raises(ParameterError, match="name a file"):
        check_places("-")
    check_places(str(tmp_path / "a"), None, inputs=("-", str(data)))


# ---- labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came", "known", "meant"),
    [
        (["1", "2"], [1, 2], [1, 2]),
        (["1.0", "2"], [1, 2], [1, 2]),
        (["1", "2.5"], [1.0, 2.0], [1.0, 2.5]),
        (["true", "False"], [False, True], [True, False]),
        ([1, 2], ["1", "2", "x"], ["1", "2"]),
        ([1.0, 2.0], ["1", "2", "x"], ["1", "2"]),
        ([True, False], ["false", "maybe", "true"], ["true", "false"]),
        (["a", "1"], [1, 2], ["a", "1"]),
        (["a", "b"], ["a", "c"], ["a", "b"]),
    ],
)
def test_labels_are_the_same_however_a_file_spells_them(came, known, meant):
    """Labels take the type of the known ones, if they can all be read so."""
    found = labels_like(np.array(came), np.array(known))
    assert found.tolist() == meant
    assert found.dtype.kind == np.array(meant).dtype.kind


def test_a_test_file_may_spell_labels_otherwise(tmp_path):
    """A model of the labels 1, 2 and x is judged by a file that has only 1 and 2, read as numbers."""
    columns = rows(names=("1", "2"))
    learned = {**columns, "label": ["x" if k % 11 == 0 else v for k, v in enumerate(columns["label"])]}
    path, test = written(tmp_path / "a.csv", learned), written(tmp_path / "b.csv", columns)
    found = train(path, judging=Judging(test=test), learner=Learner(name="svm"))
    assert found.test.y.dtype.kind == "U"
    assert found.evaluation.scores["accuracy"].value > 0.7


def test_a_test_file_may_order_and_add_columns_but_not_lack_them(tmp_path):
    """Columns are found by name; what is missing, or no number, is said before anything is learned."""
    n = 120
    columns = {
        "size": [(k * 37) % 101 for k in range(n)],
        "rooms": [k % 6 for k in range(n)],
        "price": [(k * 37) % 101 * 2.5 + k % 6 + k % 3 / 7 for k in range(n)],
    }
    path, other = written(tmp_path / "a.csv", columns), str(tmp_path / "b.csv")
    asked = {"columns": Columns(label="price"), "judging": Judging(test=other)}
    written(other, {"more": ["x"] * n, **dict(reversed(columns.items()))})
    again = train(path, **asked)
    written(other, columns)
    plain = train(path, **asked)
    assert again.evaluation.scores["r2"].value == plain.evaluation.scores["r2"].value > 0.9

    def refused(columns, words):
        told = []
        written(other, columns)
        with pytest.raises(InputError, match=words):
            train(path, **asked, tell=told.append)
        assert not any("learning" in sentence for sentence in told)

    refused({name: columns[name] for name in ("size", "price")}, "b.csv lacks columns .* 'rooms'")
    refused({name: columns[name] for name in ("size", "rooms")}, "b.csv lacks columns .* 'price'")
    refused(
        {**columns, "rooms": ["2", "many", *["3"] * (n - 2)]}, r"b\.csv: column 'rooms' .* line 3 has 'many'"
    )
    (tmp_path / "rows.svm").write_text("1 1:2\n-1 1:3\n" * 20)
    with pytest.raises(InputError, match="has sparse rows"):
        train(str(tmp_path / "rows.svm"), judging=Judging(test=other))


@pytest.mark.parametrize("names", [("true", "false"), ("0", "1"), ("1.5", "2.5"), ("neg", "pos")])
def test_updates_keep_the_type_of_labels(tmp_path, names):
    """Labels of a stream, which come as they are written, are those of the model: none is new."""
    path = written(tmp_path / "a.csv", rows(names=names))
    place = str(tmp_path / "m.lineal")
    train(path, columns=Columns(task="classification"), learner=Learner(name="svm")).model.save(place)
    found = update(place, path)
    assert found.new_labels == ()
    assert found.progressive > 0.8
    assert evaluate_file(found.model, path).evaluation.scores["accuracy"].value > 0.8


# ---- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "said"), [("-1", "line 7 has -1"), ("nan", "line 7"), ("x", "numbers"), ("", "line 7")]
)
def test_weights_that_cannot_be_are_refused_before_learning(tmp_path, bad, said):
    """A weight is a number of at least 0, and the message names column and row of the file."""
    weights = [bad if k == 5 else "1" for k in range(160)]
    labels = [None if k == 0 else v for k, v in enumerate(rows()["label"])]
    path = written(tmp_path / "a.csv", {**rows(), "label": labels, "w": weights})
    with pytest.raises(InputError, match="column 'w'") as flaw:
        train(path, columns=Columns(weight="w"), learner=Learner(name="svm"))
    assert said in str(flaw.value) or bad == "nan"


def test_updates_take_weights(tmp_path):
    """A weight of 2 in a stream is another model than a weight of 1; weights may come as text."""
    twos = {**rows(), "w": [2 if k % 3 else 1 for k in range(160)]}
    path, place = written(tmp_path / "a.csv", twos), str(tmp_path / "m.lineal")
    train(path, columns=Columns(weight="w"), learner=Learner(name="svm")).model.save(place)
    plain, weighed = update(place, path), update(place, path, weight="w")
    assert not np.array_equal(plain.model.coef_, weighed.model.coef_)


def test_a_piece_without_labels_does_not_end_an_update(tmp_path):
    """Rows without a label are passed over, be they a whole piece; a file without any label is refused."""
    columns, place = rows(4000), str(tmp_path / "m.lineal")
    train(written(tmp_path / "a.csv", columns), learner=Learner(name="svm")).model.save(place)
    columns["label"] = [v if k > 3000 else None for k, v in enumerate(columns["label"])]
    assert update(place, written(tmp_path / "b.csv", columns), n_bytes=1 << 14).n_rows == 999
    columns["label"] = ["" for _ in columns["label"]]
    with pytest.raises(InputError, match="no row has a label"):
        update(place, written(tmp_path / "c.csv", columns), n_bytes=1 << 14)


# ---- columns and files --------------------------------------------------------------------------


def test_columns_of_parquet_that_are_dictionaries_are_what_they_hold(tmp_path):
    """Dictionaries of names are categories, as label and as feature."""
    path, n = str(tmp_path / "a.parquet"), 160
    table = {
        "kind": pa.array([f"k{k % 5}" for k in range(n)]).dictionary_encode(),
        "size": [float(k % 13) for k in range(n)],
        "label": pa.array(["a" if k % 5 < 2 else "b" for k in range(n)]).dictionary_encode(),
    }
    pa.parquet.write_table(pa.table(table), path)
    found = train(path, columns=Columns(keep=["kind"]), learner=Learner(name="svm"))
    assert found.roles.features == {"kind": "category", "size": "number"}
    assert found.model.classes_.tolist() == ["a", "b"]


def test_a_folder_can_be_learned_from_and_verified(tmp_path):
    """The fingerprint of a folder is that of its files and their names."""
    columns = rows(80)
    for k, (text, label) in enumerate(zip(columns["text"], columns["label"], strict=True)):
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / label / f"{k}.txt").write_text(text)
    place = str(tmp_path / "m.lineal")
    train(str(tmp_path / "data"), learner=Learner(name="svm")).model.save(place)
    assert verify_file(place, str(tmp_path / "data")).is_same_file
    (tmp_path / "data" / "pos" / "1.txt").rename(tmp_path / "data" / "pos" / "one.txt")
    assert verify_file(place, str(tmp_path / "data")).is_same_file is False


# ---- verification -------------------------------------------------------------------------------


def test_what_cannot_be_proved_from_one_file_is_said(tmp_path):
    """A model fitted to two files, or updated since its fit, has no proof in one file; the reason is told."""
    path, test = written(tmp_path / "a.csv", rows()), written(tmp_path / "b.csv", rows(60))
    place = str(tmp_path / "m.lineal")
    both = train(path, judging=Judging(test=test), learner=Learner(name="svm"), is_refitted=True).model
    assert both.about.n_rows == 220
    both.save(place)
    with pytest.raises(ParameterError, match=r"two files, the second of them b\.csv"):
        verify_file(place, path)
    train(path, learner=Learner(name="svm")).model.save(place)
    update(place, test).model.save(place)
    update(place, test).model.save(place)
    with pytest.raises(ParameterError, match="updated with 120 rows"):
        verify_file(place, path)


@pytest.mark.parametrize("share", [0.2, 0.35])
def test_the_rows_held_out_are_held_out_again(tmp_path, share):
    """With groups, weights and rows without a label a certificate is proved from the very rows of the fit."""
    columns = {**rows(), "g": [f"g{k % 31}" for k in range(160)], "w": [1 + k % 3 for k in range(160)]}
    columns["label"] = [None if k % 13 == 4 else v for k, v in enumerate(columns["label"])]
    path, place = written(tmp_path / "a.csv", columns), str(tmp_path / "m.lineal")
    found = train(
        path,
        columns=Columns(group="g", weight="w"),
        judging=Judging(share=share),
        learner=Learner(name="svm"),
    )
    found.model.save(place)
    proved = verify_file(place, path)
    assert proved.n_rows == len(found.train)
    assert proved.certificate.converged
    assert proved.certificate.primal == pytest.approx(found.model.certificate_.primal, rel=1e-6)


# ---- learners -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("neighbors", "cannot be stored"),
        ("gaussian-bayes", "cannot be stored"),
        ("Hinge()", "no learner"),
        ("Ridge()", "no learner for classification"),
    ],
)
def test_learners_that_cannot_end_in_a_model_file_are_refused_before_learning(tmp_path, name, said):
    """What no file can hold, or what predicts something else, is refused before the first row is learned."""
    told = []
    with pytest.raises(ParameterError, match=said):
        train(written(tmp_path / "a.csv", rows()), learner=Learner(name=name), tell=told.append)
    assert not any("learning" in sentence for sentence in told)


@pytest.mark.parametrize(
    ("name", "said"),
    [("polynomial", "one column"), ("nonsense", "no learner 'nonsense'"), ("LinearSVC(D=1)", "D")],
)
def test_learners_that_suit_no_data_are_refused_before_the_file_is_read(tmp_path, name, said):
    """A large file need not be read to know that there is no such learner."""
    told = []
    with pytest.raises(ParameterError, match=said):
        train(str(tmp_path / "there is no such file"), learner=Learner(name=name), tell=told.append)
    assert told == []


def test_a_learner_that_would_not_end_is_tried_only_for_a_moment(tmp_path):
    """Whether a learner can be stored is seen before its tolerance is met."""
    learner = Learner(name="LinearClassifier(solver='gd', penalty=L2(1e-7), tol=1e-13, max_epochs=3)")
    with pytest.warns(NotCertifiedWarning, match="in 3 epochs"):
        found = train(written(tmp_path / "a.csv", rows()), learner=learner)
    assert found.model.certificate_.epochs == 3


def test_options_of_texts_reach_the_text_columns_of_a_table(tmp_path):
    """Every text column is read in the way that was said; a table without one refuses."""
    columns = rows()
    columns["size"] = [(k * 7) % 13 for k in range(len(columns["label"]))]
    path = written(tmp_path / "a.csv", columns)
    usual = train(path, columns=Columns(text=["text"]))
    found = train(
        path,
        columns=Columns(text=["text"]),
        learner=Learner(settings=["text.ngrams=(1, 1)", "text.min_df=2"]),
    )
    words = {name for name in found.model.get_feature_names_out() if name.startswith("text:")}
    assert "text:good" in words
    assert not any(" " in name for name in words)
    assert any(" " in name for name in usual.model.get_feature_names_out() if name.startswith("text:"))
    with pytest.raises(ParameterError, match="no option 'ngrms'"):
        train(path, columns=Columns(text=["text"]), learner=Learner(settings=["text.ngrms=(1, 1)"]))
    with pytest.raises(ParameterError, match="no column is taken for text"):
        train(path, columns=Columns(drop=["text"]), learner=Learner(settings=["text.ngrams=(1, 1)"]))


def test_options_of_a_learner_need_a_learner(tmp_path):
    """learner.C without a learner says which to choose."""
    with pytest.raises(ParameterError, match="--learner svm"):
        train(written(tmp_path / "a.csv", rows()), learner=Learner(settings=["learner.C=3"]))


def test_columns_that_tell_the_label_are_found_in_training_rows_alone(tmp_path):
    """A column that decides the label in every row learned from is left out, whatever rows held out hold."""
    texts = [f"a {'good' if k % 2 else 'bad'} film number {k % 9}" for k in range(300)]
    labels = ["pos" if k % 2 else "neg" for k in range(300)]
    plain = dataset(np.array(labels))
    (_, held), *_ = held_out(plain, "classification", 0.2, 0).splits
    told = [f"yes{label}" for label in labels]
    for row in held.tolist():  # decides nothing where nobody may look
        told[row] = "yespos"
    path = written(tmp_path / "told.csv", {"text": texts, "told": told, "label": labels})
    training = train(str(path), learner=Learner(name="svm"))
    assert training.roles.of("dropped") == ["told"]


@pytest.mark.parametrize("is_noise", [False, True], ids=["better", "undecided"])
def test_the_verdict_of_a_report_leaves_the_p_value_to_its_own_place(tmp_path, is_noise):
    """Words say who is better, or that nobody can tell; the number stands beside them."""
    columns = rows()
    if is_noise:
        columns["text"] = [f"word{k * k % 7} and word{k % 5}" for k in range(160)]
    found = train(written(tmp_path / "a.csv", columns), learner=Learner(name="svm"))
    scores = scores_of(found.evaluation, found.comparison, found.baseline_name)
    pair = found.comparison.pairs[0]
    assert (pair.better is None) == is_noise
    assert " p " not in scores.verdict
    assert (" is better than " in scores.verdict) != is_noise
    assert found.baseline_name in scores.verdict
    assert scores.p_value == pair.p_value


def test_regression_rows_of_groups_are_dealt_by_the_seed():
    """Two seeds hold out other groups."""
    data = dataset(np.arange(60) + 0.5, np.repeat(np.arange(20), 3).astype(str))
    parts = [set(held_out(data, "regression", 0.2, seed).splits[0][1].tolist()) for seed in range(4)]
    assert len({frozenset(part) for part in parts}) > 1


def test_folds_without_a_row_of_a_label_keep_their_probabilities():
    """A label that a fold's model does not know has probability 0 there."""
    two = Answers(np.array(["a", "b"]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array(["a", "b"]))
    three = Answers(np.array(["c"]), np.array([[0.1, 0.2, 0.7]]), np.array(["a", "b", "c"]))
    joined = Answers.joined([two, three], [np.array([0, 2]), np.array([1])], 3)
    assert joined.labels.tolist() == ["a", "c", "b"]
    assert joined.classes_.tolist() == ["a", "b", "c"]
    assert joined.probabilities.tolist() == [[0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.2, 0.8, 0.0]]


def wide(n_columns, name="g{}"):
    """Numbers and a label."""
    X = np.random.default_rng(0).normal(size=(40, n_columns)).round(2)
    y = np.where(np.arange(40) % 3 == 0, "a", "b")
    return {name.format(k): X[:, k] for k in range(n_columns)} | {"label": y}


def test_columns_that_a_model_file_cannot_hold_are_refused_before_the_fit(tmp_path, monkeypatch):
    """Nothing is learned for a model that could not be stored."""
    monkeypatch.setattr(Learner, "fitted", lambda *given: pytest.fail("something was learned"))
    path = written(tmp_path / "wide.csv", wide(50))
    monkeypatch.setattr("lineal.jobs.room.MAX_HEADER_BYTES", 5000)
    with pytest.raises(InputError, match=r"51 columns would take .*--drop NAME"):
        train(path)
    texts = {f"t{k}": rows(60)["text"] for k in range(3)} | {"label": rows(60)["label"]}
    path = written(tmp_path / "texts.csv", texts)
    monkeypatch.setattr("lineal.jobs.room.MAX_TENSORS", 64 + 28 + 27)
    with pytest.raises(InputError, match=r"3 columns are taken for text, and a model file holds 1 at most"):
        train(path)


@pytest.mark.parametrize("name", ["g{}", 'a "long" name that takes, with its tab\t, more room: {}'])
def test_the_room_that_names_take_is_known_before_the_fit(tmp_path, name):
    """The header of a model is as long as was said, within a quarter, and never longer by more than that."""
    n_columns = 200
    trained = train(written(tmp_path / "wide.csv", wide(n_columns, name)))
    trained.model.save(tmp_path / "m.lineal")
    header = int.from_bytes((tmp_path / "m.lineal").read_bytes()[:8], "little")
    said = sum(10 * header_bytes(found.column) + 130 for found in trained.roles.roles)
    fixed = 15_000  # whatever the columns are
    assert header - fixed <= said <= 1.25 * header
