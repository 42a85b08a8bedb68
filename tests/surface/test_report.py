"""The report page as text: what is in it, what cannot get into it, how large it is."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal.errors import InputError, LinealError
from lineal.report import (
    Certificate,
    Confusion,
    Curve,
    Finding,
    Mistake,
    Mistakes,
    Report,
    Score,
    Scores,
    Token,
    TracePoint,
    Trials,
    render,
    write_report,
)
from lineal.report.charts import thinned
from lineal.report.words import excerpt
from report_samples import classification, comparison, everything, mapped, regression

HOSTILE = [
    "<script>alert(1)</script>",
    "</style></title></svg><img src=x onerror=alert(1)>",
    "\" onclick='alert(1)' x=\"",
    "<!--",
    "]]>&lt;b&gt;&#60;&amp",
    "\u202egnp.exe \u2066\u200e",
    "\x00\x07\x1b[31m\x7f\x85\ud800\udfff\ufffe",
    "{{7*7}} ${7*7} javascript:alert(1)",
]
SECTIONS = {
    "scores": "result",
    "comparison": "comparison",
    "classes": "classes",
    "confusion": "confusion",
    "curves": "curves",
    "calibration": "calibration",
    "regression": "regression",
    "mistakes": "mistakes",
    "features": "features",
    "learning_curve": "learning",
    "strength_path": "strengths",
    "trials": "trials",
    "data": "data",
    "findings": "problems",
    "model": "model",
    "certificate": "proof",
    "reproduction": "reproduce",
}
VOID = {"meta", "br", "hr"}


class Tree(HTMLParser):
    """The elements and attributes of a page, in order; refuses elements that are not closed in turn."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = tuple(sorted(name for name, _ in attrs if name != "title"))
        self.elements.append((tag, names))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def anchors(page: str) -> list[str]:
    return [value for tag, name, value in Tree(page).attributes if tag == "section" and name == "id"]


def test_the_same_content_gives_the_same_bytes():
    """Rendering is a function of content: equal reports give equal pages, in any process."""
    page = render(everything())
    assert page == render(everything())
    code = "from report_samples import everything; from lineal.report import render; "
    code += "import hashlib; print(hashlib.sha256(render(everything()).encode()).hexdigest())"
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "7"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == hashlib.sha256(page.encode()).hexdigest()


def test_a_section_appears_exactly_if_it_is_given():
    """Every field of a report that holds a section is shown if given and absent if not; links lead to it."""
    full = everything()
    given = {field.name for field in fields(Report)} - {"title", "summary", "created", "task"}
    assert given == set(SECTIONS)
    assert sorted(anchors(render(full))) == sorted(SECTIONS.values())
    for name, anchor in SECTIONS.items():
        alone = render(Report(title="t", **{name: getattr(full, name)}))
        assert anchors(alone) == [anchor], name
        links = [value for tag, key, value in Tree(alone).attributes if (tag, key) == ("a", "href")]
        assert links == ["#main", f"#{anchor}"], name
    assert anchors(render(Report(title="t"))) == []


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_words_cannot_become_elements(place):
    """Whatever the words in every field, the page has the elements and attributes it has for plain words."""
    plain = mapped(everything(), lambda words: "word")
    page = render(mapped(everything(), lambda words: HOSTILE[place]))
    tree = Tree(page)
    assert tree.elements == Tree(render(plain)).elements
    assert not any(name.startswith("on") or name in ("src", "style") for _, name, _ in tree.attributes)
    assert {tag for tag, _ in tree.elements}.isdisjoint(
        {"script", "img", "iframe", "link", "object", "embed"}
    )
    page.encode("utf-8")


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_no_character_is_unseen_or_turns_the_line(words):
    """Controls, marks of direction and halves of surrogate pairs are shown by their numbers, never raw."""
    page = render(Report(title=words, summary=words))
    body = "".join(Tree(page).text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", body
    )
    page.encode("utf-8")


def test_hostile_words_are_legible():
    """What a word was can still be read: its characters, and the numbers of those that cannot be seen."""
    text = "".join(Tree(render(Report(title="<b>\u202eexe", summary="a\x00b"))).text)
    assert "<b>⟨U+202E⟩exe" in text
    assert "a⟨U+0000⟩b" in text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 0.0, -1.5, 1e308, -1e308, 5e-324])
def test_any_number_can_be_drawn(number):
    """A page can be made of any numbers, and every coordinate in it is a number."""
    page = render(mapped(everything(), numbers=lambda value: number))
    drawn = [
        value
        for tag, name, value in Tree(page).attributes
        if tag in ("path", "line", "rect", "circle", "text") and name not in ("class",)
    ]
    assert drawn
    assert not any(re.search("nan|inf|e[+-]?[0-9]", value) for value in drawn)


