"""Ten pictures of models on generated data: what they minimise, where they draw the line, how good they are.

    python examples/many_models.py FOLDER

writes them there (to the present folder if none is named) and prints the tables behind them. Needs
``pip install lineal[plot]``.
"""

import sys
from pathlib import Path

import numpy as np

import lineal
from lineal import plot
from lineal.objective import L2, Hinge

BLAME, PRAISE = ["bad", "dull", "awful", "boring"], ["good", "great", "moving", "superb"]
REST = ["the", "a", "this", "film", "cast", "plot", "music", "ending", "was", "and", "with", "but"]


def clouds(n_classes, n_rows, n_columns, apart, seed=0):
    """Rows around a centre for each class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    return apart * rng.normal(size=(n_classes, n_columns))[y] + rng.normal(size=(n_rows, n_columns)), y


def reviews(n, seed=0):
    """Texts of ten words: two of the label's opinion, one of any, and the rest."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["neg", "pos"], n)
    own = {"neg": BLAME, "pos": PRAISE}
    texts = [[*rng.choice(own[label], 2), rng.choice(BLAME + PRAISE), *rng.choice(REST, 7)] for label in y]
    return [" ".join(rng.permutation(words)) for words in texts], y


def pictures():
    """Names and results."""
    X, y = clouds(2, 700, 20, apart=0.25)
    learners = {"logistic": lineal.LogisticRegression(), "neighbours": lineal.KNeighborsClassifier(9)}
    judged = {name: learner.fit(X[:300], y[:300]) for name, learner in learners.items()}, X[300:], y[300:]
    Z, topics = clouds(20, 2000, 12, apart=0.8)
    many = lineal.LogisticRegression().fit(Z[:800], topics[:800])
    machines = {f"strength {s:g}": lineal.LinearClassifier(Hinge(), L2(s)) for s in (0.1, 20.0)}
    critic = lineal.TextClassifier(vectorizer=lineal.TextVectorizer()).fit(*reviews(300))
    yield "losses", plot.surrogate_losses()
    yield "margins", plot.decision_regions(machines, *clouds(2, 80, 2, apart=1.2, seed=2), margins=True)
    yield "learning_curves", plot.learning_curve(learners, X, y)
    yield "scores", plot.model_scores(lineal.compare({**learners, "naive Bayes": lineal.GaussianNB()}, X, y))
    yield "roc", plot.roc(*judged)
    yield "precision_recall", plot.precision_recall(*judged)
    yield "calibration", plot.calibration(*judged)
    yield "confusion", plot.confusion(lineal.evaluate(many, Z[800:], topics[800:]))
    yield "weights", plot.weights_by_class(critic)
    text = "A superb cast and moving music, but the ending was awful."
    yield "words", plot.word_contributions(critic, text)


def main(folder="."):
    import matplotlib

    matplotlib.use("Agg")  # no screen is needed
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, result in pictures():
        result.plot()[0].figure.savefig(Path(folder) / f"{name}.png", dpi=110)
        print(f"{name}.png\n\n{result}\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
