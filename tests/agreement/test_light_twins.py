"""What the command line does without scikit-learn is what scikit-learn does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.model_selection import KFold, StratifiedKFold

from lineal.data.dealing import dealt, dealt_by_label, parted
from lineal.evaluation.thresholds import average_precision, precision_recall_points, roc_points

seeds = st.integers(0, 2**31 - 1)


def same_folds(ours, theirs):
    theirs = list(theirs)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert_array_equal(own[0], other[0])
        assert_array_equal(own[1], other[1])


@given(st.integers(2, 6), st.integers(0, 60), seeds)
def test_rows_are_dealt_as_kfold_deals_them(n_folds, n_more, seed):
    """The folds of n rows are KFold's with the same seed, row for row."""
    rows = np.zeros(n_folds + n_more)
    same_folds(
        parted(dealt(len(rows), n_folds, seed), n_folds),
        KFold(n_folds, shuffle=True, random_state=seed).split(rows),
    )


@pytest.mark.filterwarnings("ignore:The least populated class")
@given(st.integers(2, 5), st.lists(st.integers(0, 4), min_size=2, max_size=40), seeds)
def test_labels_are_dealt_as_stratified_kfold_deals_them(n_folds, labels, seed):
    """The folds of labelled rows are StratifiedKFold's with the same seed, also where labels are rare."""
    codes = np.unique(labels + [0] * n_folds, return_inverse=True)[1]
    theirs = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    same_folds(parted(dealt_by_label(codes, n_folds, seed), n_folds), theirs.split(codes, codes))


# Weights are multiples of 1/2, whose sums are exact: which points lie on a line does not depend on rounding.
weighed = st.lists(
    st.tuples(st.booleans(), st.integers(-9, 9), st.integers(0, 6)), min_size=1, max_size=40
).map(lambda rows: [(True, 0, 2), (False, 1, 1), *rows])


@given(weighed)
def test_thresholds_are_counted_as_scikit_learn_counts_them(rows):
    """ROC points, precision, recall and average precision of weighed rows are scikit-learn's."""
    is_positive, scores, s = (np.array(column) for column in zip(*rows, strict=True))
    scores, s = scores / 4.0, s / 2.0
    precision, recall, thresholds = metrics.precision_recall_curve(
        is_positive, scores, sample_weight=s, drop_intermediate=True
    )
    pairs = [
        (roc_points, metrics.roc_curve(is_positive, scores, sample_weight=s)),
        (precision_recall_points, (precision[:-1], recall[:-1], thresholds)),  # (1, 0) has no threshold
    ]
    for points, theirs in pairs:
        for own, other in zip(points(is_positive, scores, s), theirs, strict=True):
            assert own.shape == other.shape
            assert_allclose(own, other, rtol=1e-12)  # quotients of the same sums
    theirs = metrics.average_precision_score(is_positive, scores, sample_weight=s)
    assert_allclose(average_precision(is_positive, scores, s), theirs, rtol=1e-12)
