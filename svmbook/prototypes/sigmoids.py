"""Sigmoids of ensemble members by cross-validation on each member's own points, as in LIBSVM."""

import numpy as np

from ..calibration import fit_sigmoids

__all__ = ["cross_validated_sigmoids"]

N_FOLDS = 5  # as in LIBSVM


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
    positive, negative : ndarray of bool, of shape (n_members, n_samples)
        Masks of each member's positives and negatives.
    positive_weights : ndarray of shape (n_members,)
        Factors of C for the positives of each member.
    train : callable
        ``train(X, positive, negative, positive_weights)`` returns the `Hyperplanes` of members.

    Returns
    -------
    Sigmoid
        Slopes and intercepts, each of shape (n_members,).

    References
    ----------
    Chang and Lin (2011), "LIBSVM: a library for support vector machines", ACM Transactions on
    Intelligent Systems and Technology 2 (3), section 8.
    """
    is_own = positive | negative
    rng = np.random.default_rng(0)
    order = np.where(is_own, rng.random(is_own.shape), np.inf).argsort(axis=1)
    # One row per member: its own points in random order, padded with other points (fold -1).
    indices = order[:, : is_own.sum(axis=1).max()]
    position, n_own = np.arange(indices.shape[1]), is_own.sum(axis=1, keepdims=True)
    fold = np.where(position < n_own, position * N_FOLDS // n_own, -1)
    outputs = np.zeros(indices.shape)
    for k in range(N_FOLDS):
        in_training = np.zeros(is_own.shape, dtype=bool)
        np.put_along_axis(in_training, indices, fold != k, axis=1)
        train_positive, train_negative = positive & in_training, negative & in_training
        has_positive, has_negative = train_positive.any(axis=1), train_negative.any(axis=1)
        fold_outputs = (has_positive.astype(float) - has_negative)[:, None] * np.ones(indices.shape)
        has_both = has_positive & has_negative
        if has_both.any():
            planes = train(
                X, train_positive[has_both], train_negative[has_both], positive_weights[has_both]
            )
            fold_outputs[has_both] = np.take_along_axis(
                planes.coef @ X.T, indices[has_both], axis=1
            )
            fold_outputs[has_both] += planes.intercept[:, None]
        outputs = np.where(fold == k, fold_outputs, outputs)
    return fit_sigmoids(outputs.T, np.take_along_axis(positive, indices, axis=1).T, (fold >= 0).T)
