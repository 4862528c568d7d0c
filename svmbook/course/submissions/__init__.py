"""Submissions: read safely, merged into the master notebook, and compared."""
