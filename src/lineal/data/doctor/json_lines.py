"""JSON lines, read in spite of their flaws: each object with its line, and every flaw said."""

from __future__ import annotations

import ast
import json
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lineal.data.doctor.collector import N_PLACES, Collector, shown
from lineal.data.doctor.lines import Block, Rows

_TRAILING = re.compile(r",(\s*[}\]])")
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')
_SPACE = re.compile(r"[\s,]*")
_MOST_SHAPES = 1000
# A file that is one value is read as a whole, up to so many characters.
_LARGEST_VALUE = 1 << 28
# jq's way to make columns a_b of an object or a list in a.
FLATTEN = (
    "with_entries(if [.value|iterables] == [] then . else "
    '.key as $k | .value | to_entries[] | .key |= "\\($k)_\\(.)" end)'
)
_KINDS = {str: "a string", bool: "a truth value", int: "a number", float: "a number"}


class JsonLines:
    """Reads the blocks of a file; all keys are known at the end only, so columns may appear late."""

    def __init__(self, found: Collector) -> None:
        self._found = found
        self._constants: list[str] = []
        self._decoder = json.JSONDecoder(parse_constant=self._constant)
        self._shapes: dict[tuple[str, ...], list[int]] = {}
        self._n_of_shape: Counter[tuple[str, ...]] = Counter()
        self._n_kinds: dict[str, Counter[str]] = {}
        self._first_of_kind: dict[tuple[str, str], list[tuple[int, Any]]] = {}
        self._is_whole = False

    def _constant(self, name: str) -> float:
        self._constants.append(name)
        return float(name)

    @property
    def names(self) -> list[str]:
        """All keys, in the order in which they were met."""
        return list(self._n_kinds)

    def rows(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The objects of every block."""
        is_first = True
        for block in blocks:
            if is_first and self._looks_whole(block.text):
                text = block.text + "".join(following.text for following in _limited(blocks))
                yield self._made(self._scan(text, block.first_line))
                return
            is_first = False
            yield self._made(self._by_line(block))

    def _looks_whole(self, text: str) -> bool:
        """Whether the file is an array, or objects over several lines, rather than an object to a line."""
        lines = text.lstrip().split("\n", 1)
        head = lines[0].strip()
        if not (head.startswith("[") or head == "{"):
            return False
        try:
            value = json.loads(head)
        except (ValueError, RecursionError):
            value = None
        # A list on one line is a line that is no object, if others follow.
        is_lines = isinstance(value, list) and bool(lines[1:]) and bool(lines[1].strip())
        return not is_lines

    def _scan(self, text: str, line: int) -> Iterator[tuple[int, dict[str, Any]]]:
        start = len(text) - len(text.lstrip())
        is_array = text.startswith("[", start)
        self._found.add(
            "json-array", line=line + text.count("\n", 0, start), filter=".[]" if is_array else "."
        )
        place = start + is_array
        counted, number = 0, line
        while True:
            space = _SPACE.match(text, place)
            assert space is not None
            place = space.end()
            if place >= len(text) or text.startswith("]", place):
                return
            number, counted = number + text.count("\n", counted, place), place
            try:
                value, place = self._decoder.raw_decode(text, place)
            except (ValueError, RecursionError) as flaw:
                at = getattr(flaw, "pos", place)
                self._malformed(text[place : at + 40], number + text.count("\n", place, at), flaw)
                # The next object that begins a line is likely to be whole again.
                found = re.compile(r"\n\s*\{").search(text, place + 1)
                if found is None:
                    return
                place = found.end() - 1
                continue
            yield from self._objects([value], number, text[counted:place])

    def _by_line(self, block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in enumerate(block.text.split("\n"), block.first_line):
            if not line.strip():
                is_end = number == block.first_line + block.text.count("\n")
                if not is_end:
                    self._found.add("blank-line", line=number)
                continue
            yield from self._objects(self._values(line, number), number, line)

    def _values(self, line: str, number: int) -> list[Any]:
        """The values of a line, mended where it is clear what is meant."""
        try:
            return [self._decoder.decode(line)]
        except (ValueError, RecursionError) as flaw:
            several = self._several(line)
            if len(several) > 1:
                self._found.add("json-several-objects", line=number, n=len(several))
                return several
            mended = _TRAILING.sub(r"\1", line)
            if mended != line:
                try:
                    value = self._decoder.decode(mended)
                    self._found.add("json-trailing-comma", line=number)
                    return [value]
                except (ValueError, RecursionError):
                    pass
            value = _python(line)
            if value is not None:
                self._found.add("json-single-quotes", line=number)
                return [value]
            self._malformed(line, number, flaw)
            return []

    def _several(self, line: str) -> list[Any]:
        """The objects of a line that has nothing but objects."""
        found, place = [], 0
        while place < len(line):
            space = _SPACE.match(line, place)
            assert space is not None
            place = space.end()
            if place >= len(line):
                break
            try:
                value, place = self._decoder.raw_decode(line, place)
            except (ValueError, RecursionError):
                return []
            if not isinstance(value, dict):
                return []
            found.append(value)
        return found

    def _malformed(self, line: str, number: int, flaw: Exception) -> None:
        at = getattr(flaw, "pos", 0)
        at = min(at, len(line))
        why = getattr(flaw, "msg", "it is nested too deeply").replace("Expecting", "needed is")
        is_cut = at >= len(line.rstrip()) - 1 or "Unterminated" in why
        advice = (
            "The line seems to be cut off: write it again" if is_cut else f"Put it right in line {number}"
        )
        self._found.add(
            "json-malformed",
            line=number,
            key=why,
            why=why,
            character=at + 1,
            text=shown(line[max(0, at - 20) : at + 20]),
            advice=f"{advice}, or delete it: sed -i '{number}d' {shlex.quote(self._found.file)}",
        )

    def _objects(self, values: list[Any], number: int, line: str) -> Iterator[tuple[int, dict[str, Any]]]:
        for value in values:
            if not isinstance(value, dict):
                kind = "a list" if isinstance(value, list) else _KINDS.get(type(value), "null")
                self._found.add("json-no-object", line=number, key=kind, kind=kind, text=shown(line.strip()))
                continue
            self._note(value, number)
            yield number, value

    def _note(self, record: dict[str, Any], number: int) -> None:
        """Keys and kinds, and values that no column can hold."""
        shape = tuple(record)
        self._n_of_shape[shape] += 1
        if shape not in self._shapes and len(self._shapes) < _MOST_SHAPES:
            self._shapes[shape] = []
        places = self._shapes.get(shape)
        if places is not None and len(places) < N_PLACES:
            places.append(number)
        for name, value in record.items():
            kinds = self._n_kinds.get(name)
            if kinds is None:
                kinds = self._n_kinds[name] = Counter()
            if value is None:
                continue
            if isinstance(value, (dict, list)):
                self._nested(record, name, value, number)
                continue
            kind = _KINDS.get(type(value), "another value of Python")
            kinds[kind] += 1
            if kinds[kind] <= N_PLACES:
                self._first_of_kind.setdefault((name, kind), []).append((number, value))
        if self._constants:
            for name, value in record.items():
                if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
                    text = self._constants.pop(0) if self._constants else str(value)
                    self._found.add("json-not-finite", line=number, column=name, text=text)
            self._constants.clear()

    def _nested(self, record: dict[str, Any], name: str, value: Any, number: int) -> None:
        self._found.add(
            "nested-value",
            line=number,
            column=name,
            kind="an object" if isinstance(value, dict) else "a list",
            text=shown(json.dumps(value)),
            advice=f"Make columns of its parts: jq -c '{FLATTEN}' {shlex.quote(self._found.file)}",
        )
        record[name] = None

    def _made(self, objects: Iterator[tuple[int, dict[str, Any]]]) -> Rows:
        numbers, records = [], []
        for number, record in objects:
            numbers.append(number)
            records.append(record)
        names = self.names
        return Rows(numbers, {name: [record.get(name) for record in records] for name in names})

    def close(self) -> None:
        """Says which lines have other keys, and other kinds of values, than most."""
        if self._n_of_shape and not self._n_kinds:
            self._found.add("json-no-keys")
        self._close_keys()
        for name, kinds in self._n_kinds.items():
            usual = max(kinds, key=lambda kind: kinds[kind], default="")
            for kind, n in kinds.items():
                if kind != usual:
                    places = self._first_of_kind[name, kind]
                    self._found.add(
                        "json-type-changes",
                        column=name,
                        lines=[line for line, _ in places],
                        count=n,
                        key=kind,
                        this=kind,
                        text=shown(places[0][1]),
                        other=usual,
                        n_other=kinds[usual],
                    )

    def _close_keys(self) -> None:
        total = sum(self._n_of_shape.values())
        n_with = Counter[str]()
        for shape, n in self._n_of_shape.items():
            n_with.update(dict.fromkeys(shape, n))
        usual = {name for name, n in n_with.items() if 2 * n >= total}
        for shape, lines in sorted(self._shapes.items(), key=lambda item: item[1][:1]):
            n = self._n_of_shape[shape]
            for name in sorted(usual - set(shape)):
                self._keys_differ(name, lines, n, f"the key {name!r} is not there", n_with[name])
            for name in sorted(set(shape) - usual):
                self._keys_differ(name, lines, n, f"there is a key {name!r}", total - n_with[name])

    def _keys_differ(self, name: str, lines: list[int], count: int, what: str, n_other: int) -> None:
        is_absent = "not there" in what
        advice = (
            f'Add "{name}": ... to the object, or null where there is no value.'
            if is_absent
            else f'Rename or delete the key "{name}", or give it to all lines.'
        )
        self._found.add(
            "json-keys-differ",
            column=name,
            lines=lines,
            count=count,
            what=what,
            n_other=n_other,
            advice=advice,
        )

    def column_of(self, before: str) -> str | None:
        """The key of a place in a line, by what is before it."""
        keys = _KEY.findall(before)
        return keys[-1] if keys else None


def _python(line: str) -> Any:
    """The object of a line in Python's notation; None if it is none."""
    if len(line) > 1_000_000 or not line.lstrip().startswith("{'"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return value if isinstance(value, dict) and all(isinstance(name, str) for name in value) else None


def _limited(blocks: Iterator[Block]) -> Iterator[Block]:
    size = 0
    for block in blocks:
        size += len(block.text)
        if size > _LARGEST_VALUE:
            return
        yield block
