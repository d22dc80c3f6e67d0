"""Outlier scores → which rows are noise, and the tree of the others."""
