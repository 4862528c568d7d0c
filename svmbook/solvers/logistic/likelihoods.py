r"""Negative log likelihoods of labels, as functions of the outputs of a classifier.

`Binomial` is for labels -1 and +1 and one output per point, `Multinomial` for any number of classes
and one output per class. Both have the same methods: the loss, its negative gradient with respect
to the outputs, and the step of Newton's method for a given Gram matrix. The arguments R and r of
``newton_step`` are minus the gradient of the objective in the coefficients and in the intercept.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from ...losses import logistic, logistic_curvature, logistic_slope

__all__ = ["Binomial", "Multinomial", "TwoClassLoss", "best_intercept", "make_likelihood"]

FORCING_TERM = 0.1  # Newton-CG: largest residual of an inner solution, relative to the initial one
MAX_CG_ITERATIONS = 500  # Newton-CG: conjugate gradient iterations in one step
CURVATURE_TOL = 1e-12  # relative to the gradient: the loss is linear if it has less curvature
INTERCEPT_TOL = 1e-13  # relative to the gradient: rounding error of its sum
LOSS_ROUNDING = 1e-14  # relative rounding error of a loss
MAX_INTERCEPT_STEPS = 40  # Newton steps in the intercept; a warm start needs one or two
MAX_HALVINGS = 40  # halvings of one step in the intercept


def make_likelihood(y, weights, n_classes):
    """Return the likelihood of labels -1 and +1, or of class numbers if ``n_classes`` is given."""
    return Binomial(y, weights) if n_classes is None else Multinomial(y, n_classes, weights)


class TwoClassLoss:
    """A loss of one output per point; ``curvature`` returns its diagonal second derivative."""

    zero_intercept = 0.0

    def curvature_along(self, F, D):
        """Return the second derivative of the loss along D, a number."""
        return float(self.curvature(F) @ (D * D))

    def intercept_curvature(self, F):
        """Return the second derivative in the intercept, of shape (1, 1)."""
        return np.array([[self.curvature(F).sum()]])


class Binomial(TwoClassLoss):
    r"""Two classes, :eq:`eq-log-loss`: :math:`\sum_i s_i \log(1 + e^{-y_i F_i})`."""

    def __init__(self, y, weights):
        self.y, self.weights = y, weights

    def loss(self, F):
        """Return the loss of outputs F."""
        return float(self.weights @ logistic(self.y * F))

    def negative_gradient(self, F):
        r"""Return :math:`G_i = s_i y_i\,\sigma(-y_iF_i)`: :eq:`eq-pull` times the label."""
        return -self.weights * self.y * logistic_slope(self.y * F)

    def curvature(self, F):
        r"""Return :math:`W_i = s_i\,\sigma(F_i)\,\sigma(-F_i)`, the diagonal second derivative."""
        return self.weights * logistic_curvature(F)

    def newton_step(self, gram, lam, F, R, r):
        """Return the Newton step of coefficients and intercept: one weighted ridge regression.

        If every margin is so large that the loss is linear in double precision, the step would be
        unbounded. The upper bound :math:`s_i/4` of the curvature then gives a descent step.
        """
        W = self.curvature(F)
        if W.sum() <= CURVATURE_TOL * np.abs(self.negative_gradient(F)).sum():
            W = 0.25 * self.weights
        return gram.factor_ridge(W, lam)(R, r)


class Multinomial:
    r"""Any number k of classes: :math:`\sum_i s_i (\log\sum_c e^{F_{ic}} - F_{i,y_i})`.

    The probabilities are those of :eq:`eq-softmax`.
    """

    def __init__(self, codes, n_classes, weights):
        self.codes, self.weights = codes, weights
        self.indices = np.arange(len(codes))
        self.zero_intercept = np.zeros(n_classes)

    def loss(self, F):
        """Return the loss of outputs F."""
        D = F - F[self.indices, self.codes, None]
        D[self.indices, self.codes] = -np.inf
        # The true class against all others together, which is accurate for probabilities near 1.
        return float(self.weights @ logistic(-logsumexp(D, axis=1)))

    def negative_gradient(self, F):
        r"""Return :math:`G_{ic} = s_i([y_i = c] - p_{ic})`, :eq:`eq-softmax-pull`."""
        P = softmax(F, axis=1)
        P[self.indices, self.codes] = 0.0
        # 1 - p of the true class, as a sum over the others, loses no digits where p is near 1.
        P[self.indices, self.codes] = -P.sum(axis=1)
        return -self.weights[:, None] * P

    def curvature_along(self, F, D):
        r"""Return :math:`\sum_i s_i D_i^\top(\mathrm{diag}\,p_i - p_ip_i^\top)D_i`."""
        P, _, most_probable_class = _probabilities(F)
        D = D - D[self.indices, most_probable_class, None]
        mean = (P * D).sum(axis=1, keepdims=True)
        return float(self.weights @ (P * (D - mean) ** 2).sum(axis=1))

    def intercept_curvature(self, F):
        r"""Return :math:`\sum_i s_i(\mathrm{diag}\,p_i - p_ip_i^\top)`, of shape (k, k)."""
        P, complement, _ = _probabilities(F)
        weighted_P = self.weights[:, None] * P
        curvature = -P.T @ weighted_P
        np.fill_diagonal(curvature, (weighted_P * complement).sum(axis=0))
        return curvature

    def newton_step(self, gram, lam, F, R, r):
        r"""Return the Newton step of coefficients and intercepts, by conjugate gradients.

        The curvature of point i, :math:`H_i = s_i(\mathrm{diag}\,p_i - p_ip_i^\top)`, couples the k
        outputs. The preconditioner is one weighted ridge regression for all classes, with weights
        :math:`\mathrm{tr}\,H_i/(k-1)`, the mean of the k - 1 non-zero eigenvalues; for two classes
        it gives the exact step. If the loss is linear in double precision, the bound
        :math:`H_i \preceq s_iI/2` replaces the curvature.
        """
        P, complement, most_probable_class = _probabilities(F)
        weighted_P = self.weights[:, None] * P
        W = (weighted_P * complement).sum(axis=1) / (F.shape[1] - 1)
        if W.sum() <= CURVATURE_TOL * np.abs(self.negative_gradient(F)).sum():
            return gram.factor_ridge(0.5 * self.weights, lam)(R, r)
        solve_ridge = gram.factor_ridge(W, lam)

        def precondition(R, r):
            V, c = solve_ridge(R, r)
            # The mean over the classes changes no probability: set it to zero.
            return V - V.mean(axis=1, keepdims=True), c - c.mean()

        def hessian_product(V, outputs):  # the Hessian times (V, c); outputs = f_V + c
            relative = outputs - outputs[self.indices, most_probable_class, None]
            HF = weighted_P * (relative - (P * relative).sum(axis=1, keepdims=True))
            return gram.adjoint(HF) + lam * V, HF.sum(axis=0)

        V, c = np.zeros_like(R), np.zeros_like(r)
        D, d = precondition(R, r)
        fD = gram.outputs(D)
        D_outputs = fD + d
        rho = gram.inner(R, D, fD) + r @ d  # <residual, preconditioned residual>
        target_rho = rho * min(FORCING_TERM**2, rho / (1.0 + self.loss(F)))
        for _ in range(MAX_CG_ITERATIONS):
            HD, Hd = hessian_product(D, D_outputs)
            curvature = gram.inner(HD, D, D_outputs - d) + Hd @ d
            if not (rho > 0.0 and curvature > 0.0):
                break  # rounding error
            t = rho / curvature
            V, c = V + t * D, c + t * d
            R, r = R - t * HD, r - t * Hd
            Z, z = precondition(R, r)
            fZ = gram.outputs(Z)
            rho, previous_rho = gram.inner(R, Z, fZ) + r @ z, rho
            if rho <= target_rho:
                break
            beta = rho / previous_rho
            D, d, D_outputs = Z + beta * D, z + beta * d, fZ + z + beta * D_outputs
        return V, c


def _probabilities(F):
    """Return the softmax P of F, 1 - P without loss of digits, and the most probable class.

    The curvature of a point does not change if a constant is added to all its outputs. Outputs
    relative to those of the most probable class avoid cancellation.
    """
    P = softmax(F, axis=1)
    indices, most_probable_class = np.arange(len(F)), F.argmax(axis=1)
    complement = 1.0 - P
    other_P = P.copy()
    other_P[indices, most_probable_class] = 0.0
    complement[indices, most_probable_class] = other_P.sum(axis=1)
    return P, complement, most_probable_class


def best_intercept(loss_function, f, start):
    """Return the best intercept for outputs f, and the negative gradient of the loss there.

    The loss of ``f + intercept`` is minimised by Newton's method with one unknown per class. At the
    minimum the gradient sums to zero, as dual feasibility requires.

    Parameters
    ----------
    loss_function : TwoClassLoss or Multinomial
        The loss of the outputs, for instance a `Binomial`.
    f : ndarray of shape (n,) or (n, k)
        Outputs without intercept.
    start : float or ndarray of shape (k,)
        Initial intercept.

    Returns
    -------
    intercept : float or ndarray of shape (k,)
    G : ndarray of the shape of f
        The negative gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers.logistic.likelihoods import Binomial
    >>> from svmbook.solvers.logistic.likelihoods import best_intercept
    >>> likelihood = Binomial(np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4))
    >>> round(best_intercept(likelihood, np.zeros(4), 0.0)[0], 6)  # log 3
    1.098612
    """
    b, G, loss = start, loss_function.negative_gradient(f + start), loss_function.loss(f + start)
    longest_step = 10.0 + np.max(np.abs(f + start))
    for _ in range(MAX_INTERCEPT_STEPS):
        r, gradient_size = G.sum(axis=0), np.abs(G).sum()
        if np.abs(r).max() <= INTERCEPT_TOL * gradient_size:
            break
        H = loss_function.intercept_curvature(f + b) + CURVATURE_TOL * gradient_size * np.eye(
            np.size(b)
        )
        step = np.linalg.solve(H, np.atleast_1d(r)).reshape(np.shape(b))
        step = np.clip(step, -longest_step, longest_step)  # a linear loss gives unbounded steps
        for _ in range(MAX_HALVINGS):
            G_new = loss_function.negative_gradient(f + b + step)
            has_smaller_gradient = np.abs(G_new.sum(axis=0)).max() < np.abs(r).max()
            loss_new = loss_function.loss(f + b + step)
            # Accepting a higher loss for a smaller gradient could cycle if the loss is piecewise
            # linear.
            loss_has_not_increased = loss_new <= loss * (1.0 + LOSS_ROUNDING)
            if loss_new < loss or (has_smaller_gradient and loss_has_not_increased):
                break
            step = 0.5 * step
        else:
            break  # the loss is so small that its curvature is below rounding error
        b, G, loss = b + step, G_new, loss_new
    return (float(b) if np.ndim(b) == 0 else b), G
