"""A table with numbers, categories, booleans, dates and missing values → a matrix of numbers.

Numbers are kept, dates and durations become days, a category its number among those of the fit; NaN
is a missing value. What was learnt from the table of the fit encodes new rows in the same way.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from numbers import Real
from reprlib import repr as shortened
from typing import Any

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats
from isthmus.metrics.integers import LARGEST, is_rounded

NUMBER, DATE, DURATION, CATEGORY, EMPTY = "number", "date", "duration", "category", "empty"
# A category whose values have an order is compared by their ranks.
ORDERED = "ordered category"
_KINDS = (NUMBER, DATE, DURATION, CATEGORY, ORDERED, EMPTY)
_MEASURED = (NUMBER, DATE, DURATION)
_CATEGORIES = _TEXT, _BOOLEAN = "text", "boolean"
_NUMPY_TIMES = {"M": "datetime64[us]", "m": "timedelta64[us]"}
_MICROSECONDS_PER_DAY = 86_400e6
_WRONG_WEIGHTS = "metric='gower' needs w to be finite weights, none below 0 and not all of them 0."


@dataclass(frozen=True, eq=False)
class Column:
    """What is known of a column.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "duration", "category", "ordered category", "empty"}
        A category is a text, a boolean, or what pandas and polars call so. A column without any
        value is empty.
    categories : tuple
        The values of a category, in the order of their numbers, or of their ranks.
    low, high : float
        The least and the largest number.
    """

    name: str
    kind: str
    categories: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0

    @property
    def by_difference(self) -> bool:
        """Whether values are compared by their difference, and not by whether they are equal."""
        return self.kind in (*_MEASURED, ORDERED) and self.high > self.low

    def encoded(self, values: Values) -> Floats:
        """Return the values of new rows as numbers; a category that is not known has the next."""
        if EMPTY in (self.kind, values.kind):
            return np.full(len(values.values), np.nan)
        fitted, found = _in_words(self.kind, self.categories), _in_words(values.kind, values.values)
        if found != fitted:
            raise TypeError(
                f"Column {self.name!r} held {fitted} in the fit, and holds {found} now. Turn them "
                f"into {fitted}, or fit again."
            )
        if self.kind in _MEASURED:
            return np.asarray(values.values, dtype=np.float64)
        number = {value: float(i) for i, value in enumerate(self.categories)}
        number[None] = np.nan
        if self.kind == ORDERED and (unknown := set(values.values) - number.keys()):
            raise ValueError(
                f"Column {self.name!r} holds {unknown.pop()!r}, which was no category of the fit, "
                "so that it has no rank."
            )
        return np.array([number.get(value, len(number) - 1.0) for value in values.values])


_IN_WORDS = {
    NUMBER: "numbers",
    DATE: "dates",
    DURATION: "durations",
    CATEGORY: "categories",
    ORDERED: "ordered categories",
    EMPTY: "nothing",
}


def _in_words(kind: str, values: Iterable[Any]) -> str:
    """Return what a column holds; booleans are categories, but not of one kind with texts."""
    if kind != CATEGORY:
        return _IN_WORDS[kind]
    first = next(value for value in values if value is not None)
    return "booleans" if isinstance(first, bool) else _IN_WORDS[kind]


@dataclass(frozen=True, eq=False)
class TableColumns:
    """What is known of a table: see :func:`learn_columns`."""

    columns: tuple[Column, ...]

    def encode(self, X: Any) -> Floats:
        """Return new rows as numbers, (n_rows, n_columns); TypeError where columns differ."""
        found = read_values(X)
        if len(found) != len(self.columns):
            raise ValueError(
                f"X has {len(found)} features, but the fit was on {len(self.columns)} columns."
            )
        return self._encoded(found)

    def _encoded(self, found: list[Values]) -> Floats:
        pairs = zip(self.columns, found, strict=True)
        points = np.column_stack([column.encoded(values) for column, values in pairs])
        if np.isinf(points).any():
            j = int(np.isinf(points).any(axis=0).argmax())
            raise ValueError(f"Column {self.columns[j].name!r} contains infinity.")
        return points

    def numbers_of(self, points: Floats) -> tuple[Floats | None, list[str]]:
        """Return the columns of numbers, and their names; None where there are none."""
        chosen = [j for j, column in enumerate(self.columns) if column.kind == NUMBER]
        names = [self.columns[j].name for j in chosen]
        return (points[:, chosen] if chosen else None), names

    def is_unseen(self, points: Floats) -> bool:
        """Whether encoded rows hold categories that the fit did not see."""
        return any(
            bool((points[:, j] >= len(column.categories)).any())
            for j, column in enumerate(self.columns)
            if column.kind == CATEGORY
        )

    def to_content(self) -> list[dict[str, Any]]:
        """Return it as values of a file."""
        return [
            {field.name: getattr(column, field.name) for field in fields(Column)}
            | {"categories": list(column.categories)}
            for column in self.columns
        ]

    @classmethod
    def from_content(cls, saved: Any, n_columns: int) -> TableColumns:
        """Return what a file holds; ValueError where no table could have taught that."""
        if not isinstance(saved, list) or len(saved) != n_columns:
            raise ValueError(f"a table must have its {n_columns} columns.")
        return cls(tuple(_checked_column(column) for column in saved))


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column: floats with NaN, or for a category objects with None."""

    name: str
    kind: str
    values: Any
    order: tuple[Any, ...] = ()  # of the categories, where they have one