def test_numbers_of_all_sizes_can_be_drawn_together():
    """Scales hold very large, very small and missing numbers at once."""
    some = iter(range(10**9))
    sizes = [1e308, -1e308, math.nan, 1e-320, 3.0, -0.0, math.inf]
    page = render(mapped(everything(), numbers=lambda value: sizes[next(some) % len(sizes)]))
    assert "nan" not in "".join(value for tag, _, value in Tree(page).attributes if tag != "meta")


def test_size_is_bounded():
    """Twenty labels of long texts take less than 400 kB, and content ten times as large hardly more."""
    assert len(render(classification(20, n_mistakes=25, length=300)).encode()) < 400_000
    large = classification(60, n_mistakes=30, length=700)
    assert large.trials is not None
    assert large.certificate is not None
    trials = replace(large.trials, rows=large.trials.rows * 500)
    trace = [TracePoint(epoch=k, relative_gap=1 / (1 + k)) for k in range(5000)]
    findings = [Finding(severity="note", message="m" * 5000, fix="f" * 5000)] * 1000
    large = replace(
        large, trials=trials, findings=findings, certificate=replace(large.certificate, trace=trace)
    )
    assert len(render(large).encode()) < 800_000
    assert len(render(regression(8000)).encode()) < 150_000


def test_a_text_of_a_megabyte_is_cut():
    """A field of any length costs a bounded number of bytes."""
    long = "long " * 200_000
    page = render(mapped(everything(), lambda words: long))
    assert len(page) < 3_000_000
    plain = mapped(everything(), lambda words: "word")
    assert Tree(page).elements == Tree(render(plain)).elements


def test_the_page_stands_alone():
    """No script, no address, no import: nothing in the page asks for anything; a policy forbids it too."""
    page = render(everything())
    tree = Tree(page)
    assert not re.search(r"https?:|//|@import|url\(|<script|<link", page.replace("</", ""))
    links = [value for tag, name, value in tree.attributes if name in ("href", "src", "action", "data")]
    assert all(link.startswith("#") for link in links)
    assert any("default-src 'none'" in value for tag, _, value in tree.attributes if tag == "meta")


def test_the_page_has_the_landmarks_of_html():
    """Language, viewport, one main and one h1, headings without a jump, unique ids, headers with scope."""
    page = render(everything())
    tree = Tree(page)
    tags = [tag for tag, _ in tree.elements]
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert [tags.count(tag) for tag in ("title", "main", "h1", "nav", "header", "footer")][1:] == [1] * 5
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [value for _, name, value in tree.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert all("scope" in names for tag, names in tree.elements if tag == "th")
    assert ("meta", "name", "viewport") in tree.attributes
    assert tags.count("figure") == tags.count("figcaption") == tags.count("desc") >= 7


def test_words_are_marked_by_what_they_added():
    """A word is marked for or against, told apart without colour, with its share to point at."""
    tokens = [Token(text="fine", share=0.5), Token(text="plain"), Token(text="dull", share=-0.2)]
    example = Mistake(truth="neg", predicted="pos", tokens=tokens)
    page = render(Report(title="t", mistakes=Mistakes(examples=[example])))
    assert '<mark class="for level4" title="+0.500">fine</mark> plain ' in page
    assert '<mark class="against level2" title="−0.200">dull</mark>' in page
    style = importlib.resources.files("lineal.report").joinpath("style.css").read_text()
    assert (
        "mark.against { text-decoration-color: rgb(var(--against)); text-decoration-style: dotted; }" in style
    )


@given(st.lists(st.floats(allow_nan=True), max_size=400), st.integers(12, 80))
def test_excerpts_keep_the_heaviest_word(shares, most):
    """An excerpt is ranges in order, apart, not much longer than asked for, with the heaviest word in one."""
    ranges = excerpt(shares, most)
    flat = [place for start, stop in ranges for place in range(start, stop)]
    assert flat == sorted(set(flat))
    assert all(0 <= place < len(shares) for place in flat)
    # Gaps of up to three words are filled; no two of them share the eleven words around a heavy one.
    assert len(flat) <= max(most * 5 // 4, most + 3 * (most // 6 + 2))
    sizes = [abs(share) if math.isfinite(share) else 0.0 for share in shares]
    if sizes:
        assert sizes.index(max(sizes)) in flat


@given(st.lists(st.tuples(st.floats(0, 360), st.floats(0, 260)), min_size=1, max_size=60))
def test_thinned_lines_keep_their_ends(points):
    """A thinned line starts and ends where the line does (to a tenth of a pixel) and has no more points."""
    line = thinned(sorted(points))
    given_line = [(round(x, 1), round(y, 1)) for x, y in sorted(points)]
    assert line[0] == given_line[0]
    assert line[-1] == given_line[-1]
    assert set(line) <= set(given_line)
    assert len(line) <= len(points)


def test_a_straight_line_needs_two_points():
    """Points along a line are dropped, whatever their number."""
    assert thinned([(k / 100, k / 50) for k in range(10_001)]) == [(0.0, 0.0), (100.0, 200.0)]


def test_content_is_plain_and_json():
    """Arrays and NumPy's numbers become plain; `to_dict` is JSON without NaN; records are frozen."""
    curve = Curve(
        name=np.str_("roc"), x=np.linspace(0, 1, 3), y=[np.float32(0), 0.5, np.int64(1)], area=np.nan
    )
    assert curve.x == (0.0, 0.5, 1.0)
    assert [type(value) for value in curve.y] == [float, float, int]
    assert json.loads(json.dumps(curve.to_dict(), allow_nan=False))["area"] is None
    whole = json.dumps(everything().to_dict(), allow_nan=False)
    assert json.loads(whole)["scores"]["rows"][0]["name"] == "accuracy"
    with pytest.raises(AttributeError):
        curve.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Finding(severity="bad", message="m"), "severity"),
        (lambda: Scores(rows=[], outcome="good"), "outcome"),
        (lambda: Confusion(labels=["a", "b"], counts=[[1, 2]]), "2 x 2"),
        (lambda: Curve(name="c", x=[0, 1], y=[0]), "as many x as y"),
        (lambda: Trials(columns=["a"], rows=[["b", 1.0]]), "as many cells"),
        (lambda: Report(title="t", summary=object()), "words, numbers"),  # type: ignore[arg-type]
        (lambda: Report(title=b"t"), "bytes"),  # type: ignore[arg-type]
    ],
    ids=["severity", "outcome", "confusion", "curve", "trials", "object", "bytes"],
)
def test_content_that_does_not_fit_together_is_refused(make, said):
    """A record that cannot be drawn is refused when it is made, with what it needs."""
    with pytest.raises(InputError, match=said):
        make()


