"""What Ctrl-C leaves of a training: the best weights so far where there are some, else nothing at all."""

import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from lineal import LinearClassifier, TextClassifier, TextVectorizer, load
from lineal.errors import NotCertifiedWarning
from lineal.jobs.learner import Learner
from lineal.jobs.storing import store
from lineal.jobs.train import train
from lineal.jobs.training import Judging
from lineal.objective import SquaredHinge

pytestmark = pytest.mark.filterwarnings("ignore::lineal.errors.NotCertifiedWarning")


def pressed(n):
    """A callback that presses Ctrl-C at the end of the first epoch of the n-th fit."""
    seen = []

    def watch(point):
        if point.epoch == 1:
            seen.append(point)
            if len(seen) == n:
                os.kill(os.getpid(), signal.SIGINT)

    return watch


@pytest.fixture
def reviews(tmp_path):
    words = {0: ["bad", "poor", "dull"], 1: ["good", "fine", "great"]}
    texts = [f"a {words[(k % 2) ^ (k % 11 == 0)][k // 2 % 3]} film {k}" for k in range(120)]
    path = tmp_path / "reviews.csv"
    pa.csv.write_csv(pa.table({"text": texts, "label": [f"c{k % 2}" for k in range(120)]}), path)
    return str(path)


@pytest.fixture
def interrupted_in(monkeypatch):
    """Trains with Ctrl-C in the n-th fit; a fit of this learner needs more than one epoch."""

    def run(n, path, **options):
        inner = LinearClassifier(solver="lbfgs", tol=1e-10, callbacks=[pressed(n)])
        made = TextClassifier(vectorizer=TextVectorizer(), learner=inner, missing="empty")
        monkeypatch.setattr(Learner, "made", lambda *_, **__: made)
        return train(path, **options)

    return run


def test_the_fit_that_was_broken_off_is_judged_stored_and_marked(reviews, interrupted_in, tmp_path):
    """Weights, certificate, the mark of an interrupted fit and its weights' scores are in the file."""
    found = interrupted_in(1, reviews)
    assert "best weights so far" in found.interrupted
    store(found, str(tmp_path / "model.lineal"), str(tmp_path / "report.html"))
    model = load(tmp_path / "model.lineal")
    assert model.about.notes["interrupted"] == found.interrupted
    assert not model.certificate_.converged
    assert model.certificate_.reason.startswith("interrupted")
    assert model.certificate_.gap >= 0
    right = np.mean(model.predict(found.test.X) == found.test.y)
    assert model.about.scores["accuracy"]["value"] == pytest.approx(right, abs=1e-12)


def test_a_fold_that_was_broken_off_leaves_nothing(reviews, interrupted_in):
    """Without all folds the rows are not judged; after them the model itself is kept as it is."""
    with pytest.raises(KeyboardInterrupt):
        interrupted_in(2, reviews, judging=Judging(n_folds=3))
    found = interrupted_in(4, reviews, judging=Judging(n_folds=3))
    assert "best weights so far" in found.interrupted
    assert len(found.test) == 120


def test_the_judged_model_stays_where_the_fit_to_all_rows_is_broken_off(reviews, interrupted_in):
    """A whole fit to a part is kept before half a fit to everything."""
    found = interrupted_in(2, reviews, is_refitted=True)
    assert "the model that was judged" in found.interrupted
    assert found.model.certificate_.converged
    assert found.model.about.n_rows == len(found.train) == 96
    assert "held out" in found.model.about.notes
    assert interrupted_in(9, reviews, is_refitted=True).interrupted == ""


def test_a_search_that_was_broken_off_leaves_nothing():
    """In the middle of a search there is no model: the learner is as it was, and Ctrl-C is raised."""
    texts, labels = ["a good film", "a bad film"] * 20, ["pos", "neg"] * 20
    model = TextClassifier(learner=LinearClassifier(callbacks=[pressed(3)]))
    with pytest.raises(KeyboardInterrupt):
        model.fit(texts, labels)
    assert not hasattr(model, "model_")


def test_probabilities_are_not_waited_for_after_ctrl_c():
    """Scores that need a part held out to become probabilities do without it when the fit was broken off."""
    texts, labels = ["a good film", "a bad film"] * 20, ["pos", "neg"] * 20
    inner = LinearClassifier(SquaredHinge(), solver="lbfgs", tol=1e-12, callbacks=[pressed(1)])
    model = TextClassifier(vectorizer=TextVectorizer(), learner=inner)
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        model.fit(texts, labels)
    assert model.model_.temperature_ == 1.0
    assert model.predict_proba(texts[:2]).shape == (2, 2)
