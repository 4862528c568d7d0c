"""Prototype SVMs: exemplar SVMs that are updated or removed in iterations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from ..progress import logger
from ..ties import round_significand
from .ensemble import Ensemble, LocalEnsembleClassifier, Members, validation_split
from .negatives import distances, duplicate_distance

__all__ = ["Iteration", "PrototypeSVM"]


class Iteration(NamedTuple):
    """An ensemble, and the updates of the shift before it; points are given by indices."""

    accuracy: float  # on the validation set
    exemplar_indices: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    new_positives: np.ndarray  # (n, 2): exemplar of a member, and the point that it gained
    new_negatives: np.ndarray  # (n, 2): the same for its negatives
    removed: np.ndarray  # exemplars of the members that were removed


class BestIteration(NamedTuple):
    """The ensemble of highest validation accuracy so far."""

    accuracy: float
    n_shifts: int
    members: Members
    ensemble: Ensemble


class PrototypeSVM(LocalEnsembleClassifier):
    r"""An ensemble of linear SVMs that starts from exemplars and learns prototypes.

    It starts with one member per training point, as `ExemplarSVM` without mining. A member with
    positives P and negatives N minimises

    .. math::

        \begin{aligned}
        \tfrac12\|w\|^2 &+ C_+\sum_{i \in P}\max(0, 1 - w^\top x_i - b) \\
        &+ C\sum_{i \in N}\max(0, 1 + w^\top x_i + b)
        \end{aligned}

    and covers the points where :math:`w^\top x + b > 0`. An iteration, called a shift, updates the
    ensemble:

    - A point that members of its own class cover becomes a positive of the one of these members
      with the nearest exemplar. An exemplar that its own member covers stays with that member.
    - A point of another class that a member covers becomes one of its negatives with a small
      probability.
    - Members that cover no point are removed.

    `fit` takes no ``sample_weight``, because neighbours and members have no weights.

    Parameters
    ----------
    C : float, default=100.0
        Regularisation parameter: the weight of a negative's slack, positive and finite. Its
        effect depends on the scale of the features. With standardised features and C = 1, many
        members do not cover their own exemplar and are removed. In `ExemplarSVM` C = 1 is enough,
        because it multiplies the exemplar's C by the number of points of other classes.
    penalty : "l2" or "l1", default="l2"
        As in `ExemplarSVM`.
    positive_weight : float or "balanced", default=1.0
        :math:`C_+/C`. With "balanced" it is the number of a member's negatives divided by the
        number of its positives.
    n_shifts : int, default=10
        Maximum number of shifts. The ensemble with the highest validation accuracy is kept, the
        last one in case of ties.
    n_negatives : int, default=7
        Maximum number of initial negatives of a member.
    p_negative : float, default=0.005
        Probability that a point of another class that a member covers becomes one of its
        negatives in a shift.
    validation_fraction : float, default=0.25
        Fraction of each class in the validation set; each class keeps at least one training point.
    voting : "majority", "probability", "cv_probability" or "local", default="local"
        Weight of a member's vote, as in `ExemplarSVM`. Shen (2013) uses "cv_probability", LIBSVM's
        rule. The error of "local" is the smallest on most data sets.
    n_neighbors : int or None, default=None
        Number of members with a local vote, as in `ExemplarSVM`.
    metric : str or callable, default="euclidean"
        A metric of `sklearn.metrics.pairwise_distances`, for initial negatives, shifts and local
        votes.
    random_state : int, RandomState or None, default=None
        Seed of the validation set and of the negative updates.

    Attributes
    ----------
    members_, coef_, intercept_, exemplars_
        The members of the selected ensemble, as in `ExemplarSVM`.
    history_ : list of Iteration
        One entry per ensemble, the first before any shift: ``accuracy`` on the validation set,
        ``exemplar_indices``, ``coef`` and ``intercept`` of its members, and the updates since the
        previous entry. ``new_positives`` and ``new_negatives`` are pairs of an exemplar and the
        point that became a positive or a negative of its member; ``removed`` are the exemplars of
        removed members.
    n_shifts_ : int
        Number of shifts of the selected ensemble.
    validation_score_ : float
        Accuracy of the selected ensemble on the validation set.
    relative_gap_, converged_, classes_, n_features_in_, feature_names_in_
        As in `ExemplarSVM`.

    Raises
    ------
    ValueError
        `y` has one class only; each class has only one point, so that none is left for validation.

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
    Memory is proportional to n, since distances and outputs are computed in blocks: less than
    0.1 GB for 16,000 points with twenty features. Time is proportional to :math:`n^2`.

    References
    ----------
    Shen (2013), algorithms 1 to 4, without the shift that algorithm 1 does after the last
    validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import PrototypeSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PrototypeSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(model.members_) < len(model.history_[0].exemplar_indices)
    True
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        C: float = 100.0,
        *,
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
        self.C = C
        self.penalty = penalty
        self.positive_weight = positive_weight
        self.n_shifts = n_shifts
        self.n_negatives = n_negatives
        self.p_negative = p_negative
        self.validation_fraction = validation_fraction
        self.voting = voting
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.random_state = random_state

    _parameter_constraints: ClassVar[dict] = {
        **LocalEnsembleClassifier._parameter_constraints,
        "n_shifts": [Interval(Integral, 0, None, closed="left")],
        "p_negative": [Interval(Real, 0.0, 1.0, closed="both")],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def _n_stored_numbers(self, n, d):
        coef_in_history = 0.75 * self.n_shifts * n * d
        return super()._n_stored_numbers(n, d) + coef_in_history

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train the exemplars, run the shifts, and keep the best ensemble on the validation set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.

        Returns
        -------
        PrototypeSVM
            The fitted estimator.
        """
        X, classes, codes, rng = self._validate_training_data(X, y)
        best, train_indices, self.history_ = self._run_iterations(
            X, codes, np.arange(len(X)), len(classes), rng
        )
        self._set_fitted_attributes(best.members, best.ensemble, classes, train_indices)
        self.n_shifts_, self.validation_score_ = best.n_shifts, best.accuracy
        return self

    def _run_iterations(self, X, codes, original_indices, n_classes, rng):
        """Return the best ensemble, the indices of its training points, and the history.

        Algorithm 1, without the shift after the last validation. ``original_indices`` are the
        indices of the points in the training data of `fit`.
        """
        fraction = float(self.validation_fraction)
        train_indices, val_indices = validation_split(codes, fraction, rng)
        X_val, codes_val = X[val_indices], codes[val_indices]
        X, codes = X[train_indices], codes[train_indices]
        original_indices = original_indices[train_indices]
        training = X, codes, duplicate_distance(X, self.metric)
        members = self._train_exemplars(X, codes)
        no_pairs = np.zeros((0, 2), dtype=int)
        updates = no_pairs, no_pairs, no_pairs[:, 0]
        best, history = None, []
        for n_done in range(int(self.n_shifts) + 1):
            ensemble = self._build_ensemble(members, training, (X_val, codes_val), n_classes)
            accuracy = float((ensemble.predict_codes(X_val) == codes_val).mean())
            logger.info("shift %d: %d members, accuracy %.3f", n_done, len(members.codes), accuracy)
            history.append(
                Iteration(
                    accuracy,
                    original_indices[members.exemplar_indices],
                    *ensemble[:2],
                    *(original_indices[update] for update in updates),
                )
            )
            if best is None or accuracy >= best.accuracy:
                best = BestIteration(accuracy, n_done, members, ensemble)
            if n_done == self.n_shifts:
                break
            members, updates = self._shift(members, X, codes, rng)
            if not len(members.exemplar_indices):
                warnings.warn(
                    f"after {n_done} shifts no member covers any training point, so all would be "
                    "removed; the best ensemble so far is kept. Raise C, or scale the features to "
                    "a larger range.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
                break
        return best, original_indices, history

    def _shift(self, members, X, codes, rng):
        """Return the members after one shift, algorithm 3, and its updates."""
        parts = [self._evaluate(block, X, codes, rng) for block in members.blocks(len(X))]
        is_kept, covers_exemplar, drawn = zip(*parts, strict=True)
        is_kept, covers_exemplar = np.concatenate(is_kept), np.concatenate(covers_exemplar)
        drawn = sparse.vstack(drawn, format="csr")
        assigned = self._assign_points(members, X, codes, covers_exemplar)
        # A point that already belongs to the set is no update.
        new_positives, new_negatives = assigned > members.positive, drawn > members.negative
        updates = (
            _pairs_of_updates(members, new_positives, is_kept),
            _pairs_of_updates(members, new_negatives, is_kept),
            members.exemplar_indices[~is_kept],
        )
        kept_members = members.select_rows(is_kept)  # members that cover no point are removed
        positive = self._updated_positives(kept_members.positive, assigned[is_kept])
        negative = kept_members.negative + drawn[is_kept]
        return self._retrain(kept_members, X, codes, positive, negative), updates

    def _evaluate(self, members, X, codes, rng):
        """Return which members cover any point, and which their exemplar, and draw negatives.

        Negative update: a covered point of another class is drawn with a small probability.
        """
        covers, n_members = members.covers(X), len(members.codes)
        # One random number per member and point, so that the draw does not depend on the blocks.
        rows, points = np.nonzero(rng.random((n_members, len(X))) < self.p_negative)
        is_update = covers[points, rows] & (codes[points] != members.codes[rows])
        drawn = _sets_of_points(rows[is_update], points[is_update], (n_members, len(X)))
        return covers.any(axis=0), covers[members.exemplar_indices, np.arange(n_members)], drawn

    def _assign_points(self, members, X, codes, covers_exemplar):
        """Return the sets of points that are assigned to the members.

        Positive update: each point is assigned to the nearest exemplar among the members of its
        class that cover it.
        """
        exemplars, nearest_members = X[members.exemplar_indices], np.full(len(X), -1)
        # An exemplar that its own member covers stays with it, even if it has duplicates.
        rows = np.flatnonzero(covers_exemplar)
        nearest_members[members.exemplar_indices[rows]] = rows
        for points in members.point_blocks(np.flatnonzero(nearest_members < 0)):
            is_candidate = members.covers(X[points]) & (codes[points, None] == members.codes)
            dist = round_significand(distances(X[points], exemplars, self.metric))
            dist = np.where(is_candidate, dist, np.inf)
            nearest_members[points] = np.where(is_candidate.any(axis=1), dist.argmin(axis=1), -1)
        points = np.flatnonzero(nearest_members >= 0)
        return _sets_of_points(nearest_members[points], points, members.positive.shape)

    def _updated_positives(self, positive, assigned):
        """Return the positives of each member after the points assigned to it were added."""
        return positive + assigned


def _sets_of_points(rows, points, shape):
    """Return the sets with the given pairs of a member's row and a point, a sparse array."""
    return sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, points)), shape=shape)


def _pairs_of_updates(members, is_updated, is_kept):
    """Return the exemplar and the point of each update of a member that is kept."""
    rows, indices = is_updated[is_kept].nonzero()
    return np.column_stack([members.exemplar_indices[is_kept][rows], indices])
