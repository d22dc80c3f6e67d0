"""
Outliers and noise
==================

A point of a cluster joins its neighbourhood at a low height of the tree, an outlier at a large
one. ``outlier_scores_`` turns that into a number from 0 to 1, relative to the density around: the
points of a sparse cluster are no outliers beside a dense one. ``noise="auto"`` labels those above a
threshold −1.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut, plotting

rng = np.random.default_rng(0)
centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [1.0, 7.0]], 200, axis=0)
scales = np.repeat([0.1, 0.35, 1.0], 200)[:, None]
sprinkled = rng.uniform([-6.0, -5.0], [9.0, 12.0], size=(40, 2))
X = np.vstack([centres + scales * rng.normal(size=(600, 2)), sprinkled])

model = TransitiveCut(3, noise="auto").fit(X)
noise = model.labels_ == -1

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plotting.plot_outliers(X, model.outlier_scores_, ax=left)
left.set_title("scores")
plotting.plot_clusters(X, model.labels_, ax=right)
right.set_title(f"three clusters; {np.count_nonzero(noise)} points are noise")

# %%
# How many of the 40 points drawn as noise are called noise, and how many of the 600 others:

print(np.count_nonzero(noise[600:]), np.count_nonzero(noise[:600]))
