"""Experiments behind the book's tables: each writes one JSON record a run, committed with the book.

The command ``svmbook`` lists, runs and shows them; see ``svmbook --help``.
"""

from .running.records import load_records
from .suites import report

__all__ = ["load_records", "report"]
