"""Sentiment: do negations, and a lexicon of opinion words, improve on a bag of words?

    python examples/sentiment.py [FILE]

The reviews are made up, and few are labelled; FILE may be a table of real ones with columns label and text.
"""

import re
import sys

import made_up
import numpy as np
from sklearn.dummy import DummyClassifier

from lineal import TextClassifier, TextVectorizer, compare, evaluate, verify
from lineal.data import read_texts

GOOD, BAD = (set(made_up.choices(made_up.GRAMMARS["reviews"], name)) for name in ("praise", "blame"))


def opinions(sign):
    """A function that counts what speaks for or against: words of the lexicon, turned by a negation."""

    def count(text):
        words = re.findall(r"\w+", text.lower())
        turns = [-1 if before in ("not", "never") else 1 for before in ["", *words]]
        signs = [turn * ((word in GOOD) - (word in BAD)) for turn, word in zip(turns, words, strict=False)]
        return signs.count(sign) / 2

    return count


def main(path=None):
    texts, labels = map(list, read_texts(path) if path else made_up.reviews(1320))
    order = np.random.default_rng(0).permutation(len(texts))
    X, y = np.array(texts, dtype=object), np.array(labels)
    train, test = np.split(order, [len(order) // 2 if path else 120])
    plain = {"ngrams": (1, 1), "weighting": "occurrence"}
    ways = {"bag of words": {}, "with negations": {"negation": True}}
    ways["with a lexicon"] = {"negation": True, "functions": {"praise": opinions(1), "blame": opinions(-1)}}
    models = {k: TextClassifier(vectorizer=TextVectorizer(**plain, **way)) for k, way in ways.items()}
    models["always one"] = DummyClassifier()
    result = compare(models, X[train], y[train], X_test=X[test], y_test=y[test])
    print(f"{len(train)} {'real' if path else 'made-up'} reviews to learn from, {len(test)} to judge by")
    print(*(f"  {name:<16}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    model = result.models["with a lexicon"]
    found = evaluate(model, X[test], y[test])
    print(f"\nwith a lexicon: {found['roc_auc']}, {found['calibration_error']}")
    proof = verify(model.model_, model.vectorizers_[0].transform(X[train]), y[train])
    print(f"certificate: proved to be within {proof.relative_gap:.1e} of the least objective, in NumPy alone")
    for label, features in model.top_features(8).items():
        print(f"{label}: {', '.join(f'{name} {weight:+.2f}' for name, weight in features)}")
    text = "Such terrible monsters, such a superb script, never dull: so bad it was good!"
    print(f'\n"{text}"\n{model.explain(text)}')


if __name__ == "__main__":
    main(*sys.argv[1:2])
