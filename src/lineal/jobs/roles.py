"""What each column of a table is for: the label, texts, numbers, categories, dates, groups, or nothing.

Roles are guessed from names and values unless they are given, and every guess has its reason in words. The
guesses cost a look at each column: numbers and short values are looked at whole, the words of texts in a
sample of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.data.corpus import LABEL_NAMES, TEXT_NAMES
from lineal.data.prose import is_date, is_prose, n_words
from lineal.errors import InputError, ParameterError

FEATURES = ("text", "number", "boolean", "category", "date")
_MORE_LABEL_NAMES = (*LABEL_NAMES, "sentiment", "outcome", "is_spam", "spam")
_IDENTIFIER = re.compile(r"(.*[_\s-])?(id|uuid|guid|key|index|rownum|row)|unnamed(: ?\d+)?|", re.IGNORECASE)
_SAMPLE = 2000
# Whole numbers with more values than this are numbers to predict, not names of classes.
_MOST_NUMBERED_CLASSES = 30


@dataclass(frozen=True)
class Role:
    """What a column is for, and why.

    Attributes
    ----------
    column : str
    role : "label", "group", "weight", "text", "number", "boolean", "category", "date" or "dropped"
    reason : str
    is_given : bool
        Whether it was asked for, not guessed.
    """

    column: str
    role: str
    reason: str
    is_given: bool = False


@dataclass(frozen=True)
class Roles:
    """The roles of all columns, and the task that the label makes."""

    roles: tuple[Role, ...]
    task: str
    task_reason: str

    def of(self, role: str) -> list[str]:
        """The columns of a role, in the table's order."""
        return [found.column for found in self.roles if found.role == role]

    @property
    def label(self) -> str:
        """The column that is to be predicted."""
        return self.of("label")[0]

    @property
    def group(self) -> str | None:
        """The column whose rows stay together."""
        return next(iter(self.of("group")), None)

    @property
    def features(self) -> dict[str, str]:
        """Kind of each column that is learned from."""
        return {found.column: found.role for found in self.roles if found.role in FEATURES}

    @property
    def text_alone(self) -> str | None:
        """The column of texts, where there is nothing else to learn from."""
        features = self.features
        return next(iter(features)) if list(features.values()) == ["text"] else None

    def without(self, columns: Iterable[str], reason: str) -> Roles:
        """The same with more columns dropped."""
        gone = set(columns)
        kept = [
            Role(found.column, "dropped", reason) if found.column in gone else found for found in self.roles
        ]
        return Roles(tuple(kept), self.task, self.task_reason)


def guess_roles(
    table: Any,
    *,
    label: str | None = None,
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    group: str | None = None,
    weight: str | None = None,
    task: str | None = None,
) -> Roles:
    """The roles of a pyarrow table's columns: those asked for, the rest guessed.

    Parameters
    ----------
    table : pyarrow.Table
    label, group, weight : names of columns, optional
    text, category, drop, keep : names of columns
        Columns to read as text or as categories, to leave out, and to learn from whatever they look like.
    task : "classification" or "regression", optional

    Raises
    ------
    ParameterError
        For names that the table does not have, or that are given two roles.
    InputError
        Where it is not clear which column is the label, and where no column is left to learn from.
    """
    names = list(table.column_names)
    given = {"label": [label] if label is not None else [], "group": [group] if group is not None else [],
             "weight": [weight] if weight is not None else [],
             "text": list(text), "category": list(category), "dropped": list(drop)}  # fmt: skip
    asked = _asked(names, given, keep)
    if not table.num_rows:
        raise InputError("there are names of columns and no rows below them.")
    if task not in (None, "classification", "regression"):
        raise ParameterError(f"task must be 'classification' or 'regression', got {task!r}.")
    found_label, why = (label, "asked for") if label is not None else _label(table, asked)
    task, task_reason = (task, "asked for") if task is not None else _task(table.column(found_label))
    _check_label(found_label, table.column(found_label), task)
    roles = []
    for name in names:
        if name == found_label:
            roles.append(Role(name, "label", why, label is not None))
        elif name in asked:
            roles.append(Role(name, asked[name], "asked for", True))
        else:
            roles.append(_guessed(name, table.column(name), is_kept=name in keep))
    roles = _with_something(roles)
    return Roles(tuple(roles), task, task_reason)


def _asked(names: list[str], given: dict[str, list[str]], keep: Sequence[str]) -> dict[str, str]:
    """Role of each column that was named."""
    shown = ", ".join(map(repr, names[:30])) + (", ..." if len(names) > 30 else "")
    asked: dict[str, str] = {}
    for role, columns in given.items():
        for column in columns:
            if column not in names:
                wanted = {
                    "dropped": "to drop",
                    "text": "to read as text",
                    "category": "to read as names",
                }.get(role, f"to be the {role}")
                raise ParameterError(f"there is no column {column!r} {wanted}. Choose among {shown}.")
            if asked.get(column, role) != role:
                raise ParameterError(f"column {column!r} cannot be both {asked[column]} and {role}.")
            asked[column] = role
    for column in keep:
        if column not in names:
            raise ParameterError(f"there is no column {column!r} to keep. Choose among {shown}.")
        if asked.get(column) in ("dropped", "label", "group", "weight"):
            raise ParameterError(f"column {column!r} cannot be learned from and be {asked[column]}.")
    return asked


