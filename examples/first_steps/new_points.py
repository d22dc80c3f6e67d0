"""
Labels for new points
=====================

``predict`` assigns points that were not in the fit, without a new fit. Here every point of the
plane is one: the background shows which cluster it would join.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut
from isthmus.datasets import make_two_moons

X, _ = make_two_moons(300, random_state=0)
model = TransitiveCut(n_clusters=2).fit(X)

x, y = np.meshgrid(np.linspace(-1.6, 2.6, 210), np.linspace(-1.1, 1.6, 140))
regions = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.contourf(x, y, regions, levels=[-0.5, 0.5, 1.5], colors=["#cfe3f1", "#fae8c4"])
ax.scatter(*X.T, s=12, c=np.array(["#0072B2", "#B57700"])[model.labels_])
ax.set(aspect="equal", title="the cluster that a new point joins")

# %%
# A point far from everything joins a cluster, too. ``transform`` tells how far it is:

distances = model.transform([[0.0, 1.0], [8.0, 8.0]])
print(distances.min(axis=1).round(1))
