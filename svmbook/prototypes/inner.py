"""Sigmoids of ensemble members by cross-validation inside each member's own points, as LIBSVM's."""

from __future__ import annotations

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
    order = np.where(present, rng.random(present.shape), np.inf).argsort(axis=1).argsort(axis=1)
    fold = order * FOLDS // present.sum(axis=1, keepdims=True)  # of absent points 5 or more
    outputs = np.zeros(present.shape)
    for k in range(FOLDS):
        P, N = positive & (fold != k), negative & (fold != k)
        some_positive, some_negative = P.any(axis=1), N.any(axis=1)
        F = (some_positive.astype(float) - some_negative)[:, None] * np.ones(len(X))
        both = some_positive & some_negative
        if both.any():
            planes = train(X, P[both], N[both], weight[both])
            F[both] = planes.coef @ X.T + planes.intercept[:, None]
        outputs = np.where(fold == k, F, outputs)
    return fit_sigmoids(outputs.T, positive.T, present.T)
