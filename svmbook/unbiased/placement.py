"""Placement of prototypes: the few points at which a compact classifier centres its kernels."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import KernelPCA

from ..kernels.kernel import Kernel
from ..ties import argmax_up_to_rounding, round_significand

__all__ = [
    "PLACEMENT_RULES",
    "choose_prototypes",
    "fscl",
    "kernel_pca_pre_images",
    "kmeans",
    "whitening_matrix",
]

N_PASSES = 2  # number of passes of competitive learning
PRESENTATIONS_PER_PROTOTYPE = 10  # points presented in each pass, per prototype
MAX_KMEANS_POINTS_PER_PROTOTYPE = 50  # k-means uses at most this many points per prototype
EIGENVALUE_TOL = 1e-11  # relative to the largest eigenvalue: smaller ones are numerically zero
KPCA_SAMPLE_SIZE = 1000  # number of points that kernel PCA uses; more if there are more axes


def fscl(X: np.ndarray, n_prototypes: int, kernel: Kernel, rng: np.random.Generator) -> np.ndarray:
    r"""Place prototypes by frequency sensitive competitive learning.

    Points are presented one by one. Each is assigned to the prototype with the smallest
    :math:`u_j\|x - c_j\|^2`, where :math:`u_j` is one plus the number of points already assigned
    to prototype j, which then moves to the mean of these points and of its position before the
    pass. The factor :math:`u_j` prevents prototypes from having no points. The second pass starts
    with new counts, so that the initial prototypes lose their influence.

    References
    ----------
    Ahalt, Krishnamurthy, Chen and Melton (1990), "Competitive learning algorithms for vector
    quantization", Neural Networks 3, 277-290.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.placement import fscl
    >>> X = np.array([[0.0], [0.1], [9.9], [10.0]])
    >>> np.sort(fscl(X, 2, None, np.random.default_rng(0)).ravel()).round()
    array([ 0., 10.])
    """
    centres = X[rng.choice(len(X), n_prototypes, replace=False)].copy()
    # Scale of squared distances, for breaking ties. The median is robust to outliers, but zero if
    # most points are equal.
    squared_sizes = ((X - np.median(X, axis=0)) ** 2).sum(axis=1)
    scale = np.median(squared_sizes) or squared_sizes.mean()
    for _ in range(N_PASSES):
        wins = np.ones(n_prototypes)
        for x in X[_shuffled_indices(len(X), PRESENTATIONS_PER_PROTOTYPE * n_prototypes, rng)]:
            differences = x - centres
            squared_distances = np.einsum("ij,ij->i", differences, differences)
            winner = argmax_up_to_rounding(-wins * squared_distances, scale)
            wins[winner] += 1.0
            centres[winner] += differences[winner] / wins[winner]
    return centres


def kmeans(
    X: np.ndarray, n_prototypes: int, kernel: Kernel, rng: np.random.Generator
) -> np.ndarray:
    """Place prototypes at the cluster centres of scikit-learn's k-means."""
    sample = X[rng.permutation(len(X))[: MAX_KMEANS_POINTS_PER_PROTOTYPE * n_prototypes]]
    seed = int(rng.integers(2**31))
    return (
        KMeans(n_prototypes, n_init=1, random_state=seed)
        .fit(round_significand(sample))
        .cluster_centers_
    )


def kernel_pca_pre_images(
    X: np.ndarray, n_prototypes: int, kernel: Kernel, rng: np.random.Generator
) -> np.ndarray:
    """Place prototypes along the principal axes of the feature space.

    On each axis they are pre-images of the points one standard deviation to either side of the
    origin. Exact pre-images rarely exist; scikit-learn approximates them by regression.
    """
    supported_kernels = ("rbf", "laplacian", "poly")
    if kernel.name not in supported_kernels:
        raise ValueError(
            f"prototypes='kpca' needs one of the kernels {', '.join(supported_kernels)}; found "
            f"{kernel.name}. Choose 'fscl' or 'kmeans'."
        )
    n_axes = -(-n_prototypes // 2)  # each axis gives two prototypes
    sample = X[rng.permutation(len(X))[: max(KPCA_SAMPLE_SIZE, n_axes)]]
    options = {"fit_inverse_transform": True, "random_state": int(rng.integers(2**31))}
    pca = KernelPCA(n_axes, kernel=kernel.name, **options, **kernel.params)
    deviations = pca.fit_transform(sample).std(axis=0)
    axis_points = np.concatenate([np.diag(deviations), -np.diag(deviations)])
    return pca.inverse_transform(axis_points)[:n_prototypes]


PLACEMENT_RULES = {"fscl": fscl, "kmeans": kmeans, "kpca": kernel_pca_pre_images}


def choose_prototypes(
    rule_or_prototypes: str | np.ndarray,
    X: np.ndarray,
    n_prototypes: int,
    kernel: Kernel,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return prototypes placed by the named rule, or the given prototypes after a check.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.placement import choose_prototypes
    >>> rng = np.random.default_rng(0)
    >>> choose_prototypes(np.eye(2), np.zeros((4, 3)), None, None, rng)
    Traceback (most recent call last):
        ...
    ValueError: prototypes has 2 columns and the points have 3 features.
    """
    if isinstance(rule_or_prototypes, str):
        n_distinct = len(np.unique(X, axis=0))
        return PLACEMENT_RULES[rule_or_prototypes](X, min(n_prototypes, n_distinct), kernel, rng)
    prototypes = rule_or_prototypes
    if prototypes.shape[1] != X.shape[1]:
        raise ValueError(
            f"prototypes has {prototypes.shape[1]} columns and the points have {X.shape[1]} "
            "features."
        )
    return prototypes


def whitening_matrix(gram: np.ndarray) -> np.ndarray:
    r"""Return a matrix T with which a kernel expansion in prototypes becomes a linear model.

    With the eigenvectors :math:`U` and eigenvalues :math:`\Lambda` of the prototypes' Gram matrix
    G, :math:`T = U\Lambda^{-1/2}`. So coefficients :math:`\beta = Tw` satisfy
    :math:`\beta^\top G\beta = w^\top w`, and kernel values K with the prototypes become features
    :math:`KT`. This turns (25) of Navia-Vazquez et al. (2004) into its linear form (20).

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.placement import whitening_matrix
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> T = whitening_matrix(G)
    >>> (T.T @ G @ T).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    eigenvalues, eigenvectors = np.linalg.eigh(gram)
    is_nonzero = eigenvalues > EIGENVALUE_TOL * eigenvalues[-1]
    return eigenvectors[:, is_nonzero] / np.sqrt(eigenvalues[is_nonzero])


def _shuffled_indices(n, n_indices, rng):
    """Return ``n_indices`` indices from as many permutations of all n points as necessary."""
    n_permutations = -(-n_indices // n)
    return np.concatenate([rng.permutation(n) for _ in range(n_permutations)])[:n_indices]
