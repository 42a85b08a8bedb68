"""Classes as words of a code that corrects errors."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.compose.coded import CodedClassifier, Strategy
from lineal.compose.codes import (
    Code,
    bch_code,
    column_distance,
    correctable,
    exhaustive_code,
    hadamard_code,
    random_code,
    row_distance,
)
from lineal.compose.seeds import generator_of, require_seed
from lineal.errors import InputError, ParameterError
from lineal.learners.model import LinearModel
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.strategies import classes_of_bits, scores_of_bits
from lineal.objective import Hinge, Log, Loss, Squared, SquaredHinge
from lineal.objective.losses import FloatArray

# Losses that a model file has a name for.
_STORED: dict[type[Loss], str] = {
    Log: "log",
    Hinge: "hinge",
    SquaredHinge: "squared_hinge",
    Squared: "squared",
}
_CODES = ("random", "exhaustive", "bch", "hadamard")
_DECODINGS = ("loss", "hamming")


class OutputCode(CodedClassifier):
    """A learner for each bit of a code of the classes; wrong bits are corrected.

    Parameters
    ----------
    learner : any classifier of two classes
        ``LinearClassifier()`` if not given. With ``warm_start=True`` in it, every part starts from the last
        fit's part for its bit.
    code : "hadamard", "bch", "exhaustive", "random", or an array
        "exhaustive" has all 2^(K-1) - 1 columns there are (up to 12 classes); "hadamard" the fewest columns
        for its distance; "bch" the words of an algebraic code; "random" the best of a hundred draws. An array
        has a row of -1 and +1 (or 0 and 1, or booleans) for each class, in the order of ``classes_``.
    n_columns : int, optional
        Bits of a random code, or the least number of those of a BCH code, which is made longer up to the next
        2^m - 1; 10 log2 K if not given. The other codes have a length of their own.
    decoding : "loss", "hamming" or a Loss
        "loss": the class whose bits cost least, sum_l loss(bit_kl, z_l) of the scores z, with the loss that
        the learner minimises if it is one of this library's, else ``Log()``, or the one given. "hamming": the
        class whose bits differ in the fewest places from the predicted ones.
    n_threads : int, optional
        Parts that are fitted at the same time; changes the time, never a bit. ``LINEAL_NUM_THREADS`` or all
        cores if not given.
    random_state : int or generator, optional
        Draws the code.

    Attributes
    ----------
    classes_ : the labels, sorted
    code_ : (K, L) of -1 and +1, a row for each class
    distance_ : the least number of bits in which two rows differ
    column_distance_ : the least number of classes on which two columns, or opposites of them, differ
    n_correctable_ : (distance_ - 1) // 2; so many wrong bits, whichever they are, leave the right row nearest
    parts_ : L fitted learners, one for each column
    certificates_ : of the parts, where they have any

    Notes
    -----
    Ties go to the first of ``classes_``. Two classes have one bit, whatever the code.

    Probabilities p of the classes should give each bit l its probability q_l = sum_k p_k [bit_kl = 1]. They
    are the least-squares solution of these equations with sum_k p_k = 1 (Kong and Dietterich 1997), moved to
    the nearest p >= 0. Right probabilities of bits give right probabilities of classes.

    Examples
    --------
    >>> from lineal import OutputCode
    >>> X, y = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"]
    >>> model = OutputCode(code="exhaustive").fit(X, y)
    >>> model.code_
    array([[ 1,  1,  1],
           [ 1, -1, -1],
           [-1,  1, -1]], dtype=int8)
    >>> model.distance_, model.n_correctable_
    (2, 0)
    """

    distance_: int
    column_distance_: int
    n_correctable_: int

    def __init__(
        self,
        learner: Any = None,
        code: str | ArrayLike = "hadamard",
        *,
        n_columns: int | None = None,
        decoding: str | Loss = "loss",
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.code = code
        self.n_columns = n_columns
        self.decoding = decoding
        self.n_threads = n_threads
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> OutputCode:
        super().fit(X, y, sample_weight)
        self.distance_ = row_distance(self.code_)
        self.column_distance_ = column_distance(self.code_)
        self.n_correctable_ = correctable(self.distance_)
        return self

    fit.__doc__ = CodedClassifier.fit.__doc__

    def _check_options(self) -> None:
        super()._check_options()
        if isinstance(self.code, str) and self.code not in _CODES:
            raise ParameterError(f"code must be one of {', '.join(_CODES)}, or an array; got {self.code!r}.")
        if not (isinstance(self.decoding, Loss) or self.decoding in _DECODINGS):
            raise ParameterError(f"decoding must be 'loss', 'hamming' or a Loss, got {self.decoding!r}.")
        n = self.n_columns
        if n is not None and (isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1):
            raise ParameterError(f"n_columns must be a whole number from 1 on or None, got {n!r}.")
        require_seed(self.random_state)

    def _code(self, K: int) -> Code:
        if not isinstance(self.code, str):
            return _given_code(self.code, K)
        if self.code == "exhaustive":
            return exhaustive_code(K)
        if self.code == "hadamard":
            return hadamard_code(K)
        length = None if self.n_columns is None else int(self.n_columns)
        made = (random_code if self.code == "random" else bch_code)(
            K, length, generator_of(self.random_state)
        )
        if row_distance(made) == 0:
            raise ParameterError(
                f"{made.shape[1]} columns cannot tell {K} classes apart. Take n_columns from "
                f"{(K - 1).bit_length()} on, better 10 log2 K."
            )
        return made

    def _decoded(self, Z: FloatArray) -> FloatArray:
        return scores_of_bits(Z, self.code_, self._loss())

    def _loss(self) -> Loss | None:
        """What bits are decoded with; None counts the wrong ones."""
        if isinstance(self.decoding, Loss):
            return self.decoding
        return None if self.decoding == "hamming" else _loss_of(self.parts_[0])

    def _combined(self, R: FloatArray) -> FloatArray:
        return classes_of_bits(R, self.code_)

    def _strategy(self) -> Strategy:
        loss = self._loss()
        if loss is None:
            return Strategy("code")
        name = _STORED.get(type(loss))
        if name is None:
            raise ParameterError(
                f"a code that is decoded with {loss!r} cannot be stored in a model file: decode with "
                f"'hamming', "
                f"or with one of {', '.join(kind.__name__ for kind in _STORED)}."
            )
        return Strategy("code", name, float(getattr(loss, "margin", 1.0)))


def _given_code(given: Any, K: int) -> Code:
    """A code from outside, checked; 0 and 1, or booleans, are bits too."""
    code = np.asarray(given)
    if code.ndim != 2 or code.shape[0] != K or code.shape[1] == 0:
        raise InputError(
            f"the given code has shape {code.shape}, but needs a row for each of {K} classes and at least a "
            "column."
        )
    if code.dtype.kind not in "biuf" or not np.isin(code, (-1, 0, 1)).all() or {-1, 0} <= set(code.flat):
        raise ParameterError("a code is -1 and +1, 0 and 1, or booleans, and nothing else.")
    bits = np.where(code > 0, 1, -1).astype(np.int8)
    if (np.abs(bits.sum(axis=0, dtype=np.int64)) == K).any():
        raise ParameterError("a column of the code is the same for all classes: there is nothing to learn.")
    if row_distance(bits) == 0:
        raise ParameterError("two rows of the code are equal: their classes could never be told apart.")
    return bits


def _loss_of(part: Any) -> Loss:
    """The loss that a fitted part minimises, where it says so."""
    inner = getattr(part, "model_", part)
    inner = inner.steps[-1][1] if hasattr(inner, "steps") else inner
    return inner._objective(1.0, 2)[0] if isinstance(inner, LinearModel) else Log()
