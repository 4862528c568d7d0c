"""Runs of an experiment: what one is, and where its records are."""
