"""Test texts that are read while a model is learned."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from lineal.data.threads import thread_count
from lineal.jobs.answers import Answers, answers_of
from lineal.jobs.dataset import Dataset
from lineal.learners.freezing import text_features
from lineal.model.model import Model
from lineal.model.rows import MatrixRows

# Rows of the test texts are held beside those of the training texts: not for more than this.
_MOST_BYTES = 2**28
_N_PIECES = 24


class TextsAhead:
    """Reads texts as soon as it is settled how, so that their rows are there when the model is.

    Once texts are read, a model of one score is learned in one thread; another reads the texts that it will
    be judged by, piece by piece from the first on. Who comes for the answers reads what is left, from the
    last piece on, instead of waiting. Nothing is read ahead of tables, of very many texts, or where one
    thread was asked for.
    """

    def __init__(self, test: Dataset, n_threads: int | None) -> None:
        self._test = test
        self._n_threads = thread_count(n_threads) - 1
        is_wanted = test.inputs == "texts" and test.X.n_bytes <= _MOST_BYTES and self._n_threads > 0
        self._pool = ThreadPoolExecutor(1) if is_wanted else None
        self._read: Callable[[Any, int], MatrixRows] | None = None
        self._pieces: list[Any] = []
        self._begun: list[Future[MatrixRows]] = []

    def begin(self, estimator: Any) -> None:
        """Begins to read as an estimator does that has read its training texts."""
        if self._pool is not None and len(self._test.X) > 0:
            self._read = text_features(estimator.vectorizers_, estimator.missing).rows
            self._pieces = self._test.X.split(self._test.X.n_bytes // _N_PIECES + 1)
            self._begun = [self._pool.submit(self._read, piece, self._n_threads) for piece in self._pieces]
            self._pool.shutdown(wait=False)

    def answers(self, model: Model) -> Answers:
        """What the model says of the texts."""
        if self._read is None:
            return answers_of(model, self._test.X)
        own: list[Any] = []
        while self._begun and self._begun[-1].cancel():
            self._begun.pop()
            own.append(model.answers_of_rows(self._read(self._pieces.pop(), 1)))
        parts = [model.answers_of_rows(begun.result()) for begun in self._begun] + own[::-1]
        self._read, self._pieces, self._begun = None, [], []
        labels = np.concatenate([part for part, _ in parts])
        has_probabilities = all(part is not None for _, part in parts)
        probabilities = np.concatenate([part for _, part in parts]) if has_probabilities else None
        return Answers(labels, probabilities, model.classes_ if model.task == "classification" else None)
