"""Thousands of tiny problems at once: their duals, and their linear programs.

`duals` holds the method, `members` brings points into its form, `sparse` has the one-norm instead.
"""
