"""Borůvka's algorithm on a kd-tree: exact spanning trees in low dimension.

tree.py        points → rows in tree order, blocks of eight, boxes
neighbours.py  the few nearest neighbours of each point
search.py      the nearest point of another component, and each component's best edge
balls.py       one search that speaks for all points of a node
components.py  joining components, labelling the tree with them
rounds.py      Borůvka's rounds over all of these
engine.py      all of it: points → edges
simd.py        eight distances at a time
"""
