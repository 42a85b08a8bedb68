"""Which module does a docstring come from? Trained on the running Python's own standard library.

The data are on every machine: the docstrings of public functions and classes, labelled by their module.
A bag of words, a softmax model, a certificate, and the words that each module is recognised by.
"""

import inspect
import pkgutil
import re
import sys
import warnings
from collections import Counter
from importlib import import_module

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from lineal import LogisticRegression, verify

SKIPPED = {"antigravity", "this", "idlelib", "test", "turtledemo", "lib2to3", "tkinter", "turtle", "__main__"}


def modules():
    """Public top-level modules of the standard library, and the parts of its packages."""
    for name in sorted(sys.stdlib_module_names):
        if name.startswith("_") or name in SKIPPED:
            continue
        try:
            module = import_module(name)
        except Exception:  # a module of another platform, or one built without its C library
            continue
        yield name, module
        for part in pkgutil.iter_modules(getattr(module, "__path__", [])):
            if not part.name.startswith("_") and part.name not in SKIPPED:
                try:
                    yield name, import_module(f"{name}.{part.name}")
                except Exception:
                    continue


def docstrings():
    """(text, module) for every documented public function, class and method; each text once."""
    seen = set()
    for label, module in modules():
        things = [t for n, t in vars(module).items() if not n.startswith("_")]
        things += [
            m for t in things if inspect.isclass(t) for n, m in vars(t).items() if not n.startswith("_")
        ]
        for thing in things:
            text = thing.__doc__ if isinstance(getattr(thing, "__doc__", None), str) else ""
            home = str(getattr(thing, "__module__", label) or label).split(".")[0]
            if len(text) > 20 and text not in seen and home == label:
                seen.add(text)
                yield text, label


def bag_of_words(texts, vocabulary=None):
    """Rows of word weights, log-scaled and of unit length; the vocabulary is every word seen twice."""
    counts = [Counter(re.findall(r"[a-z]{2,}", text.lower())) for text in texts]
    if vocabulary is None:
        spread = Counter(word for row in counts for word in row)
        vocabulary = {word: i for i, word in enumerate(sorted(w for w, n in spread.items() if n >= 2))}
    start, index, value = [0], [], []
    for row in counts:
        known = [(vocabulary[w], 1 + np.log(n)) for w, n in row.items() if w in vocabulary]
        length = np.sqrt(sum(v * v for _, v in known)) or 1.0
        index += [i for i, _ in known]
        value += [v / length for _, v in known]
        start.append(len(index))
    return sp.csr_array((value, index, start), shape=(len(counts), len(vocabulary))), vocabulary


def main():
    warnings.simplefilter("ignore")  # old modules warn as they are imported
    texts, labels = (np.array(column, dtype=object) for column in zip(*docstrings(), strict=True))
    frequent = {label for label, n in Counter(labels).items() if n >= 40}
    keep = np.array([label in frequent for label in labels])
    texts, labels = texts[keep], labels[keep].astype(str)
    order = np.random.default_rng(0).permutation(len(texts))
    test, train = order[: len(order) // 4], order[len(order) // 4 :]
    X, vocabulary = bag_of_words(texts[train])
    model = LogisticRegression(C=30, progress=True).fit(X, labels[train])
    X_test, _ = bag_of_words(texts[test], vocabulary)
    right = model.predict(X_test) == labels[test]
    words = np.array(list(vocabulary))

    console = Console()
    console.print(
        f"\n[bold]Which module is this docstring from?[/bold]  {len(train)} docstrings to learn from, "
        f"{len(test)} to test, {len(frequent)} modules, {len(vocabulary)} words.\n"
    )
    table = Table("module", "right", "known by", box=None, pad_edge=False)
    common = Counter(labels[test]).most_common(14)
    for label, n in common:
        best = words[np.argsort(-model.coef_[list(model.classes_).index(label)])[:6]]
        table.add_row(label, f"{right[labels[test] == label].sum():>3} of {n}", ", ".join(best))
    console.print(table)
    share, z = right.mean(), 1.96
    centre, n = (share + z * z / (2 * len(test))) / (1 + z * z / len(test)), len(test)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    guess = (labels[test] == Counter(labels[train]).most_common(1)[0][0]).mean()
    console.print(
        f"\naccuracy     {share:.1%}  (95 % interval {centre - half:.1%} to {centre + half:.1%}); "
        f"always guessing the largest: {guess:.1%}"
    )
    console.print(f"plan         {model.plan_}")
    console.print(f"certificate  {model.certificate_}")
    again = verify(model, X, labels[train])
    console.print(f"verified     relative gap {again.relative_gap:.2e}, recomputed in NumPy alone")
    doc = "Return the arc cosine (measured in radians) of x."
    p = model.predict_proba(bag_of_words([doc], vocabulary)[0])[0]
    console.print(f'\n"{doc}"  →  {", ".join(f"{model.classes_[i]} {p[i]:.0%}" for i in np.argsort(-p)[:3])}')


if __name__ == "__main__":
    main()
