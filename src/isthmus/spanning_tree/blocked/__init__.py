"""Many features: nearest neighbours by blocked matrix products, certified, then Borůvka.

engine.py       what it serves, and how much memory it takes
bounds.py       points in blocks; lower bounds of their distances
dense_rows.py, sparse_rows.py    points of both kinds → blocks
candidates.py   kernels: keep what is nearest, measure it exactly
rounds.py       kernels: each component's best edge, and which of them are certain
boruvka.py      all of it: points → edges
"""
