"""Kernels of trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lineal import _core
from lineal.data.threads import thread_count
from lineal.errors import InputError, InputTypeError
from lineal.kernels.base import Kernel
from lineal.kernels.domains import Anything, Domain, Places
from lineal.kernels.formulas import number
from lineal.kernels.strings import code_points, decay_of
from lineal.objective.losses import FloatArray


@dataclass(frozen=True, eq=False)
class ParsedTrees:
    """Trees as they were given, and as the core compares them."""

    given: list[Any]
    forest: _core.Forest

    def __len__(self) -> int:
        return len(self.given)

    def __reduce__(self) -> Any:
        return Trees().checked, (self.given,)


@dataclass(frozen=True)
class Trees(Domain):
    """Trees: strings "(S (NP she) (VP runs))", or tuples or lists ("S", ("NP", "she"), ("VP", "runs"))."""

    def checked(self, X: Any) -> ParsedTrees:
        if isinstance(X, ParsedTrees):
            return X
        if isinstance(X, np.ndarray) and X.ndim != 1:
            raise InputTypeError(f"A kernel of trees needs a list of trees, but X has {X.ndim} dimensions.")
        given = list(Anything().checked(X))
        if all(isinstance(tree, str) for tree in given):
            forest, (kind, tree, position) = _core.read_trees(*code_points(given))
            if kind:
                raise InputError(_FLAWS[kind].format(tree=tree, position=position))
            return ParsedTrees(given, forest)
        return ParsedTrees(given, _told(given))

    def one(self, x: Any) -> ParsedTrees:
        return self.checked([x])

    def take(self, items: ParsedTrees, places: Places) -> ParsedTrees:
        return ParsedTrees([items.given[i] for i in places], items.forest.take(places))

    def each(self, items: ParsedTrees) -> Iterator[Any]:
        return iter(items.given)


_FLAWS = {
    "empty": "Tree {tree} is empty. A tree looks like (S (NP she) (VP runs)).",
    "word": "Tree {tree} does not begin with '(' but with a word, at character {position}.",
    "close": "Tree {tree}: ')' at character {position} closes nothing.",
    "unclosed": "Tree {tree}: '(' at character {position} is never closed.",
    "second": "Tree {tree} ends before character {position}, where something else begins. Give each tree "
    "as an item of its own.",
}


def _told(given: list[Any]) -> _core.Forest:
    """Trees of nested tuples or lists, walked without recursion."""
    labels: list[str] = []
    is_open: list[int] = []
    n_closed = [0]
    for which, tree in enumerate(given):
        if not isinstance(tree, (tuple, list)):
            raise InputTypeError(
                f"Tree {which} is of type {type(tree).__name__}. Trees are all strings with brackets, "
                'or all nested tuples: ("S", ("NP", "she"), ("VP", "runs")).'
            )
        _walk(tree, which, labels, is_open, n_closed)
    symbols, start = code_points(labels)
    return _core.build_trees(
        symbols, start, np.array(is_open, dtype=np.uint8), np.array(n_closed, dtype=np.int64)
    )


def _walk(tree: Any, which: int, labels: list[str], is_open: list[int], n_closed: list[int]) -> None:
    """Adds the labels of one tree in order, and the brackets that close before each."""
    stack: list[tuple[Any, Iterator[Any]]] = []
    path: set[int] = set()

    def enter(node: Any) -> None:
        if id(node) in path:
            raise InputError(f"Tree {which} contains itself.")
        label, children = _parts(node, which)
        path.add(id(node))
        stack.append((node, iter(children)))
        labels.append(label)
        is_open.append(1)
        n_closed.append(0)

    enter(tree)
    while stack:
        node, children = stack[-1]
        child = next(children, _END)
        if child is _END:
            stack.pop()
            path.discard(id(node))
            n_closed[-1] += 1
        elif isinstance(child, str):
            labels.append(child)
            is_open.append(0)
            n_closed.append(0)
        elif isinstance(child, (tuple, list)):
            enter(child)
        else:
            raise InputTypeError(
                f"Tree {which} has a child of type {type(child).__name__}. Children are words, as str, or "
                "tuples (label, child, ...)."
            )


_END = object()


def _parts(node: Any, which: int) -> tuple[str, Any]:
    """The label of a node and its children. A node of NLTK is a list of children with a method ``label``."""
    label = getattr(node, "label", None)
    if callable(label):
        return str(label()), node
    if not node or not isinstance(node[0], str):
        raise InputTypeError(
            f"Tree {which} has a node without a label: a node is (label, child, ...) with the label as str."
        )
    return node[0], node[1:]


class TreeKernel(Kernel):
    """A kernel of trees: fragments that two trees share, by the recursion of Collins and Duffy."""

    remedy = "Use a smaller decay: values grow exponentially with the size of trees."
    decay: float
    _sigma: ClassVar[float]
    _name: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", decay_of(self.decay))

    @property
    def domain(self) -> Domain:
        """Trees."""
        return Trees()

    def compute(self, items: ParsedTrees, others: ParsedTrees | None, n_threads: int) -> FloatArray:
        other = None if others is None else others.forest
        return _core.tree_table(items.forest, other, self.decay, self._sigma, n_threads)

    def compute_diagonal(self, items: ParsedTrees) -> FloatArray:
        return _core.tree_diagonal(items.forest, self.decay, self._sigma, thread_count(None))

    def formula(self, x: str = "x", z: str = "z") -> str:
        return f"{self._name}({x}, {z}; decay={number(self.decay)})"


@dataclass(frozen=True)
class SubsetTree(TreeKernel):
    """Fragments that two trees share: a node with all its children, each of them with all of its, or none.

    ``k(x, z) = sum_u sum_v C(u, v)`` over the nodes of both; C is 0 where label or children differ, else
    ``decay prod_c (1 + C(u_c, v_c))`` over the children with brackets. With decay 1 it is the number of
    common fragments; less makes large ones count less. Use ``.normalized()`` for trees of different sizes.

    Trees are strings with brackets, ``"(S (NP she) (VP runs))"``, or nested tuples,
    ``("S", ("NP", "she"), ("VP", "runs"))``.

    Parameters
    ----------
    decay
        What a node costs, in (0, 1].

    Notes
    -----
    O(pairs of nodes with the same production), at most |x| |z|; native, in threads, with the same bits for
    any number of them; no depth of a tree is too much. Values grow exponentially with the size of trees:
    what is beyond float64 is refused, and needs a smaller decay.

    References
    ----------
    Collins and Duffy (2001), Convolution kernels for natural language.

    Examples
    --------
    >>> from lineal.kernels import SubsetTree
    >>> k = SubsetTree(decay=1)
    >>> k("(NP (D the) (N dog))", "(NP (D the) (N cat))")
    3.0
    """

    decay: float = 0.4
    _sigma = 1.0
    _name = "subset_trees"


@dataclass(frozen=True)
class SubTree(TreeKernel):
    """Subtrees that two trees share: a node with everything below it, down to the words.

    As :class:`SubsetTree` with ``C(u, v) = decay prod_c C(u_c, v_c)``: no fragment ends before the words.

    Parameters
    ----------
    decay
        What a node costs, in (0, 1].

    References
    ----------
    Vishwanathan and Smola (2002), Fast kernels for string and tree matching.

    Examples
    --------
    >>> from lineal.kernels import SubTree
    >>> SubTree(decay=1)("(NP (D the) (N dog))", "(NP (D the) (N cat))")
    1.0
    """

    decay: float = 0.4
    _sigma = 0.0
    _name = "subtrees"
