"""Solvers: arrays in, a certified `SolverResult` out. They know no estimator."""

from .dual_qp import QuadraticProgram, solve_dual, solve_hard_margin, to_cvxopt
from .libsvm import solve_libsvm
from .result import SolverResult, certify, intercept_interval
from .smo import solve_smo

__all__ = [
    "QuadraticProgram",
    "SolverResult",
    "certify",
    "intercept_interval",
    "solve_dual",
    "solve_hard_margin",
    "solve_libsvm",
    "solve_smo",
    "to_cvxopt",
]
