"""What may be asked of columns: measures by name, with the laws of those that are tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from lineal.deferred import special
from lineal.errors import InputError, ManyClassesWarning, ParameterError
from lineal.features import relevance
from lineal.features.categories import Cells, classes_of_numbers
from lineal.features.labelled import Labelled, by_columns, labelled
from lineal.features.relevance import Contrast
from lineal.learners.targets import (
    classes_and_codes,
    labels_of_rows,
    numbers_of_rows,
    plain_array,
    weights_of_rows,
)
from lineal.objective.losses import FloatArray
from lineal.selection.conditional import picks

Tail = Callable[[NDArray[np.intp]], FloatArray]
_MOST_TERMS = 200  # degrees of freedom by a sum of half as many terms
_MANY = 20  # so many whole numbers are classes, however few rows there are
_TARGETS = ("auto", "classes", "numbers")


@dataclass(frozen=True)
class Question:
    """Data that were read, and what is asked of them."""

    measure: str
    data: Labelled
    numbers: FloatArray | None  # where y are measurements
    max_values: int

    @property
    def n_rows(self) -> int:
        """How many rows of positive weight."""
        return len(self.data.s)

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return self.data.n_columns

    @property
    def n_contrasts(self) -> int:
        """How many classes are compared with all others; 1 for two, which is one comparison."""
        n_classes = np.count_nonzero(self.data.totals)
        return 1 if n_classes == 2 else int(n_classes)


@dataclass(frozen=True)
class Measured:
    """Scores of all columns, the p-values of those asked for, and the order where the measure made it."""

    scores: FloatArray
    tail: Tail | None = None
    order: NDArray[np.intp] | None = None


# ---- what is asked --------------------------------------------------------------------------------


def read_question(
    X: Any,
    y: ArrayLike,
    measure: str,
    sample_weight: ArrayLike | None,
    *,
    target: str = "auto",
    max_values: int = 16,
    n_threads: int | None = None,
    asker: str = "rank_features",
) -> Question:
    """Checks the options, then the data."""
    require_measure(measure)
    if target not in _TARGETS:
        raise ParameterError(f"target must be one of {', '.join(map(repr, _TARGETS))}, got {target!r}.")
    if not isinstance(max_values, (int, np.integer)) or max_values < 2:
        raise ParameterError(f"max_values must be a whole number >= 2, got {max_values!r}.")
    if y is None:
        raise InputError(f"{asker} requires y to be passed, but the target y is None.")
    n_rows = _n_rows(X)
    s = weights_of_rows(sample_weight, n_rows)
    values: FloatArray | None = None
    if are_numbers(y, target):
        if not MEASURES[measure].takes_numbers:
            able = ", ".join(repr(name) for name, one in MEASURES.items() if one.takes_numbers)
            raise InputError(
                f"{measure!r} compares classes, but y are numbers. Use one of {able}; or target='classes'."
            )
        values = numbers_of_rows(y, n_rows, "a measure")
        if values.ndim != 1:
            raise InputError(f"y must be one number for each row, got an array of shape {values.shape}.")
        if MEASURES[measure].is_of_numbers:  # classes say no more than whether y varies
            codes = (values != values[np.argmax(s > 0)]).astype(np.int32)
        else:
            codes = classes_of_numbers(values, s, max_values)
    else:
        labels = plain_array(y)
        if target == "classes" and labels.dtype.kind == "f" and np.isfinite(labels).all():
            # Fractions that are called classes are: only their places count.
            labels = np.unique(labels, return_inverse=True)[1]
        _, codes = classes_and_codes(labels_of_rows(labels, n_rows))
    data = labelled(
        X,
        codes,
        s,
        n_classes=int(codes.max(initial=0)) + 1,
        n_threads=n_threads,
        names=given_names(X),
    )
    if np.count_nonzero(data.totals) < 2:
        raise InputError(
            f"{measure} needs at least 2 classes in the data, but y has only one class or value with weight. "
            "Check the labels or the split."
        )
    return Question(measure, data, None if values is None else values[s > 0], int(max_values))


def given_names(X: Any) -> Any:
    """The names that a table comes with; pyarrow calls the arrays themselves ``columns``."""
    return getattr(X, "column_names", None) or getattr(X, "columns", None)


def _n_rows(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise InputError(
            f"X must be a table of rows and columns, got shape {tuple(shape)}. Texts become columns by "
            "TextVectorizer().fit_transform(texts)."
        )
    return int(shape[0])


def require_measure(measure: Any) -> None:
    """Refuses measures that are not known."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {measure!r}.")


def are_numbers(y: ArrayLike, target: str, advice: str = "target='numbers' or 'classes'") -> bool:
    """Whether y are measurements rather than classes; ``advice`` is what would say so."""
    if target != "auto":
        return target == "numbers"
    array = plain_array(y)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0, 0])
            raise InputError(f"y contains NaN or infinity, first at row {row}. Drop those rows.")
        if type_of_target(array).startswith("continuous"):
            return True
    values = np.unique(array) if array.dtype.kind in "iufmM" else np.empty(0)
    if (n := len(values)) > _MANY and (n > array.size / 5 or not _are_codes(values)):
        what = "times" if array.dtype.kind in "mM" else "whole numbers"
        warnings.warn(
            f"y has {n} different {what} in {array.size} rows, each of which is taken for a class. "
            f"Say what they are: {advice}.",
            ManyClassesWarning,
            stacklevel=4,
        )
    return False


def _are_codes(values: NDArray[Any]) -> bool:
    """Whether distinct numbers may be names of classes: integers, or floats from 0 or 1 on, few missing."""
    if values.dtype.kind in "mM":
        return False
    return values.dtype.kind != "f" or (values[0] in (-1, 0, 1) and values[-1] - values[0] < 2 * len(values))


