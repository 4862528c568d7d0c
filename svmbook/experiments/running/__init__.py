"""Suites of runs, and the store of their records."""
