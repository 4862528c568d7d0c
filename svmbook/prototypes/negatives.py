"""Initial negatives of an exemplar: the nearest points of other classes on one side of a plane."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from ..ties import round_significand

__all__ = ["distances", "initial_negatives", "smallest_per_row_mask"]

DUPLICATE_TOL = 1e-10  # relative to the median distance: points this close count as duplicates
PLANE_TOL = 1e-10  # relative to squared distances: a point this close lies on the plane
# Metrics that cannot be computed from two points alone.
UNSUPPORTED_METRICS = ("precomputed", "mahalanobis", "seuclidean")


def distances(A, B, metric="euclidean"):
    """Return the distances between the rows of two arrays, by a metric of scikit-learn."""
    if metric in ("euclidean", "l2"):  # from differences: accurate also far from the origin
        return cdist(A, B)
    if metric in UNSUPPORTED_METRICS:
        raise ValueError(
            f"metric={metric!r} cannot be computed from two points alone. Scale or rotate the "
            "features first and use 'euclidean', or pass a function of two points."
        )
    dist = pairwise_distances(A, B, metric=metric)
    if not (np.isfinite(dist) & (dist >= 0)).all():
        raise ValueError(f"metric={metric!r} gives distances that are negative or not finite.")
    return dist


def initial_negatives(dist, codes, n_negatives):
    r"""Choose the initial negatives of each exemplar: algorithm 2 of Shen (2013).

    Let x be the nearest point of another class to the exemplar d. The negatives are the
    ``n_negatives`` nearest points of other classes on the same side as x of the plane through d
    that is normal to :math:`x - d`. A point z lies on this side if
    :math:`(x - d)^\top(z - d) > 0`, or in distances

    .. math:: \rho(d, x)^2 + \rho(d, z)^2 > \rho(x, z)^2,

    which is the condition used for every metric. The point x is always included. Points at
    distance zero from the exemplar are skipped if there are others: no hyperplane separates them
    from it, and no plane is normal to their difference. Ties go to the first point.

    Parameters
    ----------
    dist : ndarray of shape (n, n)
        Distances between all points.
    codes : ndarray of shape (n,)
        Class index of each point; at least two classes.
    n_negatives : int
        Maximum number of negatives.

    Returns
    -------
    ndarray of bool, of shape (n, n)
        Row i is the mask of the negatives of exemplar i.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.prototypes.negatives import initial_negatives, distances
    >>> X = np.array([[0.0, 0], [1, 0], [2, 1], [-3, 0], [4, 0]])
    >>> codes = np.array([0, 1, 1, 1, 1])
    >>> initial_negatives(distances(X, X), codes, n_negatives=2)[0]
    array([False,  True,  True, False, False])
    """
    rows, dist = np.arange(len(codes)), round_significand(dist)
    # Distances of the candidates; infinite for points that are not candidates.
    candidate_dist = np.where(codes[:, None] == codes, np.inf, dist)
    distinct_dist = np.where(dist > DUPLICATE_TOL * np.median(dist), candidate_dist, np.inf)
    has_distinct = np.isfinite(distinct_dist).any(axis=1, keepdims=True)
    candidate_dist = np.where(has_distinct, distinct_dist, candidate_dist)
    nearest = candidate_dist.argmin(axis=1)
    sq_dist = dist**2
    sq_dist_sum = sq_dist[rows, nearest][:, None] + sq_dist
    is_on_same_side = sq_dist_sum - sq_dist[nearest] > PLANE_TOL * sq_dist_sum
    is_on_same_side[rows, nearest] = True
    candidate_dist = np.where(is_on_same_side, candidate_dist, np.inf)
    return smallest_per_row_mask(candidate_dist, n_negatives) & np.isfinite(candidate_dist)


def smallest_per_row_mask(values, k):
    """Return a mask of the k smallest values in each row; ties go to the first."""
    mask = np.zeros(values.shape, dtype=bool)
    smallest = np.argsort(values, axis=1, kind="stable")[:, :k]
    np.put_along_axis(mask, smallest, True, axis=1)
    return mask
