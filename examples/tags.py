"""Part-of-speech tags from features of a word and a tag together, such as ("ends in", "ly", ADV).

    python examples/tags.py [FILE]

The sentences are made up, and so are many of their words; FILE may hold real ones in CoNLL-U format.
"""

import sys
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import made_up
import numpy as np

from lineal import JointClassifier
from lineal.evaluation import evaluate_predictions, mcnemar


def conllu(path):
    for block in Path(path).read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines()]
        yield [(row[1], row[3]) for row in rows if row[0].isdigit()]


def phi(dictionary, x, y):
    """Features of a word between its neighbours and a tag; the first has one weight for all tags."""
    before, word, after = x
    joint = {"word": word.lower(), "before": before.lower(), "after": after.lower(), "ends in": word[-2:]}
    joint["has a capital"] = before != "^" and word[0].isupper()
    shared = {"the dictionary allows it": float(y in dictionary.get(word.lower(), ()))}
    return shared | {(name, value, y): 1 for name, value in joint.items()}


def main(path=None, n=800):
    rows, seen = [], defaultdict(Counter)
    for sentence in conllu(path) if path else made_up.tagged(300):
        words = ["^", *(word for word, _ in sentence), "$"]
        rows += [(tuple(words[i : i + 3]), tag) for i, (_, tag) in enumerate(sentence)]
    for (_, word, _), tag in rows[:n]:  # a dictionary from the first words, a model from the next
        seen[word.lower()][tag] += 1
    (X, y), (Z, truth) = (zip(*rows[i : i + n], strict=True) for i in (n, 2 * n))
    model = JointClassifier(partial(phi, dict(seen))).fit(X, y)
    usual = Counter(y).most_common(1)
    answers = {"joint model": model.predict(Z), f"always {usual[0][0]}": [usual[0][0]] * n}
    answers["its usual tag"] = [(seen[word.lower()].most_common(1) or usual)[0][0] for _, word, _ in Z]
    print(f"{n} {'real' if path else 'made-up'} words to judge by, {len(model.classes_)} tags")
    print(*(f"  {k:<14}{evaluate_predictions(truth, a)['accuracy']}" for k, a in answers.items()), sep="\n")
    print(mcnemar(*(np.equal(answers[name], truth) for name in ("joint model", "its usual tag"))))
    print(f"certificate: proved to be within {model.certificate_.relative_gap:.1e} of the least objective\n")
    print(*(f"{weight:+.2f}  {name}" for name, weight in model.top_features(9)), sep="\n")
    x = ("can", "bank", "the")
    print(f"\n{' '.join(x)}: {model.predict([x])[0]}, for the weights of what is there add up to")
    for tag in ("NOUN", "VERB"):
        shares = [value * model.weights_.get(name, 0) for name, value in phi(seen, x, tag).items()]
        print(f"  {tag} {sum(shares):+.2f} =", *(f"{share:+.2f}" for share in shares))


if __name__ == "__main__":
    main(*sys.argv[1:2])
