"""Rows of a table in, labels out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.learners.classifier import LinearClassifier
from lineal.learners.searched.classification import SearchedClassifier
from lineal.learners.table.base import BaseTableModel, one_row
from lineal.learners.targets import labels_of_rows, plain_array, require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.row_explanation import RowExplanation
from lineal.objective import L2, Log, SquaredHinge
from lineal.protocol import available_if, check_is_fitted, clone


class TableClassifier(SearchedClassifier, BaseTableModel):
    """Classifies rows of tables: reads columns of any kind and learns a linear model, all chosen for you.

    Parameters
    ----------
    kinds : dict, optional
        Kinds of columns by name, as for :class:`TableVectorizer`: ``"number"``, ``"boolean"``,
        ``"category"``, ``"date"``, ``"text"``, ``"drop"``, or an object such as
        ``Numbers(bins=Quantiles(4))``. Other columns' kinds are inferred.
    learner
        A linear classifier to use as it is; ``None``: the logistic loss (softmax for more than two labels)
        with an L2 penalty, or the squared hinge if there are text columns or more than 1000 sparse ones.
    strengths
        Strengths of the penalty to choose from; recipes are compared at the first. One number is taken as
        it is; ``None``: 1, 10, 0.1, 100. Those behind a worse one, or away from a better one, are left out.
    n_folds
        In how many parts rows are held out in turn.
    search_bytes
        Of more than this (four bytes a cell, and the characters of texts), the choice is made on a random
        part of this size, or of a smaller one with more than four labels.
    scoring
        What is best: a function of labels and predicted labels; ``None``: the share that is right.
    random_state
        Seed of the folds and of the random part.
    n_threads
        Threads; the model is the same for every number of them.
    progress
        Whether each trial is told on the standard error output.

    Attributes
    ----------
    classes_ : the labels
    kinds_ : the kind of each column by name; "empty" if it had no values
    plan_ : what was chosen and why, in one sentence
    trials_ : all trials of the search: recipe, strength, mean score and its standard error
    vectorizers_, model_ : what was chosen, fitted to all rows
    strength_, certificate_ : of the model
    coef_, intercept_ : the weights of ``get_feature_names_out()``

    Notes
    -----
    Numbers are scaled to variance 1, categories have a column for each level that occurs twice, and the rest
    share one; see :class:`TableVectorizer` for dates and missing values. What is compared on held-out rows:
    numbers alone; numbers beside ten quantile bins each (one for each value where there are at most twenty);
    from 2000 rows on, beside forty. Text columns are read in the three ways of :class:`TextClassifier`.

    Tables may be anything that :class:`TableVectorizer` takes. When predicting, columns are found by name;
    others are ignored. A sparse matrix is a table of numbers whose zeros stay unstored.

    Examples
    --------
    >>> from lineal import TableClassifier
    >>> table = {"age": [31, 45, 22, 60, 19, 52] * 5, "city": ["Bath", "York", "Bath"] * 10}
    >>> model = TableClassifier().fit(table, ["no", "yes", "no", "yes", "no", "yes"] * 5)
    >>> model.predict([{"age": 20, "city": "Bath"}, {"age": 55, "city": "Rome"}]).tolist()
    ['no', 'yes']
    >>> model.explain({"age": 55, "city": "Bath"}).columns[0][0]
    'age'
    """

    _strengths = (1.0, 10.0, 0.1, 100.0)
    _has_classes = True

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learns from rows and their labels.

        Parameters
        ----------
        X : a table, or a sparse matrix
        y : their labels
            Anything hashable.
        sample_weight : numbers >= 0, optional
            For the final fit; the search counts every row once.
        groups : one for each row, optional
            Rows of one group are held out together.
        """
        self._fit_labels(X, y, sample_weight, groups)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learns from more rows, in their order, after a ``fit``: its columns and weights go on.

        Scales, levels and words stay as they are; new labels may come. There is no certificate any more.
        """
        require_targets(self, y)
        self._partial_fit(X, y, sample_weight, classes=classes)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        matrix = self._matrix(X)
        return self.model_.decision_function(matrix)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score."""
        matrix = self._matrix(X)
        return self.model_.predict(matrix)

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        matrix = self._matrix(X)
        return self.model_.predict_proba(matrix)

    def explain(self, row: Any, label: Any = None) -> RowExplanation:
        """Why a row got its score for a label (its predicted one): every feature's and column's exact share.

        ``row`` is a dict of values by column, a list of values, or a table or matrix of one row.
        """
        check_is_fitted(self, "model_")
        if label is None:
            label = self.predict(one_row(row))[0]
        return self._explained(row, label, *self._place(label))

    def _labels(self, y: ArrayLike) -> NDArray[Any]:
        return labels_of_rows(y, len(plain_array(y)))

    def _learner(self, strength: float, is_trial: bool) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        loss = SquaredHinge() if self._is_wide else Log()
        tol = 1e-2 if is_trial else 1e-3
        return LinearClassifier(loss=loss, penalty=L2(strength), tol=tol, n_threads=self.n_threads)
