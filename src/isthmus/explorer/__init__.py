"""A fit → a page on which people see their clusters and choose their number.

What is shown is plain data first (page_data.py), and drawn by the scripts in ``page/``.
"""

from isthmus.explorer.api import ExplorerPage

__all__ = ["ExplorerPage"]
