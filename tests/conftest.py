"""Settings shared by all tests."""

from hypothesis import settings

# The same examples on every machine: a theorem that fails here fails everywhere.
settings.register_profile("lineal", deadline=None, derandomize=True, max_examples=25, database=None)
settings.load_profile("lineal")
