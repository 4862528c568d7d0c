"""Experiments behind the book's tables: each writes one JSON record a run, committed with the book.

Run one with ``python -m svmbook.experiments NAME``; see ``--help``.
"""

from .results import load_records
from .tables import Table

__all__ = ["Table", "load_records"]
