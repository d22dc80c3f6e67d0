"""Set up before anything is imported."""

import os

# scikit-learn checks estimators with the array API only where SciPy was told to support it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Pictures are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")
