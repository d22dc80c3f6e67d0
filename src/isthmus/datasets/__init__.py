"""Data sets: shapes in the plane, the sets of the paper's figures, loaders of real data."""

from isthmus.datasets.digits import digit_subset, load_digits_stand_in, load_usps
from isthmus.datasets.generators import (
    make_bars,
    make_clouds,
    make_discs_in_noise,
    make_multi_scale,
    make_rings,
    make_spirals,
    make_two_moons,
)
from isthmus.datasets.loaders import load_ionosphere, load_iris
from isthmus.datasets.paper_figures import (
    FIGURE5_PANELS,
    make_figure1,
    make_figure2,
    make_figure3,
    make_figure4,
    make_figure5,
)

__all__ = [
    "FIGURE5_PANELS",
    "digit_subset",
    "load_digits_stand_in",
    "load_ionosphere",
    "load_iris",
    "load_usps",
    "make_bars",
    "make_clouds",
    "make_discs_in_noise",
    "make_figure1",
    "make_figure2",
    "make_figure3",
    "make_figure4",
    "make_figure5",
    "make_multi_scale",
    "make_rings",
    "make_spirals",
    "make_two_moons",
]
