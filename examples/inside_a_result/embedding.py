"""
The space in which clusters are round
=====================================

Transitive distances are Euclidean distances in another space (the paper's Lemma 1).
``TransitiveEmbedding`` gives its first coordinates: for plots, or as features for other models.
"""

import matplotlib.pyplot as plt

from isthmus import TransitiveEmbedding, plotting
from isthmus.datasets import make_multi_scale

X, y = make_multi_scale(random_state=0)
embedding = TransitiveEmbedding(n_components=2)
coordinates = embedding.fit_transform(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plotting.plot_clusters(X, y, ax=left)
left.set_title("points")
plotting.plot_clusters(coordinates, y, ax=right)
right.set(aspect="auto", title="the first two coordinates")
right.margins(0.2)
print("share of the variance:", embedding.explained_variance_ratio_.round(2))
