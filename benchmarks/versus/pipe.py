"""A worker seen from outside: ask, wait, and end it when it takes too long."""

from __future__ import annotations

import json
import os
import select
import subprocess
from typing import Any

from data import CACHE, HERE


class Side:
    """One worker process, started when first asked and again after it was stopped."""

    def __init__(self, name: str, python: str, variables: dict[str, str]) -> None:
        self.name = name
        self._command = [python, str(HERE / "worker.py"), name]
        self._variables = variables
        self._process: subprocess.Popen[bytes] | None = None
        self._warmed: set[str] = set()

    def describe(self) -> dict[str, Any]:
        """Versions of what this side runs."""
        return self._ask({"do": "describe"}, 120.0)

    def fit(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """One measured fit; ``{"error": ...}`` when it failed or passed its time."""
        # Just-in-time compilation depends on the contender and on the loss; both are warmed once a process.
        key = json.dumps([request["contender"], request["task"]["data"], request["task"]["loss"]])
        warm = key not in self._warmed
        reply = self._ask({"do": "fit", "warm": warm, **request}, seconds)
        if "error" not in reply:
            self._warmed.add(key)
        return reply

    def stop(self) -> None:
        """End the process; the next request starts a fresh one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None
        self._warmed.clear()

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            self.stop()
            return {"error": "the process did not start"}
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            self.stop()
            return {"error": f"stopped after {seconds:.0f} s"}
        line = process.stdout.readline()
        if not line:
            self.stop()
            return {"error": "the process ended by itself"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            CACHE.mkdir(parents=True, exist_ok=True)
            with open(CACHE / f"{self.name}.log", "ab") as log:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**os.environ, **self._variables},
                    bufsize=0,
                )
        return self._process
