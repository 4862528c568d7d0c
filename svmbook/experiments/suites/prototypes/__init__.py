"""Experiments on exemplar and prototype SVMs: voting rules, iterations, and label noise."""
