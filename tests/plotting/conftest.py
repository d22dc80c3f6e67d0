"""An Axes to draw on, never on a screen; and nothing stays open behind a test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(autouse=True)
def no_figure_left_open():
    yield
    plt.close("all")
