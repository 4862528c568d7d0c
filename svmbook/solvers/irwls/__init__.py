"""Iterated weighted least squares: costs, the rounds, and where they start."""
