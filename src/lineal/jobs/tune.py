"""Settings of a learner searched on held-out rows of a file, with an honest score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lineal.errors import ParameterError
from lineal.jobs.dataset import dataset_of, named
from lineal.jobs.learner import Learner
from lineal.jobs.places import told_of_cells
from lineal.jobs.preparing import columns_of, read_wanted, roles_of, task_of
from lineal.jobs.training import Columns
from lineal.learners.freezing import freeze
from lineal.learners.searched.search import is_broken_off
from lineal.learners.spelling.reading import value_of
from lineal.model.model import Model
from lineal.selection.search.record import Tuning
from lineal.selection.search.tuning import tune


@dataclass(frozen=True, eq=False)
class Tuned:
    """The search, and its best model, frozen."""

    tuning: Tuning
    model: Model
    n_rows: int

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, or the fit of what it chose, before its time."""
        return "Ctrl-C" in self.tuning.stopped or is_broken_off(self.tuning.model)


def tune_file(
    path: str,
    space: Sequence[str],
    *,
    columns: Columns = Columns(),
    learner: Learner = Learner(),
    method: str = "grid",
    n_folds: int = 5,
    outer: int | None = None,
    metric: str | None = None,
    max_trials: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    reading: dict[str, Any] | None = None,
    progress: bool = False,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Tuned:
    """Searches ``space``, such as ``["learner.C=[0.1, 1, 10]", "text.ngrams=[(1, 1), (1, 2)]"]``."""
    learner.check(columns.task)
    tell(f"reading {path}")
    records = read_wanted(path, columns, reading or {})
    roles = roles_of(records, columns)
    with told_of_cells(path, reading):
        data = dataset_of(records, roles, task=columns.task)
    task = task_of(roles, data, columns)
    if learner.name is None and any(name.startswith(("learner.", "text.")) for name in space):
        # The default searches by itself and has no such settings: the usual learner stands in for it.
        learner = replace(learner, name="logistic" if task == "classification" else "ridge")
        tell(f"settings of {learner.name}, since no learner was chosen")
    estimator = learner.made(data, roles, task, seed=seed)
    found = tune(
        estimator,
        data.X,
        data.y,
        _space(space, data.inputs),
        method=method,
        cv=n_folds,
        outer=outer,
        metric=metric,
        max_trials=max_trials,
        max_seconds=max_seconds,
        sample_weight=data.sample_weight,
        groups=data.groups,
        random_state=seed,
        progress=progress,
    )
    about = {"n_rows": len(data), "columns": columns_of(roles, records)}
    return Tuned(found, freeze(named(found.model, data.names), about=about), len(data))


def _space(settings: Sequence[str], inputs: str) -> dict[str, Any] | None:
    """Lists of values by parameter, in the names of scikit-learn."""
    space: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign:
            raise ParameterError(
                f"a range of settings is name=[values], such as learner.C=[0.1, 1, 10]; got {setting!r}."
            )
        values = value_of(value)
        if not isinstance(values, (list, tuple)):
            raise ParameterError(
                f"{name} needs a list of values to try, such as [0.1, 1, 10]; got {value!r}."
            )
        dotted = name.strip()
        if dotted.startswith("text.") and inputs != "texts":
            raise ParameterError(
                f"{dotted} is searched where the data are texts alone. Choose a value with --set {dotted}=..."
            )
        dotted = f"vectorizer.{dotted.removeprefix('text.')}" if dotted.startswith("text.") else dotted
        space[dotted.replace(".", "__")] = list(values)
    return space or None
