"""Models of other libraries: read, held against the library itself, and written."""

from lineal.jobs.foreign.comparing import Difference, difference
from lineal.jobs.foreign.importing import FORMATS, import_model
from lineal.jobs.foreign.liblinear import export_liblinear

__all__ = ["FORMATS", "Difference", "difference", "export_liblinear", "import_model"]
