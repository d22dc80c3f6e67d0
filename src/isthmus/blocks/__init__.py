"""Many features: points in blocks, whose distances are bounded by matrix products.

bounds.py                      points in blocks; lower bounds of their distances
dense_rows.py, sparse_rows.py  points of both kinds → blocks
candidates.py                  kernels: keep what is nearest, measure it exactly
nearest.py                     the few nearest others of each point, from each pair of blocks
"""
