"""
Which clusters are certain
==========================

A cluster is *consistent* (the paper's Definition 2) if its widest inner gap is smaller than its
distance to everything else: no division of it would be as wide as the gap around it.
"""

import matplotlib.pyplot as plt

from isthmus import TransitiveCut, plotting
from isthmus.datasets import load_iris, make_multi_scale
from isthmus.theory import consistency

sets = {
    "discs within a ring": make_multi_scale(random_state=0)[0],
    "Iris": load_iris(return_X_y=True)[0],
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
for ax, (name, X) in zip(axes, sets.items(), strict=True):
    model = TransitiveCut(3).fit(X)
    found = consistency(model.tree_, model.labels_)
    plotting.plot_consistency(found, ax=ax)
    ax.set_title(name)
    print(name, "-", found)

# %%
# Two species of Iris touch: no method that follows gaps alone can tell where one ends.
