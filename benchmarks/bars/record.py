"""The one record of all bars: each row as it was measured last, and the time before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bar import Row

RECORD = Path(__file__).resolve().parent / "results" / "bars.json"
_BEFORE = ("found", "ours", "theirs", "peer", "date")


def empty() -> dict[str, Any]:
    """A record of nothing."""
    return {"rows": [], "failed": {}, "libraries": []}


def load(path: Path = RECORD) -> dict[str, Any]:
    """What is kept."""
    return {**empty(), **(json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})}


def merged(record: dict[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """The record with what was measured since; what was measured last becomes what was measured before.

    Rows whose times are those already kept leave both as they are, so that it may be done any number of
    times. A row that the raw JSON no longer has is dropped.
    """
    kept = {Row(**one["last"]).key: one for one in record["rows"]}
    made = []
    for row in rows:
        now = asdict(row)
        one = kept.get(row.key, {"last": None, "previous": None})
        last, previous = one["last"], one["previous"]
        if last is not None and any(last[name] != now[name] for name in ("found", "ours", "theirs")):
            previous = {name: last[name] for name in _BEFORE}
        made.append({"last": now, "previous": previous})
    return {**record, "rows": made}


def write(record: dict[str, Any], path: Path = RECORD) -> None:
    """As JSON that git can compare: a row a line and no more digits than a clock has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in record["rows"])
    rest = "".join(
        f',\n "{name}": {json.dumps(record[name], ensure_ascii=False)}' for name in ("failed", "libraries")
    )
    path.write_text(f'{{\n "rows": [\n  {lines}\n ]{rest}\n}}\n', encoding="utf-8")


def rows_of(record: dict[str, Any]) -> list[Row]:
    """The last measurement of each."""
    return [Row(**one["last"]) for one in record["rows"]]
