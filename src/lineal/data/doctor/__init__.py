"""The doctor: reads a file and says every problem it has, with file, line, column and the fix.

Names are loaded when they are first used: training needs the part for tables in memory alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineal.data.doctor.diagnosing import diagnose
    from lineal.data.doctor.findings import Diagnosis, Finding
    from lineal.data.doctor.records import diagnose_records

_HOME = {
    "Diagnosis": "lineal.data.doctor.findings",
    "Finding": "lineal.data.doctor.findings",
    "diagnose": "lineal.data.doctor.diagnosing",
    "diagnose_records": "lineal.data.doctor.records",
}

__all__ = ["Diagnosis", "Finding", "diagnose", "diagnose_records"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'lineal.data.doctor' has no attribute {name!r}")
