"""Which classes stand for scikit-learn's protocol in this process."""

from __future__ import annotations

import sys

# Read once, when ``lineal.protocol`` is first imported.
is_light = False


def take_light_classes() -> None:
    """For a process that shows its estimators to nobody: they are built on light classes.

    To be called before the first estimator is imported; later it changes nothing, and so it does where
    scikit-learn is there already and costs nothing any more.
    """
    global is_light
    is_light = "sklearn" not in sys.modules
