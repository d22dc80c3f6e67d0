"""
Half a million points
=====================

The spanning tree of points with few features takes O(n log n) time and O(n) memory: half a million
points need about a second on one core; ``n_jobs=-1`` uses all of them. Labels for other numbers of
clusters come from the same fit.
"""

import time

import matplotlib.pyplot as plt

from isthmus import TransitiveCut
from isthmus.datasets import make_spirals

X, y = make_spirals(500_000, n_arms=3, random_state=0)
TransitiveCut(3).fit(X[:20_000])  # compiles, once on a machine
start = time.perf_counter()
model = TransitiveCut(3).fit(X)
print(f"{len(X):,} points: {time.perf_counter() - start:.2f} s")

start = time.perf_counter()
model.labels_for(12)
print(f"twelve clusters from the same fit: {time.perf_counter() - start:.2f} s")

some = slice(None, None, 50)
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.scatter(*X[some].T, s=1, c=model.labels_[some], cmap="tab10", vmax=9)
ax.set(aspect="equal", xticks=[], yticks=[], title="every 50th of 500,000 points")
