r"""Kernels of infinite ensembles of stumps, perceptrons, regions or tree leaves, in closed form.

The kernel that embeds a set of hypotheses h with weights :math:`r` and a measure :math:`\mu` is
:math:`\int r^2\,h(x)\,h(z)\,d\mu`, :eq:`eq-embedding`, Lin (2005, definition 3).
`svmbook.ensembles.learners` approximates these kernels by random samples of hypotheses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from .functions import _as_arrays

__all__ = [
    "bounding_box",
    "mean_abs_cos",
    "perceptron",
    "stump",
    "stump_mass",
    "stump_regions",
    "stump_tree",
]


def stump(X: ArrayLike, Z: ArrayLike | None = None, *, box: ArrayLike | None = None) -> np.ndarray:
    r"""Return :math:`\Delta_S - \|x - z\|_1`, the kernel of all decision stumps.

    A stump is the hypothesis :math:`q\,\mathrm{sign}(x_j - a)`. Let the thresholds a be uniform in
    the range :math:`[L_j, R_j]` of each feature, with both signs q and :math:`r = \tfrac12`. Then
    the integral is :eq:`eq-stump-kernel`, with :math:`\Delta_S = \tfrac12\sum_j(R_j - L_j)`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    Z : array-like of shape (m, d), optional
        Other points; ``X`` itself by default.
    box : array-like of shape (2, d), default=None
        The lowest and the highest threshold of each feature. Points outside the box are moved to
        its boundary, because no stump separates them from it. The default is the simplified kernel
        :math:`-\|x - z\|_1`, which is definite only on vectors that sum to zero. This suffices for
        an SVM with an intercept.

    Returns
    -------
    ndarray of shape (n, m)

    References
    ----------
    Lin (2005), definition 4 and theorem 10.

    Examples
    --------
    >>> from svmbook.kernels import stump
    >>> stump([[0.0], [1.0], [4.0]], box=[[0.0], [4.0]])
    array([[ 2.,  1., -2.],
           [ 1.,  2., -1.],
           [-2., -1.,  2.]])
    """
    X, Z = _as_arrays(X, Z)
    if box is None:
        return 0.0 - cdist(X, Z, "cityblock")
    return stump_mass(box) - cdist(np.clip(X, *box), np.clip(Z, *box), "cityblock")


def perceptron(
    X: ArrayLike, Z: ArrayLike | None = None, *, radius: float | None = None
) -> np.ndarray:
    r"""Return :math:`\Delta_P - \|x - z\|_2`, the kernel of all perceptrons.

    A perceptron is the hypothesis :math:`q\,\mathrm{sign}(\theta^\top x - a)`. Let its direction be
    uniform on the sphere, its threshold a uniform in :math:`[-R, R]`, and r such that the factor of
    the distance is one. Then :math:`\Delta_P = R/m`, where m is the mean of :math:`|\theta_1|` over
    the sphere, `mean_abs_cos`.

    Parameters
    ----------
    X, Z : array-like
        As in `stump`.
    radius : float, default=None
        The radius R of a ball around the origin that contains all points. The default is the
        simplified kernel :math:`-\|x - z\|_2`, which is definite only on vectors that sum to zero.

    Returns
    -------
    ndarray of shape (n, m)

    References
    ----------
    Lin (2005), definition 5. If the measure on the directions is read as an area, the constant
    given there lacks a factor, the area of the sphere.

    Examples
    --------
    >>> from svmbook.kernels import perceptron
    >>> perceptron([[0.0, 0.0], [3.0, 4.0]])
    array([[ 0., -5.],
           [-5.,  0.]])
    """
    X, Z = _as_arrays(X, Z)
    mass = 0.0 if radius is None else radius / mean_abs_cos(X.shape[1])
    return mass - cdist(X, Z)


def stump_regions(
    X: ArrayLike,
    Z: ArrayLike | None = None,
    *,
    box: ArrayLike,
    degree: int = 3,
    subtract_one: bool = False,
) -> np.ndarray:
    r"""Return the kernel of regions with L stump boundaries, where L is ``degree``.

    A region with L boundaries is the intersection of a half-space, given by a stump, with a region
    of L - 1 boundaries or its complement. The hypotheses are the regions and their complements.
    With their total weight normalised to one, so that :math:`k(x, x) = 1`, the kernel is
    :math:`\kappa_L` with

    .. math:: \kappa_1 = K_S/\Delta_S, \qquad
        \kappa_L = \tfrac14(\kappa_{L-1} + 1)(\kappa_1 + 1).

    Parameters
    ----------
    X, Z, box
        As in `stump`; the box is required.
    degree : int, default=3
        Number of boundaries.
    subtract_one : bool, default=False
        Whether to subtract one at each level, as Lin (2005) does: the formula there assumes that a
        conjunction is true as often as false. For two boundaries this only adds a constant, which
        changes no SVM with an intercept; with three or more boundaries the kernels differ.

    Returns
    -------
    ndarray of shape (n, m)

    References
    ----------
    Lin (2005), theorem 14 and definition 7.

    Examples
    --------
    >>> from svmbook.kernels import stump_regions
    >>> stump_regions([[0.0], [2.0], [4.0]], box=[[0.0], [4.0]], degree=2)
    array([[1.  , 0.25, 0.  ],
           [0.25, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """
    kappa_1 = _normalised_stump(X, Z, box)
    kappa = kappa_1
    for _ in range(1, degree):
        kappa = 0.25 * (kappa + 1.0) * (kappa_1 + 1.0) - subtract_one
    return kappa


def stump_tree(
    X: ArrayLike, Z: ArrayLike | None = None, *, box: ArrayLike, degree: int = 3
) -> np.ndarray:
    r"""Return :math:`\exp(-\tfrac L2(1 - K_S/\Delta_S))`, the kernel of leaves of random trees.

    A leaf is the conjunction of a random number of stumps. Among the leaves that contain a given
    point this number has a Poisson distribution with mean L, which is ``degree``. The kernel is
    the Laplacian kernel :math:`\exp(-\gamma\|x - z\|_1)` with :math:`\gamma = L/(2\Delta_S)`. It
    does not change if all features are scaled by the same factor.

    Parameters
    ----------
    X, Z, box
        As in `stump`; the box is required.
    degree : int, default=3
        Mean number of stumps of the leaves that contain a point.

    Returns
    -------
    ndarray of shape (n, m)

    References
    ----------
    Lin (2005), theorem 15, derived from rules with values 0 and 1.

    Examples
    --------
    >>> from svmbook.kernels import stump_tree
    >>> stump_tree([[0.0], [4.0]], box=[[0.0], [4.0]], degree=1).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    return np.exp(-0.5 * degree * (1.0 - _normalised_stump(X, Z, box)))


def _normalised_stump(X, Z, box):
    r"""Return :math:`K_S/\Delta_S`, the mean of h(x)h(z) over random stumps h.

    If the box is a single point, no stump separates any two points, and all values are 1.
    """
    mass = stump_mass(box)
    return stump(X, Z, box=box) / mass if mass else np.ones((len(X), len(X if Z is None else Z)))


def stump_mass(box):
    r"""Return :math:`\Delta_S = \tfrac12\sum_j(R_j - L_j)`, the total squared weight of the stumps.

    Parameters
    ----------
    box : array-like of shape (2, d)
        The lowest and the highest threshold of each feature.

    Returns
    -------
    float

    Examples
    --------
    >>> from svmbook.kernels.ensembles import stump_mass
    >>> stump_mass([[0.0, -1.0], [4.0, 1.0]])
    3.0
    """
    low, high = np.asarray(box, dtype=float)
    return 0.5 * float((high - low).sum())


def mean_abs_cos(d):
    r"""Return the mean of :math:`|\theta_1|` over the unit sphere in d dimensions.

    This is the mean absolute cosine of the angle between a random direction and a fixed one.

    .. math:: m = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d + 1)/2)}

    Parameters
    ----------
    d : int
        Dimension, at least 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from svmbook.kernels.ensembles import mean_abs_cos
    >>> [round(mean_abs_cos(d), 4) for d in (1, 2, 3)]  # 1, 2 / pi, 1 / 2
    [1.0, 0.6366, 0.5]
    """
    return float(np.exp(gammaln(0.5 * d) - gammaln(0.5 * (d + 1))) / np.sqrt(np.pi))


def bounding_box(X):
    """Return the smallest axis-parallel box that contains the given points.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.

    Returns
    -------
    ndarray of shape (2, d)
        The lowest and the highest value of each feature.

    Examples
    --------
    >>> from svmbook.kernels.ensembles import bounding_box
    >>> bounding_box([[0.0, 5.0], [2.0, 1.0]])
    array([[0., 1.],
           [2., 5.]])
    """
    return np.stack([np.min(X, axis=0), np.max(X, axis=0)])
