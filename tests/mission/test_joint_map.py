"""The deck's feature functions phi_j(x, y): what weight would they get?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import JointClassifier, JointPassiveAggressive, JointPerceptron, verify
from lineal.objective import L2, Hinge, Log
from reference.joint_online import averaged, perceptron
from strategies import seeds

DOCUMENTS = [
    ("the bank raised its interest rate", "financial"),
    ("interest on the loan is due", "financial"),
    ("shares fell as rates rose", "financial"),
    ("the report shows interest income", "financial"),
    ("we measured the decay rate; see fig. 2, table 1.", "scientific"),
    ("cells (n = 40) were of interest, however", "scientific"),
    ("results: p < 0.05, as in table 3.", "scientific"),
    ("the striker scored in the final", "sports"),
    ("the team lost the cup final", "sports"),
]


def document_features(x, y):
    """The deck's two: "interest" in x and y = financial; % of words with punctuation and y = scientific."""
    tokens = x.split()
    marked = sum(any(not c.isalnum() for c in token) for token in tokens)
    features = {"interest & financial": float("interest" in tokens and y == "financial")}
    features["% punctuation & scientific"] = 100 * marked / len(tokens) if y == "scientific" else 0.0
    return features | {("bias", y): 1.0}


def test_interest_speaks_for_financial():
    """The deck expects a positive weight for this feature: so it has, under both joint losses."""
    xs, y = zip(*DOCUMENTS, strict=True)
    for loss in (Log(), Hinge()):
        model = JointClassifier(document_features, loss, L2(0.1)).fit(xs, y)
        assert model.weights_["interest & financial"] > 0
        assert model.weights_["% punctuation & scientific"] > 0
        assert verify(model, xs, y).converged
        assert model.predict(["interest is up"]).tolist() == ["financial"]


def test_bank_as_a_verb():
    """Asked what weight it gets: negative where "bank" is mostly a noun, positive where mostly a verb."""

    def tags(x, y):
        return {f"{x} & {y}": 1.0, ("ends in", x[-1], y): 1.0}

    others = [("run", "Verb"), ("go", "Verb"), ("river", "Noun"), ("house", "Noun")]
    nouns = [("bank", "Noun")] * 5 + [("bank", "Verb")] + others
    verbs = [("bank", "Verb")] * 5 + [("bank", "Noun")] + others
    for corpus, sign in ((nouns, -1), (verbs, 1)):
        model = JointClassifier(tags).fit(*zip(*corpus, strict=True))
        assert sign * model.weights_["bank & Verb"] > 0


def test_translation_phrases_are_features_of_both_sides():
    """y may be a sentence: "are there any" beside "are there" learns which phrase is preferred."""

    def phrases(x, y):
        there = "y a-t-il" in x
        return {"are there": float(there and "are there" in y), "any": float(there and "are there any" in y)}

    xs = ["y a-t-il des questions", "y a-t-il du pain", "y a-t-il des pommes"]
    y = ["are there any questions", "is there bread", "are there any apples"]
    model = JointClassifier(phrases, labels=[*y, "are there questions", "are there apples"]).fit(xs, y)
    assert model.weights_["any"] > model.weights_["are there"]
    assert "are there any" in model.predict(["y a-t-il des poires"])[0]


# ---- the perceptron as the deck prints it ------------------------------------------------------


def topics(x, y):
    """Words beside their label, and one feature that labels share: the label's own word is in the text."""
    return {(word, y): 1 for word in x.split()} | {"named": float(y in x.split())}


def traced(learner, xs, ys, labels):
    """The weights after every example, and those that are not 0 alone."""
    for x, y in zip(xs, ys, strict=True):
        learner.partial_fit([x], [y], classes=labels)
        yield {name: weight for name, weight in learner.weights_.items() if weight}


