"""Checks of texts by what is kept of them: empty, extremely long, or with the label in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.data.doctor.collector import Collector, percent, shown
from lineal.data.doctor.frame import Frame, Texts
from lineal.data.doctor.leaks import drawn, label_in_text

_LONG_BYTES, _LONG_TIMES = 20_000, 50
_SAMPLE = 400


def check_texts(frame: Frame, found: Collector, *, is_classes: bool) -> None:
    """Looks at what is kept of each column of texts."""
    for texts in frame.texts.values():
        _empty(frame, texts, found)
        _long(frame, texts, found)
        if is_classes:
            _label(frame, texts, found)


def _empty(frame: Frame, texts: Texts, found: Collector) -> None:
    rows = np.flatnonzero(texts.folded == 0)
    if len(rows):
        found.add("text-empty", column=texts.name, count=len(rows), **frame.places(rows[:5]))
    short = np.flatnonzero((texts.n_bytes <= 40) & (texts.folded != 0))
    wordless = [row for row in short if not any(map(str.isalnum, texts.head(int(row))))]
    if wordless:
        found.add(
            "text-without-words",
            column=texts.name,
            count=len(wordless),
            text=shown(texts.head(int(wordless[0]))),
            examples=[texts.head(int(row)) for row in wordless[:5]],
            **frame.places(wordless[:5]),
        )


def _long(frame: Frame, texts: Texts, found: Collector) -> None:
    if len(texts.n_bytes) < 10:
        return
    median = max(1, int(np.median(texts.n_bytes)))
    rows = np.flatnonzero(texts.n_bytes > max(_LONG_BYTES, _LONG_TIMES * median))
    if len(rows):
        rows = rows[np.argsort(-texts.n_bytes[rows], kind="stable")]
        n = int(texts.n_bytes[rows[0]])
        found.add(
            "text-long",
            column=texts.name,
            count=len(rows),
            n=n,
            times=n // median,
            median=median,
            **frame.places(rows[:5]),
        )


def _label(frame: Frame, texts: Texts, found: Collector) -> None:
    """Whether texts begin with or contain their label, by their beginnings."""
    label = frame.labels
    if label is None or len(label.levels) < 2:
        return
    rows = np.flatnonzero((label.codes >= 0) & (texts.folded != 0))
    rows = rows[drawn(len(rows), _SAMPLE)]
    heads = [texts.head(int(row)) for row in rows]
    labels: list[Any] = [label.levels[code] for code in label.codes[rows]]
    how = label_in_text(heads, labels)
    if how is None:
        return
    said = [str(name).casefold() in head.casefold() for head, name in zip(heads, labels, strict=True)]
    row = int(rows[said.index(True)])
    name, head = label.levels[label.codes[row]], texts.head(row)
    mark = head.lstrip(" \"'[(<_")[len(str(name)) :][:1] if how == "begins" else ""
    advice = "Remove the label from the texts before training."
    if mark and not mark.isalnum():
        advice = f"Cut it off before training: text.split({mark!r}, 1)[1].strip()"
    found.add(
        "label-in-text",
        column=texts.name,
        how=f"the text {how} {'with' if how == 'begins' else ''} the label ({shown(head)})".replace(
            "  ", " "
        ),
        share=percent(sum(said) / len(said)),
        advice=advice,
        **frame.places([row]),
    )