def learn_columns(X: Any) -> tuple[TableColumns, Floats]:
    """Return what is known of a table, and its rows as numbers, (n_rows, n_columns).

    X : data frame of pandas or polars, or array-like of shape (n_rows, n_columns)
    """
    found = read_values(X)
    if not found or not len(found[0].values):
        raise ValueError(
            f"Found a table with {len(found[0].values) if found else 0} sample(s) and "
            f"{len(found)} feature(s), while a minimum of 1 is required of both."
        )
    columns = TableColumns(tuple(learn_column(values) for values in found))
    return columns, columns._encoded(found)


def learn_column(found: Values) -> Column:
    """Return what is known of a column."""
    if found.kind == CATEGORY:
        present = {value for value in found.values if value is not None}
        return Column(found.name, CATEGORY, tuple(sorted(present)))
    if found.kind == ORDERED:
        column = Column(found.name, ORDERED, found.order)
        ranks = column.encoded(found)
        return replace(column, low=float(np.nanmin(ranks)), high=float(np.nanmax(ranks)))
    numbers = np.asarray(found.values, dtype=np.float64)
    present_numbers = numbers[~np.isnan(numbers)]
    if found.kind == EMPTY or not len(present_numbers):
        return Column(found.name, EMPTY)
    low, high = float(present_numbers.min()), float(present_numbers.max())
    if not np.isfinite(high - low):
        raise ValueError(f"Column {found.name!r} holds infinity, or numbers too far apart.")
    return Column(found.name, found.kind, low=low, high=high)


