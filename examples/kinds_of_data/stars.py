"""
Star clusters in a crowded field
================================

An open cluster is a dense spot among stars that are everywhere. Keep the stars whose tenth
neighbour is nearest, and cluster these by the distance on the sky. Where the folder that the
environment variable ``ISTHMUS_DATA`` names has the catalogue Tycho-2, these are its stars around
the Pleiades; otherwise a field of the same kind is drawn.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut, nearest_neighbors

LOW, HIGH = np.radians([10.0, 40.0]), np.radians([35.0, 75.0])  # declination, right ascension


def tycho_stars(path):
    file = np.load(path)
    x, y, z = (file["u"] / file["range"][6] + file["range"][:3]).T
    return np.column_stack([np.arcsin(np.clip(z, -1, 1)), np.arctan2(y, x) % (2 * np.pi)])


def drawn_stars():
    rng = np.random.default_rng(0)
    field = rng.uniform(LOW, HIGH, size=(20_000, 2))
    spots = np.radians([[24.1, 56.8], [16.0, 67.0], [31.0, 47.0]])
    members = [rng.normal(spot, np.radians(0.5), size=(150, 2)) for spot in spots]
    return np.vstack([field, *members])


catalogue = Path(os.environ.get("ISTHMUS_DATA", ".")) / "tycho2_uint32.npz"
stars = tycho_stars(catalogue) if catalogue.exists() else drawn_stars()
stars = stars[((stars > LOW) & (stars < HIGH)).all(axis=1)]
print(f"{len(stars):,} stars,", "Tycho-2" if catalogue.exists() else "drawn")

# %%
# The densest spots, and the clusters that they form:

found = nearest_neighbors(stars, n_neighbors=11, metric="haversine")
dense = stars[found.distances[:, -1] <= np.quantile(found.distances[:, -1], 0.02)]
labels = TransitiveCut(n_clusters=3, metric="haversine").fit_predict(dense)

figure, ax = plt.subplots(figsize=(8, 5.4), layout="constrained")
ax.scatter(*np.degrees(stars[:, ::-1]).T, s=0.2, color="lightgrey")
ax.scatter(*np.degrees(dense[:, ::-1]).T, s=8, c=labels, cmap="tab10", vmax=9)
ax.set(xlabel="right ascension (degrees)", ylabel="declination (degrees)")
ax.set_title("the densest spots of the field, in three clusters")
ax.invert_xaxis()
