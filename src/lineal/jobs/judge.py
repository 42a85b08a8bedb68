"""Stored models on a labelled file: one judged, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lineal.data.records import Records, read_records
from lineal.errors import CellError, InputError, ParameterError
from lineal.evaluation.comparing import compare
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.evaluation import Evaluation
from lineal.evaluation.wording import counted
from lineal.jobs.answers import Answers, answers_of
from lineal.jobs.dataset import Dataset, dataset_of, matrix_of, read_for
from lineal.jobs.labels import labels_like
from lineal.jobs.origin import fingerprint_of
from lineal.jobs.places import told_of_cells, told_of_file
from lineal.jobs.roles import Role, Roles
from lineal.jobs.scoring import WEIGHTS_MEAN, evaluated
from lineal.model.loading import load
from lineal.model.model import Model


@dataclass(frozen=True, eq=False)
class Judged:
    """A model, labelled rows, what it says of them, and how good that is."""

    model: Model
    data: Dataset
    answers: Answers
    evaluation: Evaluation


def labelled(
    model: Model,
    records: Records,
    *,
    label: str | None = None,
    text: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    is_piece: bool = False,
) -> Dataset:
    """The rows of a file as a model takes them, with their labels; a piece of a file may have none."""
    if model.inputs == "rows":
        if records.rows is None:
            raise InputError(
                f"{records.path} has columns, but the model was trained on sparse rows of numbers."
            )
        data = dataset_of(records, None, task=model.task, may_be_empty=is_piece)
        return replace(data, X=matrix_of(records.rows, model.n_features_in_)[data.rows])
    if records.table is None:
        raise InputError(f"{records.path} has sparse rows, but the model was trained on columns with names.")
    names = records.table.column_names
    found = label or _label_of(model, names, str(records.path))
    if found not in names:
        raise ParameterError(f"{records.path} has no column {found!r} to be the label. It has {_few(names)}.")
    if group is None:
        own = (model.about.columns or {}).get("group")
        group = own if own in names and own != found else None
    for name, role in ((weight, "weight"), (group, "group")):
        if name is not None and name not in names:
            raise ParameterError(
                f"{records.path} has no column {name!r} to be the {role}. It has {_few(names)}."
            )
    features = _features(model, names, text, str(records.path))
    roles = [Role(found, "label", ""), *(Role(name, kind, "") for name, kind in features.items())]
    roles += [
        Role(name, role, "") for name, role in ((weight, "weight"), (group, "group")) if name is not None
    ]
    data = dataset_of(records, Roles(tuple(roles), model.task, ""), may_be_empty=is_piece)
    if model.task != "regression":
        return replace(data, y=labels_like(data.y, model.classes_))
    if (is_infinite := np.isinf(data.y)).any():
        place = int(np.argmax(is_infinite))
        before = f"column {found!r} needs finite numbers to judge or learn by, but "
        raise CellError(before, int(data.rows[place]), f" has {data.y[place]:g}. Correct the cell.")
    return data


def _label_of(model: Model, names: list[str], path: str) -> str:
    from lineal.data.corpus import LABEL_NAMES

    known = (model.about.columns or {}).get("label")
    if known in names:
        return str(known)
    usual = [name for name in names if name.strip().lower() in LABEL_NAMES]
    if len(usual) == 1:
        return usual[0]
    raise ParameterError(
        f"it is not clear which column of {path} is the label. Choose with label= among {_few(names)}."
    )


def _features(model: Model, names: list[str], text: str | None, path: str) -> dict[str, str]:
    if model.inputs == "table":
        if text is not None:
            raise ParameterError(
                "the model reads columns by their own names, so --text says nothing: leave it out."
            )
        there = set(names)
        return {name: "category" for name in model.feature_names_in_.tolist() if name in there}
    wanted = text or (model.about.columns or {}).get("text") or "text"
    if wanted not in names:
        raise ParameterError(
            f"{path} has no column {wanted!r} of texts. Choose with text= among {_few(names)}."
        )
    return {wanted: "text"}


def evaluate_file(
    model: Model,
    path: str,
    *,
    label: str | None = None,
    text: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    reading: dict[str, Any] | None = None,
    confidence: float = 0.95,
) -> Judged:
    """A model judged by a labelled file."""
    records = read_for(model, path, read_records, **(reading or {}))
    with told_of_cells(path, reading):
        data = labelled(model, records, label=label, text=text, weight=weight, group=group)
    with told_of_file(path, reading, data.rows.item):
        answers = answers_of(model, data.X)
    evaluation = evaluated(answers, data, model.task, confidence=confidence)
    if note := _learned_from(model, records, path):
        evaluation = replace(evaluation, notes=(*evaluation.notes, note))
    return Judged(model, data, answers, evaluation)


def _learned_from(model: Model, records: Records, path: str) -> str:
    """What to bear in mind where a file is one that the model has learned from; else nothing."""
    about = model.about
    known = [about.fingerprint or {}, *about.notes.get("updates", ())]
    n_bytes = None if path == "-" or Path(path).is_dir() else Path(path).stat().st_size
    seals = {seal.get("sha256") for seal in known if n_bytes in (None, seal.get("bytes"))} - {None}
    if not seals or fingerprint_of(records, path).sha256 not in seals:
        return ""
    held = about.notes.get("held out")
    part = " but for a part that was held out" if held else ""
    return f"the model has learned from this very file{part}: the scores flatter it"


def compare_files(
    paths: Sequence[str],
    data_path: str,
    *,
    label: str | None = None,
    text: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    metric: str | None = None,
    reading: dict[str, Any] | None = None,
    confidence: float = 0.95,
) -> ModelComparison:
    """Stored models on the same labelled file, with the paired test that suits."""
    if len(paths) < 2:
        raise ParameterError("compare needs at least two models, and a labelled file behind them.")
    models = dict(zip(_names(paths), (load(path) for path in paths), strict=True))
    tasks = {model.task for model in models.values()}
    if len(tasks) > 1:
        raise ParameterError(
            "some of the models predict labels and others numbers: compare those of one kind."
        )
    answers: dict[str, Answers] = {}
    records: dict[str, Records] = {}  # models of texts and tables share what was read
    for name, model in models.items():
        key = name if model.inputs == "rows" else ""
        if key not in records:
            records[key] = read_for(model, data_path, read_records, **(reading or {}))
    shared = records.get("")
    if label is None and shared is not None and shared.table is not None:
        label = _one_label(models, shared.table.column_names, data_path)
    data: Dataset | None = None
    for name, model in models.items():
        own = records[name if model.inputs == "rows" else ""]
        with told_of_cells(data_path, reading):
            data = labelled(model, own, label=label, text=text, weight=weight, group=group)
        with told_of_file(data_path, reading, data.rows.item):
            answers[name] = answers_of(model, data.X)
    assert data is not None
    found = compare(
        answers,
        X_test=np.zeros((len(data), 1)),
        y_test=data.y,
        sample_weight_test=data.sample_weight,
        weights=WEIGHTS_MEAN,
        groups=data.groups,
        metric=metric,
        confidence=confidence,
        task=tasks.pop(),
    )
    told = [
        f"{name}: {note}"
        for name, model in models.items()
        if (note := _learned_from(model, next(iter(records.values())), data_path))
    ]
    title = f"{len(models)} models on {counted(len(data), 'row')} of {data_path}"
    return replace(found, title=title, notes=(*found.notes, *told))


def _one_label(models: dict[str, Model], names: list[str], path: str) -> str:
    """The column that all models predict; those of different columns have no truth in common."""
    found = {name: _label_of(model, names, path) for name, model in models.items() if model.inputs != "rows"}
    if len(set(found.values())) > 1:
        told = ", ".join(f"{name} predicts {column!r}" for name, column in found.items())
        raise ParameterError(
            f"the models were trained to predict different columns of {path}: {told}. "
            "Say by which one to judge all of them, with --label."
        )
    return next(iter(found.values()))


def _names(paths: Sequence[str]) -> list[str]:
    """Short names that differ."""
    names = [Path(path).stem for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise ParameterError("the same model is named twice: compare different ones.")
    return names


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
