"""Data in other formats, and models of other libraries as model files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineal.data.formats import FILE_FORMATS, suffix_format
from lineal.data.records import read_records
from lineal.data.writing import write_records
from lineal.errors import ModelFileError, ParameterError
from lineal.jobs.foreign import Difference, difference, import_model
from lineal.model.model import Model


@dataclass(frozen=True, eq=False)
class Converted:
    """A model that came from elsewhere, where it was written, and how far it is from what it was."""

    model: Model
    path: str
    difference: Difference | None

    @property
    def n_features(self) -> int:
        """How many features inputs become; of texts the words, and what else is looked for."""
        return self.model.n_columns

    @property
    def sentence(self) -> str:
        """In words."""
        learner = self.model.about.learner or "a model"
        said = f"{learner} with {self.n_features:,} features written to {self.path}."
        return said if self.difference is None else f"{said} {self.difference}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "model": self.path,
            "learner": self.model.about.learner,
            "n_features": self.n_features,
            "difference": None if self.difference is None else vars(self.difference),
        }


def convert_data(
    source: str,
    target: str,
    *,
    to: str | None = None,
    label: str | None = None,
    drop: Sequence[str] = (),
    reading: dict[str, Any],
) -> int:
    """Reads and writes all columns but those to drop; returns how many rows there were."""
    if to is None and (target == "-" or suffix_format(Path(target)) is None):
        where = "the standard output" if target == "-" else repr(target)
        raise ParameterError(f"{where} does not tell a format. Give --to, one of {', '.join(FILE_FORMATS)}.")
    records = read_records(source, drop=drop, **reading)
    write_records(records, target, format=to, **({} if label is None else {"label": label}))
    return records.n_rows


def convert_model(
    source: str,
    target: str,
    *,
    format: str | None = None,
    check: str | None = None,
    trust: bool = False,
    reading: dict[str, Any],
) -> Converted:
    """Imports a model, tries it on data if any are given, and stores it."""
    try:
        model = import_model(source, format=format, trust=trust)
    except ModelFileError as flaw:  # of the data that are read beside it, --format is said
        raise type(flaw)(str(flaw).replace("format=", "--from")) from None
    found = None
    if check is not None:
        found = difference(model, source, read_records(check, **reading), format=format, trust=trust)
    model.save(target)
    return Converted(model, target, found)
