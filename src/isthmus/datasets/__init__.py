"""Data sets to try things on: generators of points in the plane, and loaders of bundled data."""

from isthmus.datasets.generators import make_multi_scale, make_two_moons
from isthmus.datasets.loaders import load_ionosphere, load_iris

__all__ = ["load_ionosphere", "load_iris", "make_multi_scale", "make_two_moons"]