def measured(question: Question, n_picks: int) -> Measured:
    """The answer; a measure that picks columns one after another picks ``n_picks``."""
    return MEASURES[question.measure].answer(question, n_picks)


# ---- answers --------------------------------------------------------------------------------------


def _cells(question: Question) -> Cells:
    return relevance.cells_of(question.data, question.max_values)


def _information(question: Question, n_picks: int) -> Measured:
    return Measured(_cells(question).information())


def _normalized(question: Question, n_picks: int) -> Measured:
    return Measured(relevance.normalized(_cells(question)))


def _conditional(question: Question, n_picks: int) -> Measured:
    return Measured(*picks(question.data, question.max_values, n_picks))


def _likelihood(question: Question, n_picks: int) -> Measured:
    cells = _cells(question)
    scores = 2 * cells.totals.sum() * cells.information()
    return Measured(scores, _chi2_tail(scores, cells.freedom()))


def _contingency(question: Question, n_picks: int) -> Measured:
    cells = _cells(question)
    scores = cells.chi2()
    return Measured(scores, _chi2_tail(scores, cells.freedom()))


def _chi2(question: Question, n_picks: int) -> Measured:
    data = question.data
    scores = relevance.chi2_of_sums(data)
    freedom = int(np.count_nonzero(data.totals)) - 1

    def tail(columns: NDArray[np.intp]) -> FloatArray:
        x = scores[columns]
        return by_columns(lambda block: chi2_tail(x[block], freedom), len(x))

    return Measured(scores, tail)


def _pearson(question: Question, n_picks: int) -> Measured:
    data = question.data
    if question.numbers is not None:
        found = np.abs(relevance.correlation(data, question.numbers))
        contrast, n_contrasts = Contrast(found, np.full(len(found), data.s.sum() - 2.0)), 1
    else:
        contrast = relevance.largest_contrast(data, relevance.correlation_of_groups)
        n_contrasts = question.n_contrasts
    r = contrast.score
    with np.errstate(divide="ignore"):
        # (1 - r)(1 + r) is 1 - r^2 without its rounding where r is close to 1.
        t = r * np.sqrt(np.maximum(contrast.freedom, 0.0) / ((1 - r) * (1 + r)))
    return Measured(r, _student_tail(Contrast(t, contrast.freedom), n_contrasts))


def _signal(question: Question, n_picks: int) -> Measured:
    return Measured(relevance.largest_contrast(question.data, relevance.signal_of_groups).score)


def _student(question: Question, n_picks: int) -> Measured:
    contrast = relevance.student(question.data)
    return Measured(contrast.score, _student_tail(contrast, question.n_contrasts))


def _welch(question: Question, n_picks: int) -> Measured:
    contrast = relevance.welch(question.data)
    return Measured(contrast.score, _student_tail(contrast, question.n_contrasts))


def _chi2_tail(scores: FloatArray, freedom: FloatArray) -> Tail:
    """Without a degree of freedom there is nothing to test: p is 1."""

    def tail(columns: NDArray[np.intp]) -> FloatArray:
        x, v = scores[columns], freedom[columns]
        return np.where(v > 0, special.chdtrc(np.maximum(v, 1.0), x), 1.0)

    return tail


def chi2_tail(x: FloatArray, freedom: int) -> FloatArray:
    """P(chi-squared > x) for one whole number of degrees of freedom.

    Q(a + 1, h) = Q(a, h) + h^a exp(-h) / Gamma(a + 1) from Q(1/2, h) = erfc(sqrt(h)) or Q(1, h) = exp(-h):
    only positive terms, and several times faster than a gamma function of any a.
    """
    if freedom > _MOST_TERMS:
        return np.asarray(special.chdtrc(float(freedom), x))
    h = x / 2
    a = 0.5 if freedom % 2 else 1.0
    term = np.exp(-h)
    tail = special.erfc(np.sqrt(h)) if freedom % 2 else term.copy()
    term *= h**a
    term /= special.gamma(a + 1)
    while 2 * a < freedom:
        tail += term
        a += 1
        term *= h
        term /= a
    return tail


def _student_tail(contrast: Contrast, n_contrasts: int) -> Tail:
    """Two-sided, times the number of comparisons that the largest was taken of."""

    def tail(columns: NDArray[np.intp]) -> FloatArray:
        t, v = contrast.score[columns], contrast.freedom[columns]
        p = np.where(v > 0, 2 * special.stdtr(np.maximum(v, 1e-9), -t), 1.0)
        return np.minimum(n_contrasts * p, 1.0)

    return tail


@dataclass(frozen=True)
class Measure:
    """How a question is answered."""

    answer: Callable[[Question, int], Measured]
    takes_numbers: bool
    is_test: bool = False
    is_of_numbers: bool = False  # it takes numbers as they are, and not their deciles


MEASURES: dict[str, Measure] = {
    "mutual_information": Measure(_information, True),
    "information_gain": Measure(_information, True),
    "normalized_mutual_information": Measure(_normalized, True),
    "conditional_mutual_information": Measure(_conditional, True),
    "chi2": Measure(_chi2, False, is_test=True),
    "chi2_contingency": Measure(_contingency, True, is_test=True),
    "log_likelihood_ratio": Measure(_likelihood, True, is_test=True),
    "pearson": Measure(_pearson, True, is_test=True, is_of_numbers=True),
    "signal_to_noise": Measure(_signal, False),
    "t": Measure(_student, False, is_test=True),
    "welch": Measure(_welch, False, is_test=True),
}
