"""The dual of the support vector machine: its solvers and what proves them right.

A module is named by its method; `path` goes over a list of C; `state`, `faces` and `crossover` are
parts of the active sets.
"""
