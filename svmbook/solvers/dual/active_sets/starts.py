r"""The initial sets of the active-set method, predicted from an approximate solution.

Up to 100 points all start free. Otherwise, approximations of the solution of :eq:`eq-dual` predict
the sets.

1. With few points, LIBSVM solves the problem with a loose tolerance, on a stored Gram matrix.
2. With many points, or if LIBSVM needs many iterations, the rank of the Gram matrix is checked. If
   the matrix is close to one of low rank, :math:`ZZ^\top`, as for a wide Gaussian in two
   dimensions, an interior-point method solves the problem with the latter.
3. With many points of higher rank, the active-set method solves the problem of a stratified sample,
   whose C is larger in proportion. If few margins are below 1, relative to the number of free
   points, LIBSVM solves the problem of the *candidates*: the points with the smallest margins.
   Otherwise the outputs of the sample's solution predict the sets of all points: those with a
   margin below 1 start free if hardly any point of the sample is at C, and otherwise mostly at C.
"""

import numpy as np
from sklearn import config_context

from ....gram.factors import low_rank_approximation
from ....gram.low_rank import LowRankGram
from ..mehrotra import dual_program, minimise_on_box
from ..silent_svc import CACHE_MEGABYTES, SilentSVC, fit_multipliers
from .state import DualState

__all__ = [
    "initial_state",
    "predict_state",
    "state_from_sample",
    "stratified_sample",
]

MAX_DIRECT_POINTS = 100  # largest number of points for which all points simply start free
MAX_LIBSVM_POINTS = 2500  # largest number of points that LIBSVM gets at once
SAMPLE_SHARE, MIN_SAMPLE_SIZE = 0.25, 1500
# LIBSVM gets the candidates if they are few and if the sample has more than one free point per
# SUPPORT_VECTORS_PER_FREE_POINT points whose margin is below 1.
MAX_CANDIDATES = 5000  # their Gram matrix is stored, in 200 MB
CANDIDATES_PER_SUPPORT_VECTOR = 1.5  # or fewer, but at least MIN_CANDIDATES_PER_SUPPORT_VECTOR
MIN_CANDIDATES_PER_SUPPORT_VECTOR = 1.2
SUPPORT_VECTORS_PER_FREE_POINT = 6.0
# Without candidates, all points whose margin is below 1 become free if the sample has at most
# MAX_BOUNDED_RATIO points at C per free point. Otherwise FREE_POINTS_RATIO points per free point of
# the sample become free, and others with such a margin are at C.
MAX_BOUNDED_RATIO, FREE_POINTS_RATIO = 0.2, 3.0
# A Gram matrix is of low rank if its rank is at most MAX_RANK_PER_ROOT times the root of n, as far
# as these numbers of landmarks show, of which the first rules out most matrices at little cost.
# The interior-point method is then the fastest.
MAX_RANK_PER_ROOT = 3.0
LANDMARKS_PER_RANK = (1.5, 4.0)
LOW_RANK_TOL = 1e-10  # relative to the largest k(x, x)
INTERIOR_POINT_TOL, MAX_INTERIOR_POINT_ITER = 1e-6, 100
LOOSE_LIBSVM_TOL, MAX_LIBSVM_ITER_PER_POINT = 0.003, 10  # the tolerance is in units of the margin


def initial_state(gram, y, C):
    """Return a state whose sets are predicted; None if they must be predicted from a sample."""
    n = len(y)
    if n <= MAX_DIRECT_POINTS:
        return DualState(gram, y, C, np.zeros(n), np.ones(n, dtype=bool))
    if n > MAX_LIBSVM_POINTS:
        return _solve_low_rank_problem(gram, y, C)
    alpha, intercept, is_solved = _solve_loosely(gram, y, C)
    state = None if is_solved else _solve_low_rank_problem(gram, y, C)
    return predict_state(gram, y, C, alpha, intercept) if state is None else state


def stratified_sample(y):
    """Return the indices of the points whose problem is solved first."""
    return _every_kth_point(y, max(SAMPLE_SHARE * len(y), MIN_SAMPLE_SIZE))


def state_from_sample(gram, y, C, sample, share, sample_state):
    """Return the state that the solution for a sample predicts.

    ``share`` is the fraction of the sum of C that the sample had before its C was divided by it.
    """
    support = np.flatnonzero(sample_state.beta)
    f = gram.dot_columns(sample[support], sample_state.beta[support])
    margin, n_free = y * (f + sample_state.b), sample_state.free.sum()
    n_support = (margin < 1.0).sum()
    if (
        MIN_CANDIDATES_PER_SUPPORT_VECTOR * n_support <= MAX_CANDIDATES
        and n_support < SUPPORT_VECTORS_PER_FREE_POINT * n_free
    ):
        n_candidates = int(min(CANDIDATES_PER_SUPPORT_VECTOR * n_support, MAX_CANDIDATES))
        candidates = np.sort(np.argsort(margin, kind="stable")[:n_candidates])
        if len(np.unique(y[candidates])) == 2:
            return _state_from_candidates(gram, y, C, candidates)
    beta, free = np.zeros(len(y)), np.zeros(len(y), dtype=bool)
    beta[sample], free[sample] = sample_state.beta, sample_state.free
    if sample_state.at_upper_bound.sum() <= MAX_BOUNDED_RATIO * n_free:
        clipped_beta = np.clip(beta, -C, C)
        state = _state_at(gram, y, C, clipped_beta, free | (margin < 1.0), beta, f)
    else:
        nearest = np.argsort(np.abs(1.0 - margin), kind="stable")
        free[nearest[: int(FREE_POINTS_RATIO * n_free)]] = True
        state = _balanced_state(gram, y, C, share * beta, free, y - f)
    state.b = sample_state.b
    return state


