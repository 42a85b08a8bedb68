"""Folders of texts, a file to a text: each file's letters are looked at, and said with its name and line."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from lineal.data.compression import raw_pieces
from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.contents import Contents
from lineal.data.doctor.frame import Frame
from lineal.data.doctor.gathering import Gatherer
from lineal.data.doctor.lines import Lines, Rows
from lineal.data.folders import labelled_files, unlabelled_files

_PART = 1000


def gather_folder(folder: Path, gatherer: Gatherer, encoding: str, found: Collector) -> tuple[Frame, int]:
    """The texts of all files, labelled with their sub-folders, and how many bytes they have."""
    gatherer.has_lines = gatherer.looks_at_letters = False
    has_labels, files = labelled_files(folder)
    for path in unlabelled_files(folder):
        found.add("file-without-class", file=str(path), key=path.name)
    names: list[str] = []
    labels: list[str | None] = []
    texts: list[str | None] = []
    n_bytes, n_html, mark = 0, 0, ("", "")

    def hand_over() -> None:
        columns = {"label": list(labels), "text": list(texts)} if has_labels else {"text": list(texts)}
        gatherer.add(Rows([0] * len(texts), columns))
        labels.clear()
        texts.clear()

    for label, path in files:
        text, size, mark_here = _one(path, encoding, found)
        n_bytes += size
        if mark_here:
            n_html += 1
            mark = mark if mark[0] else (str(path), mark_here)
        names.append(str(path))
        labels.append(label)
        texts.append(text)
        if len(texts) == _PART:
            hand_over()
    hand_over()
    if not names:
        found.add("empty-file")
    if n_html:
        share = percent(n_html / len(names))
        found.add("text-html", file=mark[0], column="text", count=n_html, share=share, text=shown(mark[1]))
    return gatherer.frame(str(folder), "folder", files=names), n_bytes


def _one(path: Path, encoding: str, found: Collector) -> tuple[str, int, str]:
    """The text of a file, its size, and a mark of HTML if it has one."""
    here = Collector(str(path), 100)
    lines = Lines(chain(raw_pieces(path, None)), encoding, here)
    text = "".join(block.text for block in lines.blocks())
    lines.close()
    contents = Contents("text", here)
    parts: list[str | None] = [*text.split("\n")]
    contents.add(parts, range(1, len(parts) + 1), 0)
    found.join(here)
    n_html, _, marks = contents.html()
    return text, lines.n_bytes, marks[0][2] if n_html else ""
