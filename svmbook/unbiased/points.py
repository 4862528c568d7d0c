"""Prototypes: a few points that stand for many, on which the kernels of a small machine sit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.decomposition import KernelPCA

from ..ties import first_largest, rounded

__all__ = [
    "PROTOTYPES",
    "choose_prototypes",
    "fscl",
    "kernel_pca",
    "kmeans",
    "orthonormal_axes",
]

PASSES, PRESENTATIONS = 2, 10  # passes, and points per prototype in each
KMEANS_POINTS = 50  # points per prototype that k-means uses, at most
INDEPENDENT_TOL = 1e-11  # relative to the largest eigenvalue: smaller ones are numerically zero
KPCA_POINTS = 1000  # points whose Gram matrix kernel PCA decomposes; more for more axes


def fscl(
    X: ArrayLike, n_prototypes: int, kernel: str | Callable, rng: np.random.Generator
) -> np.ndarray:
    r"""Place prototypes by frequency sensitive competitive learning.

    Points are shown one after the other. The prototype with the smallest
    :math:`u_j\|x - c_j\|^2` wins, :math:`u_j` being how often it has won before, and moves to the
    mean of what it has won. Who has won often has a handicap, so none is left without points. The
    second pass counts anew and forgets where the first began.

    References
    ----------
    Ahalt, Krishnamurthy, Chen and Melton (1990), "Competitive learning algorithms for vector
    quantization", Neural Networks 3, 277-290.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.points import fscl
    >>> X = np.array([[0.0], [0.1], [9.9], [10.0]])
    >>> np.sort(fscl(X, 2, None, np.random.default_rng(0)).ravel()).round()
    array([ 0., 10.])
    """
    centres = X[rng.choice(len(X), n_prototypes, replace=False)].copy()
    # Scale of squared distances: smaller differences are ties. A median, because of far points.
    unit = np.median(((X - np.median(X, axis=0)) ** 2).sum(axis=1))
    for _ in range(PASSES):
        wins = np.ones(n_prototypes)
        for x in X[_shuffled(len(X), PRESENTATIONS * n_prototypes, rng)]:
            away = x - centres
            squared = np.einsum("ij,ij->i", away, away)
            winner = first_largest(-wins * squared, unit)
            wins[winner] += 1.0
            centres[winner] += away[winner] / wins[winner]
    return centres


def kmeans(
    X: ArrayLike, n_prototypes: int, kernel: str | Callable, rng: np.random.Generator
) -> np.ndarray:
    """Place prototypes at the means of clusters (scikit-learn's k-means)."""
    some = X[rng.permutation(len(X))[: KMEANS_POINTS * n_prototypes]]
    seed = int(rng.integers(2**31))
    return KMeans(n_prototypes, n_init=1, random_state=seed).fit(rounded(some)).cluster_centers_


def kernel_pca(
    X: ArrayLike, n_prototypes: int, kernel: str | Callable, rng: np.random.Generator
) -> np.ndarray:
    """Place prototypes along the principal axes of the feature space, one deviation to each side.

    A point of that space belongs to no x as a rule; scikit-learn learns the way back by
    regression.
    """
    names = {"rbf": "rbf", "laplacian": "laplacian", "poly": "poly"}
    if kernel.name not in names:
        raise ValueError(
            f"prototypes='kpca' needs one of the kernels {', '.join(names)}; found "
            f"{kernel.name}. Choose 'fscl' or 'kmeans'."
        )
    axes = -(-n_prototypes // 2)  # each gives two prototypes
    some = X[rng.permutation(len(X))[: max(KPCA_POINTS, axes)]]
    options = {"fit_inverse_transform": True, "random_state": int(rng.integers(2**31))}
    machine = KernelPCA(axes, kernel=kernel.name, **options, **kernel.params)
    deviations = machine.fit_transform(some).std(axis=0)
    sides = np.concatenate([np.diag(deviations), -np.diag(deviations)])
    return machine.inverse_transform(sides)[:n_prototypes]


PROTOTYPES = {"fscl": fscl, "kmeans": kmeans, "kpca": kernel_pca}


def choose_prototypes(
    prototypes: str | ArrayLike,
    X: ArrayLike,
    n_prototypes: int,
    kernel: str | Callable,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return prototypes by the rule of that name, or those given, checked.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.points import choose_prototypes
    >>> rng = np.random.default_rng(0)
    >>> choose_prototypes(np.eye(2), np.zeros((4, 3)), None, None, rng)
    Traceback (most recent call last):
        ...
    ValueError: prototypes has 2 columns and the points have 3 features.
    """
    if isinstance(prototypes, str):
        different = len(np.unique(X, axis=0))
        return PROTOTYPES[prototypes](X, min(n_prototypes, different), kernel, rng)
    if prototypes.shape[1] != X.shape[1]:
        raise ValueError(
            f"prototypes has {prototypes.shape[1]} columns and the points have {X.shape[1]} "
            "features."
        )
    return prototypes


def orthonormal_axes(gram: np.ndarray) -> np.ndarray:
    r"""Return a matrix T that makes kernels on prototypes a linear machine.

    With the eigenvectors :math:`U` and eigenvalues :math:`\Lambda` of the prototypes' Gram matrix
    G it is :math:`U\Lambda^{-1/2}`. So coefficients :math:`\beta = Tw` have
    :math:`\beta^\top G\beta = w^\top w`, and kernel values K with the prototypes become features
    :math:`KT`: (25) of the USVC paper becomes its linear form (20).

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.unbiased.points import orthonormal_axes
    >>> G = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> T = orthonormal_axes(G)
    >>> (T.T @ G @ T).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    values, vectors = np.linalg.eigh(gram)
    large = values > INDEPENDENT_TOL * values[-1]
    return vectors[:, large] / np.sqrt(values[large])


def _shuffled(n, count, rng):
    """Return numbers of points in random order, the whole list anew each time it is used up."""
    rounds = -(-count // n)
    return np.concatenate([rng.permutation(n) for _ in range(rounds)])[:count]
