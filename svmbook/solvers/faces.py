r"""The linear system of a face: some multipliers free, the others at their bounds.

On a face the optimality conditions of the dual are equations. With :math:`\beta = y\circ\alpha`,
:math:`e = y - K\beta` and F the free points,

.. math::

    \begin{bmatrix} K_{FF} + \mu I & 1\\ 1^\top & 0\end{bmatrix}
    \begin{bmatrix} \delta\\ b\end{bmatrix} =
    \begin{bmatrix} e_F\\ -1^\top\beta\end{bmatrix}.

The shift :math:`\mu` makes the step a proximal one: it minimises the objective plus
:math:`\tfrac{\mu}{2}\|\delta\|^2`. That keeps a singular :math:`K_{FF}` solvable (duplicated points,
few features) and changes no solution, for there :math:`\delta = 0`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

__all__ = ["Face"]

SMALL = 1e-9  # of the mean diagonal: the shift to begin with
DAMPED, LARGEST = 1e-2, 1e-1  # of it: the first raised shift, and the largest
RAISED, LOWERED, SHARPENED = 10.0, 3.0, 100.0  # factors
ROUNDING = 30 * np.finfo(float).eps  # times the points: below it refinement would not converge
INDEFINITE = 1e-6  # a shift that does not make K_FF definite proves that rounding is not at fault


class Face:
    """Factor and solve the system of one face after the other.

    Parameters
    ----------
    rows : StoredRows or ComputedRows
        The Gram matrix.
    """

    def __init__(self, rows):
        self.rows, self.scale = rows, rows.scale
        self.start_small()
        self._free = None

    def start_small(self):
        """Return to the shift of the beginning."""
        self.shift = SMALL * self.scale

    def raise_shift(self):
        """Damp the next steps."""
        self.shift = self.scale * np.clip(RAISED * self.shift / self.scale, DAMPED, LARGEST)

    def lower_shift(self):
        """Let the next steps be bolder."""
        self.shift = max(self.shift / LOWERED, SMALL * self.scale)

    def sharpen(self):
        """Factor this face anew, with a smaller shift; False where rounding forbids it."""
        smallest = ROUNDING * len(self._free) * self.scale
        if self._factored_with <= smallest:
            return False
        self.shift = max(self.shift / SHARPENED, smallest)
        self._free = None
        return True

    def step(self, free, e, imbalance):
        """Return the step of the free multipliers, and the intercept.

        Parameters
        ----------
        free : ndarray of int
            The free points.
        e : ndarray
            Their errors.
        imbalance : float
            The sum of all signed multipliers, which the step is to take away.
        """
        if self._free is None or not np.array_equal(free, self._free):
            self._factor(free)
        centre = e.mean()  # digits: what both unknowns share need not pass through the solution
        u, v = self._solve(e - centre), self._ones
        db = (u.sum() + imbalance) / v.sum()
        step = u - db * v
        step -= (step.sum() + imbalance) / len(step)  # what rounding has left
        return step, centre + db

    def _factor(self, free):
        m = len(free)
        shift = max(self.shift, ROUNDING * m * self.scale)
        while True:
            work = self.rows.block(free, free).T  # symmetric: its transpose, as LAPACK wants it
            work.ravel(order="K")[:: m + 1] += shift
            self._L, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
            if not info:
                break
            if shift > INDEFINITE * self.scale:
                raise ValueError(
                    "the kernel is not positive semi-definite: the Gram matrix of the free points "
                    f"has a negative pivot even with {shift / self.scale:.0e} of its mean "
                    "diagonal added. Choose another kernel, or add to the diagonal of K what its "
                    "smallest eigenvalue lacks."
                )
            shift *= 10
        self._free, self._factored_with = free, shift
        self._ones = self._solve(np.ones(m))

    def _solve(self, r):
        return blas.dtrsv(self._L, blas.dtrsv(self._L, r, lower=1), lower=1, trans=1)
