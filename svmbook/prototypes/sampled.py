"""Prototypes from samples of the training points, drawn anew where the ensemble errs."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from .ensemble import sampled_by_class
from .prototype import PrototypeSVM

__all__ = ["SampledPrototypeSVM"]


class SampledPrototypeSVM(PrototypeSVM):
    r"""Prototypes of a sample of the training points that grows where its ensemble errs.

    Trains a `PrototypeSVM` on a sample, draws some of the points that the ensemble answers wrongly,
    all with the same probability, adds those that the sample lacks, and begins again. The last
    ensemble is kept.

    `fit` takes no ``sample_weight``: neighbours, members and votes are counted.

    Parameters
    ----------
    C : float, default=100.0
        As in `PrototypeSVM`.
    n_samplings : int, default=2
        Samples, and so ensembles, at most: no other is drawn if the ensemble makes no mistake.
    first_share : float, default=0.5
        Share of the first sample, of each class and at least one point of it.
    next_share : float, default=0.25
        Share of all training points that is drawn, as far as there are mistakes.
    penalty, positive_weight, n_shifts, n_negatives, p_negative, validation_fraction
        As in `PrototypeSVM`, each for one sample.
    voting, n_neighbors, metric
        As in `PrototypeSVM`.
    random_state : int, RandomState or None, default=None
        Chooses the samples, the points held out, and the negatives that are mined.

    Attributes
    ----------
    samples_ : list of ndarray
        Numbers of the points of each sample.
    prototypes_ : list of Prototype
        The members of the ensemble that was kept: ``coef``, ``intercept``, ``label``, ``exemplar``,
        ``positives``, ``negatives``; the last three are numbers of training points.
    coef_, intercept_ : ndarray of shapes (n_members, n_features) and (n_members,)
        Their hyperplanes.
    exemplars_ : ndarray of shape (n_members, n_features)
        Their exemplars.
    history_ : list of Iteration
        One a round, the first before any shift: ``accuracy`` on the points held out, ``exemplars``,
        ``coef`` and ``intercept`` of its members, and the moves that led to it: ``joined`` and
        ``mined``, pairs of an exemplar and the point that its member took in, and ``dropped``.
    n_shifts_ : int
        Shifts of the ensemble that was kept.
    validation_score_ : float
        Its accuracy on the points held out.
    relative_gap_ : float
        Largest relative duality gap of a member: primal minus dual objective over the primal.
    converged_ : bool
        Whether it is at most 1e-4; where it is not, `fit` warns.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class; no point to hold out.

    Warns
    -----
    ConvergenceWarning
        All members would be dropped; a member's duality gap is wide, or its sigmoid was not fitted.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    Notes
    -----
    Memory is that of a `PrototypeSVM` of the sample: :math:`5m^2` numbers for m sampled points.

    References
    ----------
    Shen (2013), algorithms 5 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import SampledPrototypeSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SampledPrototypeSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(machine.samples_[0]), machine.score(X, y) > 0.9
    (75, True)
    """

    def _stored_numbers(self, n, d):
        return 1.7 * n * n

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
        """Train on a set of points.

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
        X, classes, codes, rng = self._begin(X, y)
        sizes = np.maximum(1, np.round(float(self.first_share) * np.bincount(codes)))
        sample = sampled_by_class(codes, sizes, rng)
        samples = [sample]
        while True:
            best, numbers, self.history_ = self._run_iterations(
                X[sample], codes[sample], sample, len(classes), rng
            )
            if len(samples) == self.n_samplings:
                break
            # Algorithm 6: points classified correctly get weight zero, all others equal weights.
            wrong = np.flatnonzero(best.ensemble.labels(X) != codes)
            n_more = min(round(float(self.next_share) * len(X)), len(wrong))
            sample = np.union1d(sample, rng.choice(wrong, n_more, replace=False))
            if len(sample) == len(samples[-1]):
                break
            samples.append(sample)
        self._set_fitted(best.members, best.ensemble, classes, numbers)
        self.samples_ = samples
        self.n_shifts_, self.validation_score_ = best.shifts, best.accuracy
        return self
