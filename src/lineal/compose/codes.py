"""Codes of classes: a row of bits -1 and +1 for each class, a column for each question to a learner.

The distance d of a code is the least number of bits in which two rows differ. Wrong answers to (d - 1) // 2
questions leave the right row nearest, whichever they are. Columns should differ too, also from the opposites
of others: equal questions are answered wrong together (Dietterich and Bakiri 1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg
from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray

Code = NDArray[np.int8]

# Exhaustive codes of more classes would have more than 2047 columns.
_MOST_EXHAUSTED = 12
# So many random codes are drawn, of which the best is kept.
_DRAWS = 100
# Primitive polynomials over GF(2), degree 2 to 12, as bits (Lin and Costello 2004, Appendix B).
_PRIMITIVE = {
    2: 0x7,
    3: 0xB,
    4: 0x13,
    5: 0x25,
    6: 0x43,
    7: 0x89,
    8: 0x11D,
    9: 0x211,
    10: 0x409,
    11: 0x805,
    12: 0x1053,
}


def row_distance(code: Code) -> int:
    """The least number of bits in which the rows of two classes differ."""
    apart = (code.shape[1] - _products(code)) // 2
    np.fill_diagonal(apart, code.shape[1])
    return int(apart.min())


def column_distance(code: Code) -> int:
    """The least number of classes on which two columns, or one and the opposite of another, differ.

    For one column alone it is the number of classes on its smaller side.
    """
    K, n_columns = code.shape
    if n_columns == 1:
        return int(min((code > 0).sum(), (code < 0).sum()))
    apart = (K - np.abs(_products(code.T))) // 2
    np.fill_diagonal(apart, K)
    return int(apart.min())


def correctable(distance: int) -> int:
    """How many wrong bits of any row can be put right."""
    return (distance - 1) // 2


def one_vs_rest_code(K: int) -> Code:
    """A column for each class, +1 for it alone."""
    return (2 * np.eye(K) - 1).astype(np.int8)


def exhaustive_code(K: int) -> Code:
    """All 2^(K-1) - 1 ways to part K classes in two; every two rows differ in 2^(K-2) bits."""
    if K > _MOST_EXHAUSTED:
        raise ParameterError(
            f"an exhaustive code of {K} classes has {2 ** (K - 1) - 1:,} columns, a learner each. Take it "
            f"for at most {_MOST_EXHAUSTED} classes; code='bch', 'hadamard' or 'random' are far shorter."
        )
    return _columns(np.arange(1, 2 ** (K - 1)), K)


def hadamard_code(K: int) -> Code:
    """Rows of Sylvester's matrix of order n, the least power of 2 from K on, without its constant column.

    n - 1 columns; every two rows differ in n / 2 bits, and no n - 1 columns can do better (Plotkin 1960).
    """
    n = 1 << (K - 1).bit_length()
    return np.asarray(linalg.hadamard(n)[:K, 1:], dtype=np.int8)


def random_code(K: int, n_columns: int | None, rng: np.random.Generator) -> Code:
    """The best of many random codes of so many distinct columns; 10 log2 K columns if not said."""
    wanted = usual_length(K) if n_columns is None else n_columns
    if K <= 20 and wanted >= 2 ** (K - 1) - 1:
        return exhaustive_code(K)
    return _best([_random_columns(K, wanted, rng) for _ in range(_DRAWS)])


def bch_code(K: int, n_columns: int | None, rng: np.random.Generator) -> Code:
    """Words of the binary BCH code of length 2^m - 1 that corrects most errors among those with K words.

    The length is the least such one from ``n_columns`` on (10 log2 K if not said). Which words of it stand
    for classes is drawn at random, and the best of many draws kept. Columns that are constant on those
    words, or equal to others, are left out.
    """
    wanted = usual_length(K) if n_columns is None else n_columns
    m = max(wanted, (K - 1).bit_length(), 3).bit_length()
    if m not in _PRIMITIVE:
        raise ParameterError(
            f"code='bch' has codes of up to {2 ** max(_PRIMITIVE) - 1} columns, but n_columns={wanted} and "
            f"{K} classes need more. Take code='random'."
        )
    basis = bch_basis(m, K)
    draws = (rng.choice(2 ** len(basis), size=K, replace=False) for _ in range(_DRAWS))
    return _best([_useful(words_of(basis, drawn)) for drawn in draws])


def usual_length(K: int) -> int:
    """10 log2 K, the length that Allwein, Schapire and Singer (2000) take."""
    return int(np.ceil(10 * np.log2(K)))


def _products(code: Code) -> NDArray[np.int64]:
    exact: FloatArray = code.astype(np.float64)  # whole numbers far below 2^53, through BLAS
    return np.asarray(np.rint(exact @ exact.T), dtype=np.int64)


def _columns(numbers: NDArray[np.int64], K: int) -> Code:
    """Whole numbers below 2^(K-1) as columns: +1 for the first class, the bits, highest first, below it."""
    bits = (numbers[None, :] >> np.arange(K - 2, -1, -1)[:, None]) & 1
    return np.vstack([np.ones((1, len(numbers)), np.int8), (1 - 2 * bits).astype(np.int8)])


def _random_columns(K: int, n_columns: int, rng: np.random.Generator) -> Code:
    if K <= 20:  # few enough ways that some could be drawn twice
        return _columns(1 + rng.choice(2 ** (K - 1) - 1, size=n_columns, replace=False), K)
    code = np.zeros((K, 0), dtype=np.int8)
    while code.shape[1] < n_columns:
        more = rng.choice(np.array([-1, 1], np.int8), size=(K, n_columns - code.shape[1]))
        code = _useful(np.hstack([code, more]))
    return code


def _useful(code: Code) -> Code:
    """The columns that part classes, each once, turned so that the first class has +1."""
    turned = code * code[0]
    turned = turned[:, (turned < 0).any(axis=0)]
    _, first = np.unique(turned, axis=1, return_index=True)
    return np.ascontiguousarray(turned[:, np.sort(first)])


def _best(codes: list[Code]) -> Code:
    """The code whose rows are farthest apart, and of those the one whose columns are."""
    return max(codes, key=lambda code: (row_distance(code), column_distance(code)))


def words_of(basis: NDArray[np.int64], messages: NDArray[np.int64]) -> Code:
    """The words of messages, whose bits say which of the basis are summed; bits 0 are +1, bits 1 are -1."""
    bits = messages[:, None] >> np.arange(len(basis)) & 1
    return (1 - 2 * (bits @ basis % 2)).astype(np.int8)


def bch_basis(m: int, K: int) -> NDArray[np.int64]:
    """A basis of the narrow-sense code of length 2^m - 1 with most zeros among those of at least K words."""
    n, needed = 2**m - 1, (K - 1).bit_length()
    powers = [1]
    for _ in range(n - 1):
        powers.append(powers[-1] << 1 if powers[-1] < 1 << (m - 1) else (powers[-1] << 1) ^ _PRIMITIVE[m])
    generator, zeros = 1, set[int]()
    for j in range(1, n, 2):
        if j in zeros:
            continue
        coset = _coset(j, n)
        if n - len(zeros) - len(coset) < needed:
            break
        zeros |= coset
        generator = _product(generator, _minimal(coset, powers))
    dimension = n - len(zeros)
    return np.array([[generator << shift >> k & 1 for k in range(n)] for shift in range(dimension)])


def _coset(j: int, n: int) -> set[int]:
    """j, 2j, 4j ... modulo n: the powers of a root that share its minimal polynomial."""
    coset = {j}
    while (j := 2 * j % n) not in coset:
        coset.add(j)
    return coset


def _minimal(coset: set[int], powers: list[int]) -> int:
    """The product of x - a^j over a coset, whose coefficients are bits."""
    n, place = len(powers), {element: k for k, element in enumerate(powers)}
    coefficients = [1]  # in GF(2^m), from the constant on
    for j in coset:
        shifted = [0, *coefficients]
        scaled = [powers[(place[c] + j) % n] if c else 0 for c in coefficients]
        coefficients = [a ^ b for a, b in zip(shifted, [*scaled, 0], strict=True)]
    return sum(c << k for k, c in enumerate(coefficients))


def _product(a: int, b: int) -> int:
    """The product of two polynomials over GF(2)."""
    total = 0
    while b:
        total ^= a if b & 1 else 0
        a, b = a << 1, b >> 1
    return total
