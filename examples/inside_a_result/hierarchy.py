"""
Nested clusters
===============

The clusters of ``TransitiveCut`` are nested: each cluster for k + 1 is part of one for k.
``labels_for`` gives them for any number, from one fit, and the dendrogram shows the top of the
tree, however many points there are.
"""

import matplotlib.pyplot as plt

from isthmus import TransitiveCut, plotting
from isthmus.datasets import make_multi_scale

X, _ = make_multi_scale(random_state=0)
model = TransitiveCut(3).fit(X)

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for ax, k in zip(axes, (2, 3, 4, 5), strict=True):
    plotting.plot_clusters(X, model.labels_for(k), ax=ax)
    ax.set_title(f"k = {k}")

# %%
# Numbers for each k; a positive margin means that every cluster is farther from the others than
# its widest inner gap:

print(model.path(2, 6))

# %%
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
plotting.plot_dendrogram(model.tree_, model.labels_, max_leaves=30, ax=ax)
ax.set_title("the top of the tree, three clusters coloured")

# %%
# ``model.tree_.linkage`` is a linkage matrix for SciPy's functions.
