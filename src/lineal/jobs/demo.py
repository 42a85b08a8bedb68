"""Data that every machine has: the docstrings of the running Python's standard library, by module."""

from __future__ import annotations

import inspect
import json
import pkgutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

# Modules that open windows, print, or belong to tests.
_SKIPPED = frozenset(
    ("antigravity", "this", "idlelib", "test", "turtledemo", "lib2to3", "tkinter", "turtle", "__main__")
)
_LEAST = 40  # docstrings of a module


def write_docstrings(path: Path) -> int:
    """JSON lines of ``text`` and ``label``, of modules with enough docstrings; returns how many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old modules warn as they are imported
        found = list(docstrings())
    counts = Counter(label for _, label in found)
    kept = [(text, label) for text, label in found if counts[label] >= _LEAST]
    lines = (json.dumps({"text": text, "label": label}) for text, label in kept)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(kept)


def docstrings() -> Iterator[tuple[str, str]]:
    """(text, module) of every documented public function, class and method; each text once."""
    seen = set()
    for label, module in _modules():
        things = [thing for name, thing in list(vars(module).items()) if not name.startswith("_")]
        things += [
            member
            for thing in things
            if inspect.isclass(thing)
            for name, member in list(vars(thing).items())
            if not name.startswith("_")
        ]
        for thing in things:
            text = getattr(thing, "__doc__", None)
            home = str(getattr(thing, "__module__", label) or label).split(".")[0]
            if isinstance(text, str) and len(text) > 20 and text not in seen and home == label:
                seen.add(text)
                yield text, label


def _modules() -> Iterator[tuple[str, ModuleType]]:
    """Public top-level modules of the standard library, and the parts of its packages."""
    for name in sorted(sys.stdlib_module_names):
        if name.startswith("_") or name in _SKIPPED:
            continue
        module = _imported(name)
        if module is None:
            continue
        yield name, module
        for part in pkgutil.iter_modules(getattr(module, "__path__", [])):
            if not part.name.startswith("_") and part.name not in _SKIPPED:
                inner = _imported(f"{name}.{part.name}")
                if inner is not None:
                    yield name, inner


def _imported(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except Exception:  # a module of another platform, or one built without its C library
        return None
