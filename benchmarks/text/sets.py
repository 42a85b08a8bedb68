"""The real texts that are measured on; a set that is not there is skipped with a line that says so."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

UNPACK = Path(__file__).resolve().parents[3] / "shared" / "data" / "unpack"


class Texts(NamedTuple):
    """Texts, their labels, and what must not be divided between training and test (None: anything may)."""

    texts: list[str]
    labels: list[str]
    groups: list[str] | None = None


class AbsentError(Exception):
    """A set that is not on this machine."""


def read(name: str, part: str = "train", limit: int | None = None) -> Texts:
    """A set by its name; ``limit`` takes about so many texts, evenly spread: files are sorted by class."""
    found = _READERS[name](part)
    step = max(len(found.texts) // limit, 1) if limit else 1
    return Texts(*(None if column is None else column[::step] for column in found))


def path_of(folder: str, file: str) -> Path:
    """Where a file of a set lies, expanded if it can be."""
    path = _home(folder) / folder / file
    if not path.exists():
        raise AbsentError(f"{folder}/{file} is not there: unpack the real data, or set LINEAL_DATA")
    return path


def evenly(texts: Sequence[str], n: int) -> list[str]:
    """About n texts, evenly spread."""
    return list(texts[:: max(len(texts) // n, 1)][:n])


@cache
def _home(folder: str) -> Path:
    home = Path(os.environ.get("LINEAL_DATA") or Path.home() / ".cache" / "lineal-data")
    if UNPACK.exists():
        command = [sys.executable, str(UNPACK), folder, "--to", str(home)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return home


def _jsonl(folder: str, part: str) -> Texts:
    with path_of(folder, f"{part}.jsonl").open(encoding="utf-8", newline="\n") as lines:
        records = [json.loads(line) for line in lines]
    return Texts([record["text"] for record in records], [record["label"] for record in records])


def _tsv(folder: str, file: str) -> Texts:
    with path_of(folder, file).open(encoding="utf-8", newline="\n") as lines:
        next(lines)
        rows = [line.rstrip("\n").split("\t", 1) for line in lines]
    return Texts([text for _, text in rows], [label for label, _ in rows])


def _some(found: Texts, part: str) -> Texts:
    """One text in twenty to learn from, all to be tested on."""
    return Texts(found.texts[::20], found.labels[::20]) if part == "train" else found


def _deceptive(part: str) -> Texts:
    with path_of("op_spam", "deceptive-opinion.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return Texts([r["text"] for r in rows], [r["deceptive"] for r in rows], [r["hotel"] for r in rows])


def _without_headers(part: str) -> Texts:
    posts = _jsonl("20newsgroups", part)
    return posts._replace(texts=[_body(text) for text in posts.texts])


def _bare(part: str) -> Texts:
    posts = _jsonl("20newsgroups", part)
    return posts._replace(texts=[_without_footer(_without_quotes(_body(text))) for text in posts.texts])


def _body(post: str) -> str:
    """What is behind the first blank line."""
    return post.partition("\n\n")[2]


# The rules for quotes and footers are those of scikit-learn's fetch_20newsgroups.
_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def _without_quotes(post: str) -> str:
    return "\n".join(line for line in post.split("\n") if not _QUOTE.search(line))


def _without_footer(post: str) -> str:
    """Without the last block, if a line that is blank or of dashes stands before it."""
    lines = post.strip().split("\n")
    for k in range(len(lines) - 1, -1, -1):
        if not lines[k].strip().strip("-"):
            return "\n".join(lines[:k]) if k > 0 else post
    return post


_READERS = {
    "imdb": lambda part: _jsonl("imdb", part),
    "20newsgroups": lambda part: _jsonl("20newsgroups", part),
    "20newsgroups, no headers": _without_headers,
    "20newsgroups, no headers, quotes, footers": _bare,
    "sms spam": lambda part: _tsv("sms_spam", "sms_spam.tsv"),
    "rotten tomatoes": lambda part: _tsv("rt_polarity", "rt-polarity.tsv"),
    "deceptive reviews": _deceptive,
    "89 languages": lambda part: _tsv("l10n_langid", f"{part}.tsv"),
    "89 languages, 1 text in 20": lambda part: _some(_tsv("l10n_langid", f"{part}.tsv"), part),
}
