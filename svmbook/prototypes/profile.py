"""Profile SVMs: one linear SVM per cluster of points with similar profiles."""

from __future__ import annotations

import warnings
from itertools import combinations
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.base import _fit_context
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from ..progress import logger
from ..solvers.batched.members import fit_linear_members
from ..ties import round_significand
from .pairwise import PairwiseClassifier, rowwise_outputs, single_class_output

__all__ = ["ProfileSVM"]


class ProfileSVM(PairwiseClassifier):
    r"""A linear SVM for each cluster of the training points.

    The profile :math:`s` of a point holds its similarities
    :math:`\sigma(x, x_i) = e^{-\gamma\|x - x_i\|^2}` to all training points. MagKmeans clusters
    the profiles. It minimises, alternating between the memberships :math:`Z_{ij} \ge 0` with
    :math:`\sum_j Z_{ij} = 1` and the centres :math:`\mu_j`,

    .. math:: \sum_{ij} Z_{ij}\|s_i - \mu_j\|^2
        + R\sum_{jc}\Big|\sum_i Z_{ij}\big([y_i = c] - \tfrac1k\big)\Big|

    where j runs over the clusters, c over the k classes, and :math:`[\cdot]` is 1 if the statement
    is true and 0 otherwise. The second term balances the classes in each cluster. For each cluster
    and pair of its classes, one linear SVM is trained. It predicts the labels of the points whose
    profiles are nearest to the centre of the cluster.

    `fit` takes no ``sample_weight``, because the clustering balances numbers of points.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of the slacks, positive and finite.
    n_clusters : int, default=8
        Number of clusters; empty clusters are removed.
    balance : float, default=1.0
        :math:`R` in units of the mean squared distance of a profile from the mean profile. Zero
        gives plain k-means.
    use_profiles : bool, default=True
        Whether to cluster the profiles; if False, the points themselves are clustered.
    gamma : float or "scale", default="scale"
        Parameter of the similarity. "scale" is 1 / (n_features * X.var()).
    max_iter : int, default=100
        Maximum number of iterations of the clustering.
    random_state : int, RandomState or None, default=None
        Seed of the initial centres.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each training point.
    cluster_centers_ : ndarray of shape (n_clusters, n_samples), or (n_clusters, n_features)
        The centres, as profiles or as points.
    gamma_ : float
        The value of ``gamma`` in use.
    relative_gap_ : float
        Largest relative duality gap of an SVM: (primal - dual) / primal objective.
    converged_ : bool
        Whether ``relative_gap_`` is at most 1e-4; if not, `fit` warns.
    n_iter_ : int
        Number of iterations of the clustering.
    classes_, n_features_in_, feature_names_in_
        As in `LocalizedSVM`.

    Raises
    ------
    ValueError
        `y` has one class only; there are more clusters than points; HiGHS does not solve a linear
        program.

    Warns
    -----
    ConvergenceWarning
        The clustering reaches ``max_iter``; or the duality gap of an SVM is too large.

    Notes
    -----
    The paper clusters similarities to the *test* points, which must then be known in training.
    This estimator uses similarities to the training points instead.

    If ``balance`` is positive, a training point need not belong to the cluster with the nearest
    centre, although the SVM of the nearest cluster predicts its label: balancing the classes moves
    points to other clusters.

    Memory is about :math:`48n^2` bytes, including the profiles. Each iteration of the clustering
    takes :math:`O(n^2m)` operations for m clusters.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    References
    ----------
    Cheng, Tan and Jin (2010), "Efficient algorithm for localized support vector machine", IEEE
    Transactions on Knowledge and Data Engineering 22, 537-549.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import ProfileSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProfileSVM(C=100.0, n_clusters=3, random_state=0)
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PairwiseClassifier._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "balance": [Interval(Real, 0.0, None, closed="left")],
        "use_profiles": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _n_stored_numbers(self, n, d):
        return 6.0 * n * n

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_clusters: int = 8,
        balance: float = 1.0,
        use_profiles: bool = True,
        gamma: float | str = "scale",
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.n_clusters = n_clusters
        self.balance = balance
        self.use_profiles = use_profiles
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Cluster the training points, and train the SVMs of each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.

        Returns
        -------
        ProfileSVM
            The fitted estimator.
        """
        X, classes, codes, gamma = self._validate_training_data(X, y)
        if self.n_clusters > len(X):
            raise ValueError(
                f"n_clusters={self.n_clusters} exceeds the number of points, n_samples={len(X)}."
            )
        self._points_, self._use_profiles_, self.gamma_ = X, self.use_profiles, gamma
        # Profiles that differ only by rounding become equal, so that k-means++ and the clustering
        # do not depend on rounding.
        S = round_significand(self._clustering_features(X))
        self.labels_, self.cluster_centers_, self.n_iter_ = self._cluster(S, codes, len(classes))
        in_cluster = self.labels_ == np.arange(len(self.cluster_centers_))[:, None]
        in_class = codes == np.arange(len(classes))[:, None]
        # (n_classes, n_clusters): whether the class is present in the cluster
        self._has_class_ = (in_class[:, None] & in_cluster).any(axis=2)
        self._planes_, self.relative_gap_ = {}, 0.0
        for a, b in combinations(range(len(classes)), 2):
            has_both = self._has_class_[a] & self._has_class_[b]
            if has_both.any():
                negative, positive = (in_cluster[has_both] & in_class[c] for c in (a, b))
                positive_weights = np.ones(len(positive))
                planes = fit_linear_members(X, positive, negative, float(self.C), positive_weights)
                self._planes_[a, b] = np.flatnonzero(has_both), planes
                self.relative_gap_ = float(
                    np.maximum(self.relative_gap_, planes.relative_gap.max())
                )
        self._check_convergence(self.relative_gap_, stacklevel=4)
        self.classes_ = classes
        return self

    def _clustering_features(self, X):
        if not self._use_profiles_:
            return X
        return np.exp(-self.gamma_ * cdist(X, self._points_, "sqeuclidean"))

    def _cluster(self, S, codes, k):
        """Cluster the rows of S; return labels, centres and the number of iterations."""
        centres, _ = kmeans_plusplus(S, int(self.n_clusters), random_state=self.random_state)
        R = float(self.balance) * ((S - S.mean(axis=0)) ** 2).sum(axis=1).mean()
        previous_Z = None
        for n_iter in range(1, int(self.max_iter) + 1):
            logger.info("clustering, iteration %d", n_iter)
            Z = _memberships(cdist(S, centres, "sqeuclidean"), codes, k, R)
            Z = Z[:, Z.sum(axis=0) > 0]
            centres = Z.T @ S / Z.sum(axis=0)[:, None]
            if (
                previous_Z is not None
                and Z.shape == previous_Z.shape
                and np.allclose(Z, previous_Z)
            ):
                break
            previous_Z = Z
        else:
            warnings.warn(
                f"the clusters still change after max_iter={self.max_iter} iterations; increase "
                "max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )
        nonempty, labels = np.unique(round_significand(Z).argmax(axis=1), return_inverse=True)
        return labels, centres[nonempty], n_iter

    def _floats_per_query(self):
        return 2 * len(self._points_)

    def _pair_output_function(self, X):
        sq_dist = cdist(self._clustering_features(X), self.cluster_centers_, "sqeuclidean")
        nearest = round_significand(sq_dist).argmin(axis=1)

        def outputs_of_pair(a, b):
            F = single_class_output(self._has_class_[a], self._has_class_[b])[nearest]
            if (a, b) in self._planes_:
                clusters, planes = self._planes_[a, b]
                rows = np.flatnonzero(np.isin(nearest, clusters))
                plane_indices = np.searchsorted(clusters, nearest[rows])
                F[rows] = rowwise_outputs(
                    X[rows], planes.coef[plane_indices], planes.intercept[plane_indices]
                )
            return F

        return outputs_of_pair


def _memberships(sq_dist, codes, k, R):
    """Return the optimal Z for squared distances to the centres and the class index of each point.

    For R > 0 this is a linear program. For R = 0 each point belongs to the nearest centre.
    """
    n, m = sq_dist.shape
    if R == 0.0:
        return np.eye(m)[round_significand(sq_dist).argmin(axis=1)]
    # excess[i, c] = [y_i = c] - 1/k is what one unit of membership of point i adds to the excess of
    # class c in a cluster.
    excess = (codes[:, None] == np.arange(k)) - 1.0 / k
    A = sparse.kron(excess.T, sparse.eye_array(m))
    # The variables are z, the entries of Z row by row, and t >= |A z|; R times the sum of t is the
    # balance term.
    minus_t = -sparse.eye_array(k * m)
    A_ub = sparse.vstack([sparse.hstack([A, minus_t]), sparse.hstack([-A, minus_t])], format="csr")
    A_eq = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    A_eq = sparse.hstack([A_eq, sparse.csr_array((n, k * m))], format="csr")
    cost = np.concatenate([sq_dist.ravel(), np.full(k * m, R)])
    cost /= sq_dist.mean() or 1.0
    b_ub, b_eq = np.zeros(2 * k * m), np.ones(n)
    result = linprog(cost, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, method="highs")
    if result.x is None:
        raise ValueError(
            "HiGHS did not solve the linear program of the cluster memberships "
            f"({result.message}); decrease the parameter balance."
        )
    return result.x[: n * m].reshape(n, m)
