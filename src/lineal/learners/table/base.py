"""What the table classifier and the table regressor share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data.columns import Table
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.kinds import Kind
from lineal.learners.reading import read_matrix
from lineal.learners.searched.model import SearchedModel
from lineal.learners.table.data import (
    MatrixData,
    TableData,
    checked_kinds,
    table_data,
    table_of,
    texts_of,
)
from lineal.learners.table.recipes import is_wide, recipes_of_matrices, recipes_of_tables
from lineal.learners.text.search import side_by_side
from lineal.model.features.table import UsedColumns
from lineal.model.row_explanation import RowBlock, RowExplanation, explained_row
from lineal.protocol import TransformerTags, check_is_fitted


class BaseTableModel(SearchedModel):
    """Vectorisers of a table, a linear model behind them, and the search that chose both."""

    _unit = "rows"
    _is_one_peaked = True
    _made_names = ("kinds", "learner")
    _has_classes: ClassVar[bool]
    _texts: list[Any]  # of each vectoriser the column of text that it reads, and how; None for other columns
    _is_matrix: bool
    _is_wide: bool
    _used: list[str]

    def __init__(
        self,
        *,
        kinds: Mapping[str, str | Kind] | None = None,
        learner: Any = None,
        strengths: float | Sequence[float] | None = None,
        n_folds: int = 4,
        search_bytes: float = 4e6,
        scoring: Callable[[Any, Any], float] | None = None,
        random_state: Any = 0,
        n_threads: int | None = None,
        progress: bool = False,
    ) -> None:
        self.kinds = kinds
        self.learner = learner
        self.strengths = strengths
        self.n_folds = n_folds
        self.search_bytes = search_bytes
        self.scoring = scoring
        self.random_state = random_state
        self.n_threads = n_threads
        self.progress = progress

    # ---- fitting ------------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        checked_kinds(self.kinds)

    def _data(self, X: Any) -> TableData | MatrixData:
        if sp.issparse(X):
            if self.kinds:
                raise ParameterError(
                    "kinds names the columns of a table, but a sparse matrix came, whose columns are numbers."
                )
            data: TableData | MatrixData = MatrixData(sp.csr_matrix(read_matrix(self, X, reset=True)))
            self._used, self.kinds_ = [], {}
        else:
            table = table_of(X)
            _require_some(table)
            data = table_data(table, self.kinds)
            self._used = list(data.kinds)
            self.kinds_ = _words(table, data)
            self.n_features_in_ = len(table.columns)
            self.__dict__.pop("feature_names_in_", None)
            if table.has_names:
                self.feature_names_in_ = np.array(list(table.columns), dtype=object)
        self._is_matrix, self._is_wide = isinstance(data, MatrixData), is_wide(data)
        return data

    def _given_recipes(self, data: TableData | MatrixData) -> list[Any]:
        if isinstance(data, MatrixData):
            return list(recipes_of_matrices(data))
        return list(recipes_of_tables(data, self.n_threads, self._has_classes))

    def _n_bytes(self, data: TableData | MatrixData) -> float:
        return data.n_bytes

    def _affordable(self, n_scores: int) -> float:
        # Softmax of few columns is solved with pairs of labels, one against the rest is not.
        return super()._affordable(n_scores) if self._is_wide else (4.0 / n_scores) ** 2

    def _made_by(self) -> tuple[Any, ...]:
        return self.kinds, self.learner

    def _keep_read(self, read: Any) -> None:
        super()._keep_read(read)
        self._texts = [block.text for block in getattr(read, "blocks", [])]

    # ---- streams ------------------------------------------------------------------------------

    def _partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, **more: Any) -> None:
        """Learns from more rows, in their order, with the columns of the fit."""
        if not hasattr(self, "model_"):
            kind = "Classifier" if self._has_classes else "Regressor"
            raise ParameterError(
                f"{type(self).__name__} learns kinds, scales and levels of columns from a whole table: fit "
                "one first, then go on with partial_fit. To begin with a stream use "
                f"Text{kind} for texts, or Online{kind} for numbers."
            )
        self._refuse_changed_options()
        if not hasattr(self.model_, "partial_fit"):
            raise ParameterError(
                f"learner={self.model_!r} has no partial_fit: take one that has, or use fit."
            )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        try:
            self.model_.partial_fit(self._matrix(X), y, **weights, **more)
        finally:
            if hasattr(self.model_, "n_seen_"):
                self._keep(self.vectorizers_, self.model_)

    # ---- prediction ---------------------------------------------------------------------------

    def _table(self, X: Any) -> Table:
        """The columns that this model uses."""
        return self._used_columns().matched(table_of(X))

    def _used_columns(self) -> UsedColumns:
        """Which columns of a table are looked at, and how they are found."""
        names = getattr(self, "feature_names_in_", None)
        known = () if names is None else tuple(names.tolist())
        used = tuple(self._used)
        return UsedColumns(used, int(self.n_features_in_), names is not None, known, type(self).__name__)

    def _blocks(self, X: Any) -> list[Any]:
        check_is_fitted(self, "model_")
        if self._is_matrix:
            matrix = sp.csr_matrix(read_matrix(self, X, reset=False))
            return [scaler.transform(matrix) for scaler in self.vectorizers_] or [matrix]
        table = self._table(X)
        return [sp.csr_matrix(vectorizer.transform(table)) for vectorizer in self.vectorizers_]

    def _matrix(self, X: Any) -> Any:
        return side_by_side(self._blocks(X))

    def fit_transform(self, X: Any, y: ArrayLike, **more: Any) -> Any:
        """As ``fit(X, y).transform(X)``."""
        return self.fit(X, y, **more).transform(X)

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows and their targets."""
        raise NotImplementedError

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of ``coef_``: ``age``, ``city=York``, ``20 <= age < 40``."""
        check_is_fitted(self, "model_")
        return np.concatenate(self._block_names())

    def _block_names(self) -> list[NDArray[np.object_]]:
        if self._names is None:
            if self._is_matrix:
                given = getattr(self, "feature_names_in_", None)
                names = [f"x{j}" for j in range(self.n_features_in_)] if given is None else given
                self._names = [np.array(names, dtype=object)]
            else:
                self._names = [vectorizer.get_feature_names_out() for vectorizer in self.vectorizers_]
        return list(self._names)

    def _explained(self, row: Any, label: Any, output: int, sign: float) -> RowExplanation:
        row = one_row(row)
        table = None if self._is_matrix else self._table(row)
        blocks, start = [], 0
        coef = np.atleast_2d(self.model_.coef_)[output]
        for place, (X, names) in enumerate(zip(self._blocks(row), self._block_names(), strict=True)):
            if X.shape[0] != 1:
                raise InputError(f"One row is explained at a time, but {X.shape[0]} came.")
            weights = sign * coef[start + X.indices]
            start += X.shape[1]
            own = [str(name) for name in names[X.indices]]
            if table is None:
                blocks.append(RowBlock(own, own, X.data, weights))
                continue
            origins = self.vectorizers_[place].inverse_names(own)
            blocks.append(RowBlock(own, origins, X.data, weights, self._tokens(place, table)))
        return explained_row(label, blocks, sign * float(np.atleast_1d(self.model_.intercept_)[output]))

    def _tokens(self, place: int, table: Table) -> Any:
        """The pieces of a text column's text and where its terms are in them."""
        if self._texts[place] is None:
            return None
        name, vectorizer = self._texts[place]
        tokens = texts_of(table.columns[name])[0].split()
        return tokens, vectorizer.occurrences(tokens)

    def __getstate__(self) -> dict[str, Any]:
        # What is made when it is first needed is made again.
        return super().__getstate__() | ({"_names": None} if hasattr(self, "_names") else {})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags = TransformerTags(preserves_dtype=[])  # it has transform
        return tags


def _words(table: Table, data: TableData) -> dict[str, str]:
    """The kind of each column in a word."""
    words = {}
    for name, column in table.columns.items():
        kind = data.kinds.get(name)
        gone = "empty" if column.missing.all() else "drop"
        words[name] = gone if kind is None else kind if isinstance(kind, str) else kind.word
    return words


def _require_some(table: Table) -> None:
    if not table.columns:
        raise InputError(
            f"Found a table with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required. "
            "Give it a column."
        )
    if not table.n_rows:
        raise InputError(
            f"Found a table with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is "
            "required. Give it a row."
        )


def one_row(row: Any) -> Any:
    """One row from outside as a table or matrix of one row."""
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None:
        return row[None, :]
    if isinstance(row, (list, tuple)) and row and not isinstance(row[0], (list, tuple, dict, np.ndarray)):
        return [row]
    return row
