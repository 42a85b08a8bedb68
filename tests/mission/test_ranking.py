"""Row 8, rankings: MQ2008 (LETOR 4.0), where it is at hand."""

import os
from pathlib import Path

import pytest

import lineal
from lineal.data.records import read_records
from lineal.evaluation import evaluate_letor

FOLD = Path(os.environ.get("LINEAL_DATA", Path.home() / ".cache" / "lineal-data")) / "mq2008" / "Fold1"


def test_fold_1_of_mq2008_is_ranked_as_well_as_was_published():
    """With the C that the validation part chooses (docs/ranking.md): MAP 0.454 and NDCG@10 0.211 on fold 1.

    Published are means over five folds, 0.47 and 0.23, which ours reach; fold 1 is one of the harder ones.
    """
    if not FOLD.exists():
        pytest.skip(f"{FOLD} is not there")
    train, test = (read_records(FOLD / f"{part}.txt", n_columns=46).rows for part in ("train", "test"))
    model = lineal.RankSVM(0.01).fit(train.to_scipy(), train.labels, groups=train.queries)
    assert model.n_pairs_ == 52_325
    assert model.certificate_.converged
    found = evaluate_letor(model.predict(test.to_scipy()), test.labels, test.queries, n_resamples=10)
    assert found.n_rows == 156
    assert found["map"].value >= 0.45
    assert found["ndcg_at_k"].value >= 0.21
