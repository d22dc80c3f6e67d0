"""
How many clusters?
==================

``suggest_n_clusters`` weighs the evidence for each number and says how certain it is. In noise it
finds no clear structure.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import suggest_n_clusters
from isthmus.datasets import make_multi_scale
from isthmus.plotting import plot_clusters, plot_suggestion

sets = {
    "discs within a ring": make_multi_scale(random_state=0)[0],
    "uniform noise": np.random.default_rng(0).uniform(size=(400, 2)),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for (upper, lower), (name, X) in zip(axes.T, sets.items(), strict=True):
    suggestion = suggest_n_clusters(X, k_max=10)
    plot_clusters(X, suggestion.labels, ax=upper)
    upper.set_title(f"{name}: {suggestion.n_clusters} ({suggestion.confidence})")
    plot_suggestion(suggestion, ax=lower)
    print(name, "->", suggestion.explanation[0])

# %%
# ``TransitiveCut(n_clusters="auto")`` fits with that number. :doc:`/choosing_k` explains the
# evidence, and says how often it is right.
