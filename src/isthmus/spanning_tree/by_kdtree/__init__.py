"""Few features: Borůvka's algorithm on a kd-tree.

engine.py            what it serves, and how much memory it takes
knn.py               the few nearest neighbours of each point
query.py             the nearest point of another component
bounding_balls.py    one search that bounds the distances of all points of a node
component_labels.py  which component every point and node belongs to
first_round.py       each point joins its nearest neighbours
rounds.py            each component's best edge
boruvka.py           all of it: points → edges
"""