def _state_from_candidates(gram, y, C, candidates):
    """Return the state that LIBSVM's solution for some points predicts."""
    alpha, subset = np.zeros(len(y)), gram.submatrix(candidates)
    alpha[candidates], intercept, _ = _solve_loosely(subset, y[candidates], C[candidates])
    return predict_state(gram, y, C, alpha, intercept)


def predict_state(gram, y, C, alpha, intercept, approximate_f=None):
    """Return the state whose sets are predicted from an approximate solution.

    By default the outputs without the intercept are computed for the prediction, unless approximate
    ones are given.
    """
    f = _outputs(gram, y, alpha) if approximate_f is None else approximate_f
    at_zero, at_upper_bound = _predict_bounds(1.0 - y * (f + intercept), alpha, C)
    beta = y * np.where(at_upper_bound, C, np.where(at_zero, 0.0, alpha))
    free = ~(at_zero | at_upper_bound)
    if approximate_f is None:
        state = _state_at(gram, y, C, beta, free, y * alpha, f)
    else:
        state = DualState(gram, y, C, beta, free)
    state.b = intercept
    return state


def _state_at(gram, y, C, beta, free, similar_beta, f):
    """Return the state with multipliers ``beta``, given the outputs f of ``similar_beta``."""
    state = DualState(gram, y, C, similar_beta, free, e=y - f)
    changed = np.flatnonzero(beta != similar_beta)
    state.set_multipliers(changed, beta[changed])
    return state


def _outputs(gram, y, alpha):
    support = np.flatnonzero(alpha)
    return gram.dot_columns(support, y[support] * alpha[support])


def _predict_bounds(gradient, alpha, C):
    """Return the masks of the points predicted to be at zero and at C.

    A bound is predicted to be active if the gradient of the Lagrangian, 1 minus the margin, points
    towards it and outweighs the distance of alpha from it.
    """
    alpha_scale = np.minimum(C, alpha.max())
    at_zero = (alpha <= 0.0) | (alpha < -gradient * alpha_scale)
    at_upper_bound = ~at_zero & ((alpha >= C) | (C - alpha < gradient * alpha_scale))
    return at_zero, at_upper_bound


def _every_kth_point(y, size):
    """Return the indices of every k-th point of each class, at most about ``size`` in all."""
    step = -(-len(y) // int(size))
    return np.sort(np.concatenate([np.flatnonzero(y == label)[::step] for label in (-1.0, 1.0)]))


def _solve_low_rank_problem(gram, y, C):
    """Return the state predicted from a problem of low rank; None if its rank is not low."""
    gram, max_rank = gram.in_double_precision(), MAX_RANK_PER_ROOT * np.sqrt(len(y))
    for n_per_rank in LANDMARKS_PER_RANK:
        landmarks = _every_kth_point(y, n_per_rank * max_rank)
        factor = low_rank_approximation(gram, landmarks, tol=LOW_RANK_TOL, max_rank=max_rank)
        if factor is None:
            return None
    centred_factor = LowRankGram(factor.Z - factor.Z.mean(axis=0))
    program, unit = dual_program(centred_factor, y, C)
    try:
        solution = minimise_on_box(
            program, tol=INTERIOR_POINT_TOL, max_iter=MAX_INTERIOR_POINT_ITER
        )
    except ArithmeticError:  # entries of very different size
        return None
    alpha = np.clip(unit * solution.u, 0.0, C)
    return predict_state(gram, y, C, alpha, solution.v[0], centred_factor.dot(y * alpha))


def _solve_loosely(gram, y, C):
    """Return approximate multipliers and their intercept from LIBSVM, and whether it converged.

    The multipliers are zero if it fails.
    """
    svc = SilentSVC(
        C=1.0,
        kernel="precomputed",
        tol=LOOSE_LIBSVM_TOL,
        max_iter=MAX_LIBSVM_ITER_PER_POINT * len(y),
        cache_size=CACHE_MEGABYTES,
    )
    try:
        with config_context(assume_finite=True, skip_parameter_validation=True):
            alpha = fit_multipliers(svc, gram.array(), y, C)
    except ValueError:  # entries so large that the solution is not finite
        return np.zeros(len(y)), 0.0, False
    return np.minimum(alpha, C), float(svc.intercept_[0]), svc.fit_status_ == 0


def _balanced_state(gram, y, C, beta, free, e):
    r"""Return a feasible state with these free points, whose other points are at bounds.

    A point is at its upper bound if its error e exceeds a threshold, else at its lower bound. The
    sum of all multipliers falls as the threshold rises; at the error where it changes its sign, one
    point becomes free and makes the sum zero.
    """
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    bounded = np.flatnonzero(~free)
    bounded = bounded[np.argsort(-e[bounded], kind="stable")]
    beta = np.where(free, beta, lower)
    # The sum of beta if the first k of these points are at their upper bounds, for k = 0, 1, ...
    sums = beta.sum() + np.concatenate([[0.0], np.cumsum(C[bounded])])
    k = int(np.searchsorted(sums, 0.0, side="right")) - 1
    beta[bounded[: max(k, 0)]] = upper[bounded[: max(k, 0)]]
    free = free.copy()
    if 0 <= k < len(bounded):
        beta[bounded[k]] -= sums[k]
        free[bounded[k]] = True
    return DualState(gram, y, C, beta, free)
