"""
Two moons
=========

Text.
"""

from isthmus import TransitiveCut, plotting
from isthmus.datasets import make_two_moons

X, _ = make_two_moons(500, random_state=0)
model = TransitiveCut(n_clusters=2).fit(X)
plotting.plot_spanning_tree(X, model.spanning_tree_, labels=model.labels_)
