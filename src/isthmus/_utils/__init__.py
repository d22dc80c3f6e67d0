"""Threads, progress, memory limits, rounding, checks of parameters, tables."""
