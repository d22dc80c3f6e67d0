"""Set up before anything is imported."""

import os

# scikit-learn checks estimators with the array API only where SciPy was told to support it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Pictures are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")


def pytest_configure(config):
    """Let generated inputs have fewer different points than clusters, which fits warn of."""
    config.addinivalue_line(
        "filterwarnings", "ignore:n_clusters=.* is more than the number of different points"
    )
