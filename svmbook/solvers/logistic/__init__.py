"""Solvers of logistic regression: ridge, absolute-value or no penalty, and import points."""
