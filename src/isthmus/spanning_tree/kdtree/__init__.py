"""Borůvka's algorithm on a kd-tree: exact spanning trees in low dimension.

tree.py        points → rows in tree order, blocks of eight, boxes
neighbours.py  the few nearest neighbours of each point
search.py      the nearest point of another component
rounds.py      Borůvka's rounds over both
engine.py      all of it: points → edges
simd.py        eight distances at a time
"""
