"""Naive Bayes for tables of categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from lineal.data.columns import Column, Table, read_table
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.learners.bayes.base import BaseNaiveBayes, class_weights
from lineal.learners.bayes.counts import grown
from lineal.learners.catalogue import Catalogue
from lineal.model.encodings.categories import text_of
from lineal.objective.losses import FloatArray


@dataclass(frozen=True)
class CategoryCounts:
    """Of one column: its categories, and how often each class has them."""

    catalogue: Catalogue
    count: FloatArray  # (K, n_categories)


class CategoricalNB(BaseNaiveBayes):
    """Naive Bayes for tables of categories: text, whole numbers, anything hashable.

    Column i has the value v in class k with

        p(x_i = v | C_k) = (N_kiv + l) / (N_k + l V_i),

    N_kiv the rows of class k with that value, V_i the number of values of the column.

    Parameters
    ----------
    smoothing : float
        l: 0 is maximum likelihood, 1 Laplace's rule.
    smooth_prior : bool
        Whether l is added to the counts of classes too: (N_k + l) / (N + l K), the estimate under the same
        prior. ``False`` takes N_k / N, as scikit-learn does.
    class_prior : None, "uniform" or K probabilities in the order of ``classes_``
        None estimates them.
    categories : None, or a sequence with a collection of values for each column
        Values that a column can have though no row has them: they count in V_i.
    alpha, fit_prior : optional
        scikit-learn's names: ``alpha`` is taken instead of ``smoothing``; ``fit_prior=False`` means
        ``class_prior="uniform"``.

    Attributes
    ----------
    classes_ : the labels, sorted
    categories_ : a sorted array of values for each column
    category_count_, feature_log_prob_ : an array (K, V_i) for each column: N_kiv and ln p(x_i = v | C_k)
    class_log_prior_, class_count_ : (K,)
    coef_, intercept_ : (K, sum of V_i) and (K,) the linear score of the one-hot row
    coef_names_ : "column=value" for each column of ``coef_``
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    A value that no training row had is what the formula says of it, l / (N_k + l V_i) in class k: less likely
    in a class that is known better. Under maximum likelihood that is 0 in every class, and the row is
    answered with the prior. In ``partial_fit`` a new value is a new category, and V_i grows. Missing values
    are refused: a word such as "missing" makes them a category. 3 and 3.0 are one value, 3 and "3" are two.

    There are K rows of weights for two classes too: one row, their difference, would decide but not weigh.

    Examples
    --------
    >>> from lineal import CategoricalNB
    >>> rows = [["small", "slow"], ["small", "fast"], ["large", "fast"], ["large", "slow"], ["large", "fast"]]
    >>> model = CategoricalNB().fit(rows, ["-", "-", "+", "+", "+"])
    >>> model.predict([["large", "slow"], ["small", "unheard of"]])
    array(['+', '-'], dtype='<U1')
    """

    def __init__(
        self,
        smoothing: float = 1.0,
        *,
        smooth_prior: bool = True,
        class_prior: str | ArrayLike | None = None,
        categories: Any = None,
        alpha: float | None = None,
        fit_prior: bool = True,
    ) -> None:
        self.smoothing = smoothing
        self.smooth_prior = smooth_prior
        self.class_prior = class_prior
        self.categories = categories
        self.alpha = alpha
        self.fit_prior = fit_prior

    # ---- reading ------------------------------------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> Table:
        table = read_table(X)
        if table.n_rows == 0 or not table.columns:
            raise InputError(
                f"Found array with {table.n_rows} sample(s) and {len(table.columns)} feature(s) "
                f"(shape=({table.n_rows}, {len(table.columns)})) while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        table = self._held_to_names(X, table, reset)
        columns = {}
        for j, column in enumerate(table.columns.values()):
            _check_cells(column, j)
            # Gathered once: a column of a matrix is spread over all of it, and is looked at several times.
            columns[column.name] = replace(column, values=np.ascontiguousarray(column.values))
        return replace(table, columns=columns)

    def _some(self, rows: Table, places: NDArray[np.intp]) -> Table:
        columns = {
            name: replace(column, values=column.values[places], missing=column.missing[places])
            for name, column in rows.columns.items()
        }
        return replace(rows, columns=columns, n_rows=len(places))

    def _held_to_names(self, X: Any, table: Table, reset: bool) -> Table:
        """Sets or compares the number and names of columns, as scikit-learn does for matrices.

        Dicts and records, which it does not know, have names too; theirs may come in any order.
        """
        names = list(table.columns)
        if table.has_names and not hasattr(X, "columns"):
            if reset:
                self.feature_names_in_ = np.array(names, dtype=object)
                self.n_features_in_ = len(names)
            known = list(getattr(self, "feature_names_in_", []))
            if sorted(known) != sorted(names):
                raise InputError(
                    f"The feature names should match those that were passed during fit: {known}, got {names}."
                )
            return replace(table, columns={name: table.columns[name] for name in known})
        shape = np.broadcast_to(np.int8(0), (table.n_rows, len(names)))
        try:
            validate_data(self, X if hasattr(X, "shape") else shape, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise InputError(str(error)) from error
        return table

    # ---- learning -----------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        if self.categories is not None and (
            isinstance(self.categories, (str, dict)) or not hasattr(self.categories, "__len__")
        ):
            raise ParameterError(
                "categories must be None or a sequence with a collection of values for each column, "
                f"got {self.categories!r}."
            )

    def _count(
        self, rows: Table, codes: NDArray[np.int32], s: FloatArray, n_classes: int
    ) -> list[CategoryCounts]:
        announced = self._announced(len(rows.columns))
        counts, is_row = [], s > 0  # a row without weight is none: what it says is no category
        all_are = bool(is_row.all())
        for column, known in zip(rows.columns.values(), announced, strict=True):
            met = column.values if all_are else column.values[is_row]
            catalogue = Catalogue.of(met) if known is None else Catalogue.of(met).joined(known)
            V = len(catalogue)
            at = catalogue.places(column.values)
            at = at if all_are else np.where(is_row, at, 0)
            count = class_weights(codes.astype(np.intp) * V + at, s, n_classes * V)
            counts.append(CategoryCounts(catalogue, count.reshape(n_classes, V)))
        return counts

    def _announced(self, n_columns: int) -> list[Catalogue | None]:
        if self.categories is None:
            return [None] * n_columns
        if len(self.categories) != n_columns:
            raise ParameterError(
                f"categories has values for {len(self.categories)} columns, but X has {n_columns}."
            )
        return [Catalogue.of(np.fromiter(values, dtype=object)) for values in self.categories]

    def _merge(
        self,
        counts: list[CategoryCounts],
        places: NDArray[np.intp],
        more: list[CategoryCounts],
        n: FloatArray,
        m: FloatArray,
    ) -> list[CategoryCounts]:
        merged = []
        for before, new in zip(counts, more, strict=True):
            catalogue = before.catalogue.joined(new.catalogue)
            count = np.zeros((len(n), len(catalogue)))
            count[:, catalogue.places(before.catalogue.values)] = grown(before.count, places, len(n))
            count[:, catalogue.places(new.catalogue.values)] += new.count
            merged.append(CategoryCounts(catalogue, count))
        return merged

    def _learn(self, counts: list[CategoryCounts]) -> None:
        l, n = self._pseudo_count, self.class_count_[:, None]
        self.categories_ = [of.catalogue.values for of in counts]
        self.category_count_ = [of.count for of in counts]
        self.feature_log_prob_, self._tables = [], []
        for of in counts:
            V = len(of.catalogue)
            total = n + l * V
            with np.errstate(divide="ignore"):
                # Without rows, and without smoothing, shares are 0 / 0: the limit of l -> 0 makes them equal.
                log_total = np.where(total > 0, np.log(total), np.log(V))
                self.feature_log_prob_.append(np.where(total > 0, np.log(of.count + l), 0.0) - log_total)
                unseen = np.where(total > 0, np.log(l), 0.0) - log_total
            # For prediction, a row for each value and a last one for those that were never seen.
            self._tables.append(np.ascontiguousarray(np.hstack([self.feature_log_prob_[-1], unseen]).T))
        self.coef_: FloatArray = np.hstack(self.feature_log_prob_)
        self.intercept_ = self.class_log_prior_
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(counts))])
        self.coef_names_ = [
            f"{name}={text_of(value)}"
            for name, values in zip(names, self.categories_, strict=True)
            for value in values.tolist()
        ]

    # ---- prediction ---------------------------------------------------------------------------

    def _scores(self, rows: Table) -> FloatArray:
        A = np.tile(self.class_log_prior_, (rows.n_rows, 1))
        for column, of, table in zip(rows.columns.values(), self._counts, self._tables, strict=True):
            A += table.take(of.catalogue.places(column.values), axis=0)
        return A

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.classifier_tags.poor_score = True
        return tags


def _check_cells(column: Column, place: int) -> None:
    """Refuses cells that are missing, infinite or cannot be told apart, with row and column."""
    bad = column.missing
    if column.values.dtype.kind == "f":
        bad = bad | np.isinf(column.values)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"X contains a missing value, NaN or infinity, first at row {row}, column {place} "
            f"({column.name!r}). "
            'Make it a category of its own, such as "missing".'
        )
    if column.values.dtype.kind == "O":
        for row, value in enumerate(column.values):
            try:
                hash(value)
            except TypeError as error:
                raise InputTypeError(
                    f"argument must be a string or a number, or hashable: row {row}, column {place} "
                    f"({column.name!r}) has {value!r}, a {type(value).__name__}. Use tuples for lists."
                ) from error
