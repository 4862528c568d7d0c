"""Comparisons without a source: all classifiers on all tables, and how to choose among them."""
