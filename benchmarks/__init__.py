"""Benchmarks: each module measures one thing and returns rows; the harness writes them."""