def test_a_trace_by_hand():
    """The first label wins the tie at the start; a feature that labels share has one weight, which an
    example of either changes."""
    xs = ["interest", "cup interest", "money", "cup"]
    ys = ["money", "cup", "money", "cup"]
    plain = traced(JointPerceptron(topics, "plain"), xs, ys, ["cup", "money"])
    one = {("interest", "money"): 1, ("interest", "cup"): -1}
    # cup: -1 + 0; money: 1: a mistake, and "named" fires for cup.
    two = {("cup", "cup"): 1, ("cup", "money"): -1, "named": 1}
    # "named" speaks for money: right. Then cup has 1 + 1: right.
    assert list(plain) == [one, two, two, two]
    means = traced(JointPerceptron(topics), xs, ys, ["cup", "money"])
    halves = {name: weight / 2 for name, weight in (one | two).items()}
    assert list(means)[:2] == [one, halves]


def test_the_passive_aggressive_step_by_hand():
    """d = phi(x, y) - phi(x, y') has |d|^2 = 2 and then 5; tau = 1 / 2, then (1 + 1/2) / 5 for the lead that
    is missing; C limits it, or is weighed against it."""
    xs, ys, labels = ["interest", "cup interest"], ["money", "cup"], ["cup", "money"]
    first = {("interest", "money"): 1, ("interest", "cup"): -1}
    second = {
        ("cup", "cup"): 1,
        ("interest", "cup"): 1,
        ("cup", "money"): -1,
        ("interest", "money"): -1,
        "named": 1,
    }
    for variant, taus in (("PA", (0.5, 0.4)), ("PA-I", (0.25, 0.25)), ("PA-II", (0.25, 1.5 / 7))):
        trace = list(traced(JointPassiveAggressive(topics, variant, C=0.25), xs, ys, labels))
        wanted = {name: taus[0] * first.get(name, 0) for name in first | second}
        assert trace[0] == pytest.approx({name: taus[0] * value for name, value in first.items()})
        wanted = {name: value + taus[1] * second.get(name, 0) for name, value in wanted.items()}
        assert trace[1] == pytest.approx(
            {name: value for name, value in wanted.items() if abs(value) > 1e-12}
        )


@given(seeds(), st.integers(2, 4))
def test_every_example_follows_the_printed_algorithm(seed, n_labels):
    """Whole numbers, shared features and ties: after every example the weights, and their running average."""
    rng = np.random.default_rng(seed)
    table = rng.integers(-2, 3, size=(12, n_labels, 5))
    labels = list("abcd"[:n_labels])
    ys = [labels[k] for k in rng.integers(0, n_labels, 12)]

    def phi(x, y):
        return {j: int(value) for j, value in enumerate(table[x, labels.index(y)]) if value}

    for variant, follow in (("plain", lambda trace: trace), ("averaged", averaged)):
        learner = JointPerceptron(phi, variant, labels=labels, epochs=2, shuffle=False)
        wanted = list(follow(perceptron(phi, range(12), ys, labels, 3)))
        model = learner.fit(range(12), ys)  # two epochs at once, the third example by example
        for i in range(12):
            assert model.weights_ == pytest.approx(
                {name: wanted[23 + i].get(name, 0.0) for name in model.weights_}
            )
            model.partial_fit([i], [ys[i]])
        assert model.weights_ == pytest.approx({name: wanted[-1].get(name, 0.0) for name in model.weights_})


def test_interest_and_bank_are_learned_from_mistakes():
    """The deck's features again: "interest" speaks for financial, "bank" for Verb where it mostly is one."""
    xs, y = zip(*DOCUMENTS, strict=True)
    model = JointPerceptron(document_features, until_convergence=False, epochs=50).fit(xs, y)
    assert model.weights_["interest & financial"] > 0
    corpus = [("bank", "Verb")] * 5 + [("run", "Verb"), ("river", "Noun"), ("house", "Noun")]
    for kind in (JointPerceptron, JointPassiveAggressive):
        tagger = kind(lambda x, y: {f"{x} & {y}": 1.0, y: 1.0}).fit(*zip(*corpus, strict=True))
        assert tagger.predict(["bank", "river"]).tolist() == ["Verb", "Noun"]
        assert tagger.weights_["bank & Verb"] >= 0
