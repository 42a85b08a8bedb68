"""Tables of mixed columns as matrices of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lineal.data.columns import Column, Table, few, read_table
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.features.kinds import Booleans, Categories, Dates, Encoding, Kind, Numbers, Text, inferred
from lineal.model.features.table_reader import TableReader
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted
from lineal.protocol.whole_fits import all_or_nothing


class TableVectorizer(TransformerMixin, BaseEstimator):
    """Turns a table of numbers, booleans, categories, dates and text into a sparse matrix with named columns.

    The table may be a pandas or polars frame, an Arrow table (or anything that streams as one), a dict of
    columns, a list of dicts, a structured array, a 2-D array or a list of rows: the same table gives the same
    matrix. The kind of each column is inferred, unless ``kinds`` names it:

    ==========  ===================================================================================
    kind        is inferred for
    ==========  ===================================================================================
    "number"    numbers and durations, also beside None
    "boolean"   True and False, also beside None
    "date"      dates and times; text if all of it is in ISO 8601, such as 2024-02-29
    "category"  what its container calls categorical; other text; values of several types
    "text"      text of four words or more on average, if more than half of the values are distinct
    ==========  ===================================================================================

    Parameters
    ----------
    kinds : dict, optional
        Kinds of columns by name: a word of the table above, "drop" to leave the column out, or a value object
        that says more, as in ``{"zip": "category", "age": Numbers(bins=Quantiles(4))}``. Columns without
        names are x0, x1 ...
    numbers, booleans, categories, dates, text : Numbers, Booleans, Categories, Dates, Text
        What is done with the columns of a kind.
    extra : "refuse" or "ignore"
        What to do with columns that the training table did not have.
    sparse_output : bool
        Whether the answer is a CSR matrix, or an array, which ``set_output`` can turn into a data frame.
    dtype : np.float64 or np.float32

    Attributes
    ----------
    kinds_ : dict
        The kind of each column by name; "empty" if it had no values.
    n_features_in_ : int
    feature_names_in_ : array of str, if the table had names

    Notes
    -----
    Columns are found by name, in any order. None, NaN, NaT, NA and Arrow's nulls are missing values; infinity
    is refused with row and column. A column without any value in training makes no features, whatever it
    holds later.

    Examples
    --------
    >>> from lineal import TableVectorizer
    >>> people = {"age": [31, None, 52], "city": ["Bath", "York", "Bath"], "member": [True, False, True]}
    >>> vectorizer = TableVectorizer().fit(people)
    >>> vectorizer.get_feature_names_out().tolist()
    ['age', 'age is missing', 'city=Bath', 'city=York', 'member']
    >>> vectorizer.transform([{"age": 20, "city": "Rome", "member": True}]).toarray()
    array([[20.,  0.,  0.,  0.,  1.]])
    """

    def __init__(
        self,
        kinds: Mapping[str, str | Kind] | None = None,
        *,
        numbers: Numbers = Numbers(),
        booleans: Booleans = Booleans(),
        categories: Categories = Categories(),
        dates: Dates = Dates(),
        text: Text = Text(),
        extra: str = "refuse",
        sparse_output: bool = True,
        dtype: Any = np.float64,
    ) -> None:
        self.kinds = kinds
        self.numbers = numbers
        self.booleans = booleans
        self.categories = categories
        self.dates = dates
        self.text = text
        self.extra = extra
        self.sparse_output = sparse_output
        self.dtype = dtype

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns the kind of each column, and its levels, means, borders or words.

        Parameters
        ----------
        X : a table
        y : labels, optional
            For transformers of text that weigh words by them, such as ``TextVectorizer(weighting="nb")``.

        Returns
        -------
        self
        """
        self._learn(_table_of(X), y)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """As ``fit(X, y).transform(X)``, reading the table once."""
        table = _table_of(X)
        self._learn(table, y)
        return self._encode(table)

    def transform(self, X: Any) -> Any:
        """(n_rows, n_features) numbers; the table may have no rows."""
        check_is_fitted(self)
        return self._encode(self.reader().matched(_table_of(X)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The name of each feature, such as ``age``, ``city=York`` or ``when year``."""
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self._encodings):
            raise InputError(
                f"input_features is not equal to feature_names_in_: needed {few(self._encodings)}, "
                f"got {few(input_features)}."
            )
        return np.array(list(self._origin), dtype=object)

    def inverse_names(self, names: Iterable[str] | None = None) -> list[str]:
        """The column that each feature comes from: of all features in order, or of those named."""
        check_is_fitted(self)
        names = list(self._origin) if names is None else list(names)
        unknown = [name for name in names if name not in self._origin]
        if unknown:
            raise InputError(f"no such features: {few(unknown)}. See get_feature_names_out().")
        return [self._origin[name] for name in names]

    def text_transformer(self, name: str) -> Any:
        """The fitted transformer of a column of text."""
        check_is_fitted(self)
        if self.kinds_.get(name) != "text":
            raise InputError(f"{name!r} is not a column of text: kinds_ says {self.kinds_.get(name)!r}.")
        encoding: Any = self._encodings[name]
        return encoding.transformer

    # ---- learning ---------------------------------------------------------------------------------

    def _learn(self, table: Table, y: Any = None) -> None:
        self._check_options()
        if not table.columns:
            raise InputError(
                f"Found a table with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is "
                "required. Give it a column."
            )
        if not table.n_rows:
            raise InputError(
                f"Found a table with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is "
                "required. Give it a row."
            )
        unknown = [name for name in self.kinds or () if name not in table.columns]
        if unknown:
            raise ParameterError(
                f"kinds names columns that the table does not have: {few(unknown)}. "
                f"It has {few(table.columns)}."
            )
        defaults = self._defaults()
        kinds = {name: self._kind(column, defaults) for name, column in table.columns.items()}
        # Columns that share a kind are learned from together.
        alike: dict[int, list[str]] = {}
        for name, kind in kinds.items():
            alike.setdefault(id(kind), []).append(name)
        encodings: dict[str, Encoding | None] = dict.fromkeys(kinds)
        for names in alike.values():
            kind = kinds[names[0]]
            if kind is not None:
                learned = kind.learn_many([table.columns[name] for name in names], y)
                encodings.update(zip(names, learned, strict=True))
        self._encodings = encodings
        self.kinds_ = {
            name: "drop" if kind is None else "empty" if encodings[name] is None else kind.word
            for name, kind in kinds.items()
        }
        self.n_features_in_ = len(table.columns)
        if table.has_names:
            self.feature_names_in_ = np.array(list(table.columns), dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.__dict__.pop("_origins", None)

    def _kind(self, column: Column, defaults: Mapping[str, Kind]) -> Kind | None:
        """What is done with a column; None if it is left out."""
        asked = (self.kinds or {}).get(column.name)
        if isinstance(asked, Kind):
            return asked
        if asked == "drop":
            return None
        # Nothing can be inferred of a column without values; whatever its kind, it has no features.
        word = asked or ("number" if column.missing.all() else inferred(column))
        return defaults[word]

    def _defaults(self) -> dict[str, Kind]:
        kinds = (self.numbers, self.booleans, self.categories, self.dates, self.text)
        return {kind.word: kind for kind in kinds}

    def _check_options(self) -> None:
        classes = {
            "numbers": Numbers,
            "booleans": Booleans,
            "categories": Categories,
            "dates": Dates,
            "text": Text,
        }
        for option, needed in classes.items():
            if not isinstance(getattr(self, option), needed):
                raise ParameterError(
                    f"{option} must be an object such as {needed.__name__}(), got {getattr(self, option)!r}."
                )
        if self.kinds is not None and not isinstance(self.kinds, Mapping):
            raise ParameterError(f"kinds must be a dict of kinds by column name, got {self.kinds!r}.")
        words = (*self._defaults(), "drop")
        for name, asked in (self.kinds or {}).items():
            if not isinstance(asked, Kind) and asked not in words:
                raise ParameterError(
                    f"the kind of column {name!r} must be one of {', '.join(map(repr, words))} or an object "
                    f"such as Numbers(), got {asked!r}."
                )
        if self.extra not in ("refuse", "ignore"):
            raise ParameterError(f"extra must be 'refuse' or 'ignore', got {self.extra!r}.")
        if np.dtype(self.dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ParameterError(f"dtype must be np.float64 or np.float32, got {self.dtype!r}.")

    # ---- encoding ---------------------------------------------------------------------------------

    def reader(self) -> TableReader:
        """How tables are read from now on; it needs neither SciPy nor scikit-learn."""
        check_is_fitted(self)
        has_names = hasattr(self, "feature_names_in_")
        return TableReader(
            self._encodings, has_names, self.extra, np.dtype(self.dtype), owner=type(self).__name__
        )

    @property
    def _origin(self) -> dict[str, str]:
        """The features by name, and the column of each; made when they are first asked for."""
        if "_origins" not in self.__dict__:
            self._origins = self.reader().origins
        return self._origins

    def take_encodings(self, encodings: Mapping[str, Encoding | None]) -> None:
        """Reads from now on with encodings that were learned by a vectoriser with these options."""
        self._encodings = dict(encodings)
        self.__dict__.pop("_origins", None)

    def _encode(self, table: Table) -> Any:
        reader = self.reader()
        starts, columns, values = reader.rows(table, 1)
        matrix = sp.csr_array((values, columns, starts), shape=(table.n_rows, reader.n_columns))
        return matrix if self.sparse_output else matrix.toarray()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []  # the answer's type is an option
        return tags


def _table_of(X: Any) -> Table:
    """The table of whatever holds it, or one that was read already."""
    return X if isinstance(X, Table) else read_table(X)