def read_values(X: Any) -> list[Values]:
    """Return the columns of a table."""
    if hasattr(X, "get_columns"):  # polars
        return [_of_polars(column) for column in X.get_columns()]
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        return [_of_pandas(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    array = np.asarray(X) if hasattr(X, "dtype") else np.array(X, dtype=object)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array or a data frame, got {array.ndim}D array instead. Reshape your "
            "data, array.reshape(-1, 1) for one column."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: a column holds real numbers or categories.")
    return [_of_array(f"x{j}", array[:, j]) for j in range(array.shape[1])]


def _of_array(name: str, values: Array) -> Values:
    if values.dtype.kind in "iuf":
        if values.dtype.kind != "f":
            _refuse_rounded(name, values, lambda large: values[large])
        return Values(name, NUMBER, values)
    if values.dtype.kind in "mM":
        return _of_times(name, values)
    return _of_objects(name, values.tolist())


def _of_polars(column: Any) -> Values:
    if column.dtype.is_numeric():
        numbers = column.cast(float, strict=False).to_numpy()
        if not column.dtype.is_float():
            _refuse_rounded(column.name, numbers, lambda large: column.filter(large.tolist()))
        return Values(column.name, NUMBER, numbers)
    return _of_objects(column.name, column.to_list())


def _of_pandas(name: str, column: Any) -> Values:
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "categories"):
        return _of_pandas_category(name, column)
    # Arrow's dates without a time become objects, not NumPy's dates.
    if kind in "Mm" and dtype.type is not dt.date:
        return _of_times(name, column.to_numpy(dtype=_NUMPY_TIMES[kind]))
    if kind in "iuf":
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if kind != "f":
            _refuse_rounded(name, numbers, lambda large: column[large])
        return Values(name, NUMBER, numbers)
    return _of_objects(name, column.to_list())


def _of_pandas_category(name: str, column: Any) -> Values:
    codes = column.cat.codes.to_list()
    if all(code < 0 for code in codes):
        return _of_objects(name, [None] * len(codes))
    known = list(column.cat.categories)
    as_it_is = _common_kind(name, known) in _CATEGORIES
    categories = [_plain(value) if as_it_is else str(value) for value in known]
    values = [None if code < 0 else categories[code] for code in codes]
    if column.dtype.ordered:
        return Values(name, ORDERED, values, tuple(categories))
    return Values(name, CATEGORY, values)


def _of_times(name: str, times: Array) -> Values:
    """Return NumPy's dates or durations, of any unit."""
    kind = times.dtype.kind
    days = times.astype(_NUMPY_TIMES[kind]).astype(np.int64) / _MICROSECONDS_PER_DAY
    return Values(name, DATE if kind == "M" else DURATION, np.where(np.isnat(times), np.nan, days))


def _refuse_rounded(name: str, numbers: Array, take: Callable[[Array], Iterable[Any]]) -> None:
    """Raise ValueError for a column with integers that float64 does not hold.

    numbers : (n_rows,)
        Rounded or not.
    take : callable
        Returns the exact values of the rows of a mask.
    """
    large = np.abs(numbers.astype(np.float64)) >= LARGEST
    rounded = next(filter(is_rounded, take(large)), None) if large.any() else None
    if rounded is not None:
        raise ValueError(
            f"Column {name!r} holds the integer {int(rounded)}, which float64 rounds to "
            f"{float(rounded):.0f}: beyond 2**53 distinct values would become equal. Subtract a "
            "constant from the column first, as integers; use a larger unit; or turn them into "
            "texts, if they are names."
        )


def _of_objects(name: str, values: list[Any]) -> Values:
    """Return values of any type; they must be of one kind, beside those that are missing."""
    values = [None if _is_missing(value) else value for value in values]
    kind = _common_kind(name, values)
    if kind == EMPTY:
        return Values(name, EMPTY, np.full(len(values), np.nan))
    if kind == NUMBER:
        return _of_numbers(name, values)
    if kind in (DATE, DURATION):
        return Values(name, kind, np.array([_days_of(value) for value in values]))
    texts = [value if value is None else _plain(value) for value in values]
    return Values(name, CATEGORY, texts)


def _common_kind(name: str, values: list[Any]) -> str:
    """Return the kind of values, of which missing ones are None; TypeError if there are several."""
    kinds = {_kind_of(value) for value in values if value is not None}
    kind = next(iter(kinds), EMPTY)
    if len(kinds) > 1 or kind is None:
        types = sorted({type(value).__name__ for value in values if value is not None})
        raise TypeError(
            f"Column {name!r} holds values of the types {', '.join(types)}; expected numbers, "
            "texts, booleans, dates or durations, all of one kind. Turn them into texts, for "
            "example."
        )
    return kind


def _of_numbers(name: str, values: list[Any]) -> Values:
    """Return real numbers of any type, None where one is missing."""
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except OverflowError:
        raise ValueError(
            f"Column {name!r} holds a number beyond 1.8e308, the largest that float64 holds. Use a "
            "larger unit, or logarithms."
        ) from None
    _refuse_rounded(name, numbers, lambda large: [values[i] for i in np.flatnonzero(large)])
    return Values(name, NUMBER, numbers)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: those that are not equal to themselves."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    if isinstance(value, Decimal):  # a signalling NaN is not compared
        return value.is_nan()
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # NA says nothing of itself
        return type(value).__name__ == "NAType"


def _kind_of(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return _BOOLEAN
    if isinstance(value, str):
        return _TEXT
    if isinstance(value, int | float | Decimal):
        return NUMBER
    if isinstance(value, dt.date | np.datetime64):
        return DATE
    if isinstance(value, dt.timedelta | np.timedelta64):  # NumPy's is a Real, too
        return DURATION
    return NUMBER if isinstance(value, Real) else None


def _plain(value: Any) -> Any:
    """Return a boolean or a text as Python's own."""
    return bool(value) if isinstance(value, bool | np.bool_) else str(value)


def _days_of(value: Any) -> float:
    if value is None:
        return np.nan
    if isinstance(value, np.datetime64 | np.timedelta64):
        in_microseconds = value.astype(_NUMPY_TIMES[value.dtype.kind])
        return float(in_microseconds.astype(np.int64)) / _MICROSECONDS_PER_DAY
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    if isinstance(value, dt.datetime):
        zone = dt.UTC if value.tzinfo is not None else None
        return (value - dt.datetime(1970, 1, 1, tzinfo=zone)) / dt.timedelta(days=1)
    return float((value - dt.date(1970, 1, 1)).days)


def _checked_column(saved: Any) -> Column:
    if not isinstance(saved, dict) or saved.keys() != {field.name for field in fields(Column)}:
        raise ValueError("a column must have all its parts and no others.")
    name, kind, categories = saved["name"], saved["kind"], saved["categories"]
    is_list = isinstance(categories, list) and len(set(categories)) == len(categories)
    if not isinstance(name, str) or kind not in _KINDS or not is_list:
        raise ValueError("a column must have a name, a kind and categories.")
    if (kind in (CATEGORY, ORDERED)) != bool(categories):
        raise ValueError("a column has categories if it is one.")
    if not all(isinstance(value, str | bool | int | float) for value in categories):
        raise ValueError("categories must be texts, booleans or numbers.")
    low, high = saved["low"], saved["high"]
    if type(low) is not float or type(high) is not float or not 0.0 <= high - low < np.inf:
        raise ValueError("the range of a column must be two numbers.")
    return Column(name, kind, tuple(categories), low, high)


def check_codes(points: Floats, columns: TableColumns) -> None:
    """Raise ValueError unless encoded rows hold numbers of categories where they should."""
    for j, column in enumerate(columns.columns):
        present = points[~np.isnan(points[:, j]), j]
        if column.kind == EMPTY and len(present):
            raise ValueError("a column without values must have none.")
        if column.kind not in (CATEGORY, ORDERED):
            continue
        codes = np.arange(len(column.categories))
        if not np.isin(present, codes).all():
            raise ValueError(f"column {column.name!r} must hold numbers of its categories.")


def weights_of(w: Any, columns: TableColumns) -> Floats:
    """Return the weight of each column: 1, unless a sequence or a mapping of names says so."""
    names = [column.name for column in columns.columns]
    if w is None:
        return np.ones(len(names))
    given = _by_position(w, names) if isinstance(w, Mapping) else w
    try:
        weights = as_real(given, "w of metric='gower'")
    except OverflowError:
        raise ValueError(_WRONG_WEIGHTS) from None
    except TypeError as error:
        raise TypeError(
            f"w of metric='gower' must be one real number for each of {len(names)} columns, or a "
            f"mapping of names to such numbers; got {shortened(w)}."
        ) from error
    if weights.shape != (len(names),):
        raise ValueError(
            f"w of metric='gower' must be one weight for each of {len(names)} columns, or a "
            f"mapping of names to weights; got shape {weights.shape}."
        )
    if not (np.isfinite(weights) & (weights >= 0.0)).all() or not weights.any():
        raise ValueError(_WRONG_WEIGHTS)
    return weights


def _by_position(w: Mapping[Any, Any], names: list[str]) -> list[Any]:
    """Return the weights of a mapping in the order of the columns.

    The labels of pandas' columns may be numbers: both the label and its text name such a column.
    """
    weights = {str(name): weight for name, weight in w.items()}
    if unknown := [name for name in w if str(name) not in names]:
        raise ValueError(
            f"w of metric='gower' weighs the column {unknown[0]!r}, which is not there. The "
            f"columns are: {', '.join(names[:20])}."
        )
    if len(weights) < len(w):
        texts = [str(name) for name in w]
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(
            f"w of metric='gower' weighs the column {twice!r} twice, by its label and by its text. "
            "Give one of them."
        )
    return [weights.get(name, 1.0) for name in names]
