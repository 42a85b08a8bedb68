"""What selectors of columns share: their data, what they leave of a matrix, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array

from lineal.data.matrices import require_sound
from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.protocol import BaseEstimator, check_is_fitted


class ColumnSelector(SelectorMixin, BaseEstimator):
    """Keeps some columns of a matrix, in their order; ``support_`` says which."""

    support_: NDArray[np.bool_]
    n_features_in_: int

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X: Any) -> Any:
        """The kept columns of X."""
        return super().transform(require_sound(X))

    def inverse_transform(self, X: Any) -> Any:
        """The kept columns back in their places, zeros elsewhere; a sparse matrix comes back as CSR."""
        columns = np.flatnonzero(self._get_support_mask())
        X = check_array(require_sound(X), accept_sparse=("csr", "csc", "coo"), dtype=None)
        if X.shape[1] != len(columns):
            raise InputError(f"X has {X.shape[1]} columns, but {len(columns)} were kept.")
        shape = (X.shape[0], self.n_features_in_)
        if sp.issparse(X):
            X = X.tocsr()
            index = columns.astype(X.indices.dtype)[X.indices]
            return type(X)((X.data.copy(), index, X.indptr.copy()), shape=shape)
        whole = np.zeros(shape, dtype=X.dtype)
        whole[:, columns] = X
        return whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
