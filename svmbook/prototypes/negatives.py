"""Initial negatives of an exemplar: the nearest points of other classes on one side of a plane."""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from ..base import row_blocks
from ..ties import round_significand

__all__ = ["distances", "duplicate_distance", "initial_negatives", "smallest_per_row_mask"]

DUPLICATE_TOL = 1e-10  # relative to the median distance: points this close count as duplicates
MAX_MEDIAN_POINTS = 1000  # the median distance is that of at most so many points
MAX_BLOCK_DISTANCES = 50_000  # distances per block of exemplars: few enough for the cache
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


def duplicate_distance(X, metric="euclidean"):
    """Return the largest distance at which two points count as duplicates.

    It is a tiny fraction of the median distance between the points, or between every k-th point if
    there are more than 1,000.
    """
    sample = X[:: -(-len(X) // MAX_MEDIAN_POINTS)]
    median = np.median(distances(sample, sample, metric))
    return max(DUPLICATE_TOL * median, np.finfo(float).tiny)


def initial_negatives(X, codes, n_negatives, metric="euclidean"):
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
    X : ndarray of shape (n, n_features)
        Points.
    codes : ndarray of shape (n,)
        Class index of each point; at least two classes.
    n_negatives : int
        Maximum number of negatives.
    metric : str or callable, default="euclidean"
        A metric of `sklearn.metrics.pairwise_distances`.

    Returns
    -------
    csr_array of bool, of shape (n, n)
        Row i is the mask of the negatives of exemplar i.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.prototypes.negatives import initial_negatives
    >>> X = np.array([[0.0, 0], [1, 0], [2, 1], [-3, 0], [4, 0]])
    >>> codes = np.array([0, 1, 1, 1, 1])
    >>> initial_negatives(X, codes, n_negatives=2)[[0]].toarray()
    array([[False,  True,  True, False, False]])
    """
    max_duplicate_dist = duplicate_distance(X, metric)

    def distances_from(exemplars):
        return round_significand(distances(exemplars, X, metric))

    def negatives_of(block):
        dist = distances_from(X[block])
        # Distances of the candidates; infinite for points that are not candidates.
        candidate_dist = np.where(codes[block, None] == codes, np.inf, dist)
        distinct_dist = np.where(dist > max_duplicate_dist, candidate_dist, np.inf)
        has_distinct = np.isfinite(distinct_dist).any(axis=1, keepdims=True)
        candidate_dist = np.where(has_distinct, distinct_dist, candidate_dist)
        nearest = candidate_dist.argmin(axis=1)
        nearest_entries = np.arange(len(dist)), nearest
        sq_dist_sum = dist[nearest_entries][:, None] ** 2 + dist**2
        sq_dist_difference = sq_dist_sum - distances_from(X[nearest]) ** 2
        is_on_same_side = sq_dist_difference > PLANE_TOL * sq_dist_sum
        is_on_same_side[nearest_entries] = True
        candidate_dist = np.where(is_on_same_side, candidate_dist, np.inf)
        mask = smallest_per_row_mask(candidate_dist, n_negatives) & np.isfinite(candidate_dist)
        return sparse.csr_array(mask)

    blocks = row_blocks(len(X), len(X), MAX_BLOCK_DISTANCES)
    return sparse.vstack([negatives_of(block) for block in blocks], format="csr")


def smallest_per_row_mask(values, k):
    """Return a mask of the k smallest values in each row; ties go to the first."""
    k = min(k, values.shape[1])
    kth_smallest = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    is_smaller, is_tied = values < kth_smallest, values == kth_smallest
    n_tied_included = k - is_smaller.sum(axis=1, keepdims=True)
    return is_smaller | (is_tied & (is_tied.cumsum(axis=1) <= n_tied_included))
