"""Steps between reading and scores: columns scaled, or some of them taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.data.rows import in_precision
from lineal.errors import InputError
from lineal.model.answers import FloatArray
from lineal.model.explanation import Explanation
from lineal.model.features.base import Context, Features
from lineal.model.features.rows import explained_columns
from lineal.model.record import Draft, Spec
from lineal.model.rows import MatrixRows

_REMEDY = "The data are far from those of the fit: check their units."


class Step(ABC):
    """A map of rows."""

    kind: ClassVar[str]

    @abstractmethod
    def width(self, n_columns: int) -> int:
        """How many columns come out of so many."""

    @abstractmethod
    def __call__(self, rows: MatrixRows) -> MatrixRows:
        """Other rows."""

    def origin(self, columns: Sequence[int]) -> list[int]:
        """Which columns that went in each of some columns comes from."""
        return list(columns)

    @abstractmethod
    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        """Keeps all of it in a record."""


@dataclass(frozen=True, eq=False)
class Scaled(Step):
    """x -> (x unit - offset) / scale, column by column; a shift needs dense rows."""

    kind: ClassVar[str] = "scaled"

    unit: FloatArray
    offset: FloatArray
    scale: FloatArray
    shifts: bool

    def width(self, n_columns: int) -> int:
        return n_columns

    def __call__(self, rows: MatrixRows) -> MatrixRows:
        with np.errstate(over="ignore"):
            if rows.dense is None:
                if self.shifts:
                    raise InputError(
                        f"shift=True would turn every 0 of a sparse matrix of {rows.n_rows} rows into a "
                        f"stored "
                        "number. Use shift=False, which stretches only, or make X dense."
                    )
                starts, columns, values = rows.stored()
                scaled = (values * self.unit[columns] / self.scale[columns]).astype(values.dtype, copy=False)
                checked = in_precision((starts, columns, scaled), values.dtype, "a scaled value", _REMEDY)
                return MatrixRows.of(checked, rows.n_columns, rows.n_threads)
            dense = rows.dense
            made = ((dense * self.unit - self.offset) / self.scale).astype(dense.dtype, copy=False)
        if not np.isfinite(made).all():
            row, column = np.argwhere(~np.isfinite(made))[0]
            raise InputError(
                f"a scaled value is beyond {made.dtype}, first at row {row}, column {column}. {_REMEDY}"
            )
        return MatrixRows.of_dense(made, rows.n_threads)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        for name in ("unit", "offset", "scale"):
            draft.put(place, name, getattr(self, name))
        return {"kind": self.kind, "shifts": self.shifts}

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> Scaled:
        """What ``put`` kept."""
        parts = [spec.tensor(name, (np.float64,), (n_columns,)) for name in ("unit", "offset", "scale")]
        if not all(np.isfinite(part).all() for part in parts) or not (parts[2] > 0).all():
            spec.refuse("scale", "finite numbers above 0", "others")
        return cls(parts[0], parts[1], parts[2], spec.flag("shifts"))


@dataclass(frozen=True, eq=False)
class Taken(Step):
    """Some columns, in their order."""

    kind: ClassVar[str] = "taken"

    columns: NDArray[np.int64]

    def width(self, n_columns: int) -> int:
        return len(self.columns)

    def _places_of(self, columns: NDArray[Any]) -> NDArray[np.int32]:
        """Where columns stand among those that are taken; -1 for the others."""
        at = np.minimum(np.searchsorted(self.columns, columns), len(self.columns) - 1)
        return np.where(self.columns[at] == columns, at, -1).astype(np.int32)

    def __call__(self, rows: MatrixRows) -> MatrixRows:
        if rows.dense is not None:
            return MatrixRows.of_dense(np.ascontiguousarray(rows.dense[:, self.columns]), rows.n_threads)
        starts, columns, values = rows.stored()
        places = self._places_of(columns)
        is_taken = places >= 0
        kept = np.concatenate(([0], np.cumsum(is_taken)))
        return MatrixRows.of(
            (kept[starts], places[is_taken], values[is_taken]), len(self.columns), rows.n_threads
        )

    def origin(self, columns: Sequence[int]) -> list[int]:
        return [int(self.columns[column]) for column in columns]

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        draft.put(place, "columns", self.columns)
        return {"kind": self.kind}

    @classmethod
    def read(cls, spec: Spec, n_columns: int) -> Taken:
        """What ``put`` kept."""
        columns = spec.tensor("columns", (np.int64,), (None,))
        rises = len(columns) and columns[0] >= 0 and columns[-1] < n_columns and (np.diff(columns) > 0).all()
        if not rises:
            spec.refuse("columns", f"columns that rise from 0 to {n_columns - 1} at most", "others")
        return cls(columns)


_STEPS: dict[str, Any] = {step.kind: step for step in (Scaled, Taken)}


@dataclass(frozen=True, eq=False)
class SteppedFeatures(Features):
    """Features with steps behind them."""

    inner: Features
    steps: tuple[Step, ...]

    @property
    def kind(self) -> str:  # type: ignore[override]
        """What the inner features take."""
        return self.inner.kind

    @cached_property
    def n_columns(self) -> int:
        n = self.inner.n_columns
        for step in self.steps:
            n = step.width(n)
        return n

    @property
    def n_inputs(self) -> int:
        return self.inner.n_inputs

    def rows(self, X: Any, n_threads: int) -> MatrixRows:
        return self._stepped(self.inner.rows(X, n_threads))

    def _stepped(self, rows: MatrixRows) -> MatrixRows:
        for step in self.steps:
            rows = step(rows)
        return rows

    def _origin(self, columns: Sequence[int]) -> list[int]:
        for step in reversed(self.steps):
            columns = step.origin(columns)
        return list(columns)

    def names(self) -> list[str]:
        names = self.inner.names()
        return [names[column] for column in self._origin(range(self.n_columns))]

    def names_of(self, columns: Sequence[int]) -> list[str]:
        return self.inner.names_of(self._origin(columns))

    def input_names(self) -> list[str] | None:
        return self.inner.input_names()

    def single(self, x: Any) -> Any:
        return self.inner.single(x)

    def explanation(
        self, x: Any, rows: MatrixRows, label: Any, weights: FloatArray, intercept: float
    ) -> Explanation:
        if self.kind == "rows":
            return explained_columns(self, rows, label, weights, intercept)
        return super().explanation(x, rows, label, weights, intercept)

    def context(self, x: Any, columns: Sequence[int]) -> Context:
        names = dict(zip(columns, self.names_of(columns), strict=True))
        inner = self.inner.context(x, self._origin(columns))
        # Terms are found by their names; where columns were taken away, ranges of columns are others.
        merged = {name: places for _, own in inner.places for name, places in own.items()}
        return Context(names, [(self.n_columns, merged)], inner.tokens)

    def made_up(self, heavy: Sequence[int]) -> Any:
        return self.inner.made_up(self._origin(heavy))

    def golden_rows(self, made: Any) -> MatrixRows:
        rows = self.inner.golden_rows(made)
        needs_dense = any(isinstance(step, Scaled) and step.shifts for step in self.steps)
        return self._stepped(rows.made_dense() if needs_dense else rows)

    def put_golden(self, draft: Draft, place: str, made: Any) -> Any:
        return self.inner.put_golden(draft, place, made)

    def read_golden(self, spec: Spec) -> Any:
        return self.inner.read_golden(spec)

    def put(self, draft: Draft, place: str) -> dict[str, Any]:
        return {
            "kind": "stepped",
            "inner": self.inner.put(draft, f"{place}.inner"),
            "steps": [step.put(draft, f"{place}.steps.{k}") for k, step in enumerate(self.steps)],
        }

    @classmethod
    def read(cls, spec: Spec) -> SteppedFeatures:
        """What ``put`` kept."""
        from lineal.model.parts import read_features

        if "inner" in spec.place:
            spec.refuse("kind", "features without steps inside of steps", "stepped")
        inner, steps = read_features(spec.child("inner")), list[Step]()
        n = inner.n_columns
        for child in spec.children("steps"):
            step = _STEPS[child.text("kind", tuple(_STEPS))].read(child, n)
            steps.append(step)
            n = step.width(n)
        return cls(inner, tuple(steps))
