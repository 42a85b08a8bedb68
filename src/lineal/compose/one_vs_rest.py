"""One against all the others."""

from __future__ import annotations

from lineal.compose.coded import CodedClassifier, Strategy
from lineal.compose.codes import Code, one_vs_rest_code
from lineal.model.simplex import normalised
from lineal.objective.losses import FloatArray


class OneVsRest(CodedClassifier):
    """K two-class learners, each of which tells one class from all the others; the highest score wins.

    Parameters
    ----------
    learner : any classifier of two classes
        ``LinearClassifier()`` if not given. With ``warm_start=True`` in it, every part starts from the last
        fit's part for its class.
    n_threads : int, optional
        Parts that are fitted at the same time; changes the time, never a bit. ``LINEAL_NUM_THREADS`` or all
        cores if not given.

    Attributes
    ----------
    classes_ : the labels, sorted
    parts_ : K fitted learners; class k was 1, the others 0. Two classes need one, for the second.
    code_ : (K, K), +1 on the diagonal and -1 elsewhere
    certificates_ : of the parts, where they have any

    Notes
    -----
    Scores are compared across parts that were fitted apart from each other, so a learner whose scores have a
    meaning of their own (log odds, distances) suits best. Probabilities are those of the parts over their
    sum. What ``LinearClassifier`` does with ``Log`` and ``Hinge`` is to fit all classes jointly instead.

    Examples
    --------
    >>> from lineal import OneVsRest
    >>> model = OneVsRest().fit([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"])
    >>> model.predict([[0.5], [8.5]])
    array(['a', 'c'], dtype='<U1')
    >>> len(model.parts_), model.decision_function([[4.5]]).shape
    (3, (1, 3))
    """

    def _code(self, K: int) -> Code:
        return one_vs_rest_code(K)

    def _decoded(self, Z: FloatArray) -> FloatArray:
        return Z

    def _combined(self, R: FloatArray) -> FloatArray:
        return normalised(R)

    def _strategy(self) -> Strategy:
        return Strategy("rest")
