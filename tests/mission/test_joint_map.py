"""The deck's feature functions phi_j(x, y): what weight would they get?"""

from lineal import JointClassifier, verify
from lineal.objective import L2, Hinge, Log

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
