"""Which estimator a job trains: the strong default, or what was asked for, with its options set."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lineal
from lineal.cancellation import nothing_done
from lineal.deferred import is_a
from lineal.deferred import sparse as sp
from lineal.errors import ParameterError
from lineal.jobs.dataset import Dataset
from lineal.jobs.roles import Roles
from lineal.learners.freezing import freeze
from lineal.learners.searched.search import is_broken_off
from lineal.learners.spelling import learner_named, set_option
from lineal.protocol import clone, is_classifier, is_regressor

_LINEAR = (
    "lineal.learners.classifier:LinearClassifier",
    "lineal.learners.presets.dialect:Dialect",
    "lineal.learners.regressor:LinearRegressor",
)
# Options of TextVectorizer are set by "text.name=value".
_TEXT = "text."


@dataclass(frozen=True, kw_only=True)
class Learner:
    """What was asked of the learner.

    Attributes
    ----------
    name : str, optional
        A short name such as ``svm``, or a spelled learner such as ``LinearClassifier(loss=Hinge())``. Not
        given: the default of the data, which searches.
    settings : sequence of "name=value"
        ``learner.C=10``, ``text.ngrams=(1, 3)``, ``n_folds=5``.
    n_threads : int, optional
    progress : bool
        Whether trials and the gap of the final fit are shown on the standard error output.
    """

    name: str | None = None
    settings: Sequence[str] = ()
    n_threads: int | None = None
    progress: bool = False

    def check(self, task: str | None = None) -> None:
        """Refuses a name that is no learner's, whatever the data are, and settings that are none."""
        for setting in self.settings:
            _pair(setting)
        if self.name is None:
            return
        unknown, unfit = [], []
        tasks = ("classification", "regression") if task is None else (task,)
        for one in tasks:
            try:
                inner = learner_named(self.name, one)
            except ParameterError as flaw:
                unknown.append(flaw)
                continue
            try:
                _check_learner(inner, self.name, one)
                return
            except ParameterError as flaw:
                unfit.append(flaw)
        raise (unfit or unknown)[0]

    def made(self, data: Dataset, roles: Roles | None, task: str, *, seed: int = 0) -> Any:
        """The estimator, not fitted; wrong names and options are refused."""
        inner = None if self.name is None else learner_named(self.name, task)
        if inner is not None:
            _check_learner(inner, self.name, task)
        common: dict[str, Any] = {
            "n_threads": self.n_threads,
            "random_state": seed,
            "progress": self.progress,
        }
        pairs = [_pair(setting) for setting in self.settings]
        if data.inputs == "texts":
            kind = lineal.TextClassifier if task == "classification" else lineal.TextRegressor
            estimator = kind(learner=inner, missing="empty", **common)
            if inner is not None or any(name.startswith(_TEXT) for name, _ in pairs):
                # One way to read texts, said or usual: no search.
                estimator.vectorizer = lineal.TextVectorizer(
                    min_df=2 if data.X.n_bytes > 4e6 else 1, missing="empty", n_threads=self.n_threads
                )
        else:
            kinds = None if roles is None else self._kinds(roles, pairs)
            table = lineal.TableClassifier if task == "classification" else lineal.TableRegressor
            estimator = table(kinds=kinds, learner=inner, **common)
        for name, value in pairs:
            if name.startswith(_TEXT) and data.inputs == "table":
                continue  # known to the kinds of columns
            if name.startswith(_TEXT) and data.inputs == "rows":
                raise ParameterError(f"{name} is an option of texts, and the data are rows of numbers.")
            if inner is None and name.startswith("learner."):
                raise ParameterError(
                    f"{name} is an option of a learner, and none was chosen: the default searches for its "
                    "own. Choose one, such as --learner svm or --learner logistic."
                )
            set_option(estimator, name.replace(_TEXT, "vectorizer.", 1), value)
        if estimator.learner is not None:
            _check_storable(estimator.learner, task)
        return estimator

    def _kinds(self, roles: Roles, pairs: list[tuple[str, str]]) -> dict[str, Any]:
        """What each column is; texts are read in the way that was said, if any was."""
        said = [(name, value) for name, value in pairs if name.startswith(_TEXT)]
        kinds: dict[str, Any] = dict(roles.features)
        if not said:
            return kinds
        if "text" not in kinds.values():
            raise ParameterError(
                f"{said[0][0]} is an option of texts, and no column is taken for text: --text NAME."
            )
        from lineal.features import Text

        vectorizer = lineal.TextVectorizer(dtype=np.float64, n_threads=self.n_threads)
        for name, value in said:
            set_option(vectorizer, name.removeprefix(_TEXT), value)
        return {name: Text(vectorizer) if kind == "text" else kind for name, kind in kinds.items()}

    def fitted(self, estimator: Any, data: Dataset, when_read: Callable[[Any], None] | None = None) -> Any:
        """A copy, fitted to the rows; ``when_read`` is told when it is settled how data are read."""
        fresh = clone(estimator)
        fresh._when_read = when_read
        more = {"sample_weight": data.sample_weight, "groups": data.groups}
        takes = inspect.signature(fresh.fit).parameters
        fresh.fit(data.X, data.y, **{k: v for k, v in more.items() if v is not None and k in takes})
        del fresh._when_read
        return fresh.set_params(progress=False)  # who looked on is no part of the model


def _check_learner(inner: Any, name: str | None, task: str) -> None:
    """Refuses what cannot learn, and what learns something else."""
    if not hasattr(inner, "fit") or not hasattr(inner, "get_params"):
        raise ParameterError(f"{name} is no learner, but a part of one: LinearClassifier(loss=Hinge()) is.")
    if is_a(inner, "lineal.learners.curve:PolynomialRegression"):
        raise ParameterError(
            f"{name} is a curve in one column of numbers, but here learners get all columns side by side. "
            "Use it in Python, lineal.PolynomialRegression; or leave out --learner: the default tries bins "
            "of numbers, which follow curves, too."
        )
    is_right = is_classifier(inner) if task == "classification" else is_regressor(inner)
    if not is_right:
        what = "labels, which are predicted by classifiers" if task == "classification" else (
            "numbers, which are predicted by regressors"
        )  # fmt: skip
        raise ParameterError(
            f"{name} is no learner for {task}. The data have {what}; --task says otherwise if they have not."
        )


def _check_storable(inner: Any, task: str) -> None:
    """Refuses a learner that no model file can hold, before it learns: it is tried on eight tiny rows.

    Linear models are not tried: a file can hold any of them.
    """
    if is_a(inner, *_LINEAR):
        return
    X = sp.csr_matrix(np.array([[1.0, k % 2, k % 3] for k in range(8)]))
    y = np.arange(8) % 2 if task == "classification" else np.arange(8.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = _hasty(clone(inner)).fit(X, y)
        except Exception:  # what these rows are too few for, others may suit
            return
        if is_broken_off(fitted):
            raise nothing_done()
        freeze(fitted)


def _hasty(inner: Any) -> Any:
    """The learner with an end in sight, whatever tolerance it was given."""
    short = {"max_epochs": 2, "max_iter": 2, "max_seconds": 1.0}
    limits = {name: short.get(name.rpartition("__")[2]) for name in inner.get_params()}
    return inner.set_params(**{name: limit for name, limit in limits.items() if limit is not None})


def _pair(setting: str) -> tuple[str, str]:
    name, sign, value = setting.partition("=")
    if not sign or not name.strip():
        raise ParameterError(f"a setting is name=value, such as learner.C=10; got {setting!r}.")
    return name.strip(), value.strip()
