"""Which module does a docstring come from? Trained on the running Python's own standard library.

The data are on every machine: the docstrings of public functions and classes, labelled by their module.
``TextClassifier`` takes them as they are. Printed are how well it does, what it chose, the certificate of its
model, the words that each module is recognised by, and why one sentence goes where it goes.
"""

import inspect
import pkgutil
import sys
import time
import warnings
from collections import Counter
from importlib import import_module

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lineal import TextClassifier, verify

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


def split():
    """Texts and labels of modules with 40 docstrings or more, for learning, and a quarter for testing."""
    texts, labels = (np.array(column, dtype=object) for column in zip(*docstrings(), strict=True))
    n_of = Counter(labels)
    keep = np.array([n_of[label] >= 40 for label in labels])
    texts, labels = texts[keep], labels[keep].astype(str)
    order = np.random.default_rng(0).permutation(len(texts))
    test, train = order[: len(order) // 4], order[len(order) // 4 :]
    return texts[train].tolist(), labels[train], texts[test].tolist(), labels[test]


def interval(share, n, z=1.96):
    """Wilson's interval of a share of n."""
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def main():
    warnings.simplefilter("ignore")  # old modules warn as they are imported
    texts, labels, new_texts, truth = split()
    console = Console()
    console.print(
        f"\n[bold]Which module is this docstring from?[/bold]  {len(texts)} docstrings to learn from, "
        f"{len(new_texts)} to test, {len(set(labels))} modules.\n"
    )
    began = time.perf_counter()
    model = TextClassifier().fit(texts, labels)
    seconds = time.perf_counter() - began
    right = model.predict(new_texts) == truth

    table = Table("module", "right", "known by", box=None, pad_edge=False)
    is_word = set(model.vectorizers_[0].get_feature_names_out()).__contains__  # not a piece of one
    best = model.top_features(100)
    for label, n in Counter(truth.tolist()).most_common(14):
        known_by = [name for name, _ in best[label] if is_word(name) and len(name) > 2 and " " not in name]
        known_by = ", ".join(list(dict.fromkeys(known_by))[:6])
        table.add_row(label, f"{right[truth == label].sum():>3} of {n}", known_by)
    console.print(table)
    low, high = interval(right.mean(), len(right))
    guess = (truth == Counter(labels.tolist()).most_common(1)[0][0]).mean()
    console.print(
        f"\naccuracy     {right.mean():.1%}  (95 % interval {low:.1%} to {high:.1%}); "
        f"always guessing the largest: {guess:.1%}"
    )
    console.print(f"plan         {model.plan_}  ({seconds:.1f} s)")
    console.print(f"certificate  {model.certificate_}")
    X = sp.hstack([vectorizer.transform(texts) for vectorizer in model.vectorizers_], format="csr")
    again = verify(model.model_, X, labels)
    console.print(f"verified     relative gap {again.relative_gap:.2e}, recomputed in NumPy alone\n")

    doc = "Return the arc cosine (measured in radians) of x."
    p = model.predict_proba([doc])[0]
    console.print(f'"{doc}"  →  {", ".join(f"{model.classes_[i]} {p[i]:.0%}" for i in np.argsort(-p)[:3])}')
    why = model.explain(doc)
    line = Text(f"because      {why.intercept:+.2f}")
    for token, share in why.tokens:
        line.append(f"  {token} ")
        line.append(f"{share:+.2f}", "green" if share > 0.005 else "red" if share < -0.005 else "dim")
    console.print(line + Text(f"  =  {why.score:+.2f} for {why.label}"))


if __name__ == "__main__":
    main()
