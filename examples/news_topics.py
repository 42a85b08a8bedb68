"""News topics: a model that learns from each story as it comes in, and meets a new desk half-way.

    python examples/news_topics.py [FILE]

The stories are made up; FILE may be a table of real ones with columns label and text.
"""

import sys

import made_up
import numpy as np
from sklearn.dummy import DummyClassifier

from lineal import TextClassifier, TextVectorizer, compare, evaluate
from lineal.data import read_texts
from lineal.evaluation import wilson_interval


def stream(texts, labels):
    """Batches of fifty stories; each is predicted before it is learned from."""
    model, seen = TextClassifier(vectorizer=TextVectorizer(n_features=2**16, weighting="counts")), 0
    for start in range(0, len(texts), 50):
        batch = slice(start, start + 50)
        model.partial_fit(texts[batch], labels[batch])
        if len(model.classes_) > seen:
            print(f"  story {start:>5}: {len(model.classes_)} topics known, {', '.join(model.classes_[:6])}")
            seen = len(model.classes_)
    return model


def main(path=None):
    texts, labels = map(list, read_texts(path) if path else made_up.stories(3000))
    order = np.random.default_rng(0).permutation(len(texts))
    X, y = np.array(texts, dtype=object)[order], np.array(labels)[order]
    train, test = slice(0, 2 * len(y) // 3), slice(2 * len(y) // 3, None)
    late = (y[train] == y[0]) & (np.arange(len(y[train])) < len(y) // 3)  # this desk opens half-way
    print(f"{'Real' if path else 'Made-up'} stories as they come in:")
    online = stream(X[train][~late], y[train][~late])
    n, right = online.n_seen_, online.online_accuracy_
    interval = wilson_interval(round(n * right), n)
    print(f"  right before learned from: {right:.4f} of {n}, 95 % interval {interval}\n")
    words = TextVectorizer(ngrams=(1, 1), weighting="occurrence")
    models = {"stream": online, "always one": DummyClassifier().fit(X[train], y[train])}
    models["all at once"] = TextClassifier(vectorizer=words).fit(X[train], y[train])
    result = compare(models, X_test=X[test], y_test=y[test], refit=False)
    print(*(f"  {name:<12}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    model = models["all at once"]
    scores = evaluate(model, X[test], y[test])
    print(f"\nall at once: {scores['f1_macro']}, {scores['roc_auc']}")
    print(f"certificate: proved to be within {model.certificate_.relative_gap:.1e} of the least objective")
    for label, features in list(model.top_features(7).items())[:6]:
        print(f"  {label}: {', '.join(name for name, _ in features)}")
    text = "Interest in the river bank rose after the match, under record pressure."
    print(f'\n"{text}"\n{model.explain(text)}')


if __name__ == "__main__":
    main(*sys.argv[1:2])
