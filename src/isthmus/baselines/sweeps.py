"""A clusterer and values of one of its parameters → the error rate at each, and the best.

The paper shows the best results of the spectral methods over such values. The choice needs the
true classes, so it shows what a method could reach, not what it does in practice; the error at the
estimator's own value is there to compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from isthmus._utils.parallel import map_in_threads
from isthmus._utils.parameters import check_n_jobs
from isthmus._utils.typing import Floats
from isthmus.baselines.spectral import SpectralClusterer, distances_of
from isthmus.evaluation import error_rate

# The values of σ and of N in the paper's Table 1.
SIGMA_GRID: tuple[float, ...] = (
    *(thousandths / 1000 for thousandths in range(10, 100)),
    *(tenths / 10 for tenths in range(1, 41)),
)
NEIGHBOR_GRID: tuple[int, ...] = tuple(range(2, 31))


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The error rates of one clusterer at several values of a parameter.

    Attributes
    ----------
    parameter : str
    values : tuple
    errors : ndarray of shape (n_values,)
    default_value : object
        The estimator's own value, chosen without labels.
    default_error : float
    recorded : tuple
        The attribute ``record`` of the clusterer fitted at each value.

    See Also
    --------
    sweep : Compute it.

    Examples
    --------
    >>> from isthmus.baselines import NJWSpectralClustering, sweep
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> found = sweep(NJWSpectralClustering(2), "sigma", [0.5, 2.0], points, [0, 0, 0, 1, 1])
    >>> found.best_value, found.best_error, found.errors.tolist()
    (0.5, 0.0, [0.0, 0.0])
    """

    parameter: str
    values: tuple[Any, ...]
    errors: Floats
    default_value: Any
    default_error: float
    recorded: tuple[Any, ...] = ()

    @property
    def best_value(self) -> Any:
        """The value with the smallest error; the first of several."""
        return self.values[int(self.errors.argmin())]

    @property
    def best_error(self) -> float:
        """The smallest error, which cannot be found without the true classes."""
        return float(self.errors.min())

    def __repr__(self) -> str:
        return (
            f"Sweep(best_error={self.best_error:.4g} at {self.parameter}={self.best_value!r} of "
            f"{len(self.values)} values, default_error={self.default_error:.4g} at "
            f"{self.parameter}={self.default_value!r})"
        )


def sweep(
    estimator: BaseEstimator,
    parameter: str,
    values: Iterable[Any],
    X: Any,
    y: Any,
    *,
    record: str | None = None,
    n_jobs: int | None = None,
) -> Sweep:
    """Return the error rate of a clusterer at each value of one of its parameters.

    Parameters
    ----------
    estimator : clusterer
        With scikit-learn's interface; it is cloned, never fitted itself. Where its
        ``random_state`` is None, the clones get 0, so that a sweep is reproducible.
    parameter : str
        The name of the parameter.
    values : iterable
        Its values, at least one.
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Their true classes.
    record : str, optional
        A fitted attribute to keep for each value, such as ``"eigengap_"`` of
        :class:`NJWSpectralClustering`.
    n_jobs : int, optional
        Threads over values; -1 for every core. Never changes the result.

    Returns
    -------
    Sweep

    See Also
    --------
    Sweep : What is returned.
    isthmus.evaluation.error_rate : How errors are counted.

    Notes
    -----
    The spectral methods of this package compute distances once for all values. BLAS and OpenMP
    use one thread each, so that results do not depend on the number of cores.

    Examples
    --------
    >>> from isthmus.baselines import NJWSpectralClustering, sweep
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> sweep(NJWSpectralClustering(2), "sigma", [0.5, 2.0], points, [0, 0, 0, 1, 1])
    Sweep(best_error=0 at sigma=0.5 of 2 values, default_error=0 at sigma=1.0)
    """
    known = estimator.get_params()
    if parameter not in known:
        raise ValueError(
            f"{type(estimator).__name__} has no parameter {parameter!r}. Its parameters: "
            f"{', '.join(sorted(known))}."
        )
    swept = tuple(values)
    if not swept:
        raise ValueError(f"values must hold at least one value of {parameter}.")
    threads = check_n_jobs(n_jobs)
    base = clone(estimator)
    if known.get("random_state", 0) is None:
        base.set_params(random_state=0)
    shares = isinstance(base, SpectralClusterer)
    distances = distances_of(clone(base), X, threads) if shares else None

    def fit_at(value: Any) -> tuple[float, Any]:
        model = clone(base).set_params(**{parameter: value})
        # OpenMP has a limit per thread: the one below does not apply to other threads.
        with threadpool_limits(limits=1, user_api="openmp"):
            if distances is None:
                labels = model.fit_predict(X)
            else:
                labels = model.fit_distances(distances).labels_
        error = error_rate(y, labels)
        return error, None if record is None else getattr(model, record)

    default = known[parameter]
    with threadpool_limits(limits=1):
        *fits, at_default = map_in_threads(fit_at, (*swept, default), threads)
    recorded = () if record is None else tuple(kept for _, kept in fits)
    errors = np.array([error for error, _ in fits])
    return Sweep(parameter, swept, errors, default, at_default[0], recorded)
