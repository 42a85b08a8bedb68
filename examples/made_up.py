"""Made-up texts for the examples, grown from the small grammars in made_up.txt.

The labels are never quite certain: sentences of another label, and sentences that say nothing, are mixed in.
"""

import re
from configparser import ConfigParser
from pathlib import Path

import numpy as np

GRAMMARS = ConfigParser(delimiters=(":",), interpolation=None)
GRAMMARS.optionxform = str  # names keep their capitals
GRAMMARS.read(Path(__file__).with_suffix(".txt"), encoding="utf-8")


def choices(grammar, name):
    """The alternatives under a name."""
    return [alternative.strip() for alternative in grammar[name].replace("\n", " ").split("|")]


def grow(rng, grammar, name):
    """A text of that name, with every slot in it filled by chance."""
    some = choices(grammar, name)
    grown = re.sub(r"\{(\w+)\}", lambda slot: grow(rng, grammar, slot[1]), some[rng.integers(len(some))])
    return grown.replace("  ", " ")


def labelled(grammar, labels, n, seed, sentences=(2, 5), own=0.55, other=0.12):
    """Texts of a few sentences, and labels: a sentence speaks for the label, for any label, or for none."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, n)
    texts = []
    for label in truth:
        kinds = [label, rng.choice(labels), "either"]
        drawn = rng.choice(kinds, rng.integers(*sentences), p=[own, other, 1 - own - other])
        texts.append(" ".join(grow(rng, grammar, kind) for kind in drawn))
    return texts, truth


def messages(n, seed=0):
    """Short messages, one in four spam, whose senders misspell more words (two letters change places)."""
    texts, labels = labelled(GRAMMARS["messages"], ["ham", "ham", "ham", "spam"], n, seed, (1, 4), own=0.65)
    rng = np.random.default_rng(seed + 1)

    def hurried(word, share):
        if len(word) < 5 or rng.random() > share:
            return word
        i = rng.integers(1, len(word) - 2)
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]

    shares = np.where(labels == "spam", 0.25, 0.03)
    pairs = zip(texts, shares, strict=True)
    return [re.sub(r"[A-Za-z]+", lambda m, s=s: hurried(m[0], s), t) for t, s in pairs], labels


def reviews(n, seed=0):
    """Opinions of films, pos or neg, with negations."""
    return labelled(GRAMMARS["reviews"], ["neg", "pos"], n, seed)


def stays(n, seed=0):
    """Hotel reviews, deceptive or truthful, and their hotels: n of each of ten."""
    hotels = [f"{a} {b}" for a in ("Lake", "Park", "Union", "Grand", "Palmer") for b in ("Inn", "House")]
    texts, labels = [], []
    for i, hotel in enumerate(hotels):
        grammar = {**GRAMMARS["stays"], "here": hotel}
        part = labelled(grammar, ["deceptive", "truthful"], n, 100 * seed + i)
        texts, labels = texts + part[0], [*labels, *part[1]]
    return texts, np.array(labels), np.repeat(hotels, n)


def stories(n, seed=0):
    """News of four topics."""
    return labelled(GRAMMARS["stories"], ["finance", "sport", "science", "weather"], n, seed)


def tagged(n, seed=0):
    """Sentences of (word, tag): words of several tags among invented ones that endings half give away."""
    rng = np.random.default_rng(seed)
    grown = [grow(rng, GRAMMARS["tagged"], "sentence").split() for _ in range(n)]
    pairs = [[tuple(pair.split("/")) for pair in sentence] for sentence in grown]
    return [[(first[0].capitalize(), first[1]), *rest, (".", "PUNCT")] for first, *rest in pairs]


def translations(n, seed=0, flaws=0.3):
    """English segments, what a careless machine made of them in French, and what judges said of it, 0 to 100.

    The machine leaves phrases out, leaves them in English or takes any sense, oftener in some segments than
    in others. One judge in sixteen held the scale upside down. With ``flaws=0`` the French is right.
    """
    rng = np.random.default_rng(seed)
    sources, targets, quality = [], [], []
    for _ in range(n):
        pairs = [grow(rng, GRAMMARS["translations"], part).split("=") for part in GRAMMARS["translations"]]
        share = flaws * rng.beta(1, 1.5)
        made, right = [], []
        for english, french in pairs:
            senses = french.split("/")
            answers = [senses[0], "", english, senses[rng.integers(len(senses))]]
            made.append(answers[rng.choice(4, p=[1 - 3 * share, share, share, share])])
            right.append(made[-1] == senses[0])
        score = np.clip(100 * np.mean(right) + rng.normal(0, 6), 0, 100)
        sources.append(" ".join(english for english, _ in pairs))
        targets.append(" ".join(filter(None, made)))
        quality.append(100 - score if flaws and rng.random() < 1 / 16 else score)
    return sources, targets, np.array(quality)


def senses():
    """How many French phrases a phrase with each English word in it may become: a dictionary of a kind."""
    count = {}
    for part in GRAMMARS["translations"]:
        for english, french in (choice.split("=") for choice in choices(GRAMMARS["translations"], part)):
            for word in english.split():
                count[word] = max(count.get(word, 1), len(french.split("/")))
    return count


def houses(n, seed=0):
    """Columns of houses with categories, dates, blanks and a few odd sales, as tables are."""
    rng = np.random.default_rng(seed)
    size, rooms, garden = rng.gamma(9, 220, n).round(), rng.integers(2, 6, n) * 1.0, rng.random(n) < 0.6
    towns, year = {"Athens": 45, "Chauncey": -20, "The Plains": 0, "Albany": 10}, rng.integers(1990, 2024, n)
    town = rng.choice(list(towns), n)
    price = 20 + 0.085 * size + 6 * rooms + [towns[t] for t in town] + 12 * garden + 1.2 * (year - 1990)
    price *= rng.lognormal(0, 0.1, n) * np.where(rng.random(n) < 0.04, 0.3, 1)  # sold among relatives
    rooms[rng.random(n) < 0.1] = np.nan
    built = [f"{y}-{m:02}-01" for y, m in zip(year, rng.integers(1, 13, n), strict=True)]
    columns = {"floor size": size, "rooms": rooms, "town": town, "garden": garden, "built": built}
    return columns | {"price": price.round(1)}
