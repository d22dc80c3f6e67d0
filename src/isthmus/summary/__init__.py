"""A finished clustering → a table of its clusters."""
