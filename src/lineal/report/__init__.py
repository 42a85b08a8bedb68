"""Reports: one self-contained HTML page out of plain data.

``content`` says what is in a report, ``render`` turns it into a page, ``write_report`` puts it on the disk.
Nothing here computes a result or knows an estimator.
"""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.report.content import (
        Certificate,
        ClassFeatures,
        Column,
        Data,
        Feature,
        Features,
        Finding,
        Histogram,
        LabelCount,
        Mistake,
        Mistakes,
        ModelSummary,
        Report,
        Reproduction,
        StrengthPath,
        StrengthPoint,
        Term,
        Token,
        TracePoint,
        Trials,
    )
    from lineal.report.rendering import render
    from lineal.report.result_content import (
        Calibration,
        CalibrationBin,
        ClassScores,
        ComparedModel,
        Comparison,
        Confusion,
        Curve,
        Curves,
        LearningCurve,
        LearningPoint,
        PairVerdict,
        Regression,
        Score,
        Scores,
    )
    from lineal.report.writing import write_report

# Where names live that are loaded when they are first used.
_HOMES = {
    "content": (
        "Certificate ClassFeatures Column Data Feature Features Finding Histogram LabelCount "
        "Mistake Mistakes ModelSummary Report Reproduction StrengthPath StrengthPoint Term Token "
        "TracePoint Trials"
    ),
    "rendering": "render",
    "result_content": (
        "Calibration CalibrationBin ClassScores ComparedModel Comparison Confusion Curve Curves "
        "LearningCurve LearningPoint PairVerdict Regression Score Scores"
    ),
    "writing": "write_report",
}

__all__ = [
    "Calibration",
    "CalibrationBin",
    "Certificate",
    "ClassFeatures",
    "ClassScores",
    "Column",
    "ComparedModel",
    "Comparison",
    "Confusion",
    "Curve",
    "Curves",
    "Data",
    "Feature",
    "Features",
    "Finding",
    "Histogram",
    "LabelCount",
    "LearningCurve",
    "LearningPoint",
    "Mistake",
    "Mistakes",
    "ModelSummary",
    "PairVerdict",
    "Regression",
    "Report",
    "Reproduction",
    "Score",
    "Scores",
    "StrengthPath",
    "StrengthPoint",
    "Term",
    "Token",
    "TracePoint",
    "Trials",
    "render",
    "write_report",
]

__getattr__, __dir__ = names_from(__name__, _HOMES)
