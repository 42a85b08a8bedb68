"""Choosing how to read data and how strongly to regularise, by held-out rows.

Each recipe turns the data into one matrix; folds are rows of it. What a fold may not see are labels: what is
learned without them (document frequencies, scales, borders of bins) comes from all rows, what needs them
(naive-Bayes weights) from the fold's training rows alone. Every recipe is tried at the first strength, then
the best recipe at the others.

Of many rows only a part is searched. There a costly recipe must beat the others by two standard errors to
stay, and the recipes that stay are compared once more on all rows with one held-out part, since some of them
gain more from many rows than others. A row is read once by each recipe that is looked at, and once more if it
was in the part.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import nothing_done
from lineal.data.compressed import CompressedRows
from lineal.deferred import is_a
from lineal.errors import NotCertifiedWarning
from lineal.learners.searched.folds import Fold
from lineal.objective.certificate import Stop


class Data(Protocol):
    """Rows to learn from, as texts or tables hold them."""

    def __len__(self) -> int: ...

    def take(self, rows: NDArray[np.int64], /) -> Data:
        """Some of the rows."""


class Read(Protocol):
    """Rows as a recipe reads them."""

    @property
    def recipe(self) -> Recipe:
        """The recipe."""

    @property
    def vectorizers(self) -> list[Any]:
        """What reads the rows of later data alike, fitted, side by side."""

    def matrix(self) -> Any:
        """All rows."""

    def fold(self, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        """The rows of a fold, as they would be had the test labels not been known."""


class Recipe(Protocol):
    """A way to read data."""

    @property
    def name(self) -> str:
        """What trials and plans call it."""

    @property
    def is_costly(self) -> bool:
        """Whether it must be better by more than chance to be worth its time."""

    def read(self, data: Any, y: NDArray[Any]) -> Read:
        """The data, read; y is what label-dependent weights are learned from."""


@dataclass(frozen=True)
class Trial:
    """How a recipe did at a strength on held-out rows: mean and standard error over the folds."""

    recipe: str
    strength: float
    score: float
    error: float
    n_rows: int
    seconds: float

    @property
    def n_texts(self) -> int:
        """As many as rows: a text is a row."""
        return self.n_rows


HeldOut = list[tuple[NDArray[Any], NDArray[Any]]]  # rows of a fold and their decision values


@dataclass
class Found:
    """What the search chose and all it tried."""

    recipe: Recipe
    trial: Trial  # of the choice
    read: Read | None  # all rows as the recipe reads them, where they were read
    trials: list[Trial]
    y: NDArray[Any]  # the targets of the searched part
    held_out: HeldOut  # of the choice, in that part


class Search:
    """The recipe and strength of the best mean score; in doubt the earlier ones.

    ``learner(strength)`` makes a model, ``folds(y, groups)`` pairs of train and test rows,
    ``score(y, predicted)`` is what is to be large, ``report(trial)`` is told of each trial. With
    ``is_one_peaked`` scores are taken to rise and fall but once along the strengths: what lies behind a worse
    one, or away from a better one, is not tried.
    """

    def __init__(
        self,
        strengths: Sequence[float],
        folds: Callable[[NDArray[Any], NDArray[Any] | None], list[Fold]],
        learner: Callable[[float], Any],
        score: Callable[[NDArray[Any], NDArray[Any]], float],
        report: Callable[[Trial], None],
        *,
        is_one_peaked: bool = False,
    ) -> None:
        self._strengths = strengths
        self._folds = folds
        self._learner = learner
        self._score = score
        self._report = report
        self._is_one_peaked = is_one_peaked
        self._trials: list[Trial] = []

    def run(
        self,
        data: Data,
        y: NDArray[Any],
        rows: NDArray[np.int64],
        recipes: Sequence[Recipe],
        groups: NDArray[Any] | None = None,
    ) -> Found | None:
        """None where nothing can be held out. ``rows`` are the part that is searched."""
        folds = self._folds(y[rows], None if groups is None else groups[rows])
        if not folds:
            return None
        is_whole = len(rows) == len(data)
        part = data if is_whole else data.take(rows)
        reads = [recipe.read(part, y[rows]) for recipe in recipes[:1]]
        tried = [self.tried(reads[0], y[rows], folds, self._strengths[0])]
        for recipe in recipes[1:]:
            read = recipe.read(part, y[rows])
            found = self.tried(read, y[rows], folds, self._strengths[0])
            if is_whole and found[0].score <= tried[0][0].score:
                continue
            if is_whole:
                reads, tried = [], []  # only the best is looked at again
            reads.append(read)
            tried.append(found)
        whole: Read | None = reads[0] if is_whole else None
        chosen = 0
        if not is_whole and len(recipes) > 1:
            fold = self._folds(y, groups)[:1]
            chosen, whole = self._chosen_on_all(data, y, fold, reads, [trial for trial, _ in tried])
        best = tried[chosen]
        along = {best[0].strength: best[0].score}
        for strength in self._strengths[1:]:
            if self._is_one_peaked and _is_hopeless(strength, along):
                continue
            found = self.tried(reads[chosen], y[rows], folds, strength)
            along[strength] = found[0].score
            # Another strength than the first has to be better by more than chance might make it.
            if found[0].score > max(best[0].score, tried[chosen][0].score + 0.5 * found[0].error):
                best = found
        return Found(reads[chosen].recipe, best[0], whole, self._trials, y[rows], best[1])

    def _chosen_on_all(
        self, data: Data, y: NDArray[Any], fold: list[Fold], reads: list[Read], trials: list[Trial]
    ) -> tuple[int, Read | None]:
        cheap = [trial for read, trial in zip(reads, trials, strict=True) if not read.recipe.is_costly]
        bar = max((trial.score + 2.0 * trial.error for trial in cheap), default=-np.inf)
        costly = [k for k, read in enumerate(reads) if read.recipe.is_costly and trials[k].score > bar]
        if costly:
            return max(costly, key=lambda k: trials[k].score), None
        left = [k for k, read in enumerate(reads) if not read.recipe.is_costly] or list(range(len(reads)))
        if len(left) == 1:
            return left[0], None
        best: tuple[float, int, Read] | None = None
        for k in left:
            read = reads[k].recipe.read(data, y)
            score = self.tried(read, y, fold, self._strengths[0])[0].score
            if best is None or score > best[0]:
                best = (score, k, read)
        assert best is not None
        return best[1], best[2]

    def tried(self, read: Read, y: NDArray[Any], folds: list[Fold], strength: float) -> tuple[Trial, HeldOut]:
        """How a recipe does at a strength, and the scores of the rows held out."""
        began = time.perf_counter()
        scores, held_out = [], []
        for train, test in folds:
            seen, unseen = read.fold(train, test, y)
            with warnings.catch_warnings():
                # A trial that stops early is judged by what it predicts.
                warnings.simplefilter("ignore", NotCertifiedWarning)
                model = self._learner(strength)
                model.fit(taken_by(model, seen), y[train])
            if is_broken_off(model):
                raise nothing_done()  # nothing is chosen yet: there is no model to keep
            unseen = taken_by(model, unseen)
            decide = getattr(model, "decision_function", model.predict)
            held_out.append((test, decide(unseen)))
            scores.append(self._score(y[test], model.predict(unseen)))
        trial = Trial(
            read.recipe.name,
            strength,
            float(np.mean(scores)),
            float(np.std(scores) / np.sqrt(len(scores))),
            len(y),
            time.perf_counter() - began,
        )
        self._trials.append(trial)
        self._report(trial)
        return trial, held_out


def is_broken_off(model: Any) -> bool:
    """Whether Ctrl-C, or a token, ended a fit before its time; the weights are the best so far."""
    certificate = getattr(model, "certificate_", None)
    stop = getattr(model, "stop_", None) if certificate is None else certificate.stop
    return bool(stop is Stop.CANCELLED)


def taken_by(model: Any, X: Any) -> Any:
    """Rows as a model takes them: linear models of this library need no SciPy, all others get its matrix."""
    if not isinstance(X, CompressedRows):
        return X
    is_linear = is_a(model, "lineal.learners.model:LinearModel")
    return X if is_linear and not is_a(model, "lineal.learners.joint.model:JointModel") else X.to_scipy()


def _is_hopeless(strength: float, along: dict[float, float]) -> bool:
    """Whether a strength cannot be best if scores have one peak; the first tried is in the middle."""
    (first, score), *others = along.items()
    for other, found in others:
        is_same_side = (other > first) == (strength > first)
        if is_same_side and found < score and abs(np.log(other / first)) < abs(np.log(strength / first)):
            return True
        if not is_same_side and found > score:
            return True
    return False
