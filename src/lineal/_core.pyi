"""
Native core of lineal: passes over data and epochs of solvers. Arrays in, arrays out.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def warn_of_leaks(is_on: bool) -> None:
    """
    Whether objects that are alive when the process ends are named on stderr.
    """

class Token:
    """A flag that any thread may raise, and a deadline (token.h)."""

    def __init__(self, seconds: float | None = None, parent: Token | None = None) -> None:
        """
        Over when cancelled, when so many seconds from now have passed, or when its parent is over.
        """

    def cancel(self) -> None: ...

    @property
    def is_cancelled(self) -> bool:
        """Whether it, or a token above it, was cancelled."""

    @property
    def is_over(self) -> bool:
        """
        Whether it, or a token above it, was cancelled or is past its deadline.
        """

    @property
    def seconds_left(self) -> float | None:
        """To the earliest deadline; None: there is none."""

def set_current_token(token: Token | None, is_breakable: bool) -> None:
    """
    What loops on this thread look at; passes give up, by BrokenOff, only if is_breakable.
    """

class BrokenOff(BaseException):
    pass

class Matrix:
    """Rows of data, sparse or dense, borrowed from NumPy arrays."""

    @overload
    @staticmethod
    def from_csr(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, owner: object, is_ordered: bool = True) -> Matrix: ...

    @overload
    @staticmethod
    def from_csr(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, owner: object, is_ordered: bool = True) -> Matrix: ...

    @overload
    @staticmethod
    def from_dense(value: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], owner: object) -> Matrix: ...

    @overload
    @staticmethod
    def from_dense(value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], owner: object) -> Matrix: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def n_stored(self) -> int: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def is_ordered(self) -> bool:
        """Whether the columns of each row increase."""

    @property
    def is_float32(self) -> bool: ...

    def check(self, n_threads: int = 1) -> tuple[str, int, int]:
        """
        (flaw, row, column) of the worst offence, first in row order; '' if there is none.
        """

    def ordered(self, n_threads: int = 1) -> Matrix:
        """
        A copy of sound sparse rows with columns that increase; numbers of a repeated column are added up.
        """

    def in_float32(self, n_threads: int = 1) -> Matrix:
        """Sparse float64 rows with numbers of 32 bits, in the same places."""

    def summed(self, n_threads: int = 1) -> Matrix:
        """
        A copy in which the rows that repeat a column are as in `ordered`, and others as they are.
        """

    @overload
    def dot(self, W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """Z = X W for a feature-major W, summed in float64."""

    @overload
    def dot(self, W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None: ...

    def curved(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constant: float, h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], V: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> float:
        """
        Z = X w + constant and V = X'(h Z) in one pass over dense rows; returns the sum of h Z.
        """

    @overload
    def adjoint_summary(self, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], strength: float, n_threads: int = 1) -> tuple[float, float]:
        """(|V|^2, max |V + strength W|) for V = X'U, which is never held."""

    @overload
    def adjoint_summary(self, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], strength: float, n_threads: int = 1) -> tuple[float, float]: ...

    def adjoint(self, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """V = X'U."""

    def squared_adjoint(self, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """V = (X*X)'U, squares entry by entry."""

    def gram(self, h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], with_constant: bool, n_threads: int = 1) -> NDArray[numpy.float64]:
        """[X 1]' diag(h) [X 1]."""

    def grams(self, H: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], with_constant: bool, n_threads: int = 1) -> NDArray[numpy.float64]:
        """The same for each column h of H, one after another."""

    def squared_norms(self, n_threads: int = 1) -> NDArray[numpy.float64]: ...

    def take_columns(self, wanted: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Matrix: ...

    def transposed(self) -> Matrix:
        """The columns as rows, sparse and in float64."""

    def arrays(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64] | NDArray[numpy.float32]]: ...

@overload
def is_any_far(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], step: int, factor: float) -> bool:
    """
    Whether a column lies so many deviations from 0, in every `step`-th row.
    """

@overload
def is_any_far(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], step: int, factor: float) -> bool: ...

