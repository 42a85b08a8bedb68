"""Reports to test with: every section, made up, the same on every machine."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from lineal.report import (
    Calibration,
    CalibrationBin,
    Certificate,
    ClassFeatures,
    ClassScores,
    Column,
    ComparedModel,
    Comparison,
    Confusion,
    Curve,
    Curves,
    Data,
    Feature,
    Features,
    Finding,
    Histogram,
    LabelCount,
    LearningCurve,
    LearningPoint,
    Mistake,
    Mistakes,
    ModelSummary,
    PairVerdict,
    Regression,
    Report,
    Reproduction,
    Score,
    Scores,
    StrengthPath,
    StrengthPoint,
    Term,
    Token,
    TracePoint,
    Trials,
)
from lineal.report.record import Record

_WORDS = [
    "the",
    "a",
    "film",
    "plot",
    "cast",
    "good",
    "dull",
    "bright",
    "slow",
    "warm",
    "story",
    "scene",
    "ending",
]
_CHOICES = {"severity", "outcome"}  # words that a record takes from a list


def mapped(value: Any, words: Callable[[str], str] = str, numbers: Callable[[float], float] = float) -> Any:
    """A copy of a record with every word and every number (no count) replaced, however deep."""
    if isinstance(value, Record):
        changed = {
            field.name: mapped(getattr(value, field.name), words, numbers)
            for field in fields(value)
            if field.name not in _CHOICES
        }
        return replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(mapped(entry, words, numbers) for entry in value)
    if isinstance(value, str):
        return words(value) if value else value
    return numbers(value) if isinstance(value, float) else value


def _scores() -> Scores:
    return Scores(
        rows=[
            Score(
                name="accuracy",
                value=0.8897,
                low=0.878,
                high=0.901,
                unit="%",
                baseline=0.51,
                baseline_low=0.49,
                baseline_high=0.53,
            ),
            Score(name="F1 (macro)", value=0.8811, low=0.87, high=0.9, unit="%", method="bootstrap"),
            Score(name="log loss", value=0.265, low=0.243, high=0.292, greater_is_better=False),
            Score(name="mean error", value=-0.1, low=-0.3, high=0.2, greater_is_better=None, unit="°C"),
        ],
        verdict="The model is right more often than one that always answers the most frequent label.",
        outcome="better",
        p_value=3e-9,
        test="McNemar's exact test",
        baseline_name="always the most frequent label",
        n_rows=3000,
        notes=["Rows of the test part were not seen in training."],
    )


def _labels(n: int) -> list[str]:
    return (
        ["neg", "pos"]
        if n == 2
        else [f"group.{'abcdefghij'[place % 10]}.number-{place}" for place in range(n)]
    )


def _confusion(labels: list[str], draw: random.Random) -> Confusion:
    n = len(labels)
    counts = [
        [draw.randrange(6) if i != j and draw.random() < 6 / n else 0 for j in range(n)] for i in range(n)
    ]
    for place in range(n):
        counts[place][place] = 80 + draw.randrange(70)
    return Confusion(labels=labels, counts=counts)


def _curves(labels: list[str], draw: random.Random) -> Curves:
    roc, recall = [], []
    for label in labels[1:] if len(labels) == 2 else labels:
        bend = 0.02 + 0.15 * draw.random()
        x = [place / 400 for place in range(401)]
        y = [value**bend for value in x]
        roc.append(
            Curve(name=label, x=x, y=y, area=1 / (1 + bend), low=0.8, high=0.99, point=(0.1, 0.1**bend))
        )
        y = [(1 - value ** (1 / bend)) * 0.9 + 0.1 for value in x]
        recall.append(Curve(name=label, x=x, y=y, area=1 - bend, low=0.8, high=1.0, point=(0.8, 0.9)))
    return Curves(roc=roc, precision_recall=recall, positive=labels[1], share=0.49)


def _mistakes(labels: list[str], draw: random.Random, n: int, length: int) -> Mistakes:
    examples = []
    for place in range(n):
        tokens = [
            Token(text=draw.choice(_WORDS), share=draw.gauss(0, 1) ** 3 / 50 if draw.random() < 0.3 else 0.0)
            for _ in range(length)
        ]
        terms = [
            Term(name=f"{draw.choice(_WORDS)} {draw.choice(_WORDS)}", share=draw.gauss(0, 0.1))
            for _ in range(5)
        ]
        truth, predicted = draw.sample(labels, 2)
        examples.append(
            Mistake(
                truth=truth,
                predicted=predicted,
                probability=0.99999 - place / 50,
                true_probability=0.00001 + place / 100,
                place=f"test.csv, line {17 + 23 * place}",
                tokens=tokens,
                terms=terms,
            )
        )
    return Mistakes(examples=examples, n_wrong=330, n_rows=3000, sentence="The surest come first.")


def _features(labels: list[str], draw: random.Random) -> Features:
    def heavy(label: str) -> ClassFeatures:
        weights = sorted((abs(draw.gauss(0, 1)) for _ in range(15)), reverse=True)
        named = [
            Feature(name=f"{draw.choice(_WORDS)} {draw.choice(_WORDS)}", weight=weight) for weight in weights
        ]
        return ClassFeatures(label=label, features=named)

    return Features(
        classes=[heavy(label) for label in labels], sentence="Weights are per unit of the feature."
    )


def _data(labels: list[str]) -> Data:
    return Data(
        files=["train.csv", "test.csv"],
        n_rows=7000,
        columns=[
            Column(name="review", role="text", reason="231 words on average"),
            Column(name="label", role="label", reason=f"the last column, {len(labels)} values"),
            Column(name="id", role="dropped", reason="all values differ"),
        ],
        labels=[
            LabelCount(label=label, count=2000, test_count=1500 - place) for place, label in enumerate(labels)
        ],
        target_name="label",
        split="Every fourth row, drawn with seed 0 so that labels are alike in both parts.",
        n_train=4000,
        n_test=3000,
        notes=["Rows without a label were left out."],
    )


def _findings() -> list[Finding]:
    return [
        Finding(severity="note", message="Labels occur equally often.", examples=["pos", "neg "]),
        Finding(
            severity="warning", message="96 texts occur twice.", place="train.csv, line 12", fix="Drop them."
        ),
        Finding(severity="error", message="12 test rows are in the training part.", fix="Remove them."),
    ]


def _origins() -> dict[str, Any]:
    points = [
        StrengthPoint(strength=10.0**k, score=0.9 - 0.01 * (k - 1) ** 2, error=0.006) for k in range(-3, 5)
    ]
    return {
        "strength_path": StrengthPath(
            points=points, chosen=10.0, score="accuracy", sentence="One standard error."
        ),
        "trials": Trials(
            columns=["recipe", "strength", "accuracy", "seconds"],
            rows=[["words", 1.0, 0.89, 0.5], ["letters", 0.1, 0.8712, 1.25], ["both", 10.0, None, 3.0]],
            chosen=0,
            sentence="Three recipes were tried.",
        ),
        "model": ModelSummary(
            learner="TextClassifier()",
            plan="words, strength 10",
            n_features=173_599,
            n_bytes=3_412_345,
            path="model.lineal",
            facts={"trained": "on all rows"},
        ),
        "certificate": Certificate(
            sentence="No weights reach an objective lower by more than a millionth.",
            objective="sum of log(1 + exp(-yz)) + 5 |w|²",
            primal=462.2189477,
            dual=462.2185,
            gap=0.0004477,
            relative_gap=9.7e-7,
            tolerance=1e-6,
            solver="dual_cd",
            epochs=24,
            seconds=0.31,
            trace=[
                TracePoint(epoch=k, relative_gap=0.7 * math.exp(-0.56 * k), seconds=k / 80) for k in range(25)
            ],
        ),
        "reproduction": Reproduction(
            command="lineal train train.csv --test test.csv",
            seed=0,
            versions={"Lineal": "0.1.0", "Python": "3.11.2"},
            fingerprint_bytes=34_554_461,
            fingerprint="2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
            snippet='import lineal\n\nmodel = lineal.load("model.lineal")\nmodel.predict(["a fine film"])',
        ),
    }


def classification(n_labels: int = 2, *, n_mistakes: int = 8, length: int = 230) -> Report:
    """A report as `lineal train` would make for texts of ``n_labels`` labels."""
    draw = random.Random(n_labels)
    labels = _labels(n_labels)
    ends = [
        LearningPoint(
            size=size,
            test=score,
            test_low=score - 0.02,
            test_high=score + 0.01,
            train=0.99,
            train_low=0.98,
            train_high=1.0,
        )
        for size, score in ((250, 0.72), (500, 0.79), (1000, 0.83), (2000, 0.86), (4000, 0.89))
    ]
    bins = [
        CalibrationBin(
            predicted=p,
            observed=p**1.2,
            low=p**1.2 - 0.04,
            high=min(1.0, p**1.2 + 0.03),
            count=40 + 900 * p**3,
        )
        for p in (0.15, 0.35, 0.55, 0.75, 0.85, 0.95)
    ]
    classes = [
        ClassScores(
            label=label,
            n_rows=1500,
            scores=[
                Score(name=n, value=0.9, low=0.88, high=0.92, unit="%") for n in ("precision", "recall", "F1")
            ],
        )
        for label in labels
    ]
    return Report(
        title="Sentiment of film reviews",
        summary="The model labels 89.0 % of unseen reviews correctly; guessing would get 51.0 %.",
        created="2025-11-17 05:40 UTC",
        task="classification",
        scores=_scores(),
        classes=classes,
        confusion=_confusion(labels, draw),
        curves=_curves(labels, draw),
        calibration=Calibration(bins=bins, error=0.02, low=0.01, high=0.04, sentence="Nearly honest."),
        mistakes=_mistakes(labels, draw, n_mistakes, length),
        features=_features(labels, draw),
        learning_curve=LearningCurve(
            points=ends, score="accuracy", sentence="Doubling the rows adds a point."
        ),
        data=_data(labels),
        findings=_findings(),
        **_origins(),
    )


def regression(n_rows: int = 4000) -> Report:
    """A report about predicted numbers, with rows of a table for mistakes."""
    draw = random.Random(5)
    truth = [abs(draw.gauss(200, 80)) for _ in range(n_rows)]
    predicted = [50 + 0.75 * value + draw.gauss(0, 25) for value in truth]
    terms = [
        Term(name="rooms", value="9", share=61.0),
        Term(name="distance = far", value="far", share=-32.5),
        Term(name="built", value="1931", share=-4.0),
    ]
    worst = [Mistake(truth="512", predicted="301", place="homes.csv, line 7", terms=terms, explained="price")]
    counts = [3, 40, 310, 820, 1100, 900, 500, 250, 60, 17]
    weights = [("rooms", 31.2), ("garden = yes", 12.25), ("distance = far", -22.5), ("built", -0.004)]
    return Report(
        title="Prices of homes",
        summary="Predictions are off by 21 on average.",
        task="regression",
        scores=Scores(
            rows=[
                Score(
                    name="R²",
                    value=0.81,
                    low=0.79,
                    high=0.83,
                    baseline=-0.001,
                    baseline_low=-0.003,
                    baseline_high=0.0,
                ),
                Score(
                    name="mean absolute error",
                    value=21.3,
                    low=20.1,
                    high=22.4,
                    greater_is_better=False,
                    baseline=64.0,
                ),
            ],
            outcome="better",
            verdict="The model is nearer to the truth than the mean.",
            p_value=0.004,
            test="paired t-test",
            baseline_name="always the mean",
        ),
        regression=Regression(truth=truth, predicted=predicted, target="price"),
        mistakes=Mistakes(examples=worst),
        features=Features(
            classes=[ClassFeatures(label="price", features=[Feature(name=n, weight=w) for n, w in weights])]
        ),
        data=Data(
            files=["homes.csv"],
            n_rows=n_rows,
            n_columns=12,
            target=Histogram(edges=[50 * place for place in range(11)], counts=counts),
            target_name="price",
        ),
        findings=[],
    )


def comparison() -> Report:
    """A report as `lineal compare` would make."""
    values = {"logistic": 0.893, "svm": 0.889, "bayes": 0.851, "ridge": 0.884}
    models = [
        ComparedModel(
            name=name,
            score=Score(name="accuracy", value=value, low=value - 0.006, high=value + 0.006, unit="%"),
            others=[Score(name="F1 (macro)", value=value - 0.01, low=value - 0.02, high=value, unit="%")],
            seconds=0.2 + value,
            is_best=name == "logistic",
        )
        for name, value in sorted(values.items(), key=lambda pair: -pair[1])
    ]
    pairs = [
        PairVerdict(
            first="logistic",
            second=name,
            difference=0.893 - value,
            low=0.893 - value - 0.004,
            high=0.893 - value + 0.004,
            p_value=0.0003 if value < 0.885 else 0.21,
            verdict="logistic is better" if value < 0.885 else "no difference found",
            is_significant=value < 0.885,
        )
        for name, value in values.items()
        if name != "logistic"
    ]
    return Report(
        title="Four models of reviews",
        summary="logistic is best, and not by chance but for svm.",
        comparison=Comparison(
            models=models,
            pairs=pairs,
            sentence="logistic is better than bayes and ridge.",
            test="McNemar's test",
            correction="Holm",
        ),
    )


def everything() -> Report:
    """One report with every section there is."""
    numbers, several = regression(700), comparison()
    full = classification(5)
    return replace(
        full,
        regression=numbers.regression,
        comparison=several.comparison,
        data=replace(full.data, target=numbers.data.target, n_columns=3),
        mistakes=replace(full.mistakes, examples=(*full.mistakes.examples[:3], *numbers.mistakes.examples)),
    )
