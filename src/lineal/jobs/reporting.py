"""A training as a report: numbers that are known already, put where a reader looks for them."""

from __future__ import annotations

import platform
from collections import Counter
from importlib.metadata import version
from typing import Any

import numpy as np

from lineal import report
from lineal.evaluation import records as evaluation_records
from lineal.evaluation.evaluation import Evaluation
from lineal.jobs.learning import learning_points
from lineal.jobs.mistakes import worst_mistakes
from lineal.jobs.report_scores import (
    calibration_of,
    class_scores_of,
    confusion_of,
    curves_of,
    headline,
    scores_of,
)
from lineal.jobs.scoring import evaluated
from lineal.jobs.training import Training

_FEATURES_SHOWN, _LABELS_WITH_FEATURES = 12, 40


def report_of(
    training: Training, *, title: str, created: str, command: str, with_curves: bool = True
) -> report.Report:
    """All that a training has to say; ``with_curves`` costs about one more fit."""
    is_classes = training.model.task == "classification"
    accuracy = headline(training.evaluation)
    return report.Report(
        title=title,
        summary=_summary(training, accuracy),
        created=created,
        task=training.model.task,
        scores=scores_of(
            training.evaluation, training.comparison, training.baseline_name, _baseline(training)
        ),
        classes=class_scores_of(training.evaluation),
        confusion=confusion_of(training.evaluation),
        curves=curves_of(training) if is_classes else None,
        calibration=calibration_of(training) if is_classes else None,
        regression=None
        if is_classes
        else report.Regression(
            truth=training.test.y.tolist(),
            predicted=training.answers.labels.tolist(),
            target="" if training.roles is None else training.roles.label,
        ),
        mistakes=worst_mistakes(training),
        features=features_of(training.model),
        learning_curve=learning_points(training) if with_curves else None,
        strength_path=_strengths(training.estimator),
        trials=_trials(training.estimator),
        data=_data(training),
        findings=[finding_of(found) for found in training.findings],
        model=_model(training),
        certificate=certificate_of(training.model, training.estimator),
        reproduction=_reproduction(training, command),
    )


def _summary(training: Training, score: evaluation_records.Score) -> str:
    pair = training.comparison.pairs[0]
    if training.model.task == "classification":
        right = f"{score.value:.1%} of {len(training.test):,} rows that the model had not seen are right"
        sure = f"{score.low:.1%} to {score.high:.1%} with {training.judging.confidence:.0%} confidence"
        beside = training.comparison[training.baseline_name].value
        return f"{right} ({sure}); {training.baseline_name}: {beside:.1%}."
    return (
        f"R² is {score.value:.3f} on {len(training.test):,} rows that the model had not seen "
        f"({score.low:.3f} to {score.high:.3f}). {pair.verdict}"
    )


def _baseline(training: Training) -> Evaluation:
    own = {"confidence": training.judging.confidence, "n_resamples": 200}
    return evaluated(training.baseline, training.test, training.model.task, **own)


def features_of(model: Any) -> report.Features | None:
    """The heaviest features of every label; None for a model whose scores are no sums of weights."""
    if not model.is_explained:
        return None
    found = model.top_features(_FEATURES_SHOWN)
    if model.task != "classification":
        both = [*found.get("raise", []), *reversed(found.get("lower", []))]
        name = str((model.about.columns or {}).get("label") or "the prediction")
        return report.Features(classes=[report.ClassFeatures(label=name, features=_features(both))])
    labels = list(found)
    if len(labels) == 2:
        against, label = labels
        both = [*found[label], *((name, -weight) for name, weight in found[against])]
        one = report.ClassFeatures(label=str(label), features=_features(both), against=str(against))
        return report.Features(classes=[one])
    shown = labels[:_LABELS_WITH_FEATURES]
    sentence = "" if len(shown) == len(labels) else f"{len(shown)} of {len(labels)} labels are shown."
    return report.Features(
        classes=[report.ClassFeatures(label=str(label), features=_features(found[label])) for label in shown],
        sentence=sentence,
    )


def _features(pairs: Any) -> list[report.Feature]:
    return [report.Feature(name=str(name), weight=float(weight)) for name, weight in pairs]


def _strengths(estimator: Any) -> report.StrengthPath | None:
    trials = getattr(estimator, "trials_", [])
    chosen = getattr(estimator, "strength_", None)
    if not trials or chosen is None or not np.isfinite(chosen):
        return None
    at = [trial for trial in trials if trial.strength == chosen]
    best = max(at, key=lambda trial: trial.score)
    own = [trial for trial in trials if trial.recipe == best.recipe and trial.n_rows == best.n_rows]
    if len(own) < 2:
        return None
    points = sorted(own, key=lambda trial: trial.strength)
    return report.StrengthPath(
        points=[report.StrengthPoint(strength=t.strength, score=t.score, error=t.error) for t in points],
        chosen=float(chosen),
        score="score on held-out parts",
    )


