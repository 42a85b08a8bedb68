"""Translation quality without a reference: features of both segments, and a regression that forgives judges.

    python examples/translation_quality.py

Segments, translations and judgements are made up; one judge in sixteen held the scale upside down.
"""

import re
from collections import Counter
from itertools import pairwise

import made_up
import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import make_pipeline

from lineal import ColumnScaler, LinearRegressor, TableVectorizer, compare, evaluate
from lineal.objective import L2, Huber, Squared


def features(sources, targets, french):
    """A row of numbers for each pair of segments; ``french`` is what the language model has read."""
    pairs = Counter(pair for text in french for pair in pairwise(["^", *text.split(), "$"]))
    words, senses = Counter(word for word, _ in pairs.elements()), made_up.senses()
    for source, target in zip(sources, targets, strict=True):
        path = pairwise(["^", *target.split(), "$"])
        chances = [(pairs[a, b] + 1) / (words[a] + len(words)) for a, b in path]
        lost = [len(re.findall(p, source)) - len(re.findall(p, target)) for p in (r"\d+", r"[^\w\s]")]
        yield {
            "source tokens": len(source.split()),
            "target / source tokens": len(target.split()) / len(source.split()),
            "log probability of target": np.log(chances).mean(),
            "% target words unknown": 100 * np.mean([word not in words for word in target.split() or [""]]),
            "translations per word": np.mean([senses[word] for word in source.split()]),
            **dict(zip(("numbers lost", "punctuation lost"), lost, strict=True)),
        }


def main(n=500):
    sources, targets, y = made_up.translations(3 * n)
    X = list(features(sources, targets, made_up.translations(400, seed=1, flaws=0)[1]))
    scaled = [TableVectorizer(sparse_output=False), ColumnScaler("variance", shift=True)]
    losses = {"squared loss": Squared(), "Huber loss": Huber(8.0)}
    models = {k: make_pipeline(*scaled, LinearRegressor(loss, L2(1.0))) for k, loss in losses.items()}
    models["always the mean"] = DummyRegressor()
    result = compare(models, X[:n], y[:n], X_test=X[n:], y_test=y[n:], metric="mae")
    print(f"{n} made-up translations to learn from, {2 * n} to judge by; quality is 0 to 100")
    print(*(f"  {name:<16}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    *maps, linear = result.models["Huber loss"]
    print(f"\nHuber loss: {evaluate(result.models['Huber loss'], X[n:], y[n:])['spearman']}")
    print(f"certificate: proved to be within {linear.certificate_.relative_gap:.1e} of the least objective")
    Z = make_pipeline(*maps).transform(X)
    worst = int(np.argmin(linear.predict(Z)))
    print(f"\n{sources[worst]}\n{targets[worst]}\n  {linear.intercept_:+7.2f}  for any pair")
    for name, z, weight in zip(X[0], Z[worst], linear.coef_, strict=True):
        print(f"  {z * weight:+7.2f}  {name} = {X[worst][name]:.3g} (weight {weight:+.2f} a deviation)")


if __name__ == "__main__":
    main()
