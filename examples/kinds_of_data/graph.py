"""
A graph
=======

With ``metric="precomputed"`` a sparse matrix is a graph: its stored entries are the lengths of the
edges, and only these edges are used. Here rooms along corridors, where the way counts and not the
distance through walls.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array

from isthmus import TransitiveCut

rng = np.random.default_rng(0)
# Three wings of a building, 5 x 8 rooms each, joined by two long passages.
x, y = np.meshgrid(np.arange(8.0), np.arange(5.0))
wing = np.column_stack([x.ravel(), y.ravel()])
rooms = np.vstack([wing, np.add(wing, [8.6, 0.0]), np.add(wing, [0.0, 5.6])])
doors = [(i, i + 1) for i in range(120) if i % 8 != 7]
doors += [(i, i + 8) for i in range(120) if i % 40 < 32]
passages = [(7 + 16, 40 + 16), (32, 80)]
ends = np.array(doors + passages)
lengths = np.linalg.norm(rooms[ends[:, 0]] - rooms[ends[:, 1]], axis=1)
graph = coo_array((lengths, ends.T), shape=(120, 120)).tocsr()
graph = graph + graph.T

labels = TransitiveCut(n_clusters=3, metric="precomputed").fit_predict(graph)

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for a, b in ends:
    ax.plot(*rooms[[a, b]].T, color="lightgrey", zorder=0)
ax.scatter(*rooms.T, c=labels, cmap="tab10", vmax=9)
ax.set(aspect="equal", xticks=[], yticks=[], title="three wings of a building")

# %%
# Graphs that fall apart are refused, unless you say what to do: ``disconnected="join"`` puts the
# components infinitely far apart. scikit-learn's ``kneighbors_graph`` makes graphs from points.
