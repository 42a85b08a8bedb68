"""From mistakes made online to errors on new data (Cesa-Bianchi, Conconi and Gentile 2004).

Rows drawn independently from one source, each met once: w_0, ..., w_{n-1} are the weights *before* each of
the n examples, and M the share of examples they got wrong. Each was judged on a row it had not seen, so, by
Azuma's inequality, with probability at least 1 - delta over the draw of the rows

    the mean error of w_0, ..., w_{n-1}  <=  M + sqrt(2 ln(1 / delta) / n).

That is the error of one of them drawn at random. A vote of all of them errs only where half of them err: at
most twice as often. The averaged weights have such a bound for losses that are convex and never above 1,
which the share of errors is not, and which no loss of an unbounded score can be: none is claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class OnlineBound:
    """How often weights of the first epoch err on new rows, at most, with the given confidence.

    Attributes
    ----------
    bound : float
        The error rate is at most this; 1 or more says nothing.
    mean_loss : float
        The share of the first epoch's examples that were mistakes when they were met.
    n : int
        How many examples the first epoch had.
    confidence : float
    holds_for : str
        Which weights it speaks of.
    caveat : str
        Why these are not the model's own; empty where they are.
    """

    bound: float
    mean_loss: float
    n: int
    confidence: float
    holds_for: str
    caveat: str

    def __str__(self) -> str:
        return (
            f"with confidence {self.confidence:g}, the error of {self.holds_for} is at most {self.bound:.4g} "
            f"(online, {self.mean_loss:.4g} of {self.n} rows were mistakes)"
            + (f"; {self.caveat}" if self.caveat else "")
        )


_NO_THEOREM = {
    "plain": "the last weights were judged on no row that they had not learnt from",
    "averaged": "averaged weights have such a bound for convex losses only, and the share of errors is none",
    "best": "the weights were chosen by held-out rows, whose own error is the thing to look at",
}


def online_bound(variant: str, mistakes: int, n: int, n_epochs: int, confidence: float) -> OnlineBound:
    """The bound from a first epoch of n examples, for the vote where one is held, else for a random draw."""
    mean = mistakes / n
    drawn = mean + math.sqrt(2.0 * math.log(1.0 / (1.0 - confidence)) / n)
    caveat = _NO_THEOREM.get(variant, "")
    if not caveat and n_epochs > 1:
        caveat = f"the model's own come from {n_epochs} epochs, of which the later ones met rows again"
    if variant == "voted":
        # A vote counts the weights after each example, which differ from those before in one vote of n.
        votes = "the vote of the first epoch's weights"
        return OnlineBound(2.0 * (drawn + 1.0 / n), mean, n, confidence, votes, caveat)
    holds_for = "weights drawn at random from those before each example of the first epoch"
    return OnlineBound(drawn, mean, n, confidence, holds_for, caveat)
