"""Submissions: read safely, merged into the instructor's notebook, and compared."""
