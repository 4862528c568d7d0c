"""Prototype SVMs on a sample of the training points, to which misclassified points are added."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from .ensemble import stratified_sample
from .prototype import PrototypeSVM

__all__ = ["SampledPrototypeSVM"]


class SampledPrototypeSVM(PrototypeSVM):
    r"""Prototype SVMs on a growing sample of the training points.

    Trains a `PrototypeSVM` on a sample. Then it draws points uniformly from all that this ensemble
    misclassifies, adds them to the sample, and trains again. The last ensemble is kept.

    `fit` takes no ``sample_weight``, because neighbours and members have no weights.

    Parameters
    ----------
    C : float, default=100.0
        As in `PrototypeSVM`.
    n_samplings : int, default=2
        Maximum number of samples, and therefore of trained ensembles. Sampling stops early if the
        sample would gain no point.
    first_share : float, default=0.5
        Fraction of each class in the first sample, at least one point.
    next_share : float, default=0.25
        Number of misclassified points to draw, as a fraction of all training points; all of them
        if there are fewer.
    penalty, positive_weight, n_shifts, n_negatives, p_negative, validation_fraction
        As in `PrototypeSVM`, for each sample.
    voting, n_neighbors, metric
        As in `PrototypeSVM`.
    random_state : int, RandomState or None, default=None
        Seed of the samples, the validation sets and the negative updates.

    Attributes
    ----------
    samples_ : list of ndarray
        Indices of the points of each sample.
    members_, coef_, intercept_, exemplars_, history_, n_shifts_, validation_score_
        As in `PrototypeSVM`, for the last sample; indices refer to all training points.
    relative_gap_, converged_, classes_, n_features_in_, feature_names_in_
        As in `PrototypeSVM`.

    Raises
    ------
    ValueError
        `y` has one class only; each class has only one point in the sample, so that none is left
        for validation.

    Warns
    -----
    ConvergenceWarning
        All members would be removed; a member's duality gap is too large, or the fit of a
        sigmoid did not converge.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    Notes
    -----
    Memory is that of a `PrototypeSVM` on the sample.

    References
    ----------
    Shen (2013), algorithms 5 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import SampledPrototypeSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SampledPrototypeSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(model.samples_[0]), model.score(X, y) > 0.9
    (75, True)
    """

    def __init__(
        self,
        C: float = 100.0,
        *,
        n_samplings: int = 2,
        first_share: float = 0.5,
        next_share: float = 0.25,
        penalty: str = "l2",
        positive_weight: float | str = 1.0,
        n_shifts: int = 10,
        n_negatives: int = 7,
        p_negative: float = 0.005,
        validation_fraction: float = 0.25,
        voting: str = "local",
        n_neighbors: int | None = None,
        metric: str | Callable = "euclidean",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            C,
            penalty=penalty,
            positive_weight=positive_weight,
            n_shifts=n_shifts,
            n_negatives=n_negatives,
            p_negative=p_negative,
            validation_fraction=validation_fraction,
            voting=voting,
            n_neighbors=n_neighbors,
            metric=metric,
            random_state=random_state,
        )
        self.n_samplings = n_samplings
        self.first_share = first_share
        self.next_share = next_share

    _parameter_constraints: ClassVar[dict] = {
        **PrototypeSVM._parameter_constraints,
        "n_samplings": [Interval(Integral, 1, None, closed="left")],
        "first_share": [Interval(Real, 0.0, 1.0, closed="right")],
        "next_share": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Draw the samples, and train an ensemble of prototypes on each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.

        Returns
        -------
        SampledPrototypeSVM
            The fitted estimator.
        """
        X, classes, codes, rng = self._validate_training_data(X, y)
        sizes = np.maximum(1, np.round(float(self.first_share) * np.bincount(codes)))
        sample = stratified_sample(codes, sizes, rng)
        samples = [sample]
        while True:
            best, train_indices, self.history_ = self._run_iterations(
                X[sample], codes[sample], sample, len(classes), rng
            )
            if len(samples) == self.n_samplings:
                break
            # Algorithm 6: points classified correctly get weight zero, all others equal weights.
            misclassified = np.flatnonzero(best.ensemble.predict_codes(X) != codes)
            n_drawn = min(round(float(self.next_share) * len(X)), len(misclassified))
            sample = np.union1d(sample, rng.choice(misclassified, n_drawn, replace=False))
            if len(sample) == len(samples[-1]):
                break
            samples.append(sample)
        self._set_fitted_attributes(best.members, best.ensemble, classes, train_indices)
        self.samples_ = samples
        self.n_shifts_, self.validation_score_ = best.n_shifts, best.accuracy
        return self
