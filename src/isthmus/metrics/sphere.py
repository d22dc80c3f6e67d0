"""Latitudes and longitudes ↔ points in space; chords of the unit sphere → kilometres.

Angles are radians or degrees. Distances of the former are angles; those of the latter, which are
places on the earth, are kilometres.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats
from isthmus.metrics.maps import chord_to_angle

UNITS = ("radians", "degrees")
# The mean radius of the earth (2 a + b) / 3, in kilometres: a sphere is up to 0.5 % off.
EARTH_RADIUS = 6371.0088

# The largest latitude, with room for rounding.
_LARGEST = {"radians": np.pi / 2, "degrees": 90.0}
_ROUNDING = 1 + 1e-6
# A mean of points of the unit sphere that is zero but for rounding.
_CANCELLED = 4.0 * float(np.finfo(np.float64).eps)
_RANGES = {"radians": "-π/2 to π/2, in radians", "degrees": "-90 to 90, in degrees"}


def check_unit(unit: Any) -> str:
    """Return the unit of angles, or raise what is wrong with it."""
    if isinstance(unit, str) and unit in UNITS:
        return unit
    raise ValueError(
        f"metric='haversine' takes the unit 'radians', by default, or 'degrees'; got {unit!r}."
    )


def on_the_sphere(points: Array, unit: str = "radians") -> Floats:
    """Return points given by latitude and longitude as points in space."""
    if points.shape[1] != 2:
        raise ValueError(
            f"metric='haversine' needs two features, latitude and longitude in {unit}; got "
            f"{points.shape[1]}."
        )
    angles = points.astype(np.float64, copy=False)
    if (np.abs(angles[:, 0]) > _LARGEST[unit] * _ROUNDING).any():
        raise ValueError(_wrong_latitudes(angles, unit))
    latitude, longitude = (np.radians(angles) if unit == "degrees" else angles).T
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])


def on_the_earth(points: Array) -> Floats:
    """Return points given by latitude and longitude in degrees as points in space."""
    return on_the_sphere(points, "degrees")


def chord_to_kilometres(squared: Array) -> Array:
    """Return the distance on the earth of two points of the unit sphere."""
    return EARTH_RADIUS * chord_to_angle(squared)


def unit_of(prepare: Any) -> str:
    """Return the unit of the angles that a map of points takes."""
    return "degrees" if prepare is on_the_earth else "radians"


def on_latitudes(in_space: Floats, unit: str = "radians") -> Floats:
    """Return points in space, seen from the centre, as latitudes and longitudes."""
    x, y, z = in_space.T
    angles = np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)])
    return np.degrees(angles) if unit == "degrees" else angles


def mean_positions(in_space: Floats, unit: str) -> Floats:
    """Return means of points in space as positions; NaN where opposite ones cancel out."""
    positions = on_latitudes(in_space, unit)
    positions[np.abs(in_space).max(axis=1) <= _CANCELLED] = np.nan
    return positions


def _wrong_latitudes(angles: Floats, unit: str) -> str:
    """Return what is wrong with the first feature, and what is most likely meant."""
    first, second = np.abs(angles).max(axis=0)
    row = int(np.abs(angles[:, 0]).argmax())
    message = (
        f"metric='haversine' needs latitudes from {_RANGES[unit]}, as the first feature; row {row} "
        f"has {angles[row, 0]:g}."
    )
    in_degrees = unit == "degrees" or max(first, second) > 2.0 * np.pi
    largest = _LARGEST["degrees" if in_degrees else "radians"] * _ROUNDING
    if in_degrees and unit == "radians":
        message += " For degrees, pass metric_params={'unit': 'degrees'}."
    if first > largest and second <= largest:
        message += " The columns look swapped: the latitude comes first, as in X[:, ::-1]."
    return message
