"""BLAS has one thread while native passes have the cores, and its own number again afterwards."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from lineal import LinearClassifier
from lineal.solvers import proving
from lineal.solvers.blas import OneBlasThread


def _n_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2, user_api="blas"):
        if _n_threads() != {2}:
            pytest.skip("this BLAS does not take the number of its threads")
        yield


def test_the_last_one_out_restores_the_number():
    """Openings overlap in any order, as fits in several threads do."""
    first, second = OneBlasThread(), OneBlasThread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert _n_threads() == {1}
    second.__exit__(None, None, None)
    assert _n_threads() == {2}


def test_many_threads_leave_no_trace():
    def open_often() -> None:
        for _ in range(20):
            with OneBlasThread():
                pass

    workers = [threading.Thread(target=open_often) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert _n_threads() == {2}


def test_a_sparse_fit_holds_blas_and_lets_it_go(monkeypatch):
    """Callbacks see one thread while a large sparse matrix is fitted; an error in the fit changes nothing."""
    monkeypatch.setattr(proving, "_MANY_STORED", 1)
    X, y = sp.random_array((60, 20), density=0.3, format="csr", rng=0), np.arange(60) % 2
    seen: list[set[int]] = []
    LinearClassifier(n_threads=2, callbacks=[lambda point: seen.append(_n_threads())]).fit(X, y)
    assert seen
    assert all(each == {1} for each in seen)
    assert _n_threads() == {2}

    def fail(point: object) -> None:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        LinearClassifier(n_threads=2, callbacks=[fail]).fit(X, y)
    assert _n_threads() == {2}
