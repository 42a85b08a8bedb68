"""The core's words are those of ``re`` on ``str.lower``, for every character and on real text."""

import json
import os
import random
import re
import sys
import unicodedata
from pathlib import Path

import pytest

from lineal import _core
from reference.words import words

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

# Frozen tables and the running Python agree only where both stand for the same Unicode.
same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != _core.UNICODE_VERSION,
    reason=f"this Python knows Unicode {unicodedata.unidata_version}, the core {_core.UNICODE_VERSION}",
)


def native(text, lowercase=True, min_characters=2):
    return _core.words(text.encode("utf-8", "surrogatepass"), lowercase, min_characters)


@same_unicode
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character(lowercase):
    """Each code point between letters, doubled and alone; a newline keeps what surrounds it apart."""
    for first in range(0, sys.maxunicode + 1, 1 << 15):
        text = "\n".join(
            f"a{chr(code)}b {chr(code) * 2} {chr(code)}" for code in range(first, first + (1 << 15))
        )
        assert native(text, lowercase) == words(text, lowercase)


# What lowers to another length, what a capital sigma looks through or stops at, what is nearly a letter.
HARD = (
    "aZ_09 .'\u2019:\n\u00adΣΣΣςσİIıiK\u212bÅȺⱥẞßǅǆ\u0301\u0307\u0345ʰªºª\u1d2c"
    "éÉ½²Ⅷⅷ①٣१हिन्दी中文日本語\u200d\U0001f600\U00010400\U0001d504\ud800\udfff\ufeff\u3000\u00a0\u180e"
)


@same_unicode
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_hard_characters_in_any_order(lowercase, least):
    """Thousands of strings of them, of all lengths around eight bytes and sixty-four."""
    rng = random.Random(least)
    for _ in range(3000):
        text = "".join(rng.choices(HARD, k=rng.randrange(40)))
        assert native(text, lowercase, least) == words(text, lowercase, least), repr(text)


@same_unicode
def test_random_characters_with_many_sigmas():
    """Code points from everywhere, a capital sigma in every third place."""
    rng = random.Random(0)
    for _ in range(3000):
        text = "".join("Σ" if rng.random() < 0.3 else chr(rng.randrange(0x11000)) for _ in range(20))
        assert native(text) == words(text), repr(text)


def test_words_of_two_characters_are_scikit_learns_pattern():
    """What the vectorisers call a token."""
    text = "Don't stop: 3.14 is x_1, née Čapek — naïve!"
    assert native(text) == re.findall(r"(?u)\b\w\w+\b", text.lower())


def test_bytes_that_are_not_utf8_are_refused_with_their_place():
    """Nothing is guessed, replaced or skipped."""
    with pytest.raises(ValueError, match="document 0 is not UTF-8 at its byte 3"):
        _core.words(b"abc\xff", True, 2)


def lines(*path):
    file = DATA.joinpath(*path)
    if not file.exists():
        pytest.skip(f"{'/'.join(path)} is not there: unpack the real data, or set LINEAL_DATA")
    with file.open(encoding="utf-8") as stream:
        yield from stream


def texts(name):
    if name == "l10n_langid":
        return (line.rstrip("\n").split("\t")[1] for line in lines(name, "train.tsv"))
    return (json.loads(line)["text"] for line in lines(name, "train.jsonl"))


def check(name, step):
    n_words = 0
    for number, text in enumerate(texts(name)):
        if number % step == 0:
            found = native(text)
            assert found == words(text), f"document {number}"
            n_words += len(found)
    assert n_words > 0


@same_unicode
@pytest.mark.parametrize(("name", "step"), [("imdb", 50), ("20newsgroups", 25), ("l10n_langid", 200)])
def test_real_text(name, step):
    """A part of each set of real documents."""
    check(name, step)


@same_unicode
@pytest.mark.slow
@pytest.mark.parametrize("name", ["imdb", "20newsgroups", "l10n_langid"])
def test_all_real_text(name):
    """Every document of all three."""
    check(name, 1)
