"""Sweeps over a parameter: what each value gives, shared work, threads."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from inputs import points
from isthmus import TransitiveKMeans
from isthmus.baselines import (
    NEIGHBOR_GRID,
    SIGMA_GRID,
    NJWSpectralClustering,
    SelfTuningSpectralClustering,
    sweep,
    sweeps,
)
from isthmus.datasets import load_ionosphere, load_iris, make_two_moons
from isthmus.evaluation import error_rate


def test_the_grids_of_the_paper():
    expected = np.append(np.arange(0.01, 0.0995, 0.001), np.arange(0.1, 4.05, 0.1))
    np.testing.assert_allclose(SIGMA_GRID, expected)
    assert tuple(range(2, 31)) == NEIGHBOR_GRID


@pytest.mark.parametrize(
    ("estimator", "parameter", "values"),
    [
        (NJWSpectralClustering(2, random_state=1), "sigma", [0.5, 0.1, 3.0]),
        (SelfTuningSpectralClustering(2), "n_neighbors", [2, 15]),
        (TransitiveKMeans(2), "power", [0.5, 2.0]),
    ],
)
def test_every_value_as_if_fitted_alone(estimator, parameter, values, monkeypatch):
    X, y = make_two_moons(150, noise=0.08, random_state=0)
    before = dict(vars(estimator))
    calls = []
    compute = sweeps.distances_of
    monkeypatch.setattr(sweeps, "distances_of", lambda *args: calls.append(1) or compute(*args))
    result = sweep(estimator, parameter, values, X, y, n_jobs=2)
    assert len(calls) == (0 if isinstance(estimator, TransitiveKMeans) else 1)
    assert vars(estimator) == before

    def error(value):
        model = type(estimator)(**{**estimator.get_params(), parameter: value})
        return error_rate(y, model.fit_predict(X))

    np.testing.assert_allclose(result.errors, [error(value) for value in values])
    assert result.values == tuple(values)
    assert result.default_value == before[parameter]
    assert result.default_error == pytest.approx(error(result.default_value))
    assert result.best_error == min(result.errors)
    assert result.best_value == values[int(np.argmin(result.errors))]


def test_threads_and_repetition_change_nothing():
    """Nothing is seeded here: K-means would differ from one run to the next."""
    X, y = points("gaussian", 80, 2, seed=0), np.arange(80) % 5
    first, second = (
        sweep(NJWSpectralClustering(5, n_init=1), "sigma", [0.2, 0.5, 1.0], X, y, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(first.errors, second.errors)


def test_attributes_are_recorded():
    X, y = make_two_moons(60, random_state=0)
    model = NJWSpectralClustering(2, random_state=0)
    found = sweep(model, "sigma", [0.2, 1.0], X, y, record="eigengap_")
    expected = [model.set_params(sigma=sigma).fit(X).eigengap_ for sigma in (0.2, 1.0)]
    np.testing.assert_allclose(found.recorded, expected, rtol=1e-6)
    assert sweep(model, "sigma", [0.2], X, y).recorded == ()
    with pytest.raises(AttributeError, match="nonsense_"):
        sweep(model, "sigma", [0.2], X, y, record="nonsense_")


def test_what_it_says():
    X, y = make_two_moons(60, random_state=0)
    found = sweep(KMeans(2, n_init=1), "n_clusters", [2, 60], X, y)
    assert repr(found).startswith("Sweep(best_error=")
    assert "at n_clusters=2 of 2 values, default_error=" in repr(found)


def test_the_papers_scale_on_iris():
    """Its Table 1 has an error rate of 0.09 for σ = 0.40."""
    X, y = load_iris(return_X_y=True)
    assert sweep(NJWSpectralClustering(3), "sigma", [0.4], X, y).best_error == 14 / 150


def test_the_paper_on_ionosphere():
    """Its Table 1 has 0.30 as the best of self-tuning; here it is no worse."""
    X, y = load_ionosphere(return_X_y=True)
    assert sweep(SelfTuningSpectralClustering(2), "n_neighbors", [6, 7], X, y).best_error < 0.30


def test_bad_input():
    X, y = points("gaussian", 30, 2, seed=0), np.zeros(30)
    with pytest.raises(
        ValueError, match=r"no parameter 'delta'. Its parameters: n_clusters, n_init"
    ):
        sweep(NJWSpectralClustering(2), "delta", [1.0], X, y)
    with pytest.raises(ValueError, match="at least one value of sigma"):
        sweep(NJWSpectralClustering(2), "sigma", [], X, y)
    with pytest.raises(ValueError, match="sigma must be above 0"):
        sweep(NJWSpectralClustering(2), "sigma", [-1.0], X, y)
    with pytest.raises(ValueError, match="must label the same points"):
        sweep(NJWSpectralClustering(2), "sigma", [1.0], X, y[1:])


class CountsThreads(KMeans):
    """K-means that clusters into as many clusters as OpenMP would use threads for it."""

    def fit_predict(self, X, y=None, sample_weight=None):
        return np.arange(len(X)) % _openmp_effective_n_threads()


def test_openmp_runs_on_one_thread_in_every_thread():
    X = points("gaussian", 20, 2, seed=0)
    with threadpool_limits(limits=2, user_api="openmp"):
        found = sweep(CountsThreads(2), "max_iter", range(1, 7), X, np.zeros(20), n_jobs=3)
    np.testing.assert_array_equal(found.errors, 0.0)
