"""A stored model's certificate, proved again from its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineal.data.records import read_records
from lineal.errors import ParameterError
from lineal.jobs.dataset import read_for
from lineal.jobs.judge import labelled
from lineal.jobs.origin import fingerprint_of
from lineal.jobs.places import told_of_cells
from lineal.jobs.splitting import held_out
from lineal.learners.thawing import thaw
from lineal.learners.verification import verify
from lineal.model.loading import load
from lineal.model.model import Model
from lineal.objective.certificate import Certificate


@dataclass(frozen=True)
class Verified:
    """What was proved, of how many rows, and whether the file is the one that was learned from."""

    certificate: Certificate
    n_rows: int
    is_same_file: bool | None


def verify_file(
    model_path: str,
    path: str,
    *,
    label: str | None = None,
    tol: float | None = None,
    reading: dict[str, Any] | None = None,
) -> Verified:
    """How far the stored weights are from the optimum for these data, computed in NumPy alone.

    Where a part of the file was held out in training, the same part is held out again.
    """
    model = load(model_path)
    _check_provable(model, model_path)
    records = read_for(model, path, read_records, **(reading or {}))
    columns = model.about.columns or {}
    with told_of_cells(path, reading):
        data = labelled(model, records, label=label, weight=columns.get("weight"), group=columns.get("group"))
    part = model.about.notes.get("held out")
    if part is not None:
        (rows, _), *_ = held_out(data, model.task, float(part["share"]), int(part["seed"])).splits
        data = data.take(rows)
    estimator = thaw(model)
    inner = getattr(estimator, "model_", estimator)
    if model.inputs == "rows":
        estimator.__dict__.pop("feature_names_in_", None)  # the rows come without names
    X = data.X if inner is estimator else estimator.transform(data.X)
    certificate = verify(inner, X, data.y, sample_weight=data.sample_weight, tol=tol, use_dual=False)
    known = (model.about.fingerprint or {}).get("sha256")
    found = fingerprint_of(records, path)
    return Verified(certificate, len(data), None if not known else known == found.sha256)


def _check_provable(model: Model, path: str) -> None:
    """Refuses models that no single file can prove, and says why."""
    notes = model.about.notes
    if "updated with rows" in notes:
        raise ParameterError(
            f"{path} was updated with {notes['updated with rows']:,} rows after it was trained: steps of a "
            "stream minimise no objective exactly, so there is nothing to prove. Train anew with all rows."
        )
    if model.certificate_ is None:
        raise ParameterError(
            f"{path} holds {model.about.learner}, which minimises no objective and has no certificate."
        )
    if "learned also from" in notes:
        raise ParameterError(
            f"{path} was fitted once more to two files, the second of them {notes['learned also from']} "
            "(--test with --refit): one file cannot prove it. Train without --refit to be able to verify."
        )
