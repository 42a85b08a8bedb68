"""What each word of a text added to its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineal.errors import ParameterError
from lineal.model.explanation import Explanation, shown
from lineal.plot.choice import whole
from lineal.plot.words_picture import draw


def word_contributions(model: Any, text: str, label: Any = None, *, k: int = 12) -> WordContributions:
    """Takes the score of one text apart: its words in their order, and the terms that added most.

    Parameters
    ----------
    model : TextClassifier or TextRegressor
        Fitted. Anything whose ``explain(text)`` gives the same kind of explanation will do.
    text : str
    label : optional
        Whose score it is; not given, the predicted label's.
    k : int
        Terms to show; the rest is summed up.

    Returns
    -------
    WordContributions

    Examples
    --------
    >>> from lineal import TextClassifier
    >>> from lineal.plot import word_contributions
    >>> texts = ["good film", "a good cast", "very good", "bad film", "a bad cast", "very bad"] * 4
    >>> model = TextClassifier().fit(texts, ["pos", "pos", "pos", "neg", "neg", "neg"] * 4)
    >>> found = word_contributions(model, "a good film", "pos")
    >>> max(found.tokens, key=lambda pair: pair[1])[0]
    'good'
    """
    k = whole("word_contributions", "k", k)
    if not hasattr(model, "explain"):
        raise ParameterError(
            f"word_contributions needs a TextClassifier or a TextRegressor, got {type(model).__name__}."
        )
    if not isinstance(text, str):
        raise ParameterError(f"word_contributions needs one text, a str, got {type(text).__name__}.")
    return WordContributions(model.explain(text) if label is None else model.explain(text, label), k)


@dataclass(frozen=True, eq=False)
class WordContributions:
    """A score as a sum; ``print`` lists the largest parts.

    Attributes
    ----------
    explanation : Explanation
        ``label``, ``score``, ``intercept``, all ``terms`` and ``tokens``.
    k : int
    """

    explanation: Explanation
    k: int

    @property
    def tokens(self) -> list[tuple[str, float]]:
        """The words of the text in their order, with what each added."""
        return self.explanation.tokens

    def parts(self) -> list[tuple[str, float]]:
        """The k largest terms, the sum of the others and the intercept: together they are the score."""
        first, rest = self.explanation.terms[: self.k], self.explanation.terms[self.k :]
        found = [(shown(term.name), term.contribution) for term in first]
        if rest:
            found.append((f"({len(rest)} more)", sum(term.contribution for term in rest)))
        return [*found, ("(intercept)", self.explanation.intercept)]

    def __str__(self) -> str:
        head = f"{self.explanation.label}: {self.explanation.score:+.4f}"
        return "\n".join([head, *(f"  {share:+.4f}  {name}" for name, share in self.parts())])

    def plot(self, ax: Any = None) -> list[Any]:
        """The words on shades of what they added, with numbers below, and bars of the terms that added most.

        Parameters
        ----------
        ax : matplotlib Axes, or a pair of them, optional
            One is for the words alone, a pair for words and terms; a new figure if not given.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
