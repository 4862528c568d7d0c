"""Sigmoids of ensemble members by cross-validation inside each member's own points, as LIBSVM's."""

import numpy as np

from ..calibration import fit_sigmoids

__all__ = ["inner_sigmoids"]

FOLDS = 5  # of LIBSVM's cross-validation


def inner_sigmoids(X, positive, negative, weight, train):
    r"""Fit a sigmoid for each member on outputs from a cross-validation of its own points.

    The points of a member are divided at random into five folds. Its output on a point of a fold is
    that of the SVM trained on the member's points in the other folds. Without positives there the
    output is -1, without negatives +1, without any point 0. On these outputs Platt's sigmoid is
    fitted, `svmbook.calibration.fit_sigmoid`. A member with a single positive never has an output
    of that point other than -1.

    The folds come from a fixed seed, as LIBSVM's do.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    positive, negative : ndarray of bool, of shape (n_members, n_samples)
        Which points are a member's positives and negatives.
    weight : ndarray of shape (n_members,)
        Factor of C for a member's positives.
    train : callable
        ``train(X, positive, negative, weight)`` returns the `Hyperplanes` of members.

    Returns
    -------
    Sigmoid
        Slopes and intercepts, arrays of shape (n_members,).

    References
    ----------
    Chang and Lin (2011), "LIBSVM: a library for support vector machines", ACM Transactions on
    Intelligent Systems and Technology 2 (3), section 8.
    """
    present = positive | negative
    rng = np.random.default_rng(0)
    order = np.where(present, rng.random(present.shape), np.inf).argsort(axis=1)
    # One row per member: its own points in random order, and others to fill the row up.
    own = order[:, : present.sum(axis=1).max()]
    place, size = np.arange(own.shape[1]), present.sum(axis=1, keepdims=True)
    fold = np.where(place < size, place * FOLDS // size, -1)
    outputs = np.zeros(own.shape)
    for k in range(FOLDS):
        there = np.zeros(present.shape, dtype=bool)
        np.put_along_axis(there, own, fold != k, axis=1)
        P, N = positive & there, negative & there
        some_positive, some_negative = P.any(axis=1), N.any(axis=1)
        F = (some_positive.astype(float) - some_negative)[:, None] * np.ones(own.shape)
        both = some_positive & some_negative
        if both.any():
            planes = train(X, P[both], N[both], weight[both])
            F[both] = np.take_along_axis(planes.coef @ X.T, own[both], axis=1)
            F[both] += planes.intercept[:, None]
        outputs = np.where(fold == k, F, outputs)
    return fit_sigmoids(outputs.T, np.take_along_axis(positive, own, axis=1).T, (fold >= 0).T)
