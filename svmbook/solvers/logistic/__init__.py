"""Solvers of logistic regression: ridge, l1 or no penalty, and import points."""
