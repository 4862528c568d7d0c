"""Prototypes: members that begin as exemplars, shift, grow and vanish."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from ..progress import log
from ..ties import rounded
from .ensemble import Ensemble, LocalEnsemble, Members, classified, validation_split
from .negatives import distances

__all__ = ["Iteration", "PrototypeSVM"]


class Iteration(NamedTuple):
    """What an ensemble was between two shifts, and the moves that led to it.

    All points are named by their numbers in the training data.
    """

    accuracy: float  # on the points held out
    exemplars: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    joined: np.ndarray  # (n, 2): exemplar of a member, and the point that became its positive
    mined: np.ndarray  # (n, 2): the same for negatives
    dropped: np.ndarray  # exemplars that no point was classified as positive by


class BestIteration(NamedTuple):
    """The best ensemble so far."""

    accuracy: float
    shifts: int
    members: Members
    ensemble: Ensemble


class PrototypeSVM(LocalEnsemble):
    r"""Linear machines that begin as exemplars and become prototypes.

    At first there is one member a training point, as in `ExemplarSVM` without mining. A member with
    positives P and negatives N minimises

    .. math::

        \begin{aligned}
        \tfrac12\|w\|^2 &+ C_+\sum_{i \in P}\max(0, 1 - w^\top x_i - b) \\
        &+ C\sum_{i \in N}\max(0, 1 + w^\top x_i + b)
        \end{aligned}

    and claims a point where :math:`w^\top x + b > 0`. In each shift every
    point that members of its own class claim becomes a positive of the one with the nearest
    exemplar; some of the points that a member claims by mistake become its negatives; and members
    that claim no point are dropped. So an exemplar that its own member claims stays with it.

    `fit` takes no ``sample_weight``: neighbours, members and votes are counted.

    Parameters
    ----------
    C : float, default=100.0
        Price of one unit of slack of a negative, positive and finite. What it does depends on the
        scale of the features: with standardised ones and C = 1 many members do not cover their own
        exemplar, and are removed. `ExemplarSVM` multiplies the exemplar's C by the
        number of negatives, so there 1 is enough.
    penalty : "l2" or "l1", default="l2"
        The term of w, as above, or :math:`\|w\|_1`, which leaves out features.
    positive_weight : float or "balanced", default=1.0
        Price of a positive's slack in units of C, or as often as a member's negatives outnumber its
        positives.
    n_shifts : int, default=10
        Shifts at most; the ensemble best on the points held out is kept, of equal ones the last.
    n_negatives : int, default=7
        Negatives of a member to begin with, at most.
    p_negative : float, default=0.005
        Probability with which, in a shift, a point that a member claims by mistake becomes one of
        its negatives.
    validation_fraction : float, default=0.25
        Share of each class that is held out; no class loses its last point.
    voting : "count", "probability", "libsvm" or "local", default="local"
        Weight of a member's vote where its output is positive: one; its probability, by a sigmoid
        fitted on the validation points; its probability as LIBSVM finds it, by a sigmoid fitted in
        a cross-validation of the member's own points (whose folds are drawn with a fixed seed),
        which is the source's vote; or less the farther its exemplar is, which has the smallest
        error on most data sets.
    n_neighbors : int, default=None
        For local votes: so many nearest exemplars among the claimants vote, with one vote each.
        Else all do, with :math:`\rho_1^2/\rho^2` votes, where :math:`\rho_1` is the distance of
        the nearest of them.
    metric : str or callable, default="euclidean"
        A distance of `sklearn.metrics.pairwise_distances`, for first negatives, shifts and local
        votes.
    random_state : int, RandomState or None, default=None
        Chooses the points held out, and the negatives that are mined.

    Attributes
    ----------
    prototypes_ : list of Prototype
        The members of the ensemble that was kept: ``coef``, ``intercept``, ``label``, ``exemplar``,
        ``positives``, ``negatives``; the last three are numbers of training points.
    coef_, intercept_ : ndarray of shapes (n_members, n_features) and (n_members,)
        Their hyperplanes.
    exemplars_ : ndarray of shape (n_members, n_features)
        Their exemplars.
    history_ : list of Iteration
        One per iteration, the first before any shift: ``accuracy`` on the points held out,
        ``exemplars``, ``coef`` and ``intercept`` of its members, and the updates that led to it:
        ``joined`` and ``mined``, pairs of an exemplar and the point that became a positive or a
        negative of its member, and ``dropped``.
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
    About :math:`5n^2` numbers are held, distances and sets of points: with 10,000 points 4 GB.

    References
    ----------
    Shen (2013), algorithms 1 to 4. Algorithm 1 shifts once more after the last test; this one does
    not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import PrototypeSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = PrototypeSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(machine.prototypes_) < len(machine.history_[0].exemplars)
    True
    >>> machine.score(X, y) > 0.9
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
        **LocalEnsemble._parameter_constraints,
        "n_shifts": [Interval(Integral, 0, None, closed="left")],
        "p_negative": [Interval(Real, 0.0, 1.0, closed="both")],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
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
        PrototypeSVM
            The fitted estimator.
        """
        X, classes, codes, rng = self._begin(X, y)
        best, numbers, self.history_ = self._run_iterations(
            X, codes, np.arange(len(X)), len(classes), rng
        )
        self._set_fitted(best.members, best.ensemble, classes, numbers)
        self.n_shifts_, self.validation_score_ = best.shifts, best.accuracy
        return self

    def _run_iterations(self, X, codes, numbers, n_classes, rng):
        """Return the best ensemble, the numbers of the points it is trained on, and all rounds.

        Algorithm 1, without the shift after the last test.
        """
        kept, out = validation_split(codes, float(self.validation_fraction), rng)
        D, d, V, v, numbers = X[kept], codes[kept], X[out], codes[out], numbers[kept]
        between = rounded(distances(D, D, self.metric))
        members, moves = self._exemplars(D, d, between), _without_updates()
        best, history = None, []
        for shift in range(int(self.n_shifts) + 1):
            ensemble = self._ensemble(members, D, d, between, V, v, n_classes)
            accuracy = float((ensemble.labels(V) == v).mean())
            log.info("shift %d: %d members, accuracy %.3f", shift, len(members.codes), accuracy)
            history.append(
                Iteration(
                    accuracy,
                    numbers[members.exemplars],
                    *ensemble[:2],
                    *(numbers[points] for points in moves),
                )
            )
            if best is None or accuracy >= best.accuracy:
                best = BestIteration(accuracy, shift, members, ensemble)
            if shift == self.n_shifts:
                break
            members, moves = self._iterate(members, D, d, between, rng)
            if not len(members.exemplars):
                warnings.warn(
                    f"after {shift} shifts no member claims any training point, and all would be "
                    "dropped: the best ensemble until then is kept. Raise C, or spread the "
                    "features more.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
                break
        return best, numbers, history

    def _iterate(self, members, X, codes, between, rng):
        """Return the members after one shift, algorithm 3, and its moves."""
        claims = classified(X, *members.planes[:2])[1].T
        own = members.codes[:, None] == codes
        # Positive update, by the nearest member of its class that classifies a point as positive.
        far = np.where(claims & own, between[members.exemplars], np.inf)
        itself = np.arange(len(claims)), members.exemplars
        far[itself] = np.where(claims[itself], -1.0, np.inf)  # also where it has duplicates
        claimed = np.flatnonzero((claims & own).any(axis=0))
        joins = np.zeros(claims.shape, dtype=bool)
        joins[far[:, claimed].argmin(axis=0), claimed] = True
        # A point of another class becomes a negative with a small probability.
        mined = claims & ~own & ~members.negative & (rng.random(claims.shape) < self.p_negative)
        stays = claims.any(axis=1)
        grown = self._updated_positives(members.positive, joins)
        moves = (
            _pairs(members, joins & (members.positive == 0), stays),
            _pairs(members, mined, stays),
            members.exemplars[~stays],
        )
        kept = members.kept(stays)
        negative = kept.negative | mined[stays]
        return self._retrained(kept, X, codes, grown[stays], negative), moves

    def _updated_positives(self, positive, joins):
        """Return the positives after those that join have been added."""
        return positive | joins


def _pairs(members, moved, stays):
    rows, points = np.nonzero(moved & stays[:, None])
    return np.column_stack([members.exemplars[rows], points])


def _without_updates():
    return np.zeros((0, 2), dtype=int), np.zeros((0, 2), dtype=int), np.zeros(0, dtype=int)