def test_nothing_found_is_said_and_nothing_asked_is_not():
    """No findings and no search for them are different pages."""
    assert "No problems were found" in render(Report(title="t", findings=[]))
    assert "problems" not in anchors(render(Report(title="t")))


def test_what_is_left_out_is_counted():
    """Rows beyond the limits are not shown, and their number is told."""
    findings = [Finding(severity="note", message=f"finding {k}") for k in range(130)]
    assert "30 more findings not shown" in render(Report(title="t", findings=findings))
    labels = [f"label{k}" for k in range(50)]
    counts = np.eye(50, dtype=int) + np.eye(50, k=1, dtype=int) * 3
    page = render(Report(title="t", confusion=Confusion(labels=labels, counts=counts)))
    assert 'class="heat' not in page
    assert "The 12 most frequent confusions" in page


def test_the_verdict_tells_p_value_and_test():
    """A verdict has its outcome in words, the evidence and the name of the test."""
    scores = Scores(
        rows=[Score(name="accuracy", value=0.5)], verdict="No.", outcome="undecided", p_value=0.3, test="T"
    )
    text = "".join(Tree(render(Report(title="t", scores=scores))).text)
    assert "◆ Undecided. No. (p\u00a0=\u00a00.3, T)" in text
    assert "✖ Not certified" in render(Report(title="t", certificate=Certificate(is_certified=False)))


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    """The file holds exactly the page; a folder that is not there is refused in words, and leaves nothing."""
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(comparison(), path) == path
    assert path.read_bytes() == render(comparison()).encode("utf-8")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(LinealError, match="no folder"):
        write_report(comparison(), tmp_path / "missing" / "report.html")


def test_the_style_has_light_dark_phone_and_paper():
    """Colours are named once, outside of rules; there are styles for dark screens, phones and paper."""
    style = importlib.resources.files("lineal.report").joinpath("style.css").read_text()
    rules = re.sub(r":root {[^}]*}", "", style)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\((?!var\()|hsl", rules)
    for query in ("prefers-color-scheme: dark", "max-width", "@media print", "prefers-reduced-motion"):
        assert query in style
    assert "<" not in style


def test_reports_import_no_learner():
    """Making a page needs no NumPy-heavy library: neither SciPy nor scikit-learn nor pyarrow is imported."""
    code = (
        "import sys, lineal.report; print([m for m in ('scipy', 'sklearn', 'pyarrow') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
