"""Which estimator a job trains: the strong default, or what was asked for, with its options set."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from lineal.errors import ParameterError
from lineal.jobs.dataset import Dataset
from lineal.jobs.roles import Roles
from lineal.learners.spelling import learner_named, set_option
from lineal.learners.table.classifier import TableClassifier
from lineal.learners.table.regressor import TableRegressor
from lineal.learners.text.classifier import TextClassifier
from lineal.learners.text.regressor import TextRegressor
from lineal.text.vectorizer import TextVectorizer

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
    """

    name: str | None = None
    settings: Sequence[str] = ()
    n_threads: int | None = None
    progress: bool = False

    def made(self, data: Dataset, roles: Roles | None, task: str, *, seed: int = 0) -> Any:
        """The estimator, not fitted; wrong names and options are refused."""
        inner = None if self.name is None else learner_named(self.name, task)
        common: dict[str, Any] = {
            "n_threads": self.n_threads,
            "random_state": seed,
            "progress": self.progress,
        }
        pairs = [_pair(setting) for setting in self.settings]
        if data.inputs == "texts":
            kind = TextClassifier if task == "classification" else TextRegressor
            estimator = kind(learner=inner, missing="empty", **common)
            if inner is not None or any(name.startswith(_TEXT) for name, _ in pairs):
                # One way to read texts, said or usual: no search.
                estimator.vectorizer = TextVectorizer(
                    min_df=2 if data.X.n_bytes > 4e6 else 1, missing="empty", n_threads=self.n_threads
                )
        else:
            kinds = None if roles is None else roles.features
            table = TableClassifier if task == "classification" else TableRegressor
            estimator = table(kinds=kinds, learner=inner, **common)
        for name, value in pairs:
            if name.startswith(_TEXT) and data.inputs != "texts":
                raise ParameterError(f"{name} is an option of texts, and the data are not texts alone.")
            set_option(estimator, name.replace(_TEXT, "vectorizer.", 1), value)
        return estimator

    def fitted(self, estimator: Any, data: Dataset) -> Any:
        """A copy, fitted to the rows."""
        fresh = clone(estimator)
        more = {"sample_weight": data.sample_weight, "groups": data.groups}
        takes = inspect.signature(fresh.fit).parameters
        return fresh.fit(data.X, data.y, **{k: v for k, v in more.items() if v is not None and k in takes})


def _pair(setting: str) -> tuple[str, str]:
    name, sign, value = setting.partition("=")
    if not sign or not name.strip():
        raise ParameterError(f"a setting is name=value, such as learner.C=10; got {setting!r}.")
    return name.strip(), value.strip()
