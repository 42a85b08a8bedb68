"""An explanation of a stored model is an identity: intercept and contributions add up to the score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lineal
import model_samples as samples
from lineal.errors import ParameterError
from lineal.learners.freezing import freeze

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

words = st.lists(st.sampled_from([*samples.WORDS.tolist(), "unknown", "GOOD"]), max_size=30)


@pytest.fixture(scope="module")
def of_texts():
    """A model of texts, by two readers."""
    return freeze(samples.of_texts("side by side"))


@pytest.fixture(scope="module")
def of_tables():
    """A model of tables."""
    return freeze(samples.of_tables("chosen"))


def adds_up(explanation):
    """The score is what its parts sum to, exactly, and each part is a value times a weight."""
    total = explanation.intercept + sum(term.contribution for term in explanation.terms)
    assert explanation.score == total
    assert all(term.contribution == term.value * term.weight for term in explanation.terms)


@given(drawn=words)
def test_contributions_of_terms_sum_to_the_score(of_texts, drawn):
    """For every class; and the score is the decision value, but for the order of the sum."""
    text = " ".join(drawn)
    scores = of_texts.decision_function([text, ""])[0]
    for place, label in enumerate(of_texts.classes_):
        explanation = of_texts.explain(text, label)
        adds_up(explanation)
        assert np.isclose(explanation.score, scores[place], rtol=1e-9, atol=1e-9)


@given(drawn=words)
def test_tokens_share_what_the_terms_contribute(of_texts, drawn):
    """Every term of words lies in some token, so what is dealt out to the tokens is the whole sum."""
    explanation = of_texts.explain(" ".join(drawn))
    dealt = sum(share for _, share in explanation.tokens)
    assert np.isclose(dealt, explanation.score - explanation.intercept, rtol=1e-9, atol=1e-9)


@given(row=st.integers(0, samples.N - 1))
def test_columns_of_a_table_share_the_score(of_tables, row):
    """Of two labels one is the other's negative; the columns of a table share the same sum."""
    record = {name: column[row] for name, column in samples.table().items()}
    one, other = (of_tables.explain(record, label) for label in of_tables.classes_)
    adds_up(one)
    adds_up(other)
    assert one.score == -other.score
    assert np.isclose(one.intercept + sum(share for _, share in one.columns), one.score, rtol=1e-9)


def test_a_regression_is_explained_by_its_prediction():
    """The score is the number that is predicted."""
    X = samples.matrix()
    model = freeze(lineal.Ridge().fit(X, samples.numbers()))
    for row in X[:20]:
        explanation = model.explain(row)
        adds_up(explanation)
        assert np.isclose(explanation.score, model.predict([row])[0], rtol=1e-12)


@pytest.mark.parametrize("kind", [lineal.OneVsOne, lineal.OutputCode])
def test_votes_are_no_sums_of_weights(kind):
    """What is not linear is refused rather than explained wrongly."""
    X, y = samples.matrix(), samples.three_labels()
    with pytest.raises(ParameterError, match="no sum of weights"):
        freeze(kind().fit(X, y)).explain(X[0])
