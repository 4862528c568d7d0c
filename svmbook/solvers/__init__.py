"""Solvers that take arrays, return a certified result, and do not depend on any estimator.

Each ``solve_...`` validates its arguments and calls an inner function of its module, such as
``solve_active_set_on_gram``. The inner function takes a `svmbook.gram.GramMatrix` and arrays that
its caller has validated.
"""

from .batched.duals import DualBatchResult, solve_dual_batch
from .dual.active_sets.path import svm_path
from .dual.active_sets.solver import solve_active_set
from .dual.interior_point import solve_hard_margin, solve_interior_point
from .dual.libsvm import solve_libsvm
from .dual.quadratic_program import QuadraticProgram, solve_dual, to_cvxopt
from .dual.result import SolverResult, certify, intercept_interval
from .dual.smo import solve_smo
from .fewest_errors import FewestErrorsResult, solve_fewest_errors
from .irwls.costs import HINGE, Cost, sigmoidal_cost, usvc_cost
from .irwls.iterations import solve_irwls
from .irwls.result import IRWLSResult
from .logistic.import_points import select_import_points
from .logistic.proximal import lam_max, solve_logistic_l1, solve_logistic_l1_path
from .logistic.result import LogisticResult
from .logistic.solve import solve_logistic, solve_logistic_path
from .logistic.unpenalised import (
    has_separation,
    solve_logistic_unpenalised,
    solve_logistic_unpenalised_gram,
)

__all__ = [
    "HINGE",
    "Cost",
    "DualBatchResult",
    "FewestErrorsResult",
    "IRWLSResult",
    "LogisticResult",
    "QuadraticProgram",
    "SolverResult",
    "certify",
    "has_separation",
    "intercept_interval",
    "lam_max",
    "select_import_points",
    "sigmoidal_cost",
    "solve_active_set",
    "solve_dual",
    "solve_dual_batch",
    "solve_fewest_errors",
    "solve_hard_margin",
    "solve_interior_point",
    "solve_irwls",
    "solve_libsvm",
    "solve_logistic",
    "solve_logistic_l1",
    "solve_logistic_l1_path",
    "solve_logistic_path",
    "solve_logistic_unpenalised",
    "solve_logistic_unpenalised_gram",
    "solve_smo",
    "svm_path",
    "to_cvxopt",
    "usvc_cost",
]
