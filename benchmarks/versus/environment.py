"""The two environments and the machine beneath them."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data import HERE

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LINEAL_NUM_THREADS",
)


def peers_python() -> Path:
    """The interpreter of the peers' own environment, made on first use or when their list changes."""
    home, wanted = HERE.parent / ".venv", HERE.parent / "peers.txt"
    python = home / "bin" / "python"
    stamp = home / "installed.txt"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest and python.exists()):
        print("installing the peers into benchmarks/.venv ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)]
        subprocess.run(install, check=True)
        stamp.write_text(digest)
    return python


def has_lineal(python: str) -> bool:
    """Whether that interpreter can import lineal's classifier."""
    outcome = subprocess.run([python, "-c", "from lineal import LinearClassifier"], capture_output=True)
    return outcome.returncode == 0


def threads(count: int | None) -> dict[str, str]:
    """Environment variables that hold every library to ``count`` threads; none leaves their defaults."""
    return {} if count is None else {name: str(count) for name in _THREAD_VARIABLES}


def machine() -> dict[str, Any]:
    """What a reader must know to weigh a time; no path and no host name."""
    return {
        "cpu": _cpu_model(),
        "n_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "others_busy": _others_busy(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _others_busy(seconds: float = 1.0) -> float | None:
    """The share of all cores in use while we sleep: the load average would count ourselves."""
    try:
        before = _jiffies()
        time.sleep(seconds)
        after = _jiffies()
    except OSError:
        return None
    spent = [late - early for late, early in zip(after, before, strict=True)]
    return round(1.0 - (spent[3] + spent[4]) / sum(spent), 2)  # idle and waiting for a disk


def _jiffies() -> list[int]:
    with open("/proc/stat") as lines:
        return [int(field) for field in lines.readline().split()[1:9]]


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
