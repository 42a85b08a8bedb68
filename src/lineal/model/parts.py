"""The parts of a model by the names they have in its record; each is loaded when a model has it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lineal.model.features.base import Features
from lineal.model.heads import Head
from lineal.model.record import Spec

_FEATURES = {
    "fasttext": ("lineal.model.features.fasttext", "FastTextFeatures"),
    "rows": ("lineal.model.features.rows", "RowFeatures"),
    "stepped": ("lineal.model.features.steps", "SteppedFeatures"),
    "table": ("lineal.model.features.table", "TableFeatures"),
    "texts": ("lineal.model.features.texts", "TextFeatures"),
}
_HEADS = {
    "calibrated": ("lineal.model.composed", "CalibratedHead"),
    "classes": ("lineal.model.heads", "ClassesHead"),
    "coded": ("lineal.model.composed", "CodedHead"),
    "kernel_classes": ("lineal.model.kernel_heads", "KernelClassesHead"),
    "kernel_numbers": ("lineal.model.kernel_heads", "KernelNumbersHead"),
    "numbers": ("lineal.model.heads", "NumbersHead"),
}


def read_features(spec: Spec) -> Features:
    """The part that reads."""
    made: Features = _loaded(_FEATURES[spec.text("kind", tuple(_FEATURES))]).read(spec)
    return made


def read_head(spec: Spec, n_columns: int) -> Head:
    """The part that answers."""
    made: Head = _loaded(_HEADS[spec.text("kind", tuple(_HEADS))]).read(spec, n_columns)
    return made


def _loaded(home: tuple[str, str]) -> Any:
    module, name = home
    return getattr(import_module(module), name)
