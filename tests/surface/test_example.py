"""The example that make demo runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "standard_library.py"


@pytest.mark.slow
def test_the_standard_library_example_runs():
    """It trains on this Python's docstrings, certifies, verifies, and beats guessing the largest class."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    run = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    out = " ".join(run.stdout.split())
    assert "certificate certified: objective" in out
    assert "verified relative gap" in out
    share, guess = (
        float(out.split(mark)[1].split("%")[0]) for mark in ("accuracy ", "guessing the largest: ")
    )
    assert share > guess
