"""
A table, clustered and reported
===============================

Wines by 13 measurements in different units: scale them, fit, and read the summary.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from isthmus import TransitiveCut

table, growers = load_wine(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(table)
model = TransitiveCut(n_clusters=3, n_neighbors=20).fit(X)
print("agreement with the growers:", round(adjusted_rand_score(growers, model.labels_), 2))

# %%
# ``summary_`` has one row for each cluster: how large it is, how wide its widest gap, how far the
# next cluster, which wine is typical (the medoid), and the means of the features. As a data frame:

columns = ["size", "share", "widest gap", "distance", "consistent", "medoid", "outlier score"]
model.summary_.to_frame()[columns].round(2)

# %%
# The means of the original columns, in their units, by cluster:

table.groupby(model.labels_).mean().T.round(1)

# %%
# And a picture, on two of the columns:

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(table["flavanoids"], table["proline"], c=model.labels_, cmap="tab10", vmax=9)
ax.set(xlabel="flavanoids", ylabel="proline")
