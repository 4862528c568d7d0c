"""Experiments behind the book's tables: each writes one JSON record a run, committed with the book.

Run one with ``python -m svmbook.experiments NAME``; see ``--help``.
"""

from .results import load_records

__all__ = ["load_records"]
