"""The dual of the support vector machine: its solvers and what proves them right.

A module is named by its method; `state`, `faces` and `crossover` are parts of the active sets.
"""
