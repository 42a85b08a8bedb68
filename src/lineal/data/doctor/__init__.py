"""The doctor: reads a file and says every problem it has, with file, line, column and the fix."""

from lineal.data.doctor.diagnosing import diagnose
from lineal.data.doctor.findings import Diagnosis, Finding
from lineal.data.doctor.records import diagnose_records

__all__ = ["Diagnosis", "Finding", "diagnose", "diagnose_records"]
