"""A machine for each cluster of points with like profiles."""

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

from ..progress import log
from ..solvers.batched.members import linear_members
from ..ties import rounded
from .pairwise import PairwiseClassifier, alone, outputs_of_planes

__all__ = ["ProfileSVM"]


class ProfileSVM(PairwiseClassifier):
    r"""A linear machine for each cluster of the training points.

    The profile of a point holds its similarities :math:`\sigma(x, x_i) = e^{-\gamma\|x - x_i\|^2}`
    to all training points. Profiles are clustered by MagKmeans, which minimises over shares
    :math:`Z_{ij} \ge 0`, :math:`\sum_j Z_{ij} = 1`, and centres :math:`c_j`

    .. math:: \sum_{ij} Z_{ij}\|s_i - c_j\|^2
        + R\sum_{jc}\Big|\sum_i Z_{ij}\big([y_i = c] - \tfrac1k\big)\Big|,

    shares and centres in turn, so that each cluster holds its classes in like numbers. A linear
    machine is trained in each cluster, for each pair of its classes, and answers for the points
    whose profiles are nearest to its centre.

    `fit` takes no ``sample_weight``: the points of a cluster are counted.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack, positive and finite.
    n_clusters : int, default=8
        Clusters; those that end empty are left out.
    balance : float, default=1.0
        :math:`R` in units of the mean squared distance of a profile from the mean of all. Zero
        makes the clustering plain k-means.
    profiles : bool, default=True
        Whether profiles are clustered, or else the points themselves.
    gamma : float or "scale", default="scale"
        Of the similarity; "scale" is 1 / (n_features * variance of all numbers in X).
    max_iter : int, default=100
        Rounds of the clustering at most.
    random_state : int, RandomState or None, default=None
        Chooses the first centres.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each training point.
    cluster_centers_ : ndarray of shape (n_clusters, n_samples), or (n_clusters, n_features)
        The centres, of profiles or of points.
    gamma_ : float
        The value of ``gamma`` in use.
    relative_gap_ : float
        Largest relative duality gap of a machine: primal minus dual objective over the primal.
    converged_ : bool
        Whether it is at most 1e-4; where it is not, `fit` warns.
    n_iter_ : int
        Rounds of the clustering.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class; more clusters than points; a linear program that HiGHS does not solve.

    Warns
    -----
    ConvergenceWarning
        Rounds of the clustering are used up; or a machine's duality gap is wide.

    Notes
    -----
    The paper clusters similarities to the *test* points, which must then be there when it trains.
    Similarities to the training points ask for no such thing.

    With a balance a training point need not lie in the cluster of the nearest centre, whose machine
    answers for it later: the classes are mixed by sending points farther away.

    About :math:`6n^2` numbers are held, the profiles among them, and each round of the clustering
    costs :math:`n^2k` operations for k clusters.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    References
    ----------
    Cheng, Tan and Jin (2010), "Efficient algorithm for localized support vector machine", IEEE
    Transactions on Knowledge and Data Engineering 22, 537-549.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import ProfileSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = ProfileSVM(C=100.0, n_clusters=3, random_state=0)
    >>> machine.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PairwiseClassifier._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "balance": [Interval(Real, 0.0, None, closed="left")],
        "profiles": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _stored_numbers(self, n, d):
        return 6.0 * n * n

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_clusters: int = 8,
        balance: float = 1.0,
        profiles: bool = True,
        gamma: float | str = "scale",
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.n_clusters = n_clusters
        self.balance = balance
        self.profiles = profiles
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Cluster the training points, and train a machine in each cluster.

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
        X, classes, codes, gamma = self._begin(X, y)
        if self.n_clusters > len(X):
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than there are points, n_samples={len(X)}."
            )
        self._points_, self._by_profiles_, self.gamma_ = X, self.profiles, gamma
        S = rounded(self._profiles(X))  # equal profiles become exactly equal, also for k-means++
        self.labels_, self.cluster_centers_, self.n_iter_ = self._clusters(S, codes, len(classes))
        inside = self.labels_ == np.arange(len(self.cluster_centers_))[:, None]
        self._there_ = np.array([(inside & (codes == c)).any(axis=1) for c in range(len(classes))])
        self._planes_, self.relative_gap_ = {}, 0.0
        for a, b in combinations(range(len(classes)), 2):
            both = self._there_[a] & self._there_[b]
            if both.any():
                of_a, of_b = (inside[both] & (codes == c) for c in (a, b))
                planes = linear_members(X, of_b, of_a, float(self.C), np.ones(len(of_a)))
                self._planes_[a, b] = np.flatnonzero(both), planes
                self.relative_gap_ = max(self.relative_gap_, float(planes.gap.max()))
        self._certify(self.relative_gap_, stacklevel=4)
        self.classes_ = classes
        return self

    def _profiles(self, X):
        if not self._by_profiles_:
            return X
        return np.exp(-self.gamma_ * cdist(X, self._points_, "sqeuclidean"))

    def _clusters(self, S, codes, k):
        """Return the cluster of each profile, the centres, and the number of rounds."""
        centres, _ = kmeans_plusplus(S, int(self.n_clusters), random_state=self.random_state)
        R = float(self.balance) * ((S - S.mean(axis=0)) ** 2).sum(axis=1).mean()
        before, rounds = None, 0
        while rounds < self.max_iter:
            rounds += 1
            log.info("clusters, round %d", rounds)
            Z = _shares(cdist(S, centres, "sqeuclidean"), codes, k, R)
            Z = Z[:, Z.sum(axis=0) > 0]
            centres = Z.T @ S / Z.sum(axis=0)[:, None]
            if before is not None and Z.shape == before.shape and np.allclose(Z, before):
                break
            before = Z
        else:
            warnings.warn(
                f"the clusters still change after max_iter={self.max_iter} rounds; allow more.",
                ConvergenceWarning,
                stacklevel=4,
            )
        labels = rounded(Z).argmax(axis=1)
        used, labels = np.unique(labels, return_inverse=True)
        return labels, centres[used], rounds

    def _pairs(self, X):
        squared = cdist(self._profiles(X), self.cluster_centers_, "sqeuclidean")
        nearest = rounded(squared).argmin(axis=1)

        def outputs_of_pair(a, b):
            F = alone(self._there_[a], self._there_[b])[nearest]
            if (a, b) in self._planes_:
                clusters, planes = self._planes_[a, b]
                rows = np.flatnonzero(np.isin(nearest, clusters))
                which = np.searchsorted(clusters, nearest[rows])
                F[rows] = outputs_of_planes(X[rows], planes.coef[which], planes.intercept[which])
            return F

        return outputs_of_pair


def _shares(squared, codes, k, R):
    """Return the shares Z for given centres: a linear program, or for R = 0 the nearest centre."""
    n, m = squared.shape
    if R == 0.0:
        return np.eye(m)[rounded(squared).argmin(axis=1)]
    # How the share of point i in cluster j changes the excess of class c there.
    excess = (codes[:, None] == np.arange(k)) - 1.0 / k
    A = sparse.kron(excess.T, sparse.eye_array(m))
    t = sparse.eye_array(k * m)
    above = sparse.vstack([sparse.hstack([A, -t]), sparse.hstack([-A, -t])], format="csr")
    whole = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    whole = sparse.hstack([whole, sparse.csr_array((n, k * m))], format="csr")
    cost = np.concatenate([squared.ravel(), np.full(k * m, R)]) / (squared.mean() or 1.0)
    zeros = np.zeros(2 * k * m)
    result = linprog(cost, A_ub=above, b_ub=zeros, A_eq=whole, b_eq=np.ones(n), method="highs")
    if result.x is None:
        raise ValueError(
            f"HiGHS did not solve the linear program of the clusters ({result.message}); lower "
            "balance."
        )
    return result.x[: n * m].reshape(n, m)
