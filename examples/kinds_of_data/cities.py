"""
Cities, by the distance over the globe
======================================

Latitude and longitude are no coordinates of a plane: near the poles and across the 180th meridian
they mislead. ``metric="haversine"`` measures great circles: with ``unit="degrees"`` it takes
degrees, latitude first, and distances are kilometres.
"""

import matplotlib.pyplot as plt
import numpy as np

from isthmus import TransitiveCut

cities = {
    "London": (51.5, -0.1), "Paris": (48.9, 2.4), "Madrid": (40.4, -3.7), "Rome": (41.9, 12.5),
    "Berlin": (52.5, 13.4), "Vienna": (48.2, 16.4), "Warsaw": (52.2, 21.0), "Kyiv": (50.5, 30.5),
    "Athens": (38.0, 23.7), "Istanbul": (41.0, 29.0), "Stockholm": (59.3, 18.1),
    "Cairo": (30.0, 31.2), "Tel Aviv": (32.1, 34.8), "Baghdad": (33.3, 44.4),
    "New York": (40.7, -74.0), "Boston": (42.4, -71.1), "Chicago": (41.9, -87.6),
    "Toronto": (43.7, -79.4), "Denver": (39.7, -105.0), "Los Angeles": (34.1, -118.2),
    "Seattle": (47.6, -122.3), "Mexico City": (19.4, -99.1), "Dallas": (32.8, -96.8),
    "Miami": (25.8, -80.2), "Havana": (23.1, -82.4), "Guatemala City": (14.6, -90.5),
    "Lima": (-12.0, -77.0), "Bogotá": (4.7, -74.1), "Quito": (-0.2, -78.5),
    "Santiago": (-33.4, -70.7), "Buenos Aires": (-34.6, -58.4), "Montevideo": (-34.9, -56.2),
    "São Paulo": (-23.6, -46.6), "Rio de Janeiro": (-22.9, -43.2), "La Paz": (-16.5, -68.1),
    "Tokyo": (35.7, 139.7), "Osaka": (34.7, 135.5), "Seoul": (37.6, 127.0),
    "Beijing": (39.9, 116.4), "Shanghai": (31.2, 121.5), "Hong Kong": (22.3, 114.2),
    "Manila": (14.6, 121.0), "Hanoi": (21.0, 105.8), "Bangkok": (13.8, 100.5),
    "Sydney": (-33.9, 151.2), "Melbourne": (-37.8, 145.0), "Brisbane": (-27.5, 153.0),
    "Auckland": (-36.8, 174.8), "Wellington": (-41.3, 174.8), "Suva": (-18.1, 178.4),
    "Nukuʻalofa": (-21.1, -175.2), "Apia": (-13.8, -171.8),
}  # fmt: skip
degrees = np.array(list(cities.values()))

model = TransitiveCut(4, metric="haversine", metric_params={"unit": "degrees"}).fit(degrees)
for cluster in range(4):
    members = [city for city, label in zip(cities, model.labels_, strict=True) if label == cluster]
    print(cluster, ", ".join(members))

# %%
# The fit knows every gap. The longest hop on the way from Berlin to Bangkok, in kilometres:

names = list(cities)
edge = model.tree_.transitive_edge(names.index("Berlin"), names.index("Bangkok"))
print(names[edge.a], "–", names[edge.b], round(edge.length), "km")

figure, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
for a, b in model.spanning_tree_.edges:
    if abs(degrees[a, 1] - degrees[b, 1]) < 180:  # not across the map
        ax.plot(*degrees[[a, b], ::-1].T, color="lightgrey", zorder=0)
ax.scatter(degrees[:, 1], degrees[:, 0], c=model.labels_, cmap="tab10", vmax=9)
ax.set(
    xlabel="longitude", ylabel="latitude", title="Tonga and Samoa, beyond the meridian, join Fiji"
)
