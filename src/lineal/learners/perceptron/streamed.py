"""Perceptrons that learn from a stream."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data import checked_rows
from lineal.data.matrices import csr_matrix
from lineal.errors import ParameterError, PrecisionWarning
from lineal.learners.perceptron.sizes import largest_in_stream, moderate
from lineal.learners.perceptron.stream import KEEPERS, MistakeStream, Terms
from lineal.learners.reading import read_growing, read_grown
from lineal.learners.scoring import ScoringClassifier
from lineal.learners.targets import named_labels, require_targets
from lineal.objective.linear_maps import LinearMap, NativeRows, native_csr
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if

# What a fit leaves behind and a stream does not have.
_OF_FITS = ("coef_", "intercept_", "margin_", "radius_", "converged_", "reason_", "stop_", "temperature_")


class StreamedPerceptron(ScoringClassifier):
    """What a perceptron does with rows that come in pieces, and with what was kept of them."""

    variant: str
    until_convergence: bool
    learning_rate: float
    fit_intercept: bool
    mistakes_: NDArray[np.int64]
    updates_: int
    n_iter_: int
    n_seen_: int
    online_accuracy_: float
    survivors_: Any
    counts_: NDArray[np.int64]
    _stream: MistakeStream | None = None

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        raise NotImplementedError

    def _why_no_stream(self) -> str:
        """What these options need and a stream has not; empty if there is no such thing."""
        if self.variant in ("best", "random"):
            return (
                f"variant={self.variant!r} chooses among the weights of whole epochs, which a stream has "
                f"not: take one of {', '.join(KEEPERS)}, or use fit."
            )
        if self.until_convergence:
            return (
                "until_convergence=True meets the same rows until there is no mistake, and a stream meets a "
                "row once: leave it out, or use fit."
            )
        if self.probability:
            return "probability=True holds rows out, which a stream cannot: leave it out, or use fit."
        return ""

    @available_if(lambda self: not self._why_no_stream())
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Meets more rows, in their order: predicts each, is judged by it, and learns from it.

        Pieces of any size give the model of one pass, bit for bit; with all labels in ``classes`` it is that
        of ``fit`` with ``epochs=1, shuffle=False``. After ``fit`` the rows are met as in one more epoch, and
        averages and votes count the examples of all epochs. docs/perceptron.md says what new labels do.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            New columns may come at any time, behind the known ones.
        y : sequence of n_rows labels
            New labels may come at any time, too.
        classes : sequence of labels, optional
            Labels that are known from the start. None need be named.

        Returns
        -------
        self
        """
        require_targets(self, y)
        stream = self._begun()
        array, shape = read_growing(self, X)
        rows = checked_rows(array, 1, shape.get("feature_names_in_"), as_stored=True)
        rows = _in_columns(rows, shape["n_features_in_"])
        labels = self._labels(y, rows.n_rows)
        known = stream.labels if classes is None else stream.labels.named(named_labels(classes))
        largest = largest_in_stream(stream.terms.rate, stream.unit)
        order = moderate(rows, largest)
        stream.make_ready(rows.n_columns, known)  # where memory may end, before anything has changed
        for name in _OF_FITS:
            self.__dict__.pop(name, None)
        self.__dict__.update(shape)
        self._stream = stream
        try:
            stream.meet(rows, labels, order)
        finally:
            self._tell(stream)
        if len(order) < rows.n_rows:
            warnings.warn(
                f"{rows.n_rows - len(order)} rows have numbers beyond {largest:g} and were left out. "
                "Scale them.",
                PrecisionWarning,
                stacklevel=2,
            )
        return self

    def _begun(self) -> MistakeStream:
        """The stream so far, a new one, or one that goes on from a fit."""
        self._check_options()
        terms = self._terms()
        if self._stream is None and "classes_" in self.__dict__:
            raise ParameterError(
                f"this model was fitted with another variant than {self.variant!r}, which leaves no weights "
                "to go on from. Begin anew with a clone."
            )
        stream = MistakeStream.begun(terms) if self._stream is None else self._stream
        if stream.terms != terms:
            raise ParameterError(
                f"options of Perceptron were changed in the middle of a stream, which began with "
                f"{stream.terms} and is now {terms}. Set them back, or begin anew with a clone."
            )
        return stream

    def _terms(self) -> Terms:
        return Terms(self.variant, float(self.learning_rate), bool(self.fit_intercept))

    def _tell(self, stream: MistakeStream) -> None:
        """What the stream has to say of itself."""
        self.classes_ = stream.labels.known.values
        self.mistakes_ = np.array(stream.mistakes, dtype=np.int64)
        self.updates_ = stream.weights.mistakes
        self.n_iter_ = len(self.mistakes_)
        self.n_seen_ = stream.n_seen
        self.online_accuracy_ = 1.0 - stream.mistakes[-1] / stream.n_seen if stream.n_seen else float(np.nan)
        self._kept = self.variant
        if self.n_iter_ == 1:
            self._first_epoch = max(1, self.n_seen_)

    # ---- what was learnt ----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Asked for only where there is no such attribute. Weights are made of what the stream holds.
        if name == "partial_fit":
            raise AttributeError(f"Perceptron has no partial_fit here: {self._why_no_stream()}")
        stream = self.__dict__.get("_stream")
        if name in ("coef_", "intercept_", "survivors_", "counts_") and stream is not None:
            made = stream.model()
            if name in made:
                return made[name]
        return object.__getattribute__(self, name)  # which says why there is none

    def _rows(self, X: Any, *, reset: bool) -> LinearMap:
        if reset or "n_seen_" not in self.__dict__:
            return super()._rows(X, reset=reset)
        rows = self._built(read_grown(self, X), reset=False)
        assert isinstance(rows, NativeRows)
        return _in_columns(rows, self.__dict__["n_features_in_"])

    def _scores(self, X: Any) -> FloatArray:
        if not hasattr(self, "survivors_"):
            return super()._scores(X)
        rows = self._rows(X, reset=False)
        assert isinstance(rows, NativeRows)
        votes = self.survivors_.votes(rows)
        total = float(self.counts_.sum())
        return ((votes[:, 1] - votes[:, 0]) / total)[:, None] if votes.shape[1] == 2 else votes / total

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        if len(getattr(self, "classes_", ())) == 1:  # all that a stream has brought so far
            return np.repeat(self.classes_, len(self._scores(X)))
        return super().predict(X)


def _in_columns(rows: NativeRows, n_columns: int) -> NativeRows:
    """Sparse rows with so many columns: those behind count nothing."""
    if rows.n_columns == n_columns:
        return rows
    if rows.n_columns < n_columns and rows.dense is None:
        arrays, is_ordered = rows.given.arrays(), rows.given.is_ordered
        return NativeRows(csr_matrix(*arrays, n_columns, is_ordered=is_ordered), rows.n_threads)
    csr = rows.csr()[:, :n_columns]
    csr.resize((rows.n_rows, n_columns))
    return native_csr(csr, rows.n_threads)
