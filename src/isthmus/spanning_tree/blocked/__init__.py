"""Many features: nearest neighbours by blocked matrix products, certified, then Borůvka.

blocks.py   points in blocks of neighbours, rounded to float32; lower bounds of their distances
lists.py    kernels: keep what is nearest, measure it exactly
rounds.py   kernels: each component's best edge, and which of them are certain
engine.py   the engine that runs them
"""
