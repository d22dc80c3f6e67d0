"""Handwritten digits: the paper's USPS images, a small stand-in, and subsets of a few digits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.request import urlopen

import numpy as np
from sklearn import datasets
from sklearn.utils import Bunch

from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.datasets.shapes import random_source

# The environment variable that forbids the network.
OFFLINE = "ISTHMUS_OFFLINE"
_USPS_FILE = "usps_int16.npz"
# The file holds grey levels in thousandths, as integers.
_USPS_UNIT = 1000.0
_USPS_VERSION = 2
_USPS_FEATURES = 256
# The first query of scikit-learn to OpenML; the answer is kept under this path.
_USPS_QUERY = f"api/v1/json/data/list/data_name/usps/limit/2/data_version/{_USPS_VERSION}"
# How many images there are of each digit from 0 to 9: together 9,298.
_USPS_COUNTS = (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)
_USPS_DESCRIPTION = """\
USPS
====

9,298 handwritten digits from envelopes of the US Postal Service, 16 × 16 pixels each: 256 features
between -1 (paper) and 1 (ink), row by row. The target is the digit.

Source: Le Cun, Y., et al. (1990). Handwritten Digit Recognition with a Back-Propagation Network.
Advances in Neural Information Processing Systems 2. The images are not part of this package.
"""


def load_usps(return_X_y: bool = False, *, data_home: Any = None) -> Any:
    """Return the USPS digits of the paper's Figure 6: 9,298 × 256, ten classes.

    The images are not part of isthmus. They are read from the file ``usps_int16.npz`` in the
    folder that the environment variable ``ISTHMUS_DATA`` names, if it is there; otherwise
    scikit-learn downloads them from OpenML, once, and keeps them.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).
    data_home : str, path or None, default=None
        Where scikit-learn keeps its downloads; by default its own folder.

    Returns
    -------
    data_set : Bunch, or the pair (data, target)
        A Bunch has the fields ``data`` (9298, 256), ``target`` (9298,) of 0 to 9,
        ``target_names`` and ``DESCR``.

    Raises
    ------
    OSError
        If there is no such file and OpenML does not answer.

    See Also
    --------
    load_digits_stand_in : Digits that need neither file nor network.
    digit_subset : Some of the digits.

    Notes
    -----
    The file holds the arrays K, of shape (9298, 256) and type int16, the grey levels times 1000,
    and y, the digits.

    Examples
    --------
    >>> from isthmus.datasets import load_usps
    >>> X, y = load_usps(return_X_y=True)  # doctest: +SKIP
    """
    path = _usps_path()
    if path is None:
        data, target = _fetch_usps(data_home)
    else:
        with np.load(path) as arrays:
            data, target = arrays["K"] / _USPS_UNIT, arrays["y"].astype(np.int64)
    counts = tuple(np.bincount(target).tolist())
    if data.shape != (sum(_USPS_COUNTS), _USPS_FEATURES) or counts != _USPS_COUNTS:
        raise ValueError(
            f"{path or 'OpenML'} does not hold the USPS digits: expected 9298 images of 256 pixels "
            f"with {_USPS_COUNTS} images of the digits 0 to 9, got shape {data.shape} "
            f"and {counts}."
        )
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, target_names=np.arange(10), DESCR=_USPS_DESCRIPTION)


def usps_available(*, data_home: Any = None, seconds: float = 5.0) -> bool:
    """Return whether :func:`load_usps` can be expected to succeed, without downloading the images.

    It can if the file is there, if scikit-learn has downloaded the images before, or if OpenML
    answers within ``seconds``.
    """
    if _usps_path() is not None or _cached_by_sklearn(data_home):
        return True
    return not is_offline() and _openml_answers(seconds)


@contextmanager
def without_network() -> Iterator[None]:
    """Within it, OpenML is not asked; images that are on this machine are found as always."""
    before = os.environ.get(OFFLINE)
    os.environ[OFFLINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[OFFLINE]
        else:
            os.environ[OFFLINE] = before


def is_offline() -> bool:
    """Whether ISTHMUS_OFFLINE forbids the network: it is set, and neither empty nor 0."""
    return os.environ.get(OFFLINE, "") not in ("", "0")


def load_digits_stand_in(return_X_y: bool = False) -> Any:
    """Return scikit-learn's bundled digits, 1,797 × 64, in place of USPS.

    It needs no file and no network, but is not the paper's data: other digits by other writers,
    in 8 × 8 pixels between 0 and 16. Error rates on it cannot be compared with the paper's. See
    :func:`sklearn.datasets.load_digits`.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).

    Returns
    -------
    Bunch, or the pair (data, target)

    See Also
    --------
    load_usps : The digits of the paper.
    digit_subset : Some of the digits.

    Examples
    --------
    >>> from isthmus.datasets import load_digits_stand_in
    >>> X, y = load_digits_stand_in(return_X_y=True)
    >>> X.shape
    (1797, 64)
    """
    return datasets.load_digits(return_X_y=return_X_y)


def digit_subset(
    X: Any, y: Any, digits: Any, n_samples: int = 1000, random_state: Any = None
) -> tuple[Array, Array]:
    """Return images of a few digits, drawn at random without replacement.

    The paper's Figure 6 has ten such sets of 1,000 images of two, three or four digits, without
    saying which. Here every image of one of the digits is equally likely, so that digits keep about
    the proportions they have in the whole.

    Parameters
    ----------
    X : array-like of shape (n_images, n_features)
        The images.
    y : array-like of shape (n_images,)
        The digit of each.
    digits : array-like
        The digits to draw from, all different.
    n_samples : int, default=1000
        The number of images to draw, at least one for each digit.
    random_state : int, RandomState, Generator or None, default=None
        Where the choice comes from; an int makes it reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The images, in random order.
    y : ndarray of shape (n_samples,)
        Their digits, as they were given.

    See Also
    --------
    load_usps : The digits of the paper.
    load_digits_stand_in : Digits that need no file.

    Examples
    --------
    >>> from isthmus.datasets import digit_subset, load_digits_stand_in
    >>> X, y = load_digits_stand_in(return_X_y=True)
    >>> images, labels = digit_subset(X, y, [3, 8], n_samples=200, random_state=0)
    >>> images.shape, sorted(set(labels.tolist()))
    ((200, 64), [3, 8])
    """
    images, labels = np.asarray(X), np.asarray(y)
    if images.ndim != 2 or labels.shape != (len(images),):
        raise ValueError(
            "X must have a row and y a label for each image; "
            f"got the shapes {images.shape} and {labels.shape}."
        )
    wanted = _check_digits(digits, labels)
    n = check_integer(n_samples, "n_samples", len(wanted))
    candidates = np.flatnonzero(np.isin(labels, wanted))
    if n > len(candidates):
        raise ValueError(
            f"n_samples={n} is too many: there are {len(candidates)} images of {wanted.tolist()}."
        )
    drawn = random_source(random_state).permutation(candidates)[:n]
    return images[drawn], labels[drawn]


def _check_digits(digits: Any, labels: Array) -> Array:
    wanted = np.atleast_1d(np.asarray(digits))
    if wanted.ndim != 1 or not len(wanted) or len(np.unique(wanted)) < len(wanted):
        raise ValueError(f"digits must be one or more different digits, got {digits!r}.")
    missing = wanted[~np.isin(wanted, labels)]
    if len(missing):
        raise ValueError(f"y has no image of {missing.tolist()}.")
    return wanted


def _usps_path() -> Path | None:
    folder = os.environ.get("ISTHMUS_DATA")
    if not folder:
        return None
    path = Path(folder) / _USPS_FILE
    return path if path.is_file() else None


def _fetch_usps(data_home: Any) -> tuple[Floats, Ints]:
    try:
        data, target = _from_openml(data_home)
    # Without a network there is an OSError; a ValueError says that OpenML refused.
    except (OSError, ValueError) as error:
        raise OSError(
            f"The USPS digits are not on this machine, and OpenML does not provide them ({error}). "
            f"Either put {_USPS_FILE} into a folder and set the environment variable ISTHMUS_DATA "
            "to that folder, or call load_usps once with a network. load_digits_stand_in() needs "
            "neither, but is another data set."
        ) from error
    digits = np.asarray(target).astype(np.float64).astype(np.int64)
    # OpenML numbers the classes 1 to 10, from the digit 0 to the digit 9.
    return np.asarray(data, dtype=np.float64), digits - digits.min()


def _from_openml(data_home: Any) -> Any:
    if is_offline() and not _cached_by_sklearn(data_home):
        raise OSError(f"{OFFLINE} is set")
    return datasets.fetch_openml(
        "USPS",
        version=_USPS_VERSION,
        data_home=data_home,
        return_X_y=True,
        as_frame=False,
        parser="liac-arff",  # "auto" would need pandas
    )


def _cached_by_sklearn(data_home: Any) -> bool:
    if data_home is None:
        data_home = os.environ.get("SCIKIT_LEARN_DATA", Path("~", "scikit_learn_data"))
    cache = Path(data_home).expanduser() / "openml" / "openml.org"
    return (cache / f"{_USPS_QUERY}.gz").is_file()


def _openml_answers(seconds: float) -> bool:
    """Return whether OpenML answers in time, however long a name server or a proxy takes."""
    answered = Event()

    def ask() -> None:
        with suppress(OSError), urlopen(f"https://www.openml.org/{_USPS_QUERY}", timeout=seconds):
            answered.set()

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return answered.is_set()
