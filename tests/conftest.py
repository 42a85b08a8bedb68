"""Settings shared by all tests."""

import pytest
from hypothesis import settings

# The same examples on every machine: a theorem that fails here fails everywhere.
settings.register_profile("lineal", deadline=None, derandomize=True, max_examples=25, database=None)
settings.load_profile("lineal")


@pytest.fixture
def plt(monkeypatch):
    """matplotlib without a screen; its settings must be as before, and nothing may be shown."""
    matplotlib = pytest.importorskip(
        "matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]"
    )
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    monkeypatch.setattr(pyplot, "show", lambda *a, **k: pytest.fail("plot() showed a figure"))
    before = dict(pyplot.rcParams)
    yield pyplot
    pyplot.close("all")
    assert dict(pyplot.rcParams) == before
