"""Context-sensitive spelling: "than" or "then"? A perceptron reads the words around (Banko and Brill 2001).

    python examples/spelling.py [FILE]

The text is real: comments and docstrings of this Python's standard library, or FILE, a plain text.
"""

import re
import sys
from pathlib import Path

import numpy as np

from lineal import MultinomialNB, Perceptron, TextVectorizer, mistake_bound
from lineal.evaluation import evaluate_predictions, mcnemar

SETS = [("its", "it's"), ("than", "then"), ("their", "there"), ("were", "where")]
READER = TextVectorizer(analyzer=str.split, ngrams=(1, 1), weighting="occurrence", norm=None)


def prose(path):
    root = Path(re.__file__).parents[1]  # of the standard library
    files = sorted([*root.glob("[a-z]*.py"), *root.glob("[a-ru-z]*/[a-z]*.py")])  # but site-packages, test
    read = [file.read_text("utf-8", "ignore") for file in ([Path(path)] if path else files)]
    parts = read if path else re.findall(r'^ *""".*?"""$|^ *# [^\n]*$', "\n".join(read), re.M | re.S)
    return re.findall(r"[a-z]+(?:'[a-z]+)?|[.,;:()]", "\n".join(parts).lower())


def around(w, i):
    return " ".join([*(f"{p:+d}:{w[i + p]}" for p in (-3, -2, -1, 1, 2, 3)), f"{w[i - 1]}_*_{w[i + 1]}"])


def main(path=None):
    words, judged, slips = prose(path), [], []
    for pair in SETS:
        places = [i for i, word in enumerate(words) if word in pair and 3 <= i < len(words) - 3]
        test, train = np.split(np.random.default_rng(0).permutation(places), [len(places) // 3])
        (X, y), (Z, truth) = (([around(words, i) for i in p], [words[i] for i in p]) for p in (train, test))
        X, Z, names = READER.fit_transform(X), READER.transform(Z), READER.get_feature_names_out()
        model, bayes = Perceptron(epochs=15).fit(X, y), MultinomialNB().fit(X, y)
        judged.append([truth, model.predict(Z), bayes.predict(Z), [max(pair, key=y.count)] * len(truth)])
        for label, sign in zip(model.classes_, (1, -1), strict=True):
            print(f"{label:>8} if  {'  '.join(names[np.argsort(sign * model.coef_[0])[:7]])}")
        print(f"{model.mistakes_.sum():>8} mistakes in training; {mistake_bound(X, y)}")
        odds = dict(zip(names, bayes.coef_[1] - bayes.coef_[0], strict=True))
        wrong = np.max(bayes.predict_proba(Z), axis=1) * np.not_equal(bayes.predict(Z), truth)
        slips += [(wrong[j], test[j], odds) for j in np.argsort(-wrong)[:3]]
    truth, *answers = np.hstack(judged)
    print(f"{len(truth)} places that were not learned from")
    for name, answer in zip(("perceptron", "naive Bayes", "always the usual"), answers, strict=True):
        print(f"  {name:<17}{evaluate_predictions(truth, answer)['accuracy']}")
    print(*(mcnemar(answers[0] == truth, answer == truth) for answer in answers[1:]), sep="\n")
    print("\nHere author and naive Bayes differ most. Who is right?")
    for _, i, odds in sorted(slips, key=lambda slip: -slip[0])[:3]:
        print(f"  ... {' '.join(words[i - 9 : i])} [{words[i]}] {' '.join(words[i + 1 : i + 9])} ...")
        print("     ", "  ".join(f"{t} {odds[t]:+.1f}" for t in around(words, i).split() if t in odds))


if __name__ == "__main__":
    main(*sys.argv[1:2])
