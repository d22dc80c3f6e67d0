"""
Tables with many columns
========================

With more than a few features the distance of two single points is mostly noise. ``n_neighbors``
replaces each point by the mean of its neighbourhood, and the clusters appear.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from isthmus import NeighborMean, TransitiveCut
from isthmus.plotting import plot_clusters

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, size in zip(axes, (None, 30), strict=True):
    labels = TransitiveCut(2, n_neighbors=size).fit_predict(X)
    points = X if size is None else NeighborMean(size).fit_transform(X)
    plot_clusters(PCA(2).fit_transform(points), labels, ax=ax)
    title = "plain distances" if size is None else f"means of {size} neighbours"
    ax.set_title(f"{title}: adjusted Rand index {adjusted_rand_score(y, labels):.2f}")

# %%
# :doc:`/embeddings` says which size to take for tables, texts and images.
