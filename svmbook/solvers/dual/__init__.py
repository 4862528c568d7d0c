"""Solvers for the dual of the support vector machine, and the certificates of their solutions.

Modules are named after methods; `path` solves the dual for a list of C; `state`, `faces` and
`crossover` are parts of the active-set method.
"""
