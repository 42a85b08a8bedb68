"""What every contender is given: the same reviews as texts, matrices and lines, in the order of one repeat.

Needs NumPy and SciPy alone, so that the peers' interpreter can read it too; ``prepare.py`` writes it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp

PARTS = ("train", "test")
# A file here is never on its way to a disk while somebody is timed.
MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


class Given:
    """The folder that ``prepare.py`` fills, with the reviews to learn from in the order of a seed.

    Reviews to be tested on keep the order of their file, which does not matter to anyone.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed

    def labels(self, part: str) -> np.ndarray:
        """``"neg"`` or ``"pos"`` of every review."""
        return self._ordered(np.load(self.folder / f"{part}.npy"), part)

    def matrix(self, work: str, part: str) -> sp.csr_matrix:
        """Float64 rows."""
        return sp.csr_matrix(self._ordered(sp.load_npz(self.folder / f"{work}-{part}.npz"), part))

    def texts(self, part: str) -> list[str]:
        """The reviews as Python's strings."""
        return [json.loads(line)["text"] for line in self.records(part)]

    def records(self, part: str) -> list[str]:
        """The reviews as lines of JSON."""
        return self._lines(f"{part}.jsonl", part)

    def lines(self, work: str, part: str) -> list[str]:
        """The reviews as Vowpal Wabbit reads them: a label, a bar, and words or numbered features."""
        return self._lines(f"{work}-{part}.vw", part)

    def _lines(self, file: str, part: str) -> list[str]:
        text = (self.folder / file).read_text(encoding="utf-8")
        lines = text.removesuffix("\n").split("\n")
        return [lines[k] for k in self._order(len(lines), part)]

    def _ordered(self, rows: np.ndarray | sp.spmatrix, part: str) -> np.ndarray | sp.spmatrix:
        return rows[self._order(rows.shape[0], part)]

    def _order(self, n: int, part: str) -> np.ndarray:
        return np.random.default_rng(self.seed).permutation(n) if part == "train" else np.arange(n)


def write_lines(path: Path, lines: list[str]) -> Path:
    """A file of lines."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
