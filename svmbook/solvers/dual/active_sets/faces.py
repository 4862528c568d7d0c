r"""The linear system of a face, on which some multipliers are free and the others at their bounds.

On a face the optimality conditions of the dual are equations. With :math:`\beta = y\circ\alpha`,
:math:`e = y - K\beta` and the set F of the m free points they are :eq:`eq-face`,

.. math::

    \begin{bmatrix} K_{FF} + \mu I & 1\\ 1^\top & 0\end{bmatrix}
    \begin{bmatrix} \delta\\ b\end{bmatrix} =
    \begin{bmatrix} e_F\\ -1^\top\beta\end{bmatrix}.

The system is modified in two ways. *A shift* :math:`\mu > 0` gives a proximal step, which minimises
the objective plus :math:`\tfrac{\mu}{2}\|\delta\|^2`. The system stays solvable if :math:`K_{FF}`
is singular (duplicate points, few features), and the solution does not change, since
:math:`\delta = 0` there. *Centring*: after :math:`1^\top\beta/m` is subtracted from each free
multiplier, the rest of the step sums to zero. For such steps :math:`K_{FF}` may be replaced by
:math:`PK_{FF}P + \sigma 11^\top/m` with the projection :math:`P = I - 11^\top/m` and any
:math:`\sigma > 0` (here the mean diagonal of :math:`K`). This avoids cancellation if the entries
of :math:`K_{FF}` are nearly equal, as for a wide Gaussian.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ....gram.low_rank import LowRankGram
from ....gram.matrix import cholesky, cholesky_solve
from .face_updates import changed_face_solver

__all__ = ["FIRST_SHIFT", "FaceSolver", "IndefiniteFaceError", "Refinement"]

MIN_SINGLE_PRECISION_POINTS = 400  # smaller faces are always factored in double precision
# Shifts relative to the mean diagonal of the matrix that is factored.
FIRST_SHIFT = 1e-9
MIN_SINGLE_PRECISION_SHIFT = 1e-6  # relative to the mean diagonal, like FIRST_SHIFT
MIN_RAISED_SHIFT, MAX_SHIFT = 1e-2, 1e-1  # smallest and largest value of a raised shift
# Raising multiplies the shift by the first factor, and lowering divides it by the second. Factoring
# the same face again divides it by the third.
RAISE_FACTOR, LOWER_DIVISOR, REFACTOR_DIVISOR = 10.0, 3.0, 100.0
# Shifts relative to the mean diagonal of K.
MIN_SHIFT = 30 * np.finfo(float).eps  # times m: refinement does not converge with a smaller shift
INDEFINITE_SHIFT = 1e-6  # if K_FF plus this shift is not positive definite, K is indefinite
# A refinement step must reduce the residual of the face below this fraction of its previous value.
RESIDUAL_RATIO = 0.1
STALL_RATIO = 0.9  # a step that leaves at least this fraction of the residual is a stall
MAX_STALLS = 1000  # largest number of stalls on one face
# The factor of an earlier face with at least MIN_UPDATED_POINTS is used again for a face that
# differs by at most this fraction of them.
MIN_UPDATED_POINTS, MAX_UPDATED_SHARE = 400, 0.05
# Smallest squared distance, relative to k(x, x), of a changed point from the span of the others.
SINGLE_PRECISION_UPDATE_TOL, UPDATE_TOL = 1e-3, 1e-7


class IndefiniteFaceError(ValueError):
    """K is not positive semi-definite on the free points."""


class _Factor(NamedTuple):
    r"""The factor of :math:`A = K_{FF} + 1a^\top + a1^\top + \mu I`.

    With the column means c of :math:`K_{FF}`, :math:`a = \text{offset} - c` if K is centred, and
    otherwise a = 0.
    """

    F: np.ndarray
    solve: Callable
    shift: float
    relative_shift: float
    a: np.ndarray
    offset: float | None = None


class FaceSolver:
    """Factors and solves the systems of a sequence of faces.

    With ``use_single_precision``, large faces are factored in single precision, in half the time,
    until `use_double_precision` is called.
    """

    def __init__(self, gram, first_shift=FIRST_SHIFT, *, use_single_precision=True):
        self.gram, self.scale = gram, gram.scale
        self.relative_shift, self.use_single_precision = first_shift, use_single_precision
        self._is_factor_single = False
        self._discard_factor()

    def use_double_precision(self, gram):
        """Factor all faces of ``gram`` in double precision; return whether the last was in single.

        After a factor in single precision, the shift returns to FIRST_SHIFT.
        """
        self.gram, self.use_single_precision = gram, False
        if self._is_factor_single:
            self._discard_factor()
            self.relative_shift = FIRST_SHIFT
        return self._is_factor_single

    def raise_shift(self):
        """Raise the shift, which damps the next steps more."""
        self.relative_shift = min(
            max(RAISE_FACTOR * self.relative_shift, MIN_RAISED_SHIFT), MAX_SHIFT
        )

    def lower_shift(self):
        """Lower the shift, which damps the next steps less."""
        self.relative_shift = max(self.relative_shift / LOWER_DIVISOR, FIRST_SHIFT)

    def end_damping(self):
        """Return to the first shift on this face: one more factorisation, but fewer steps."""
        if self.relative_shift > FIRST_SHIFT:
            self.relative_shift = FIRST_SHIFT
            self._discard_factor()

    def refactor_with_smaller_shift(self):
        """Let the next step factor this face with a smaller shift; return False at the smallest.

        If an earlier factor was updated for this face, the shift stays.
        """
        if self._is_updated:
            self._discard_factor()
            return True
        if self._requested_shift <= self._min_shift(len(self._factored_F)):
            return False
        self.relative_shift /= REFACTOR_DIVISOR
        self._discard_factor()
        return True

    def _discard_factor(self):
        self._factored_F = self._earlier_factor = self._solve = None

    def step(self, F, e_F, imbalance):
        r"""Return the step of the free multipliers F, and the intercept.

        ``e_F`` holds the errors of the free points, and ``imbalance`` is :math:`1^\top\beta`.
        """
        if not np.array_equal(F, self._factored_F):
            self._factor(F)
        if self._h is not None:
            # With K = A - 1a^T - a1^T - mu I, the system is A step + c 1 = e_F - imbalance a, where
            # c = b - a^T step.
            s = self._solve(e_F - imbalance * self._a)
            c = (s.sum() + imbalance) / self._h.sum()
            s -= c * self._h
            return s, c + self._a @ s
        m = len(F)
        # The errors after imbalance / m is subtracted from each multiplier.
        r = e_F + imbalance * self._column_means
        r -= r.sum() / m
        step = self._solve(r)
        step -= (step.sum() + imbalance) / m
        return step, e_F.sum() / m - self._column_means @ step

    def _factor(self, F):
        self.gram.cache_rows(F)
        self._is_updated = self._may_update_factor(F) and self._update_factor(F)
        if not self._is_updated:
            self._factor_anew(F)
        self._factored_F = F

    def _may_update_factor(self, F):
        """Return whether an earlier factor has the same shift, and its face differs little."""
        factor = self._earlier_factor
        if factor is None or factor.relative_shift != self.relative_shift:
            return False
        n_changed = len(np.setxor1d(factor.F, F, assume_unique=True))
        return n_changed <= MAX_UPDATED_SHARE * len(factor.F)

    def _update_factor(self, F):
        """Use the earlier factor for this face; return False if that would be inaccurate."""
        factor, is_single = self._earlier_factor, self._is_factor_single
        gram = self.gram if is_single else self._double_precision_gram
        is_new = ~np.isin(F, factor.F)
        A_GN, A_NN = gram.block(factor.F, F[is_new]), gram.block(F[is_new], F[is_new])
        a_N = np.zeros(is_new.sum()) if is_single else factor.offset - A_GN.mean(axis=0)
        A_GN = A_GN + factor.a[:, None] + a_N
        A_NN = A_NN + a_N[:, None] + a_N + factor.shift * np.eye(len(a_N))
        min_squared_distance = self.scale * (
            SINGLE_PRECISION_UPDATE_TOL if is_single else UPDATE_TOL
        )
        solve = changed_face_solver(
            factor.solve, factor.F, F, is_new, A_GN, A_NN, min_squared_distance
        )
        if solve is None:
            return False
        self._a = np.empty(len(F))
        self._a[is_new], self._a[~is_new] = a_N, factor.a[np.isin(factor.F, F)]
        self._solve, self._h = solve, solve(np.ones(len(F)))
        return True

    def _keep_factor(self, F, shift, a, offset=None):
        if len(F) >= MIN_UPDATED_POINTS:
            self._earlier_factor = _Factor(F, self._solve, shift, self.relative_shift, a, offset)

    def _factor_anew(self, F):
        self._h = self._earlier_factor = self._solve = None  # frees the memory of the last factor
        self._is_factor_single = (
            self.use_single_precision
            and MIN_SINGLE_PRECISION_POINTS <= len(F) <= self.gram.n_unknowns
            and self._factor_in_single_precision(F)
        )
        if not self._is_factor_single and self.gram.n_unknowns < len(F):
            self._factor_low_rank(F)
        elif not self._is_factor_single:
            self._factor_block(F)

    def _factor_low_rank(self, F):
        r"""Factor :math:`PK_{FF}P + \mu I` for :math:`K_{FF} = ZZ^\top`, Z with few columns."""
        m, Z = len(F), self.gram.submatrix(F).Z
        mean = Z.mean(axis=0)
        self._column_means = Z @ mean
        centred_gram = LowRankGram(Z - mean)
        self._requested_shift = self.relative_shift * centred_gram.scale
        shift = max(self._requested_shift, self._min_shift(m))
        self._solve = centred_gram.factor(np.full(m, shift))

    def _factor_in_single_precision(self, F):
        r"""Factor :math:`A = K_{FF} + \mu I`; return whether it is numerically definite.

        Without centring, :math:`\delta = A^{-1}e_F - bh` with :math:`h = A^{-1}1`.
        """
        A = self.gram.upper_triangle(F, np.float32)
        diagonal = A.ravel()[:: len(F) + 1]
        mean_diagonal = float(diagonal.mean())
        if not np.isfinite(mean_diagonal):
            return False
        self._requested_shift = self.relative_shift * mean_diagonal
        shift = max(self._requested_shift, MIN_SINGLE_PRECISION_SHIFT * mean_diagonal)
        diagonal += shift
        try:
            L = cholesky(A.T)  # LAPACK expects column-major order
        except ArithmeticError:
            return False
        self._solve = lambda r: cholesky_solve(L, r).astype(float)
        self._h, self._a = self._solve(np.ones(len(F))), np.zeros(len(F))
        self._keep_factor(F, shift, self._a)
        return True

    def _factor_block(self, F):
        m = len(F)
        block = self._centred_block(F)
        self._requested_shift = self.relative_shift * block.trace() / m
        shift = max(self._requested_shift, self._min_shift(m))
        while True:
            block.ravel(order="K")[:: m + 1] += shift
            try:
                self._solve = partial(cholesky_solve, cholesky(block))
                break
            except ArithmeticError:
                if shift > INDEFINITE_SHIFT * self.scale:
                    raise IndefiniteFaceError(
                        "the kernel is not positive semi-definite: the Gram matrix of the free "
                        f"points has a negative pivot even with {shift / self.scale:.0e} times the "
                        "mean diagonal of K added. Choose another kernel, or add a constant to the "
                        "diagonal of K that makes its smallest eigenvalue nonnegative."
                    ) from None
            shift *= 10
            block = self._centred_block(F)
        offset = 0.5 * (self._column_means.sum() + self.scale) / m
        self._keep_factor(F, shift, offset - self._column_means, offset)

    def _centred_block(self, F):
        r"""Return :math:`PK_{FF}P + \sigma 11^\top/m` in column-major order, for LAPACK."""
        K, m = self._double_precision_gram.block(F, F), len(F)
        self._column_means = K.sum(axis=0) / m
        K -= self._column_means
        K -= (self._column_means - (self._column_means.sum() + self.scale) / m)[:, None]
        return K.T  # symmetric

    @cached_property
    def _double_precision_gram(self):
        return self.gram.in_double_precision()

    def _min_shift(self, m):
        return MIN_SHIFT * m * self.scale


class Refinement:
    """Iterative refinement on one face: each step solves for the residual of the previous one."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Forget the residuals of the previous face."""
        self.last_residual = self.recomputed_residual = np.inf
        self.n_stalls = 0

    def should_continue(self, state, F):
        """Store the residual; return whether it fell clearly, but not to the rounding error."""
        previous_residual, self.last_residual = self.last_residual, state.residual(F)
        return (
            self.last_residual < RESIDUAL_RATIO * previous_residual
            and not state.at_rounding_error(F)
        )

    def confirm_solved_or_refactor(self, state, face_solver, F):
        """Recompute the errors; return whether the face is solved or refinement has stalled.

        Otherwise the next step starts from the recomputed errors, or the face is factored again
        with a smaller shift.
        """
        if state.at_rounding_error(F):
            return True
        state.recompute_errors()
        previous_residual, self.recomputed_residual = self.recomputed_residual, state.residual(F)
        self.last_residual = np.inf
        if state.at_rounding_error(F):
            return True
        if self.recomputed_residual < RESIDUAL_RATIO * previous_residual:
            return False
        if face_solver.refactor_with_smaller_shift():
            return False
        self.n_stalls += self.recomputed_residual >= STALL_RATIO * previous_residual
        return self.recomputed_residual <= state.stall_tol or self.n_stalls > MAX_STALLS
