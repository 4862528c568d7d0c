"""Sigmoids of ensemble members, fitted on a validation set or by cross-validation."""

import numpy as np
from scipy import sparse

from ..base import row_blocks
from ..calibration import Sigmoid, fit_sigmoids

__all__ = ["cross_validated_sigmoids", "validation_sigmoids"]

N_FOLDS = 5  # as in LIBSVM


def validation_sigmoids(planes, member_codes, X, codes):
    """Fit a sigmoid for each member on its outputs at validation points.

    Parameters
    ----------
    planes : Hyperplanes
        The members.
    member_codes : ndarray of shape (n_members,)
        Class index of each member.
    X : ndarray of shape (n_samples, n_features)
        Validation points.
    codes : ndarray of shape (n_samples,)
        Class index of each point.

    Returns
    -------
    Sigmoid
        Slopes and intercepts, each of shape (n_members,).
    """
    return _concatenate(
        fit_sigmoids(
            X @ planes.coef[rows].T + planes.intercept[rows], codes[:, None] == member_codes[rows]
        )
        for rows in row_blocks(len(member_codes), len(X))
    )


def cross_validated_sigmoids(X, positive, negative, positive_weights, train):
    r"""Fit a sigmoid for each member on outputs from a cross-validation of its own points.

    The points of a member are divided at random into five folds. Its output on a point of a fold is
    that of the SVM trained on the member's points in the other folds. If these include no positive,
    the output is -1; if no negative, +1; if there are no other points, 0. Platt's sigmoid is fitted
    to these outputs (`svmbook.calibration.fit_sigmoid`). The output on a member's only positive is
    therefore always -1.

    The folds have a fixed seed, as in LIBSVM.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    positive, negative : ndarray or csr_array of bool, of shape (n_members, n_samples)
        Masks of each member's positives and negatives.
    positive_weights : ndarray of shape (n_members,)
        Factors of C for the positives of each member.
    train : callable
        ``train(X, positive, negative, positive_weights)`` returns the `Hyperplanes` of members,
        whose sets are of type csr_array.

    Returns
    -------
    Sigmoid
        Slopes and intercepts, each of shape (n_members,).

    References
    ----------
    Chang and Lin (2011), "LIBSVM: a library for support vector machines", ACM Transactions on
    Intelligent Systems and Technology 2 (3), section 8.
    """
    # One entry per member and point of its own, +1 for positives and -1 for negatives.
    signs = sparse.csr_array(positive).astype(int) - sparse.csr_array(negative)
    n_own = np.diff(signs.indptr)
    members, points = signs.nonzero()
    order = np.lexsort((_random_numbers(signs), members))
    points, is_positive = points[order], signs.data[order] > 0
    position = np.arange(signs.nnz) - signs.indptr[members]
    fold = position * N_FOLDS // n_own[members]

    def sets_of_entries(entries):
        values = np.ones(entries.sum(), dtype=bool)
        return sparse.csr_array((values, (members[entries], points[entries])), shape=signs.shape)

    outputs = np.zeros(signs.nnz)
    for k in range(N_FOLDS):
        train_sets = [sets_of_entries((fold != k) & mask) for mask in (is_positive, ~is_positive)]
        has_positive, has_negative = (np.diff(sets.indptr) > 0 for sets in train_sets)
        left_out, has_both = fold == k, has_positive & has_negative
        outputs[left_out] = (has_positive.astype(float) - has_negative)[members[left_out]]
        if has_both.any():
            planes = train(X, *(sets[has_both] for sets in train_sets), positive_weights[has_both])
            plane_indices = np.cumsum(has_both) - 1
            trained = np.flatnonzero(left_out & has_both[members])
            for block in row_blocks(len(trained), X.shape[1]):
                entries = trained[block]
                rows = plane_indices[members[entries]]
                outputs[entries] = (planes.coef[rows] * X[points[entries]]).sum(axis=1)
                outputs[entries] += planes.intercept[rows]
    # One column per member, with its points in random order.
    columns = [
        sparse.csc_array((values, position, signs.indptr), shape=(n_own.max(), len(n_own)))
        for values in (outputs, is_positive, np.ones(signs.nnz, dtype=bool))
    ]
    return _concatenate(
        fit_sigmoids(*(values[:, rows].toarray() for values in columns))
        for rows in row_blocks(len(n_own), n_own.max())
    )


def _random_numbers(sets):
    """Return a random number per point of a set, so that it does not depend on the other sets."""
    rng = np.random.default_rng(0)
    blocks = [sets[rows] for rows in row_blocks(*sets.shape)]
    return np.concatenate([rng.random(block.shape)[block.nonzero()] for block in blocks])


def _concatenate(sigmoids):
    """Return the sigmoids of blocks of members as one `Sigmoid`."""
    return Sigmoid(*map(np.concatenate, zip(*sigmoids, strict=True)))
