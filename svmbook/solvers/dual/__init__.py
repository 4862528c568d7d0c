"""Solvers for the dual of the support vector machine, and the certificates of their solutions.

Modules are named after methods, and `active_sets` contains the modules of the active-set method.
"""
