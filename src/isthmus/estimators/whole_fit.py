"""A fit that is whole or not there: never half of one, never parts of two."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from isthmus.estimators.saved import DERIVED, FITTED

F = TypeVar("F", bound=Callable[..., Any])


def forget_fit(estimator: Any, *, keep_features: bool = False) -> None:
    """Remove what a fit left behind; called where the work of the next one begins.

    keep_features : bool
        Whether the number and the names of features, which belong to the next one, stay.
    """
    for name in (*DERIVED, *(field.name for field in FITTED)):
        if not (keep_features and name in ("n_features_in_", "feature_names_in_")):
            vars(estimator).pop(name, None)


def whole_fit(fit: F) -> F:
    """Make a method ``fit`` leave the estimator unfitted where it does not come to its end.

    An error on the way, or Ctrl-C, does that. Where the fit is refused before
    :func:`forget_fit` is called, an earlier one stays, with all its attributes.
    """

    @wraps(fit)
    def fit_or_forget(estimator: Any, *args: Any, **named: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return fit(estimator, *args, **named)
        except BaseException:
            untouched = "labels_" in before and vars(estimator).get("labels_") is before["labels_"]
            forget_fit(estimator)
            if untouched:
                vars(estimator).update(before)
            raise

    return fit_or_forget  # type: ignore[return-value]
