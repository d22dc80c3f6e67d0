"""The baselines as scikit-learn's users meet them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from inputs import points
from isthmus.baselines import NJWSpectralClustering, SelfTuningSpectralClustering, SingleLinkage

SPECTRAL = [
    NJWSpectralClustering(random_state=0),
    SelfTuningSpectralClustering(),
    SelfTuningSpectralClustering("auto", alignment="kmeans", max_clusters=3, random_state=0),
]


@parametrize_with_checks([*SPECTRAL, SingleLinkage()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_what_is_refused(estimator):
    X = points("gaussian", 20, 2, seed=0)
    with pytest.raises(TypeError, match="does not take sparse points"):
        estimator.fit(csr_array(X))
    with pytest.raises(TypeError, match="Masked arrays"):
        estimator.fit(np.ma.masked_greater(X, 0.0))
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert estimator.fit(frame).feature_names_in_.tolist() == ["a", "b"]
