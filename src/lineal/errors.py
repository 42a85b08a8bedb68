"""What can go wrong, as a tree::

    LinealError
    ├── InputError (ValueError)         the data: shapes, NaN, labels, weights
    │   ├── CellError                   a cell of a table, with its row
    │   └── InputTypeError (TypeError)  data of a kind that cannot be numbers
    ├── ParameterError (ValueError)     an option that cannot be
    │   └── CombinationError            loss, penalty and solver that do not go together
    ├── NoMinimumError (ValueError)     the objective has no minimiser, so no certificate can exist
    │   └── NotSeparableError           a hard margin where classes overlap, with the proof
    ├── CancelledError                  work that a token ended before it had a result
    ├── ModelFileError (ValueError)     a file that is no model, is damaged, or was made by a later version
    └── FileWriteError (OSError)        a file that cannot be written: disk full, no such folder, no right to

    UserWarning
    ├── NotCertifiedWarning             a fit that stopped before its tolerance was certified
    ├── NotConvergedWarning             a perceptron that stopped before an epoch without a mistake
    ├── DisorderedThresholdsWarning     thresholds between ordered classes that came out in another order
    ├── PrecisionWarning                numbers that rounding, or too little data, makes unreliable
    ├── UnmatchedWordsWarning           given words that no text can contain as texts are read
    ├── ManyClassesWarning              whole numbers that were taken for classes, and may be measurements
    └── LeftOutWarning                  files of a folder that were not read

A message says what was needed, what came, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class LinealError(Exception):
    """Root of every error that Lineal raises on purpose."""


class InputError(LinealError, ValueError):
    """The data are not what the model needs."""


class CellError(InputError):
    """A cell of a table that cannot be read.

    Attributes
    ----------
    row : int or None
        Its row in what was given, from 0.
    """

    def __init__(self, before: str, row: int | None = None, after: str = "") -> None:
        super().__init__(before if row is None else f"{before}row {row}{after}")
        self.row = row
        self._around = before, after

    def said_of(self, place: str) -> str:
        """What is said where rows have other names than their numbers, such as the lines of a file."""
        before, after = self._around
        return f"{before}{place}{after}"


class InputTypeError(InputError, TypeError):
    """The data are of a kind that cannot be read as numbers."""


class ParameterError(LinealError, ValueError):
    """An option has a value that cannot be."""


class CombinationError(ParameterError):
    """A loss, a penalty and a solver that do not go together."""


class NoMinimumError(LinealError, ValueError):
    """The objective has no minimiser, or only a meaningless one."""


class NotSeparableError(NoMinimumError):
    """A hard margin was asked for, and the classes cannot be separated.

    Attributes
    ----------
    distance : float
        Between two points of the kernel's space, each a mean of rows of one class: no margin is above half.
        Of a joint problem the length of a mean of differences between a row's features under its own and
        under wrong labels.
    weights : array
        Of the rows in the two means.
    output : int or None
        Which class cannot be separated from the rest, where there are several such questions.
    """

    def __init__(self, distance: float, weights: Any, output: int | None = None, name: str = "") -> None:
        which = "the classes are" if not name else f"{name} is"
        super().__init__(
            f"C=inf allows no slack, but {which} not separable here: weighted means of "
            f"{int((weights > 0).sum())} rows, one of each class, are {distance:.3g} apart "
            "(the weights are in .weights). Use a finite C, or a kernel that separates them."
        )
        self.distance, self.weights, self.output, self._name = distance, weights, output, name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.distance, self.weights, self.output, self._name)


class CancelledError(LinealError):
    """A cancellation token ended the work before there was anything to return."""


class ModelFileError(LinealError, ValueError):
    """A file that is no model, is damaged or hostile, or was made by a later version."""


class FileWriteError(LinealError, OSError):
    """A file cannot be written; what was there before is unchanged."""


class NotCertifiedWarning(UserWarning):
    """A fit ended before its tolerance was certified; the certificate says how far it came."""


class NotConvergedWarning(UserWarning):
    """A perceptron was stopped, or was to run until an epoch without a mistake and met none."""


class DisorderedThresholdsWarning(UserWarning):
    """Thresholds between classes from low to high are not in order, so some class is never predicted."""


class PrecisionWarning(UserWarning):
    """Numbers that rounding, or too little data, makes unreliable; the message says which and what to do."""


class UnmatchedWordsWarning(UserWarning):
    """Given words that no text can contain as texts are read: capitals where texts are lower-cased, say."""


class ManyClassesWarning(UserWarning):
    """Targets of many different whole numbers were taken for classes; the message says what settles it."""


class LeftOutWarning(UserWarning):
    """Files of a folder that were not read; the message says which and why."""
