"""Spam: naive Bayes by counting words, and a maximum-entropy model that also sees how a message is written.

    python examples/spam.py [FILE]

The messages are made up; FILE may be a table of real ones with columns label (ham, spam) and text.
"""

import re
import sys
from collections import Counter

import made_up
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

from lineal import LogisticRegression, MultinomialNB, TextClassifier, TextVectorizer, compare, evaluate
from lineal.data import read_texts


def style(known):
    """What a message looks like, whatever it says: numbers from 0 to 1, each with a name."""
    marks = {"% capitals": r"[A-Z]", "% digits": r"\d", "% punctuation": r"[^\w\s]"}
    shares = {k: lambda t, p=p: len(re.findall(p, t)) / max(len(t), 1) for k, p in marks.items()}

    def misspelt(text):
        words = re.findall(r"[a-z]+", text.lower())
        return sum(word not in known for word in words) / max(len(words), 1)

    return {**shares, "% misspelt words": misspelt, "length": lambda text: min(len(text) / 200, 1)}


def main(path=None):
    texts, labels = map(list, read_texts(path) if path else made_up.messages(2000))
    order = np.random.default_rng(0).permutation(len(texts))
    train, test = np.array_split(order, 2)
    X, y = np.array(texts, dtype=object), np.array(labels)
    counts = Counter(word for text in X[train] for word in re.findall(r"[a-z]+", text.lower()))
    known = {word for word, n in counts.items() if n >= 4}  # a dictionary: what several senders spell so
    words = TextVectorizer(ngrams=(1, 1), weighting="counts", sublinear=False, norm=None)
    both = TextVectorizer(ngrams=(1, 1), weighting="occurrence", functions=style(known))
    models = {"always ham": DummyClassifier(), "naive Bayes": make_pipeline(words, MultinomialNB())}
    models["words and style"] = TextClassifier(vectorizer=both, learner=LogisticRegression(C=10))
    result = compare(models, X[train], y[train], X_test=X[test], y_test=y[test])
    print(f"{len(train)} {'real' if path else 'made-up'} messages to learn from, {len(test)} to judge by")
    print(*(f"  {name:<17}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    bayes, model = result.models["naive Bayes"], result.models["words and style"]
    found = evaluate(model, X[test], y[test]).per_class["spam"]
    print(f"\nwords and style, spam: {found['recall']}, {found['precision']}")
    print(f"certificate: proved to be within {model.certificate_.relative_gap:.1e} of the least objective")
    names, (ham, spam) = bayes[0].get_feature_names_out(), bayes[1].coef_  # ln p(word | label)
    top = [f"{names[i]} ×{np.exp(spam[i] - ham[i]):.0f}" for i in np.argsort(ham - spam)[:8]]
    print("more frequent in spam:", ", ".join(top))
    text = next(text for text in X[test] if model.predict([text])[0] == "spam")
    print(f'\n"{text}"\n{model.explain(text)}')


if __name__ == "__main__":
    main(*sys.argv[1:2])
