"""Bundled file → data set, in the form that scikit-learn's loaders return."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.utils import Bunch

from isthmus._utils.tables import import_pandas
from isthmus._utils.typing import Floats, Ints

_IONOSPHERE_CLASSES = {"b": 0, "g": 1}
_IONOSPHERE_FEATURES = [f"pulse_{pulse}_{part}" for pulse in range(17) for part in ("real", "imag")]
_IONOSPHERE_DESCRIPTION = """\
Ionosphere
==========

351 radar returns from the ionosphere, received at Goose Bay, Labrador. Each is described by 17
complex numbers, one per pulse: 34 features between -1 and 1. A return is good (target 1, 225
rows) if it shows some structure in the ionosphere, or bad (target 0, 126 rows).

Good to know: rows 102 and 248 (counted from 0) are equal, and the feature at index 1,
pulse_0_imag, is 0 in every row. Nothing is missing.

Source: Sigillito, V., Wing, S., Hutton, L., and Baker, K. (1989). Ionosphere. UCI Machine
Learning Repository. https://doi.org/10.24432/C5W01B
Licence: Creative Commons Attribution 4.0 International (CC BY 4.0).
The file is unchanged; the names of the features are ours.
"""


def load_iris(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Return the Iris data set: 150 × 4, three classes.

    The one that scikit-learn bundles; see :func:`sklearn.datasets.load_iris`.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).
    as_frame : bool, default=False
        Whether data and target are a pandas DataFrame and Series.

    Returns
    -------
    Bunch, or the pair (data, target)

    See Also
    --------
    load_ionosphere : The other set of the paper's Table 1.
    sklearn.datasets.load_iris : scikit-learn's, which it returns.

    Examples
    --------
    >>> from isthmus.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X.shape
    (150, 4)
    """
    return datasets.load_iris(return_X_y=return_X_y, as_frame=as_frame)


def load_ionosphere(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Return the Ionosphere data set: 351 × 34, two classes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).
    as_frame : bool, default=False
        Whether data and target are a pandas DataFrame and Series.

    Returns
    -------
    data_set : Bunch, or the pair (data, target)
        A Bunch has the fields ``data`` (351, 34), ``target`` (351,) of 0 (bad) and 1 (good),
        ``target_names``, ``feature_names``, ``frame`` (data and target in one DataFrame, or None)
        and ``DESCR``, which names the source and the licence.

    See Also
    --------
    load_iris : The other set of the paper's Table 1.

    Examples
    --------
    >>> from isthmus.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> X.shape
    (351, 34)
    """
    data, target = _read_ionosphere()
    frame: Any = None
    if as_frame:
        frame = import_pandas("as_frame=True").DataFrame(data, columns=_IONOSPHERE_FEATURES)
        frame["target"] = target
        data, target = frame[_IONOSPHERE_FEATURES], frame["target"]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        target_names=np.array(["bad", "good"]),
        feature_names=list(_IONOSPHERE_FEATURES),
        DESCR=_IONOSPHERE_DESCRIPTION,
    )


def _read_ionosphere() -> tuple[Floats, Ints]:
    text = files("isthmus.datasets").joinpath("data", "ionosphere.csv").read_text("ascii")
    rows = [line.split(",") for line in text.splitlines()]
    data = np.array([row[:-1] for row in rows], dtype=np.float64)
    return data, np.array([_IONOSPHERE_CLASSES[row[-1]] for row in rows], dtype=np.int64)