def _label(table: Any, asked: dict[str, str]) -> tuple[str, str]:
    names = [name for name in table.column_names if name not in asked]
    for usual in _MORE_LABEL_NAMES:
        found = [name for name in names if name.strip().lower() == usual]
        if len(found) == 1:
            return found[0], "its name"
    texts = [name for name, role in asked.items() if role == "text"]
    usual_texts = [name for name in names if name.strip().lower() in TEXT_NAMES]
    if len(names) == 1 and texts:
        return names[0], "the only other column"
    if len(names) == 2 and not texts and len(usual_texts) == 1:
        return next(name for name in names if name != usual_texts[0]), "the only column beside the texts"
    if len(names) == 2 and not texts:
        prose = [is_prose(_strings(table.column(name))) for name in names]
        if prose.count(True) == 1:
            return names[prose.index(False)], "the only column beside the texts"
    shown = ", ".join(map(repr, table.column_names[:30]))
    raise InputError(
        f"it is not clear which column is the label. Choose with --label among {shown}."
        if names
        else "there is no column left to be the label."
    )


def _check_label(name: str, column: Any, task: str) -> None:
    present = column.drop_null()
    if not len(present):
        raise InputError(f"no row has a label in column {name!r}. Fill it, or choose another with --label.")
    if task == "classification" and len(present.unique()) < 2:
        only = present[0].as_py()
        raise InputError(
            f"all rows have one label in column {name!r}, {only!r}: at least two are needed to learn from."
        )


def _task(column: Any) -> tuple[str, str]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind) or not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    ):
        return "classification", "the label is made of names"
    values = column.drop_null().cast(pa.float64())
    n_distinct = values.unique().__len__()
    numbers = values.to_numpy()
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any():
        return "regression", "the label has fractions"
    if n_distinct > _MOST_NUMBERED_CLASSES:
        return "regression", f"the label has {n_distinct} different whole numbers"
    return "classification", f"the label has {n_distinct} different whole numbers"


def _with_something(roles: list[Role]) -> list[Role]:
    """If nothing is left to learn from, what was taken for an identifier is read as text after all."""
    if any(found.role in FEATURES for found in roles):
        return roles
    for place, found in enumerate(roles):
        if found.role == "dropped" and found.reason.startswith("every value differs") and not found.is_given:
            other = Role(found.column, "text", "there is nothing else to learn from")
            return [*roles[:place], other, *roles[place + 1 :]]
    why = "; ".join(f"{found.column!r}: {found.reason}" for found in roles if found.role == "dropped")
    raise InputError(
        f"no column is left to learn from{' (' + why + ')' if why else ''}. Keep one with --keep."
    )


def _guessed(name: str, column: Any, *, is_kept: bool) -> Role:
    """What a column looks like."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    n, n_missing = len(column), column.null_count
    if n_missing == n:
        return Role(name, "dropped", "it has no values")
    present = column.drop_null() if n_missing else column
    n_distinct = _n_distinct(present)
    if n_distinct == 1 and n > 1 and not n_missing and not is_kept:
        return Role(name, "dropped", f"its only value is {present[0].as_py()!r}")
    kind = column.type
    if pa.types.is_boolean(kind):
        return Role(name, "boolean", "true and false")
    if pa.types.is_temporal(kind):
        return Role(name, "date", "dates")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        is_whole = pa.types.is_integer(kind) and n > 20 and not is_kept
        if is_whole and _is_identifier(name) and n_distinct > 0.4 * n:
            return Role(name, "dropped", "its name and its many values: it numbers the rows")
        if is_whole and n_distinct == n and _is_count(present):
            return Role(name, "dropped", "it numbers the rows one by one")
        return Role(name, "number", f"numbers, {n_distinct} different")
    return _guessed_of_strings(name, _strings(present), n_distinct, is_kept=is_kept)


def _guessed_of_strings(name: str, sample: list[str], n_distinct: int, *, is_kept: bool) -> Role:
    if all(map(is_date, sample)):
        return Role(name, "date", "dates in ISO 8601")
    total = n_words(sample)
    words = total / len(sample)
    is_called_text = name.strip().lower() in TEXT_NAMES
    if is_prose(sample, total) or (is_called_text and (n_distinct > 20 or words >= 3)):
        return Role(name, "text", f"{words:.0f} words on average")
    is_distinct = len(set(sample)) > 0.95 * len(sample) and len(sample) > 20
    if is_distinct and (_is_identifier(name) or words < 1.5) and not is_kept:
        return Role(name, "dropped", "every value differs, and it is no text: it names the rows")
    if is_distinct:
        return Role(name, "text", f"{words:.0f} words on average, almost all values differ")
    return Role(name, "category", f"{n_distinct} different values")


def _strings(column: Any) -> list[str]:
    """Some of the values as text: all of few, every so-manieth of many."""
    step = max(1, len(column) // _SAMPLE)
    present = column.drop_null() if column.null_count else column
    # One by one: taking them at once would first copy all chunks into one.
    return [str(present[row].as_py()) for row in range(0, len(present), step)]


def _n_distinct(column: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    # Texts are long, and whether they differ shows in a sample.
    if (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)) and column.nbytes > 2**22:
        sample = _strings(column)
        share = len(set(sample)) / max(len(sample), 1)
        return round(share * len(column)) if share > 0.5 else len(set(sample))
    return int(pc.count_distinct(column).as_py())


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name.strip()) is not None


def _is_count(column: Any) -> bool:
    """Whether whole numbers go up one by one."""
    numbers = column.to_numpy()
    return bool((np.diff(numbers) == 1).all())
