"""Iteratively reweighted least squares (IRWLS): costs, iterations and starting points."""
