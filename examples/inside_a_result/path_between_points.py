"""
The path between two points
===========================

Why are two points in one cluster, or in two? The transitive distance is the longest edge on the
path between them in the spanning tree, and the path can be drawn.
"""

import matplotlib.pyplot as plt

from isthmus import TransitiveCut, plotting
from isthmus.datasets import make_two_moons

X, _ = make_two_moons(300, random_state=0)
tree = TransitiveCut(2).fit(X).tree_
left, right, top = X[:, 0].argmin(), X[:, 0].argmax(), X[:, 1].argmax()

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, end in zip(axes, (top, right), strict=True):
    plotting.plot_path(X, tree.path(left, end), tree.transitive_edge(left, end), ax=ax)
    ax.set_title(f"transitive distance {tree.distance(left, end):.2f}")

# %%
# Within a moon no hop is long; between the moons one is, and no other path avoids a hop as long.

print(tree.transitive_edge(left, right))
