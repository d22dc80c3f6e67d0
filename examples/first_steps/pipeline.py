"""
In a scikit-learn pipeline
==========================

isthmus follows scikit-learn's conventions: imputation, scaling and encoding come before it, and
the pipeline labels new rows as it labels the old ones.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isthmus import TransitiveCut

rng = np.random.default_rng(0)
kinds = np.repeat(["shrub", "tree"], 60)
plants = pd.DataFrame(
    {
        "height_cm": np.where(kinds == "tree", 900, 120) * rng.lognormal(sigma=0.2, size=120),
        "leaf_mm": np.where(kinds == "tree", 80, 25) * rng.lognormal(sigma=0.2, size=120),
        "soil": rng.choice(["clay", "sand"], size=120),
    }
)
plants.loc[::15, "leaf_mm"] = np.nan

columns = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), ["height_cm", "leaf_mm"]),
    (OneHotEncoder(), ["soil"]),
)
pipeline = make_pipeline(columns, TransitiveCut(n_clusters=2, n_neighbors=10))
labels = pipeline.fit_predict(plants)
pd.crosstab(kinds, labels, rownames=["kind"], colnames=["cluster"])

# %%
# ``n_neighbors=10`` replaces each row by the mean of its neighbourhood of ten. Without it the two
# clusters would be clay and sand: the category, as columns of 0 and 1, makes the widest gap. Means
# soften it. Larger tables take neighbourhoods of 20 to 50: :doc:`/embeddings`.
#
# New rows take the same way:

new = pd.DataFrame({"height_cm": [100, 1000], "leaf_mm": [np.nan, 85], "soil": ["sand", "clay"]})
print(pipeline.predict(new))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(plants["leaf_mm"], plants["height_cm"], c=labels, cmap="tab10", vmax=9)
ax.set(xscale="log", yscale="log", xlabel="leaf (mm)", ylabel="height (cm)")
ax.set_title("plants in two clusters")
