import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from isthmus import UltrametricTree, plotting
from isthmus.plotting.style import axes_or_new

TREE = UltrametricTree.from_data([[0.0], [1.0]])


def test_a_given_axes_is_used_as_it_is(ax):
    assert axes_or_new(ax, (3.0, 2.0)) is ax
    new = axes_or_new(None, (3.0, 2.0))
    assert new.figure.get_size_inches().tolist() == [3.0, 2.0]
    assert isinstance(new.figure, Figure)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.plot_dendrogram(TREE),
        lambda: plotting.plot_distance_map(TREE),
        lambda: plotting.plot_orders(np.zeros((1, 2, 2))),
        lambda: plotting.plot_path([[0.0, 0.0]], [0]),
        lambda: plotting.plot_consistency(SimpleNamespace(clusters=[0], inside=[0], outside=[1])),
    ],
)
def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^Drawing needs .*: pip install 'isthmus\[plot\]'$"):
        draw()
