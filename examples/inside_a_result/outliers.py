"""
Outliers
========

A point of a cluster joins its neighbourhood at a low height of the tree, an outlier at a large
one. ``outlier_scores_`` turns that into a number from 0 to 1, relative to the density around: the
points of a sparse cluster are no outliers beside a dense one.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut, plotting

rng = np.random.default_rng(0)
centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [1.0, 7.0]], 200, axis=0)
scales = np.repeat([0.1, 0.35, 1.0], 200)[:, None]
noise = rng.uniform([-6.0, -5.0], [9.0, 12.0], size=(40, 2))
X = np.vstack([centres + scales * rng.normal(size=(600, 2)), noise])

model = TransitiveCut(3, min_cluster_size=20).fit(X)
scores = model.outlier_scores_

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plotting.plot_outliers(X, scores, ax=left)
left.set_title("scores")
kept = scores < 0.7
plotting.plot_clusters(X[kept], model.labels_[kept], ax=right)
right.scatter(*X[~kept].T, marker="x", s=14, color="grey", linewidths=0.8)
right.set_title(f"three clusters; {np.count_nonzero(~kept)} points above 0.7 left out")

# %%
# Of the 40 points of noise, so many have a score above 0.7, and of the 600 others so many:

print(np.count_nonzero(~kept[600:]), np.count_nonzero(~kept[:600]))
