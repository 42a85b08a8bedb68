"""Every two classes against each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.compose.coded import CodedClassifier, Strategy
from lineal.compose.codes import Code
from lineal.model.strategies import coupled_pairs, one_vs_one_code, scores_of_votes, votes_of
from lineal.objective.losses import FloatArray


class OneVsOne(CodedClassifier):
    """K (K - 1) / 2 learners, one for each two classes and their rows alone; most votes win.

    Parameters
    ----------
    learner : any classifier of two classes
        ``LinearClassifier()`` if not given. With ``warm_start=True`` in it, every part starts from the last
        fit's part for its pair.
    n_threads : int, optional
        Parts that are fitted at the same time; changes the time, never a bit. ``LINEAL_NUM_THREADS`` or all
        cores if not given.

    Attributes
    ----------
    classes_ : the labels, sorted
    parts_ : fitted learners of the pairs (0, 1), (0, 2) ... (K - 2, K - 1); the first of a pair was 0
    code_ : (K, L), -1 for the first of a pair, +1 for the second, 0 for the others
    certificates_ : of the parts, where they have any

    Notes
    -----
    A pair's score z >= 0 is a vote for its second class, z < 0 for its first. Class k's score is

        votes_k + s_k / (3 (|s_k| + 1)),

    s_k the sum of the scores of its pairs, counted positive where they speak for k. The second term is below
    1/3 in size, so it decides nothing but ties in votes: those go to the largest s_k, and to the first of
    ``classes_`` if that is equal too.

    Probabilities couple those of the pairs: r_kl = p(k | k or l) gives the p that minimises
    sum_{k != l} (r_lk p_k - r_kl p_l)^2 with sum_k p_k = 1 (Wu, Lin and Weng 2004). Where the votes say
    otherwise than these, the winner of the votes and its rivals take their mean.

    Examples
    --------
    >>> from lineal import OneVsOne
    >>> model = OneVsOne().fit([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"])
    >>> model.predict([[0.5], [4.4], [8.5]])
    array(['a', 'b', 'c'], dtype='<U1')
    >>> model.votes([[0.5], [4.4]])
    array([[2, 1, 0],
           [1, 2, 0]])
    """

    def votes(self, X: Any) -> Any:
        """(n, K) how many of its pairs each class wins."""
        Z = self._part_scores(self._asked(X))
        return votes_of(Z, self.code_).astype(np.int64)

    def _code(self, K: int) -> Code:
        return one_vs_one_code(K)

    def _decoded(self, Z: FloatArray) -> FloatArray:
        return scores_of_votes(Z, self.code_)

    def _combined(self, R: FloatArray) -> FloatArray:
        return coupled_pairs(R, len(self.classes_))

    def _strategy(self) -> Strategy:
        return Strategy("pairs")
