"""Points to draw: ties, duplicates, all scales at once, and every way to store them."""

from __future__ import annotations

import numpy as np

KINDS = (
    "gaussian",
    "lattice",
    "duplicates",
    "line",
    "blobs",
    "constant",
    "scales of points",
    "scales of features",
    "scales of entries",
    "gaps beside one",
    "offset",
    "extreme scale",
    "near ties",
    "large integers",
)
# Kinds in which distances are sums of small squares, exact in float64, or have no near ties.
EXACT_KINDS = ("gaussian", "lattice", "duplicates", "blobs")


def points(rng: np.random.Generator, kind: str, n: int, d: int) -> np.ndarray:
    """Return n points of d features: float64, or int64 that float64 may not hold."""
    gaussian = rng.normal(size=(n, d))
    if kind == "lattice":
        return rng.integers(0, int(rng.integers(1, 6)), size=(n, d)).astype(float)
    if kind == "duplicates":
        return gaussian[rng.integers(0, max(n // 3, 1), size=n)]
    if kind == "line":
        return rng.permutation(np.cumsum(rng.integers(0, 4, size=n)))[:, None] * np.ones(d)
    if kind == "blobs":
        spread = rng.choice([0.01, 1.0], size=(n, 1))
        return rng.uniform(-10, 10, size=(4, d))[rng.integers(0, 4, size=n)] + gaussian * spread
    if kind == "constant":
        return np.full((n, d), 3.25)
    if kind == "scales of points":
        return gaussian * powers_of_ten(rng, (n, 1))
    if kind == "scales of features":
        return gaussian * powers_of_ten(rng, (1, d))
    if kind == "scales of entries":
        return gaussian * powers_of_ten(rng, (n, d)) * rng.integers(0, 2, size=(n, d))
    if kind == "gaps beside one":
        small = rng.integers(0, 5, size=(n, d)) * 10.0 ** -rng.integers(1, 320)
        return np.where(rng.random((n, d)) < 0.2, rng.integers(0, 2, size=(n, d)), small)
    if kind == "offset":
        return gaussian + 10.0 ** rng.integers(0, 9)
    if kind == "extreme scale":
        return gaussian * 10.0 ** rng.integers(-322, 307)
    if kind == "large integers":
        base = 2 ** int(rng.integers(50, 63)) * int(rng.choice([-1, 1]))
        return base + rng.integers(0, 8, size=(n, d)) * 2 ** int(rng.integers(0, 12))
    if kind == "near ties":
        return rng.integers(0, 4, size=(n, d)) + rng.integers(0, 3, size=(n, d)) * 2.0**-40
    return gaussian


def powers_of_ten(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return factors from 10 ** -low to 10 ** high, evenly in the exponent."""
    reach = int(rng.choice([10, 100, 300]))
    return 10.0 ** rng.integers(-reach, reach + 1, size=shape)


# Ways to store points: Python code that turns the array X into another one of the same numbers.
LAYOUTS = {
    "as it is": "",
    "Fortran order": "X = np.asfortranarray(X)",
    "strided": "X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]",
    "reversed": "X = X[::-1, ::-1].copy()[::-1, ::-1]",
    "read-only": "X.flags.writeable = False",
    "big-endian": "X = X.astype(X.dtype.newbyteorder('>'))",
    "a list": "X = X.tolist()",
    "unaligned": "X = np.frombuffer(b'.' + X.tobytes(), X.dtype, offset=1).reshape(X.shape)",
    "a data frame": "X = __import__('pandas').DataFrame(X)",
}
SPARSE_LAYOUTS = {
    "CSR": "X = __import__('scipy.sparse').sparse.csr_array(X)",
    "CSC": "X = __import__('scipy.sparse').sparse.csc_matrix(X)",
    "COO": "X = __import__('scipy.sparse').sparse.coo_array(X)",
}


def stored(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Return points in some type that can hold numbers of their size."""
    if X.dtype == np.int64:
        return X
    largest = np.abs(X).max(initial=0.0)
    types = [np.float64]
    if largest < 3e38:
        types.append(np.float32)
    if largest < 6e4:
        types.append(np.float16)
    if largest < 1e3 and (np.rint(X) == X).all():
        types += [np.int64, np.int32, np.int16, np.uint64, np.uint8, np.bool_]
    dtype = types[int(rng.integers(len(types)))] if rng.random() < 0.5 else np.float64
    if dtype in (np.uint64, np.uint8):
        X = np.abs(X) % 200
    return X.astype(dtype)
