"""Settings shared by all tests."""

import sys

import pytest
from hypothesis import settings

# The same examples on every machine: a theorem that fails here fails everywhere.
settings.register_profile("lineal", deadline=None, derandomize=True, max_examples=25, database=None)
settings.load_profile("lineal")

# No test needs as much: whoever asks for a matrix of all unknowns of a large problem is told here.
_MOST_MEMORY = 1.5e9  # bytes


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that raises the most memory its process has used so far by more than that is a failure."""
    before = _most_memory()
    outcome = yield
    grown = _most_memory() - before
    assert grown <= _MOST_MEMORY, f"the test took {grown / 1e9:.1f} GB of memory"
    return outcome


def _most_memory() -> float:
    """Bytes of memory that this process has had at once; 0 where the system does not count them."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


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
