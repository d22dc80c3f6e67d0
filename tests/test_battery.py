"""Quality on public data sets, where they are at hand."""

import numpy as np
import pytest
from benchmarks.battery import METHODS, score
from benchmarks.harness import data_folder

FOLDER = data_folder()


@pytest.mark.skipif(FOLDER is None, reason="ISTHMUS_DATA is not set: no public data sets at hand")
@pytest.mark.parametrize(
    ("method", "least"),
    [
        ("TransitiveCut", 0.78),
        ("cut_hierarchy", 0.78),
        ("TransitiveKMeans (the paper's method)", 0.71),
    ],
)
def test_mean_adjusted_rand_index(method, least):
    scores = [score(path, METHODS[method]) for path in sorted(FOLDER.glob("battery/*/*.data.gz"))]
    assert len(scores) == 43
    assert np.mean(scores) >= least
