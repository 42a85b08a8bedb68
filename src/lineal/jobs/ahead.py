"""Test texts that are read while a model is learned."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from lineal.data.threads import thread_count
from lineal.jobs.answers import Answers, answers_of
from lineal.jobs.dataset import Dataset
from lineal.learners.freezing import text_features
from lineal.model.model import Model
from lineal.model.rows import MatrixRows

# Rows of the test texts are held beside those of the training texts: not for more than this.
_MOST_BYTES = 2**28


class TextsAhead:
    """Reads texts as soon as it is settled how, so that their rows are there when the model is.

    Once texts are read, a model of one score is learned in one thread; another reads the texts that it will
    be judged by. Nothing is read ahead of tables, of very many texts, or where one thread was asked for.
    """

    def __init__(self, test: Dataset, n_threads: int | None) -> None:
        self._test = test
        self._n_threads = thread_count(n_threads) - 1
        is_wanted = test.inputs == "texts" and test.X.n_bytes <= _MOST_BYTES and self._n_threads > 0
        self._pool = ThreadPoolExecutor(1) if is_wanted else None
        self._rows: Future[MatrixRows] | None = None

    def begin(self, estimator: Any) -> None:
        """Begins to read as an estimator does that has read its training texts."""
        if self._pool is not None:
            features = text_features(estimator.vectorizers_, estimator.missing)
            self._rows = self._pool.submit(features.rows, self._test.X, self._n_threads)
            self._pool.shutdown(wait=False)

    def answers(self, model: Model) -> Answers:
        """What the model says of the texts."""
        if self._rows is None:
            return answers_of(model, self._test.X)
        rows, self._rows = self._rows.result(), None
        labels, probabilities = model.answers_of_rows(rows)
        return Answers(labels, probabilities, model.classes_ if model.task == "classification" else None)
