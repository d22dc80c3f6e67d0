"""Many features: Borůvka's algorithm on neighbours found by blocked matrix products.

engine.py     what it serves, and how much memory it takes
rounds.py     kernels: each component's best edge, and which of them are certain
joining.py    lists of near points → edges, whoever searches
searching.py  points of components → near points of others
boruvka.py    all of it: points → edges
"""
