"""
The explorer, to try
====================

One HTML page without a network or a server: a slider for k, the points, the dendrogram, the
evidence for each number of clusters, outliers, and the path between any two points. Try it below.
"""

# sphinx_gallery_thumbnail_path = "images/explorer_digits.png"
from sklearn.datasets import load_iris

from isthmus import TransitiveCut

table = load_iris(as_frame=True)
flowers = table.data.assign(species=table.target_names[table.target])
model = TransitiveCut(n_clusters=3, n_neighbors=10).fit(table.data)
model.explore(flowers, hover=["species"], title="Iris")

# %%
# ``explore(path="iris.html")`` writes the page to a file, and ``isthmus explore iris.csv`` does the
# same for a table: :doc:`/explorer`.
