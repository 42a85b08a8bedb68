"""X of a learner, as it comes from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from lineal.errors import InputError, InputTypeError


def read_matrix(learner: Any, X: Any, *, reset: bool) -> Any:
    """X as a float array or SciPy matrix; scikit-learn's refusals become this library's.

    It learns or compares names and number of columns. Whether all numbers are finite is left to
    ``checked_rows``, which says where one is not.
    """
    try:
        return validate_data(
            learner, X, reset=reset, accept_sparse=("csr", "csc", "coo"), accept_large_sparse=True,
            dtype=(np.float64, np.float32), ensure_all_finite=False, order="C",
        )  # fmt: skip
    except InputError:
        raise
    except ValueError as error:
        is_kind = any(words in str(error) for words in ("could not convert", "Complex data"))
        kind = InputTypeError if is_kind else InputError
        raise kind(str(error)) from error
    except TypeError as error:
        raise InputTypeError(str(error)) from error
