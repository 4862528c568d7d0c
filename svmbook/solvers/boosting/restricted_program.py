r"""The linear program of LPBoost for some of the hypotheses, in its dual form.

Let :math:`a_h = (y_ih(x_i))_i` be the labels times the outputs of a hypothesis h. Then
:math:`e_h = a_h^\top u` is its edge for the dual variables u. The dual program is

.. math:: \min_{u, \beta, t}\ \beta - t \quad\text{subject to}\quad
    e_h \le \beta,\quad \sum_i u_i = t,\quad 0 \le u \le C.

The soft margin fixes :math:`\beta = 1`, which gives :eq:`eq-lpboost-dual`. The hard margin fixes
:math:`t = 1` and minimises the largest edge; its optimum is the margin. The weights w of the
hypotheses are the multipliers of :math:`e_h \le \beta`. The dual is faster to solve than the
primal, because it has one constraint per hypothesis, and there are fewer hypotheses than points.

All entries of :math:`a_h` are -1 or +1, but two stumps on the same feature have different outputs
only between their thresholds. So the edges are variables, and each one is computed from another:

.. math:: e_h = s\,e_p + (a_h - s\,a_p)^\top u, \qquad s = \mathrm{sign}(a_h^\top a_p),

where p is the earlier hypothesis with the largest :math:`|a_h^\top a_p|`, the first one in case of
ties. Then most coefficients are zero, which saves most of the solver's time.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

__all__ = ["RestrictedProgram"]

SOLVER_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class RestrictedProgram:
    """Linear program of a growing set of hypotheses with outputs -1 and +1.

    Parameters
    ----------
    C : ndarray of shape (n,)
        Regularisation parameter of each point; all infinite for the hard margin.

    Attributes
    ----------
    hard_margin : bool
        Whether the regularisation parameters are infinite.
    columns : ndarray of shape (n, n_hypotheses)
        Labels times outputs of the hypotheses.
    """

    def __init__(self, C):
        n = len(C)
        self.C, self.hard_margin, self.columns = C, bool(np.isinf(C).any()), np.empty((n, 0))
        self._differences = sparse.csr_array((0, n))  # the vectors a_h - s a_p
        self._parents, self._signs = np.empty(0, dtype=int), np.empty(0)  # p and s

    def add(self, columns):
        """Add hypotheses; return the indices of those that differ from all earlier ones.

        The inner products are integers without rounding error, so all choices are exact.
        """
        is_new = ~(self._products_with_earlier(columns) == len(columns)).any(axis=0)
        if is_new.any():
            columns = columns[:, is_new]
            products = self._products_with_earlier(columns)
            parents = np.abs(products).argmax(axis=0)
            signs = np.sign(products[parents, np.arange(len(parents))])  # 0 without a similar one
            self.columns = np.column_stack([self.columns, columns])
            differences = sparse.csr_array((columns - signs * self.columns[:, parents]).T)
            self._differences = sparse.vstack([self._differences, differences], format="csr")
            self._parents = np.append(self._parents, parents)
            self._signs = np.append(self._signs, signs)
        return np.flatnonzero(is_new)

    def _products_with_earlier(self, columns):
        """Return the inner products of new columns with each column before them, otherwise 0."""
        products = np.column_stack([self.columns, columns]).T @ columns
        return np.triu(products, 1 - self.columns.shape[1])

    def solve(self):
        r"""Solve the linear program.

        Returns
        -------
        weights : ndarray of shape (n_hypotheses,)
            The weights w. For the hard margin, they sum to one.
        u : ndarray of shape (n,)
            The dual variables of the points. For the hard margin, they sum to one.
        beta : float
            The bound on the edges: 1, or the margin for the hard margin.
        """
        n, k = self.columns.shape
        parent_edges = sparse.csr_array((self._signs, (np.arange(k), self._parents)), shape=(k, k))
        identity, zeros = sparse.eye_array(k), sparse.csr_array((k, 1))
        free, nonnegative, fixed = (-np.inf, np.inf), (0.0, np.inf), (1.0, 1.0)
        solution = linprog(
            np.repeat([0.0, 1.0, -1.0], [n + k, 1, 1]),  # the variables are u, e, beta and t
            A_ub=sparse.hstack([sparse.csr_array((k, n)), identity, -np.ones((k, 1)), zeros]),
            b_ub=np.zeros(k),
            A_eq=sparse.block_array(
                [
                    [self._differences, parent_edges - identity, zeros, zeros],
                    [np.ones((1, n)), None, None, np.array([[-1.0]])],
                ]
            ),
            b_eq=np.zeros(k + 1),
            bounds=[(0.0, bound) for bound in self.C]
            + [free] * k
            + ([free, fixed] if self.hard_margin else [fixed, nonnegative]),
            method="highs-ds",
            options=SOLVER_OPTIONS,
        )
        if solution.x is None:
            raise ValueError(
                f"with C times sample_weight as large as {self.C.max():g} the linear program has "
                "no solution in double precision; lower C or sample_weight, or use C=inf."
            )
        weights = np.maximum(-solution.ineqlin.marginals, 0.0)
        u, beta = np.clip(solution.x[:n], 0.0, self.C), float(solution.x[n + k])
        return weights, u / u.sum() if self.hard_margin else u, beta
