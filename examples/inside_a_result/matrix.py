"""
The matrix of transitive distances
==================================

All n × n distances are held by a tree of n − 1 merges, in O(n) memory. A map of the matrix needs a
few hundred rows for any n: each cell is the exact mean over two groups of points.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut, plotting
from isthmus.datasets import make_multi_scale

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, n_points in zip(axes, (300, 100_000), strict=True):
    X, _ = make_multi_scale(n_points, random_state=0)
    model = TransitiveCut(3).fit(X)
    plotting.plot_distance_map(model.tree_, model.labels_, ax=ax)
    ax.set_title(f"{n_points:,} points")

# %%
# Single distances, rows and products with the matrix, without the matrix:

tree = model.tree_
print(tree.distance(0, 1), tree.row(0).shape)
print((tree @ np.ones(n_points))[:3].round(1))  # sums of rows, in O(n)
