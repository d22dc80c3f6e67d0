"""
Handwritten digits
==================

Images of 8 × 8 pixels, each a row of 64 numbers, in ten clusters: without neighbourhoods, with
them, and by K-means. For MNIST, 70,000 images of 28 × 28 pixels, run
``python -m benchmarks many_features_battery``: K-means has an adjusted Rand index of 0.37 there,
``TransitiveCut`` with shared neighbours 0.88.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from isthmus import TransitiveCut

X, y = load_digits(return_X_y=True)
models = {
    "K-means": KMeans(10, n_init=10, random_state=0),
    "TransitiveCut": TransitiveCut(10),
    "… with shared neighbours": TransitiveCut(10, n_neighbors=20, neighborhood="shared"),
}
for name, model in models.items():
    print(f"{name:25s} {adjusted_rand_score(y, model.fit_predict(X)):.2f}")

# %%
# The medoid of each cluster and nine of its members; no label was used.

model = models["TransitiveCut"]
figure, axes = plt.subplots(10, 10, figsize=(6, 6), layout="constrained")
for cluster, row in enumerate(axes):
    members = (model.labels_ == cluster).nonzero()[0][:9]
    for ax, image in zip(row, [model.summary_.medoids[cluster], *members], strict=False):
        ax.imshow(X[image].reshape(8, 8), cmap="gray_r")
    for ax in row:
        ax.axis("off")
figure.suptitle("ten clusters: the medoid, then members")
