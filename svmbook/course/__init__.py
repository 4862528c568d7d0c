"""Coursework: assignments released, graded in a sandbox, and returned (an extra of the package)."""