def _trials(estimator: Any) -> report.Trials | None:
    trials = getattr(estimator, "trials_", [])
    if len(trials) < 2:
        return None
    rows = [[t.recipe, t.strength, t.score, t.error, t.n_rows, round(t.seconds, 2)] for t in trials]
    return report.Trials(
        columns=["how the data are read", "strength", "score", "standard error", "rows", "seconds"],
        rows=rows,
        chosen=_chosen(estimator, trials),
        sentence=str(getattr(estimator, "plan_", "")),
    )


def _chosen(estimator: Any, trials: Any) -> int | None:
    """Which trial was taken: its recipe begins the plan, and its strength is the model's."""
    plan, strength = str(getattr(estimator, "plan_", "")), getattr(estimator, "strength_", None)
    own = [k for k, t in enumerate(trials) if t.strength == strength and plan.startswith(t.recipe + ", ")]
    return max(own, key=lambda k: trials[k].n_rows) if own else None


def _data(training: Training) -> report.Data:
    records, roles = training.records, training.roles
    columns = () if roles is None else [
        report.Column(name=found.column, role=found.role, reason=found.reason) for found in roles.roles
    ]  # fmt: skip
    files = [str(records.path)] + ([training.test_name] if training.judging.test is not None else [])
    labels: list[report.LabelCount] = []
    target = None
    if training.model.task == "classification":
        seen, held = Counter(training.train.y.tolist()), Counter(training.test.y.tolist())
        both = sorted({*seen, *held}, key=lambda label: (-seen[label], str(label)))
        is_apart = training.judging.n_folds is None
        labels = [
            report.LabelCount(
                label=str(label), count=seen[label], test_count=held[label] if is_apart else None
            )
            for label in both[:60]
        ]
    else:
        counts, edges = np.histogram(training.train.y, bins=30)
        target = report.Histogram(edges=edges.tolist(), counts=counts.tolist())
    n_left_out = training.train.n_without_label
    return report.Data(
        files=files,
        n_rows=records.n_rows,
        n_columns=training.train.X.shape[1] if training.train.inputs == "rows" else None,
        columns=columns,
        labels=labels,
        target=target,
        target_name="" if roles is None else roles.label,
        split=training.split,
        n_train=len(training.train),
        n_test=len(training.test),
        notes=[f"{n_left_out:,} rows without a label were left out."] if n_left_out else [],
    )


def finding_of(found: Any) -> report.Finding:
    """A problem of the data, as the report says it."""
    return report.Finding(
        severity=found.severity,
        message=found.message,
        place=found.place,
        fix=found.fix,
        examples=[str(example) for example in found.examples],
    )


def _model(training: Training) -> report.ModelSummary:
    model = training.model
    return report.ModelSummary(
        learner=model.about.learner,
        plan=model.about.plan,
        n_features=model.n_columns,
        n_bytes=model.size,
        path=str(model.path or ""),
    )


def certificate_of(model: Any, estimator: Any = None) -> report.Certificate | None:
    """What was proved, and how the gap fell."""
    found = model.certificate_
    if found is None:
        return None
    inner = getattr(estimator, "model_", estimator)
    trace = [
        report.TracePoint(
            epoch=float(point.epoch),
            relative_gap=float(point.gap / max(abs(point.primal), 1e-300)),
            seconds=float(point.seconds),
        )
        for point in getattr(inner, "trace_", ())
        if np.isfinite(point.gap) and point.gap > 0
    ]
    return report.Certificate(
        sentence=str(found),
        is_certified=found.converged,
        primal=found.primal,
        dual=found.dual,
        gap=found.gap,
        relative_gap=found.relative_gap,
        solver=found.solver,
        epochs=found.epochs,
        seconds=found.seconds,
        trace=trace,
    )


def _reproduction(training: Training, command: str) -> report.Reproduction:
    given = {"texts": '["a text"]', "table": "a_table", "rows": "X"}[training.model.inputs]
    path = str(training.model.path or "model.lineal")
    return report.Reproduction(
        command=command,
        seed=training.judging.seed,
        versions={"lineal": version("lineal"), "python": platform.python_version(), "numpy": np.__version__},
        fingerprint_bytes=(training.model.about.fingerprint or {}).get("bytes"),
        fingerprint=str((training.model.about.fingerprint or {}).get("sha256", "")),
        snippet=f"import lineal\n\nmodel = lineal.load({path!r})\nmodel.predict({given})",
    )