def narrow(index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, n_threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """64-bit column indices in 32 bits, -1 for those out of range."""

@overload
def rows_of_coordinates(row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_columns: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_coordinates(row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_columns: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_coordinates(row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_columns: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_coordinates(row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_columns: int, n_threads: int = 1) -> object:
    """
    (start, index, value) of rows from numbers as COO has them; None if an index is out of range.
    """

@overload
def rows_of_columns(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_columns(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_columns(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int = 1) -> object: ...

@overload
def rows_of_columns(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_threads: int = 1) -> object:
    """
    (start, index, value) of rows from numbers as CSC has them; None if an index is out of range.
    """

def large_array(n_rows: int, n_columns: int) -> NDArray[numpy.float64]:
    """Room for numbers, on large pages and from a cache line on."""

def some_products(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Products of some rows of numbers with one vector."""

def large_zeros(n_rows: int, n_columns: int) -> NDArray[numpy.float64]:
    """Zeros, on large pages."""

@overload
def sum_of_squares(W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], n_threads: int = 1) -> float:
    """The sum of the squares of W, in float64."""

@overload
def sum_of_squares(W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], n_threads: int = 1) -> float: ...

@overload
def put_rows(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, to_column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], to_value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Puts sparse rows into those of others, from `begin` of each on, with columns numbered from `first` on.
    """

@overload
def put_rows(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, to_column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], to_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class Rng:
    """The seeded generator of the native core."""

    def __init__(self, seed: int) -> None: ...

@overload
def monomials(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], runs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, has_constant: bool, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> bool:
    """
    Products of the columns of X, made run by run: a column times neighbours among those before. Whether all are finite.
    """

@overload
def monomials(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], runs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, has_constant: bool, weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> bool: ...

def class_sums(X: Matrix, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> bool:
    """
    V[k, j] = the weighted sum of column j over the rows of class k. Whether a stored number is below 0.
    """

def class_counts_above(X: Matrix, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: float, V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    The weights of the rows of each class whose stored entry is above a threshold.
    """

def class_deviations(X: Matrix, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    Weighted squared distances of stored entries from the centre of their class.
    """

def column_moments(X: Matrix, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], t: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], square: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], product: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    Of dense columns about the first row: sums and squares of each class, and products with s t.
    """

@overload
def column_ranges(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], greatest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None:
    """The least and the greatest number of each column."""

@overload
def column_ranges(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], least: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], greatest: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None: ...

def chi2_scores(V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    The chi-squared statistic of each column of V against the expected shares of its rows.
    """

def falling_order(scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    The places of scores >= 0, largest first, the lower place first among equals.
    """

def log_shares(V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], smoothing: float, log_total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_zero: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    W[j, k] = log(V[k, j] + smoothing) - log_total[k]; where V is 0, at_zero[k].
    """

def log_odds(V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], smoothing: float, total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_zero: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    W[j, k] = log((V[k, j] + l) / (total[k] - V[k, j] + l)); where V is 0, at_zero[k].
    """

def absences(V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], smoothing: float, total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], found: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """
    Of each class k, over the columns with V[k, j] > 0: the sum of log(total[k] - V[k, j] + smoothing) where that is above 0; how many they are; and how many have 0 there.
    """

def complement_log_shares(V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], smoothing: float, log_total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], column_total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """W[j, k] = log_total[k] - log(column_total[j] - V[k, j] + smoothing)."""

class Hinge:
    def __init__(self, margin: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class SquaredHinge:
    def __init__(self, margin: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class ModifiedHuber:
    def __init__(self) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class Log:
    def __init__(self) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class Squared:
    def __init__(self) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class Huber:
    def __init__(self, delta: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class EpsilonInsensitive:
    def __init__(self, epsilon: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class SquaredEpsilonInsensitive:
    def __init__(self, epsilon: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class Quantile:
    def __init__(self, q: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

    def dual_step(self, y: float, z: float, u: float, q: float) -> float: ...

class SmoothedHinge:
    def __init__(self, margin: float, width: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

class SmoothedEpsilonInsensitive:
    def __init__(self, epsilon: float, width: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

class SmoothedQuantile:
    def __init__(self, q: float, width: float) -> None: ...

    def value(self, y: float, z: float) -> float: ...

    def derivative(self, y: float, z: float) -> float: ...

    def conjugate(self, y: float, u: float) -> float: ...

class DualSettings:
    def __init__(self, l2: float, l1: float, bias2: float, recentre: bool) -> None: ...

    @property
    def l2(self) -> float: ...

    @property
    def l1(self) -> float: ...

    @property
    def bias2(self) -> float: ...

    @property
    def recentre(self) -> bool: ...

class DualRun:
    """Random order, resting rows and threads of a dual run over one matrix."""

    def __init__(self, X: Matrix, n_outputs: int, seed: int, n_threads: int) -> None: ...

    def state(self) -> dict:
        """All that later epochs depend on, beside the arrays that they work on."""

    def restore(self, rng: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], rest: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], drift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], path: float, n_moves: int) -> None:
        """Goes on as the run did that had this state."""

    @property
    def path(self) -> float:
        """The sum of the lengths of all steps of a single output's weights."""

    @property
    def n_moves(self) -> int:
        """How many steps these were."""

    @property
    def drift(self) -> float:
        """
        A bound on |W + X'(s U) / l2| since W was right; infinite where nobody keeps count.
        """

def dual_cd_epoch(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile, X: Matrix, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], t: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], b: float) -> tuple[float, float]:
    """One epoch in place; returns (b, estimated gap)."""

@overload
def side_by_side(W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def side_by_side(W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def elementwise_dual_cd_epoch(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile, X: Matrix, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def elementwise_dual_cd_epoch(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile, X: Matrix, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def softmax_dual_cd_epoch(X: Matrix, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def softmax_dual_cd_epoch(X: Matrix, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def crammer_singer_dual_cd_epoch(X: Matrix, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def crammer_singer_dual_cd_epoch(X: Matrix, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norm2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: DualSettings, run: DualRun, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], extra: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float: ...

@overload
def gram_cd(G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tol: float, max_sweeps: int) -> tuple[int, float]: ...

@overload
def gram_cd(G: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tol: float, max_sweeps: int) -> tuple[int, float]:
    """
    Coordinate descent on an explicit quadratic model, in place; returns (sweeps, violation).
    """

class ActiveSet:
    """
    The weights of a quadratic model that are not 0, and the factor of their matrix.
    """

    def __init__(self) -> None: ...

    def run(self, G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_last: int, tol: float, max_events: int) -> int:
        """
        Minimises the model of gram_cd, in place; returns how many events it took. What was factorised before holds on where the model is the last one with more weights before its last n_last.
        """

class NarrowActiveSet:
    """The same where matrix and factor are float32."""

    def __init__(self) -> None: ...

    def run(self, G: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_last: int, tol: float, max_events: int) -> int:
        """
        Minimises the model of gram_cd, in place; returns how many events it took. What was factorised before holds on where the model is the last one with more weights before its last n_last.
        """

def gram_group_cd(G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tol: float, max_sweeps: int) -> tuple[int, float]:
    """
    Block coordinate descent on an explicit quadratic model, in place; returns (sweeps, violation). G has a matrix for all outputs or one for each, one below the other.
    """

def column_group_cd(XT: Matrix, h: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], residual: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tol: float, max_sweeps: int) -> tuple[int, float]:
    """
    The same on columns, in place; returns (sweeps, violation). A column more than XT has is a constant 1.
    """

def group_blocks(XT: Matrix, h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], blocks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    X_g'diag(h)X_g of each group of columns, row by row, group after group.
    """

def column_cd(XT: Matrix, h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_intercept: bool, l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], residual: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], b: float, tol: float, max_sweeps: int) -> tuple[float, int, float]:
    """
    Coordinate descent on columns, in place; returns (b, sweeps, violation).
    """

class PlainGram:
    """[X 1]'diag(s)[X 1] and how much each row has in it."""

    @staticmethod
    def of(X: Matrix, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_constant: bool, n_threads: int) -> PlainGram:
        """Of the weights of all rows, 0 for those that do not count."""

class InteriorPoint:
    """Interior-point steps for one output; see the header."""

    @staticmethod
    def make(X: Matrix, used: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_parts: int, n_outputs: int, is_joint: bool, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bend: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], corners: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], corner_square: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], radius: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ball_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value_at_zero: float, has_constant: bool, n_threads: int, plain: PlainGram | None = None) -> InteriorPoint:
        """Before the start; `used` are the rows that count, none for all."""

    def curvatures(self) -> NDArray[numpy.float64]:
        """Of all rows, for the next system."""

    def diagonal(self) -> NDArray[numpy.float64]:
        """What the next system has beside those."""

    def step(self, matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], by_rows: bool) -> None:
        """
        The start, or a step, with the Gram matrix of those curvatures; or, by rows, of 1 / diagonal. The matrix is changed.
        """

    def run(self, n_steps: int, goal: float = 0.0, floor: float = 0.0) -> None:
        """
        Up to so many steps, the start being one, with systems of columns made here, until the gap is at most goal times the value or the floor.
        """

    def is_within(self, goal: float, floor: float) -> bool:
        """
        Whether nothing can be gained, or the gap is at most goal times the value or the floor.
        """

    def read(self, decided: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """(weights, dual variables of the rows, row by row)."""

    def state(self) -> NDArray[numpy.float64]:
        """All that later steps depend on, as numbers."""

    def restore(self, state: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Goes on as the run did that had this state."""

    @property
    def gap(self) -> float: ...

    @property
    def value(self) -> float: ...

    @property
    def is_done(self) -> bool: ...

class BlockFactors:
    """Triangular factors of positive definite matrices, one for each output."""

    @staticmethod
    def of(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> BlockFactors:
        """Of a stack of matrices."""

    def solve(self, right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], refinements: int = 0) -> NDArray[numpy.float64]:
        """
        The inverses times the columns of `right`, damped where a matrix is singular.
        """

def solve_positive(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], refinements: int = 0) -> NDArray[numpy.float64]:
    """
    A^-1 right for a symmetric positive definite A, damped where it is singular; 0 where it is not.
    """

class PointerLoss:
    def __init__(self, value: tuple[int, int | None], derivative: tuple[int, int | None], second_derivative: tuple[int, int | None] | None = None) -> None: ...

    def conjugate(self, y: float, u: float) -> float: ...

def loss_sum(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
    """sum_i s_i loss(y_i, z_i)."""

def values(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """V = loss(Y, Z)."""

def slopes(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """U = loss'(Y, Z)."""

def curvatures(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], H: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """H = loss''(Y, Z), for smooth losses."""

def along(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], t: float, n_threads: int = 1) -> tuple[float, float, float]:
    """
    sum_i s_i loss(y_i, z_i + t m_i) with its first two derivatives in t, for smooth losses.
    """

def along_outputs(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], t: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
    """The same for each output by itself, at an entry of t for each: (3, K)."""

def lengths(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], incline: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], quadratic: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shortest: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """
    (2, n): how far to go along M from Z, in one line or in one for each output, and the values there.
    """

def conjugate_sum(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
    """sum_i s_i loss*(y_i, u_i), infinite outside the domain."""

def worst_residual(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
    """The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i)."""

def column_sums(G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
    """The sums of the columns of G."""

class Softmax:
    """log sum_k exp(z_k) - z_y, over whole arrays of scores."""

    @staticmethod
    def value(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
        """sum_i s_i loss(y_i, z_i)."""

    @staticmethod
    def along(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], t: float, n_threads: int = 1) -> tuple[float, float, float]:
        """The same at Z + t M, with its first two derivatives in t."""

    @staticmethod
    def lengths(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], incline: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], quadratic: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shortest: float, n_threads: int = 1) -> NDArray[numpy.float64]:
        """(2, 1): how far to go along M from Z, and the value there."""

    @staticmethod
    def slopes(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """U = loss'(y, Z): the probabilities, less 1 at the true class."""

    @staticmethod
    def curved(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], M: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """How the slopes U change when the scores move by M."""

    @staticmethod
    def into_domain(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """A dual point near U in the domain."""

    @staticmethod
    def conjugate(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
        """sum_i s_i loss*(y_i, u_i), infinite outside the domain."""

    @staticmethod
    def worst_residual(y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float:
        """The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i . u_i)."""

def refit(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> NDArray[numpy.float64]:
    """
    The shifts of each output that minimise sum_i s_i loss(y_i, z_i + shift); U = the slopes there.
    """

def balance(U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
    """U with one sign of each output shrunk, so that s'U = 0."""

def balance_left(U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """(s'U, s'|U|)."""

def newton_step(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Matrix, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], enough: float, shortest: float, n_threads: int = 1) -> tuple | None:
    """
    (theta, Z, direction, moved, ahead, bent, value) after a step of outputs that meet nowhere; None where one of them finds none.
    """

def slopes_and_gradient(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Matrix, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ridges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """(U, X'SU and its sums, plus ridges * theta) of scores Z."""

def craig_step(X: Matrix, root: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], t: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], length: float, lean: float, strength: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """
    Moves the residual t along s, whose A's is p; returns A't for A = diag(root) X.
    """

class RowSlopes:
    """The slopes of a loss, row by row, at the targets of a problem."""

    @staticmethod
    def of_scores(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowSlopes: ...

    @staticmethod
    def softmax(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int) -> RowSlopes: ...

    @staticmethod
    def crammer_singer(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int) -> RowSlopes: ...

    @staticmethod
    def smoothed_crammer_singer(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, width: float) -> RowSlopes: ...

class StepPenalty:
    """What a step does about the penalty (epoch/svrg.h)."""

    def __init__(self, l2: float, l1: float, is_proximal: bool) -> None: ...

def sgd_epoch(slopes: RowSlopes, X: Matrix, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch_size: int, steps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: float, intercept_ridge: float, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    One epoch in place: theta moves, sum gains it after each step, U holds the slopes met.
    """

def svrg_epoch(slopes: RowSlopes, X: Matrix, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch_size: int, rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: StepPenalty, intercept: StepPenalty, drift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, anchor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """One epoch in place; without drift and anchor, of plain gradient steps."""

def batch_slopes(slopes: RowSlopes, X: Matrix, index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """U = the slopes of the rows in `index` at theta."""

def batch_adjoint(X: Matrix, index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    gradient = sum_i x_i u_i' over the rows in `index`, the intercept's 1 included.
    """

def squared_dot(X: Matrix, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """z_i = sum_j x_ij^2 w_j."""

def perceptron_pass(X: Matrix, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, n_scores: int, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], late: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, tally: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], log: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')] | None) -> None:
    """
    Meets rows in order: theta and late move at mistakes, tally gains examples and mistakes, and log
    holds (example, row, class predicted) for each mistake of this pass.
    """

class MistakeStep:
    """A step of a joint map's perceptron."""

    def __init__(self, rate: float) -> None: ...

class PassiveAggressiveStep:
    """min(most, loss / (|d|^2 + softness)) along d."""

    def __init__(self, most: float, softness: float) -> None: ...

def joint_pass(Phi: Matrix, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: MistakeStep | PassiveAggressiveStep, is_new: bool, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], late: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, tally: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], suffered: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Meets examples in order, whose rows of Phi hold the features of every label: theta and late move, tally
    gains examples and mistakes, suffered the losses. With is_new their labels could not be predicted.
    """

class RowSteps:
    """What each row of a stream asks of the weights (epoch/online_steps.h)."""

    @staticmethod
    def of_numbers(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, Y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> RowSteps: ...

    @staticmethod
    def of_classes(loss: Hinge | SquaredHinge | ModifiedHuber | Log | Squared | Huber | EpsilonInsensitive | SquaredEpsilonInsensitive | Quantile | SmoothedHinge | SmoothedEpsilonInsensitive | SmoothedQuantile | PointerLoss, joint: str, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], known_from: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RowSteps:
        """
        Classes by the order of their arrival, -1 for a row of weight 0; joint is 'softmax', 'crammer_singer' or ''.
        """

WHOLE_COLUMNS: int = 64

WHOLE_FACTOR: int = 4290

class OnlineArrays:
    """The arrays of a stream; they are borrowed."""

    def __init__(self, records: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], tally: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class OnlineSettings:
    """How a stream is learned from (epoch/online.h)."""

    def __init__(self, *, room: int, is_shared: bool, is_averaged: bool, is_pulled: bool, has_intercept: bool, is_intercept_penalized: bool, rate: float, power: float, l1: float, l2: float, l1_growth: float, l2_growth: float, prior: float, intercept_prior: float, whole_prior: float, whole_intercept_prior: float) -> None: ...

    @property
    def stride(self) -> int: ...

    @property
    def n_metrics(self) -> int: ...

    @property
    def late(self) -> int: ...

def online_learn(X: Matrix, steps: RowSteps, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: OnlineSettings, arrays: OnlineArrays, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    Learns from rows in order, or in the one that is given: steps and s are in that, too. Records, intercept and tally move. Arrays are as after the last row that was met, whatever ends the loop.
    """

def online_scores(X: Matrix, settings: OnlineSettings, arrays: OnlineArrays, Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Z = the scores of rows, by the weights that are predicted with."""

class Documents:
    """
    An immutable sequence of UTF-8 texts that lie in the memory of whoever made them.
    """

    @staticmethod
    def from_sequence(sequence: object, missing_is_empty: bool = False) -> Documents:
        """The texts of a sequence of str or UTF-8 bytes, each of which is held."""

    @staticmethod
    def from_iterator(iterator: object, n_bytes: int = 18446744073709551615, missing_is_empty: bool = False, first_row: int = 0) -> Documents:
        """
        The next texts of an iterator, until they have so many bytes; none at its end.
        """

    @staticmethod
    def concatenate(parts: list[Documents]) -> Documents:
        """The texts of all parts, one after the other."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __getitem__(self, row: int) -> str: ...

    def slice(self, start: int, stop: int) -> Documents:
        """Texts from start to before stop, with the meaning of a slice."""

    def take(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Documents:
        """The texts of these rows, in this order."""

    def raw(self, row: int) -> bytes:
        """The bytes of one text."""

    def check(self) -> tuple[int, int] | None:
        """Row and byte of the first text that is not UTF-8, or None."""

    def split(self, n_bytes: int) -> list[Documents]:
        """
        Pieces of at least so many bytes, each ending with the text that reaches them; the last may be short.
        """

    def letter_hashes(self, most: int) -> NDArray[numpy.int64]:
        """
        Of the first so many letters (64 at most) of each text, small and without white space; 0: none.
        """

    @property
    def n_bytes(self) -> int:
        """Bytes of all texts."""

class ArrowTexts:
    """The texts of an Arrow stream or array, read where they lie."""

    def __init__(self, source: object, column: str | None = None, missing_is_empty: bool = False, first_row: int = 0) -> None: ...

    def read(self, n_bytes: int = 18446744073709551615) -> Documents | None:
        """
        Whole chunks until they have so many bytes of text, or None behind the last.
        """

class PlainLines:
    """Reads plain text, a document to a line."""

    def __init__(self) -> None: ...

    def scan(self, block: bytes, is_last: bool) -> tuple[Documents, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], list[str], int]:
        """
        Texts of the next block, codes of their labels, the labels by code (each behind a letter: s string, n number, b true or false), and how many bytes of the block are done with.
        """

class JsonLines:
    """Reads JSON lines: a string as the text, another value as the label."""

    def __init__(self, text: str, label: str | None = None, missing_is_empty: bool = False) -> None: ...

    def scan(self, block: bytes, is_last: bool) -> tuple[Documents, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], list[str], int]:
        """
        Texts of the next block, codes of their labels, the labels by code (each behind a letter: s string, n number, b true or false), and how many bytes of the block are done with.
        """

class Delimited:
    """Reads delimited text: one field as the text, another as the label."""

    def __init__(self, delimiter: str, is_quoted: bool, n_fields: int, text: int, label: int | None, skip: int, line: int) -> None: ...

    def scan(self, block: bytes, is_last: bool) -> tuple[Documents, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], list[str], int]:
        """
        Texts of the next block, codes of their labels, the labels by code (each behind a letter: s string, n number, b true or false), and how many bytes of the block are done with.
        """

    def is_coded(self) -> list[bool]:
        """
        Which fields began with 0 and went on so far, as codes such as 007 do that are no numbers.
        """

    @staticmethod
    def header(block: bytes, is_last: bool, delimiter: str, is_quoted: bool) -> tuple[list[str], int, int] | None:
        """
        Fields of the first record, and the bytes and lines up to its end; None if it is not over.
        """

class LibsvmLines:
    """Reads lines of LIBSVM, SVMlight and SVMrank."""

    def __init__(self, first: int = 0) -> None:
        """first: the least index that may occur."""

    def scan(self, block: bytes, is_last: bool) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], list[str], int]:
        """
        Of the lines of the next block: labels (NaN where there is none), starts of rows, indices, values, queries, weights and tags (of all rows or empty), and how many bytes of the block are done with.
        """

    def count_from(self, first: int) -> None:
        """From now on an index below the first is refused."""

    @property
    def smallest(self) -> int:
        """The smallest index so far, or -1."""

    @property
    def largest(self) -> int:
        """The largest index so far, or -1."""

class VwLines:
    """Reads lines of Vowpal Wabbit, and numbers their names."""

    def __init__(self, names: list[str] | None = None) -> None:
        """
        names: the only ones to read, by column; without, all are numbered as they come.
        """

    def scan(self, block: bytes, is_last: bool) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], list[str], int]:
        """
        Of the lines of the next block: labels (NaN where there is none), starts of rows, indices, values, queries, weights and tags (of all rows or empty), and how many bytes of the block are done with.
        """

    @property
    def n_names(self) -> int:
        """How many names there are so far."""

    @property
    def n_unknown(self) -> int:
        """
        How many features were dropped because their names are not among the given ones.
        """

    def names(self, n: int) -> list[str]:
        """The first n names, by column."""

def spell_libsvm(labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], queries: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int) -> bytes:
    """Rows as lines of LIBSVM, with `first` added to every index."""

def spell_vw(labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], names: list[str]) -> bytes:
    """Rows as lines of VW; names are namespace^feature, or a feature alone."""

class KdTree:
    """A kd-tree over dense points, which are copied."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray[numpy.float64], k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

    def n_visits(self, queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int) -> float:
        """How many nodes a search visits, in the mean over some queries."""

class EuclideanProduct:
    """Dense points, filtered by a matrix product."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray[numpy.float64], k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

class CosineProduct:
    """Dense rows of length 1 or 0, filtered by a matrix product."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray[numpy.float64], k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

class EuclideanInverted:
    """An inverted index over sparse rows."""

    def __init__(self, rows: Matrix) -> None: ...

    def search(self, queries: Matrix, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

class CosineInverted:
    """An inverted index over sparse rows of length 1 or 0."""

    def __init__(self, rows: Matrix) -> None: ...

    def search(self, queries: Matrix, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

class Codes8:
    """Rows of codes under the Hamming distance."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

    def distances(self, queries: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

class Codes16:
    """Rows of codes under the Hamming distance."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

    def distances(self, queries: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

class Codes32:
    """Rows of codes under the Hamming distance."""

    def __init__(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, queries: NDArray, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

    def distances(self, queries: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

class StringIndex:
    """Strings of code points under the Levenshtein distance."""

    def __init__(self, symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64], k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

    def distances(self, symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]: ...

@overload
def euclidean_distances(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
    """(n_queries, n_points), each summed in column order."""

@overload
def euclidean_distances(points: Matrix, queries: Matrix, n_threads: int = 1) -> NDArray[numpy.float64]: ...

@overload
def cosine_distances(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
    """(n_queries, n_points) for rows of length 1 or 0."""

@overload
def cosine_distances(points: Matrix, queries: Matrix, n_threads: int = 1) -> NDArray[numpy.float64]: ...

def euclidean_search(points: Matrix, queries: Matrix, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def cosine_search(points: Matrix, queries: Matrix, k: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]: ...

def row_lengths(rows: Matrix) -> NDArray[numpy.float64]:
    """Lengths of rows, summed in column order."""

def subsequence_table(symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, other_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, length: int, decay: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The subsequence kernel of all pairs; of one set without others."""

def subsequence_diagonal(symbols: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, decay: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The subsequence kernel of each sequence with itself."""

def run_counts(symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64], length: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], int]:
    """
    How often each sequence has each run of symbols: sparse rows, and how many columns.
    """

class Forest:
    """Parsed trees."""

    def __len__(self) -> int: ...

    def take(self, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Forest:
        """Some of the trees."""

    @property
    def n_nodes(self) -> int: ...

def read_trees(symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64]) -> tuple[Forest, tuple[str, int, int]]:
    """
    Trees from texts with brackets, and what is wrong with the first text that is none: kind, text, place.
    """

def build_trees(labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_open: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_closed_before: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Forest:
    """Trees from their labels in order, and the brackets between them."""

def tree_table(rows: Forest, columns: Forest | None, decay: float, sigma: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The tree kernel of all pairs; of one set without columns."""

def tree_diagonal(rows: Forest, decay: float, sigma: float, n_threads: int = 1) -> NDArray[numpy.float64]:
    """The tree kernel of each tree with itself."""

def absolute_distances(rows: Matrix, columns: Matrix | None, n_threads: int = 1) -> NDArray[numpy.float64]:
    """Sums of absolute differences of all pairs; of one set without columns."""

def first_equal_rows(X: Matrix) -> NDArray[numpy.int64]:
    """For each row the first one that is equal to it."""

class KernelValues:
    """Values of a kernel between rows, computed when they are needed."""

    @staticmethod
    def from_rows(X: object, kind: str, gamma: float = 1.0, c: float = 0.0, degree: int = 1) -> KernelValues: ...

    @staticmethod
    def from_gram(G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], owner: object) -> KernelValues: ...

    @property
    def n_rows(self) -> int: ...

    def expand(self, Z: Matrix, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], segment: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
        """
        out[i, s, o]: the sum over the rows of segment s of coefficient[o] times the kernel with row i of Z.
        """

    def votes(self, Z: Matrix, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], segment: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.int64]:
        """
        The class that wins the most pairs, for each row of Z: the first of equals.
        """

    def sums(self, at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> NDArray[numpy.float64]:
        """
        out[i]: the sum of coefficient[k] times the kernel of row at[i] with row[k], in float64.
        """

    def solve_pairs(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float, claim: float, block: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_inner: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], largest_block: int, n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Machines of all pairs of classes: coefficients (K - 1, n), and for each pair (is_certified, b, gap, D, worst, epochs, seconds). At the end of the token pairs are told as they stand.
        """

class ProductTable:
    """Dot products of every two rows."""

    @staticmethod
    def make(X: Matrix, n_threads: int = 1) -> ProductTable: ...

    def gaussian(self, gamma: float, K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], owner: object, n_threads: int = 1) -> KernelValues:
        """
        Values of the Gaussian kernel, written to K, the owner: good until something else is.
        """

class KernelDual:
    """The dual of a kernel machine, block by block."""

    @staticmethod
    def make(values: object, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], group: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lo: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hi: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], block_size: int) -> KernelDual: ...

    @property
    def beta(self) -> NDArray[numpy.float64]: ...

    @property
    def F(self) -> NDArray[numpy.float64]: ...

    @property
    def doubt(self) -> float:
        """By how much an F may be off at most."""

    @property
    def n_free(self) -> int: ...

    @property
    def n_values(self) -> int: ...

    def set_block_size(self, size: int) -> None: ...

    def step(self, share: float, max_inner: int, n_threads: int = 1) -> tuple[float, int, int]:
        """
        Solves in one block: (violation before, steps inside, coefficients changed). A block that is given up leaves all as it was before it.
        """

    def gap(self, doubting: bool = True) -> tuple[NDArray[numpy.float64], float, float]:
        """
        (thresholds, gap, D): an upper bound of the gap, whatever float32 lost; without doubts a guess.
        """

    def gap_at(self, b: Sequence[float]) -> tuple[NDArray[numpy.float64], float, float]: ...

    def exact_dual(self, n_threads: int = 1) -> float:
        """D in float64."""

    def correct(self, n_threads: int = 1) -> int:
        """
        Recomputes in float64 what the gap may depend on; how many rows that were.
        """

    def refresh(self, exactly: bool = True, n_threads: int = 1) -> None: ...

    def scale(self, factor: float) -> None: ...

    def likely_primal(self) -> float:
        """P at the best thresholds, if F were exact."""

    def retreat(self) -> bool:
        """
        Where 0 is feasible, halves coefficients that are worse than none until P grows; whether it did.
        """

    def assume(self, F: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], doubt: float) -> None:
        """Takes F as it is known elsewhere, each off by at most so much."""

    def stand(self) -> tuple[float, float]:
        """
        What is sure of D without another kernel value: a bound below every objective, and one above D here. Gaps count every rounding from now on.
        """

class RankingPairs:
    """
    The pairs of a ranking, never listed. Rows stand by query and rising grade; groups are runs of one query and grade.
    """

    def __init__(self, group_first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], query_first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def bent_slopes(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], margin: float, bend: float, width: float, slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> tuple[float, float, float]:
        """
        (sum of losses, sum of hinges, sum of -slopes) over pairs; slopes and curvatures in the scores.
        """

    def bent_products(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], margin: float, bend: float, width: float, V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """out = the Hessian in the scores times V."""

    def log_slopes(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> tuple[float, float, float]:
        """As bent_slopes, for the logistic loss: O(pairs)."""

    def log_products(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """As bent_products, for the logistic loss: O(pairs)."""

    def disorder(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrong: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], tied: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None:
        """
        The weights of each query's pairs in the wrong order, and of those with equal scores.
        """

UNICODE_VERSION: str = '14.0.0'

def words(source: bytes, lowercase: bool, min_characters: int, fold_accents: bool = False) -> list[str]:
    """
    The words of a UTF-8 text, in order: runs of word characters, at least so many of them.
    """

def normalized(source: bytes, lowercase: bool, fold_accents: bool) -> str:
    """A UTF-8 text as it is before it is split."""

class Splitting:
    """How texts become words."""

    def __init__(self, unit: str, lowercase: bool, fold_accents: bool, min_characters: int = 1, grams: tuple[int, int] = (0, 0)) -> None: ...

class Tokens:
    """
    Documents as numbers: every token's word, in order, and the distinct words.
    """

    @staticmethod
    def read(documents: Documents, splitting: Splitting, n_threads: int) -> Tokens:
        """Texts split into words."""

    @staticmethod
    def of_words(words: Documents, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Tokens:
        """Words that were found elsewhere; each document's end among them."""

    @property
    def n_documents(self) -> int: ...

    def __len__(self) -> int: ...

    def words(self) -> list[str]:
        """The distinct words."""

    def sequence(self) -> tuple[NDArray[numpy.uint32], NDArray[numpy.int64]]:
        """
        The number of each token's word, and where each document ends among them.
        """

    def rename(self, names: list) -> None:
        """Each distinct word becomes another one or, with None, leaves."""

    def join_behind(self, is_first: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], is_first_with_filler: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], filler: str, prefix: str) -> None:
        """A token behind one of these becomes one new word with it."""

    def sums(self, numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
        """
        The sum over each document's tokens of a number for each distinct word.
        """

class Weighing:
    """How counts become numbers: tf, a weight for each column, a norm."""

    def __init__(self, tf: str, norm: str, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, k: float = 1.2, b: float = 0.75, mean_length: float = 1.0) -> None: ...

class Terms:
    """
    All n-grams of tokenised documents with the documents they are in, by name.
    """

    def __init__(self, tokens: Tokens, min_n: int, max_n: int, min_documents: int, n_threads: int) -> None: ...

    def n_documents(self) -> NDArray[numpy.int64]:
        """In how many documents each one is."""

    def totals(self) -> NDArray[numpy.int64]:
        """How often each one occurs."""

    def matrix(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weighing: Weighing, is_double: bool) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) with these columns, -1 for none."""

    def vocabulary(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray, NDArray, NDArray, list]:
        """What a Vocabulary with these columns is made from."""

    def write_run(self, write: Callable) -> int:
        """
        Gives the bytes of a sorted run of all terms to a function; returns how many there were.
        """

class Vocabulary:
    """A learned vocabulary of n-grams: documents to rows."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], longer: Sequence[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]]], n_columns: int) -> None: ...

    def rows(self, tokens: Tokens, weighing: Weighing, is_double: bool) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) of tokenised documents."""

def spell(bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], longer: Sequence[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]]], n_columns: int, separator: str) -> list[str]:
    """The names of a vocabulary's columns."""

def strings(bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[str]:
    """Strings from one block of UTF-8."""

class GramTerms:
    """Character n-grams inside words, with the documents they are in."""

    def __init__(self, tokens: Tokens, min_n: int, max_n: int) -> None: ...

    def n_documents(self) -> NDArray[numpy.int64]:
        """In how many documents each one is."""

    def totals(self) -> NDArray[numpy.int64]:
        """How often each one occurs."""

    def matrix(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weighing: Weighing, is_double: bool) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) with these columns, -1 for none."""

    def vocabulary(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray, NDArray]:
        """Bytes and starts of the names of these columns."""

    def write_run(self, write: Callable) -> int:
        """
        Gives the bytes of a sorted run of all terms to a function; returns how many there were.
        """

class GramVocabulary:
    """A learned vocabulary of character n-grams inside words."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def rows(self, tokens: Tokens, min_n: int, max_n: int, weighing: Weighing, is_double: bool) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) of tokenised documents."""

class Hashing:
    """N-grams hashed to columns."""

    def __init__(self, min_n: int, max_n: int, n_columns: int, is_murmur: bool, separator: str) -> None: ...

    def rows(self, documents: Documents, splitting: Splitting, is_signed: bool, weighing: Weighing, is_double: bool, n_threads: int) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) of texts."""

    def rows_of_tokens(self, tokens: Tokens, is_signed: bool, weighing: Weighing, is_double: bool, n_threads: int) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices, data) of tokenised documents."""

class HashedNames:
    """Which n-gram was met first in each column, and whether others were."""

    def __init__(self) -> None: ...

    def read(self, hashing: Hashing, documents: Documents, splitting: Splitting, n_threads: int) -> None: ...

    def read_tokens(self, hashing: Hashing, tokens: Tokens, n_threads: int) -> None: ...

    def found(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """(columns, bytes, starts, is_shared) of the columns that were met."""

@overload
def weigh_occurrences(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weighing: Weighing, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def weigh_occurrences(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weighing: Weighing, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class HashedTexts:
    """Texts, and how they are hashed to rows."""

    def __init__(self, documents: object, hashing: Hashing, splitting: Splitting, is_signed: bool, weighing: Weighing, is_double: bool, n_threads: int) -> None: ...

    def __len__(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

def online_learn_texts(texts: HashedTexts, steps: RowSteps, s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: OnlineSettings, arrays: OnlineArrays) -> None:
    """
    online_learn for texts, which are hashed on the way, block by block and in order.
    """

def merge_runs(read: Callable, places: Sequence[tuple[int, int]], write: Callable, least: float, most: float, wants_numbers: bool, buffer_size: int = 262144) -> tuple[int, NDArray, NDArray]:
    """
    One run of several, of what is in least to most documents: (bytes, documents, occurrences).
    """

def run_vocabulary(read: Callable, n_bytes: int, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_n: int, buffer_size: int = 262144) -> tuple[NDArray, NDArray, NDArray, list]:
    """
    What a Vocabulary of the n-grams of a run with these columns is made from.
    """

def run_names(read: Callable, n_bytes: int, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], buffer_size: int = 262144) -> tuple[NDArray, NDArray]:
    """Bytes and starts of the terms of a run with these columns."""

class TextScorer:
    """Scores of one text at a time, straight from the text."""

    def __init__(self, parts: list, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intercepts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __call__(self, text: str) -> object:
        """The score, or the scores of several outputs."""

def supports_avx2() -> bool:
    """Whether this processor can run the AVX2 build of the core."""
