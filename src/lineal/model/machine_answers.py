"""Scores of two-class machines become labels, scores of classes and probabilities: for SVC and its file."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.model.answers import FloatArray, expit, own_probabilities, probabilities, winners
from lineal.model.record import Draft, Spec
from lineal.model.simplex import agreeing
from lineal.model.strategies import coupled_pairs, one_vs_one_code, scores_of_votes, votes_of

STRATEGIES = ("two", "pairs", "rest")
# The smallest number there is: it turns a score of exactly 0, and no other.
_LEAST = 5e-324


@dataclass(frozen=True, eq=False)
class MachineAnswers:
    """What the scores of machines mean.

    Attributes
    ----------
    n_classes : K
    strategy : "two", "pairs" or "rest"
        One machine for two classes, one for every two of K, or one for each of them against the rest.
    is_for_first : bool
        Whether scores above 0 of "two" and "pairs" speak for the first of two classes.
    is_zero_for_first : bool
        Whether scores of exactly 0 do.
    breaks_ties : bool
        Whether equal votes of pairs are decided by scores; else the first class has them.
    tells_pairs : bool
        Whether scores are those of pairs, as machines give them, not of classes.
    temperatures : (n_machines,) or None
    """

    n_classes: int
    strategy: str
    _: KW_ONLY
    is_for_first: bool = False
    is_zero_for_first: bool = False
    breaks_ties: bool = True
    tells_pairs: bool = False
    temperatures: FloatArray | None = None

    @property
    def n_machines(self) -> int:
        """How many scores a row has."""
        K = self.n_classes
        return {"two": 1, "pairs": K * (K - 1) // 2, "rest": K}[self.strategy]

    def _for_second(self, Z: FloatArray) -> FloatArray:
        """Scores that are >= 0 for the second of two classes, and below for the first."""
        turned = -Z if self.is_for_first else Z
        return np.where(turned == 0, -_LEAST, turned) if self.is_zero_for_first else turned

    def class_scores(self, Z: FloatArray) -> FloatArray:
        """(n, 1) for two classes, (n, K) for more."""
        if self.strategy == "rest":
            return Z
        if self.strategy == "two":
            return self._for_second(Z)
        return scores_of_votes(self._for_second(Z), one_vs_one_code(self.n_classes))

    def decision(self, Z: FloatArray) -> FloatArray:
        """Scores as ``decision_function`` returns them."""
        Z = Z if self.tells_pairs and self.strategy == "pairs" else self.class_scores(Z)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def winners(self, Z: FloatArray) -> NDArray[np.intp]:
        """The class of each row."""
        if self.strategy == "pairs" and not self.breaks_ties:
            return winners(votes_of(self._for_second(Z), one_vs_one_code(self.n_classes)))
        return winners(self.class_scores(Z))

    def probabilities(self, Z: FloatArray) -> FloatArray:
        """(n, K), the largest of them the winner's; only with temperatures."""
        # Pairs vote, but coupled they may be surest of another class.
        return agreeing(self._shares(Z), self.winners(Z))

    def _shares(self, Z: FloatArray) -> FloatArray:
        T = self.temperatures
        assert T is not None
        if self.strategy == "two":
            return probabilities(self._for_second(Z), float(T[0]))
        if self.strategy == "rest":
            return own_probabilities(Z / T)
        return coupled_pairs(expit(self._for_second(Z) / T), self.n_classes)

    # ---- record -------------------------------------------------------------------------------

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record but the number of classes."""
        if self.temperatures is not None:
            draft.put(place, "temperatures", np.array(self.temperatures, dtype=np.float64))
        names = ("strategy", "is_for_first", "is_zero_for_first", "breaks_ties", "tells_pairs")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def read(cls, spec: Spec, n_classes: int) -> MachineAnswers:
        """What ``put`` kept."""
        strategy = spec.text("strategy", STRATEGIES)
        if n_classes < 2 or (strategy == "two") != (n_classes == 2):
            spec.refuse("strategy", f"one for {n_classes} classes, two at least", strategy)
        names = ("is_for_first", "is_zero_for_first", "breaks_ties", "tells_pairs")
        flags: dict[str, Any] = {name: spec.flag(name) for name in names}
        made = cls(n_classes, strategy, **flags)
        if not spec.has_tensor("temperatures"):
            return made
        T = spec.tensor("temperatures", (np.float64,), (made.n_machines,))
        if not (T > 0).all():
            spec.refuse("temperatures", "numbers above 0", "others")
        return replace(made, temperatures=T)
