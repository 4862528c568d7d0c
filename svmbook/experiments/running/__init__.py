"""Runs of an experiment: what one is, where its records are, and who does them."""
