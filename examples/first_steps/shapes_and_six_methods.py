"""
Three shapes, six methods
=========================

Two moons, rings, and discs of unequal scale inside a ring. All methods are told the number of
clusters, except HDBSCAN, which finds its own and leaves points unlabelled (grey). The number in
each panel is the adjusted Rand index: 1 is perfect, 0 is chance.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from isthmus import TransitiveCut
from isthmus.datasets import make_multi_scale, make_rings, make_two_moons

warnings.filterwarnings("ignore", message="Graph is not fully connected")  # of spectral
shapes = [
    make_two_moons(400, random_state=0),
    make_rings(400, n_rings=3, random_state=0),
    make_multi_scale(random_state=0),
]


def methods(k):
    return {
        "TransitiveCut": TransitiveCut(k),
        "K-means": KMeans(k, n_init=10, random_state=0),
        "Gaussian mixture": GaussianMixture(k, random_state=0),
        "Ward": AgglomerativeClustering(k),
        "spectral": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
        "HDBSCAN": HDBSCAN(min_cluster_size=10, copy=True),
    }


figure, axes = plt.subplots(3, 6, figsize=(12, 6.4), layout="constrained")
for row, (X, y) in zip(axes, shapes, strict=True):
    for ax, (name, method) in zip(row, methods(len(set(y))).items(), strict=True):
        labels = method.fit_predict(X)
        noise = labels == -1
        ax.scatter(*X[noise].T, s=4, color="lightgrey")
        ax.scatter(*X[~noise].T, s=4, c=labels[~noise], cmap="tab10", vmin=0, vmax=9)
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.set_title(f"{name}\n{adjusted_rand_score(y, labels):.2f}", fontsize=9)

# %%
# No method wins everywhere, and these shapes favour methods that follow gaps. Where clusters
# overlap without a gap, take a Gaussian mixture or K-means: :doc:`/comparison`.
