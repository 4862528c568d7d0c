"""Experiments behind the book's tables: each writes one JSON record a run, committed with the book.

The command ``svmbook`` lists, runs and shows them; see ``svmbook --help``.
"""

from .results import load_records
from .suites import report
from .tables import Table

__all__ = ["Table", "load_records", "report"]
