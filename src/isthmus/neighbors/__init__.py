"""Points → their k nearest neighbours, and what neighbourhoods make of distances.

neighborhood_parameters.py  what n_neighbors and neighborhood stand for
api.py                      the public function
selection.py                checked data and a metric → neighbours, by the search that suits
sorted_lists.py             kernels: a list of the nearest, in one order
by_kdtree.py                few features
by_blocks.py                many features: blocked matrix products
by_rows.py                  any metric, and precomputed distances: a row of distances at a time
by_descent.py               approximate ones, of pynndescent or the user
copies.py                   of many equal points only as many as a list can hold are searched
shared.py                   the Jaccard distance of neighbour sets
means.py                    points → the means of their neighbourhoods
"""
