"""Test texts that are read while a model is learned change nothing but the time."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from lineal.jobs import ahead
from lineal.jobs.learner import Learner
from lineal.jobs.train import Judging, train
from lineal.learners.freezing import text_features


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """A file of texts and labels, and one to judge by."""
    folder = tmp_path_factory.mktemp("ahead")
    rng = np.random.default_rng(0)
    for name, n in (("train.csv", 200), ("test.csv", 90)):
        labels = rng.integers(2, size=n)
        lines = [
            f"{'good' if label and rng.random() < 0.8 else 'bad'} "
            f"{' '.join(f'word{k}' for k in rng.integers(300, size=12))},{'pos' if label else 'neg'}\n"
            for label in labels
        ]
        (folder / name).write_text("text,label\n" + "".join(lines))
    return folder


def answers(folder, n_threads):
    judging = Judging(test=str(folder / "test.csv"))
    learner = Learner(name="svm", n_threads=n_threads)
    return train(str(folder / "train.csv"), learner=learner, judging=judging)


def test_answers_are_those_of_the_stored_model(reviews, monkeypatch):
    """With texts read ahead, with one thread, and where there are too many texts: the same bits."""
    ahead_of_time, alone = answers(reviews, 2), answers(reviews, 1)
    monkeypatch.setattr(ahead, "_MOST_BYTES", 0)
    too_many = answers(reviews, 2)
    for other in (alone, too_many):
        np.testing.assert_array_equal(ahead_of_time.answers.labels, other.answers.labels)
        np.testing.assert_array_equal(ahead_of_time.answers.probabilities, other.answers.probabilities)
    np.testing.assert_array_equal(
        ahead_of_time.answers.probabilities, ahead_of_time.model.predict_proba(ahead_of_time.test.X)
    )


@pytest.mark.parametrize("n_done", [0, 1, 5])
def test_pieces_that_nobody_has_begun_are_read_by_whoever_comes(reviews, n_done):
    """However far the reader has come, the answers are those of all texts, in their order."""
    found = answers(reviews, 2)
    texts = ahead.TextsAhead(found.test, 2)
    done, release = threading.Event(), threading.Event()
    count = 0

    def read(piece, n_threads):
        nonlocal count
        if threading.current_thread() is not threading.main_thread():
            if count == n_done:
                done.set()
                release.wait()
            count += 1
        elif not release.is_set():
            release.set()
        return rows(piece, n_threads)

    def features(vectorizers, missing):
        nonlocal rows
        rows = text_features(vectorizers, missing).rows
        return SimpleNamespace(rows=read)

    rows = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "text_features", features)
        texts.begin(found.estimator)
    done.wait()
    again = texts.answers(found.model)
    np.testing.assert_array_equal(again.labels, found.answers.labels)
    np.testing.assert_array_equal(again.probabilities, found.answers.probabilities)


def test_who_was_told_is_forgotten(reviews):
    """The estimator of a training holds nothing of who waited for it."""
    assert "_when_read" not in vars(answers(reviews, 2).estimator)
