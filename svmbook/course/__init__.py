"""Coursework, an extra of the package: release, grade in a sandbox, and return assignments."""
