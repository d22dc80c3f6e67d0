"""Metric names and raw input → one checked input."""
