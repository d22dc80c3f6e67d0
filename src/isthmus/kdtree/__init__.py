"""Few features: an index of points that searches go through.

limits.py      for which numbers of features and metrics there are kernels
build.py       points → rows in tree order, blocks of eight, boxes
block_sort.py  the lowest levels of the tree, sorted in registers
traversal.py   what all searches do: look at boxes and leaves, nearest first
"""
