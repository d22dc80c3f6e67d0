"""Means of the blocks of a dense matrix, one by one."""

import numpy as np


def block_means(matrix: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the mean of matrix over the rows of each group and the columns of each."""
    members = [np.flatnonzero(groups == group) for group in range(n_groups)]
    return np.array([[matrix[np.ix_(a, b)].mean() for b in members] for a in members])
