"""One estimator, several threads: a fit is replaced at once."""

import threading
import time

import numpy as np
import pytest

from isthmus import NeighborMean, TransitiveCut, TransitiveKMeans

X = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize("estimator", [TransitiveCut(3), TransitiveKMeans(3), NeighborMean(5)])
def test_ask_while_another_thread_fits_other_features(estimator):
    """What is asked is answered by the one fit or the other, never by half of each."""
    wide = np.hstack([X, X])
    estimator.fit(X)
    stop = time.monotonic() + 2.0
    wrong = []

    def fit_again():
        while time.monotonic() < stop:
            estimator.fit(wide)
            estimator.fit(X)

    thread = threading.Thread(target=fit_again)
    thread.start()
    n_answers = 0
    while thread.is_alive():
        try:
            estimator.transform(X[:5])
            n_answers += 1
        except Exception as error:
            if not str(error).startswith("X has 2 features, but"):
                wrong.append(error)
    thread.join()
    assert not wrong
    assert n_answers > 0


def test_predict_while_fits_fail():
    """A fit that fails leaves none: that is what the other thread is told."""
    model = TransitiveCut(3).fit(X)
    stop = time.monotonic() + 2.0
    wrong = []

    def fit_again():
        while time.monotonic() < stop:
            model.set_params(metric="euclidean").fit(X)
            with pytest.raises(ValueError, match="zero"):
                model.set_params(metric="cosine").fit(np.zeros((3, 2)))

    thread = threading.Thread(target=fit_again)
    thread.start()
    while thread.is_alive():
        try:
            model.predict(X[:5])
        except Exception as error:
            if "is not fitted yet" not in str(error):
                wrong.append(error)
    thread.join()
    assert not wrong
