r"""The linear system of a face: some multipliers free, the others at their bounds.

On a face the optimality conditions of the dual are equations. With :math:`\beta = y\circ\alpha`,
:math:`e = y - K\beta` and F the m free points they are :eq:`eq-face`,

.. math::

    \begin{bmatrix} K_{FF} + \mu I & 1\\ 1^\top & 0\end{bmatrix}
    \begin{bmatrix} \delta\\ b\end{bmatrix} =
    \begin{bmatrix} e_F\\ -1^\top\beta\end{bmatrix}.

Two things are done to it. *A shift*: :math:`\mu > 0` makes the step a proximal one, which minimises
the objective plus :math:`\tfrac{\mu}{2}\|\delta\|^2`. That keeps a singular :math:`K_{FF}` solvable
(duplicated points, few features) and changes no solution, for there :math:`\delta = 0`. *Centring*:
once each free point has given its share of :math:`1^\top\beta`, the step sums to zero, and on such
steps :math:`K_{FF}` may be replaced by :math:`PK_{FF}P + \sigma 11^\top/m` with the projection
:math:`P = I - 11^\top/m` and any :math:`\sigma > 0` (here the mean diagonal of :math:`K`). What the
entries of :math:`K_{FF}` share (nearly all, where a Gaussian is wide) then costs no digits.
"""

from functools import partial

import numpy as np

from ...gram.low_rank import LowRankGram
from ...gram.matrix import cholesky, cholesky_solve

__all__ = ["Face", "IndefiniteError"]

# The first two lines are in units of the mean diagonal of the matrix that is factored, the last
# two in units of K's.
FIRST_SHIFT = 1e-9  # the first shift
FIRST_DAMPING, MAX_SHIFT = 1e-2, 1e-1  # the first raised shift, and the largest
RAISE_FACTOR, LOWER_FACTOR, SHARPEN_FACTOR = 10.0, 3.0, 100.0  # factors
MIN_SHIFT = 30 * np.finfo(float).eps  # times the points: below it refinement would not converge
INDEFINITE_SHIFT = 1e-6  # if not even this makes K_FF definite, K is indefinite


class IndefiniteError(ValueError):
    """K is not positive semi-definite on the free points."""


class Face:
    """Factor and solve the system of one face after the other."""

    def __init__(self, gram):
        self.gram, self.scale = gram, gram.scale
        self._free = None
        self.reset_shift()

    def reset_shift(self):
        """Return to the shift of the beginning."""
        self.shift = FIRST_SHIFT

    def raise_shift(self):
        """Damp the next steps."""
        self.shift = min(max(RAISE_FACTOR * self.shift, FIRST_DAMPING), MAX_SHIFT)

    def lower_shift(self):
        """Trust the next steps more."""
        self.shift = max(self.shift / LOWER_FACTOR, FIRST_SHIFT)

    def end_damping(self):
        """Return to the shift of the beginning on this face: fewer steps, one factorisation."""
        if self.shift > FIRST_SHIFT:
            self.reset_shift()
            self._free = None

    def reduce_shift(self):
        """Factor this face anew, with a smaller shift; False where rounding forbids it."""
        if self._asked_for <= self._min_shift(len(self._free)):
            return False
        self.shift /= SHARPEN_FACTOR
        self._free = None
        return True

    def step(self, free, e, imbalance):
        """Return the step of the free multipliers, and the intercept."""
        known = self._free is not None and len(free) == len(self._free)
        if not (known and (free == self._free).all()):
            self._factor(free)
        m = len(free)
        r = e + imbalance * self._means  # the errors after all columns have been subtracted
        r -= r.sum() / m
        step = self._solve(r)
        step -= (step.sum() + imbalance) / m
        return step, e.sum() / m - self._means @ step

    def _factor(self, free):
        self._free = free
        if self.gram.size < len(free):
            self._factor_columns(free)
        else:
            self._factor_block(free)

    def _factor_columns(self, free):
        r"""Factor :math:`PK_{FF}P + \mu I` by the few columns of :math:`K_{FF} = ZZ^\top`."""
        m, Z = len(free), self.gram.part(free).Z
        mean = Z.mean(axis=0)
        self._means = Z @ mean
        centred = LowRankGram(Z - mean)
        self._asked_for = self.shift * centred.scale
        shift = max(self._asked_for, self._min_shift(m))
        self._solve = centred.factor(np.full(m, shift))

    def _factor_block(self, free):
        m = len(free)
        work = self._centred(free)
        self._asked_for = self.shift * work.trace() / m
        shift = max(self._asked_for, self._min_shift(m))
        while True:
            work.ravel(order="K")[:: m + 1] += shift
            try:
                self._solve = partial(cholesky_solve, cholesky(work))
                break
            except ArithmeticError:
                if shift > INDEFINITE_SHIFT * self.scale:
                    raise IndefiniteError(
                        "the kernel is not positive semi-definite: the Gram matrix of the free "
                        f"points has a negative pivot even with {shift / self.scale:.0e} of its "
                        "mean diagonal added. Choose another kernel, or add to the diagonal of K "
                        "what its smallest eigenvalue lacks."
                    ) from None
            shift *= 10
            work = self._centred(free)

    def _centred(self, free):
        r"""Return :math:`PK_{FF}P + \sigma 11^\top/m`, in the order that LAPACK wants."""
        K, m = self.gram.block(free, free), len(free)
        self._means = K.sum(axis=0) / m
        K -= self._means
        K -= (self._means - (self._means.sum() + self.scale) / m)[:, None]
        return K.T  # symmetric

    def _min_shift(self, m):
        return MIN_SHIFT * m * self.scale
