"""Matrices that need no conversion take a short way in, and come out as if scikit-learn had read them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from lineal import OnlineClassifier
from lineal.errors import InputError
from lineal.learners.reading import read_matrix

BASE = np.arange(12.0).reshape(3, 4) % 5
GIVEN = {
    "float64": BASE,
    "float32": BASE.astype(np.float32),
    "a view of rows": np.vstack([BASE, BASE])[1:3],
    "Fortran": np.asfortranarray(BASE),
    "every other column": np.repeat(BASE, 2, axis=1)[:, ::2],
    "whole numbers": BASE.astype(int),
    "another byte order": BASE.astype(">f8"),
    "half": BASE.astype(np.float16),
    "np.matrix": BASE.view(np.matrix),
    "one dimension": BASE[0],
    "three dimensions": BASE[None],
    "no rows": BASE[:0],
    "no columns": BASE[:, :0],
    "csr_array": sp.csr_array(BASE),
    "csr_matrix": sp.csr_matrix(BASE),
    "csc_array": sp.csc_array(BASE),
    "float32 csr": sp.csr_array(BASE.astype(np.float32)),
    "csr of no rows": sp.csr_array((0, 4)),
    "csr of no columns": sp.csr_array((3, 0)),
    "csr in one dimension": sp.csr_array(BASE[0]),
    "other columns": np.ones((2, 7)),
    "csr of other columns": sp.csr_array(np.ones((2, 7))),
}
KNOWN = {
    "new": {},
    "so many columns": {"n_features_in_": 4},
    "named columns": {"n_features_in_": 4, "feature_names_in_": np.array(list("abcd"), dtype=object)},
}


def read(way, known, X, *, reset):
    """What comes out, what the learner has then, and what was said."""
    learner = OnlineClassifier()
    learner.__dict__.update(known)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = way(learner, X, reset=reset)
        except (InputError, ValueError, TypeError) as error:
            made = str(error)
    shape = {
        name: learner.__dict__[name]
        for name in ("n_features_in_", "feature_names_in_")
        if name in vars(learner)
    }
    return made, shape, [str(warning.message) for warning in said]


def theirs(learner, X, *, reset):
    formats = ("csr", "csc", "coo")
    return validate_data(learner, X, reset=reset, accept_sparse=formats, dtype=(np.float64, np.float32),
                         ensure_all_finite=False, order="C")  # fmt: skip


@pytest.mark.parametrize("X", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize("reset", [True, False])
def test_the_short_way_is_scikit_learns(X, known, reset):
    """The same matrix, columns, refusals and warnings, whatever comes and whatever was known."""
    ours, their = (read(way, known, X, reset=reset) for way in (read_matrix, theirs))
    assert ours[1:] == their[1:]
    assert type(ours[0]) is type(their[0])
    if isinstance(ours[0], str):
        assert ours[0] == their[0]
    else:
        assert ours[0].dtype == their[0].dtype
        assert (ours[0] is X) == (their[0] is X)
        assert abs(ours[0] - their[0]).sum() == 0
