"""Deceptive reviews: who was never at the hotel? Words, style, and both, judged on hotels not learned from.

    python examples/deceptive_reviews.py [FILE]

The reviews are made up; FILE may be a table of real ones with columns text, deceptive and hotel.
"""

import re
import sys

import made_up
import numpy as np
import pyarrow.csv as pc
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from lineal import LinearSVC, Perceptron, TextClassifier, TextVectorizer, compare, evaluate

PATTERNS = {
    "% first person": r"\b(?:i|my|we|our|me|us)\b",
    "% exclamation": r"!",
    "% SHOUTED": r"(?-i:\b[A-Z]{2,}\b)",
    "% figures": r"[$\d][\d.]*",
    "% other punctuation": r"[^\w\s!$]",
}
STYLE = {k: lambda t, p=p: len(re.findall(p, t, re.I)) / len(t.split()) for k, p in PATTERNS.items()}


def reviews(path):
    """Texts, whether they deceive, and their hotels."""
    if path is None:
        return made_up.stays(60)
    table = pc.read_csv(path, parse_options=pc.ParseOptions(newlines_in_values=True))
    return [table[name].to_pylist() for name in ("text", "deceptive", "hotel")]


def main(path=None):
    texts, labels, hotels = (np.array(column, dtype=object) for column in reviews(path))
    pairs = {"weighting": "occurrence", "min_df": 2}
    readers = {"words": TextVectorizer(**pairs), "words and style": TextVectorizer(**pairs, functions=STYLE)}
    readers["style"] = TextVectorizer(vocabulary=["hotel"], functions=STYLE)
    models = {k: TextClassifier(vectorizer=reader, learner=LinearSVC(C=2)) for k, reader in readers.items()}
    models["always one"] = DummyClassifier()
    print(f"{len(texts)} {'real' if path else 'made-up'} reviews of {len(set(hotels))} hotels")
    result = compare(models, texts, labels, cv=GroupKFold(5), groups=hotels)
    print(*(f"  {name:<17}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    kept = hotels != hotels[0]
    model = models["words and style"].fit(texts[kept], labels[kept])
    print(f"\non {hotels[0]} alone: {evaluate(model, texts[~kept], labels[~kept])['roc_auc']}")
    print(f"certificate: proved to be within {model.certificate_.relative_gap:.1e} of the least objective")
    perceptron = make_pipeline(TextVectorizer(**pairs), Perceptron("random", epochs=1)).fit(texts, labels)
    print(f"a perceptron, after one pass: {perceptron[1].generalization_bound(confidence=0.95)}")
    print(f'\n"{texts[0][:300]}" ({labels[0]})\n{model.explain(texts[0])}')


if __name__ == "__main__":
    main(*sys.argv[1:2])
