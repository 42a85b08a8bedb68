"""The sections of a report, in the order in which they are read: the answer first, its origins last."""

from collections.abc import Callable

from lineal.report.content import Report
from lineal.report.sections import curves, evidence, origins, result
from lineal.report.sections.section import Section

SECTIONS: tuple[Callable[[Report], Section | None], ...] = (
    result.result,
    result.comparison,
    result.confusion,
    result.classes,
    curves.regression,
    evidence.mistakes,
    evidence.features,
    curves.curves,
    curves.calibration,
    curves.learning_curve,
    curves.strengths,
    origins.trials,
    origins.data,
    origins.problems,
    origins.model,
    origins.proof,
    origins.reproduce,
)
