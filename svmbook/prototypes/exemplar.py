"""One linear machine a training point."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from ..progress import log
from .ensemble import LocalEnsemble, classified, validation_split
from .negatives import distances, smallest_per_row

__all__ = ["ExemplarSVM"]

SLACK_DECIMALS = 10  # outputs that differ by less, in units of the margin, are equal
HARD_OUTPUT = -1.0 + 1e-8  # a negative with a larger output has a slack: it is hard


class ExemplarSVM(LocalEnsemble):
    r"""One linear machine a training point: itself against points of other classes.

    The member of exemplar e minimises

    .. math:: \tfrac12\|w\|^2 + C_+\max(0, 1 - w^\top x_e - b)
        + C\sum_{i \in N_e}\max(0, 1 + w^\top x_i + b).

    Its negatives :math:`N_e` begin as the nearest ones on the side of the very nearest, which are
    algorithm 2 of Shen (2013). With ``mining`` the negatives of largest slack are added, some a
    round, until no other negative has one: then the member is the machine of its exemplar against
    *all* points of other classes, found from few of them. Each round adds twice as many as the
    last, so that few rounds do where classes overlap.

    `fit` takes no ``sample_weight``: neighbours, members and votes are counted.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack of a negative, positive and finite.
    penalty : "l2" or "l1", default="l2"
        The term of w, as above, or :math:`\|w\|_1`, which leaves out features.
    positive_weight : float or "balanced", default="balanced"
        :math:`C_+/C`, or the number of points of other classes that are trained on, so that both
        sides of the problem with all of them weigh the same: else an exemplar close to many of them
        is given up.
    n_negatives : int, default=7
        Negatives to begin with, and of the first round of mining.
    mining : bool, default=True
        Whether to look for negatives with a slack.
    voting : "count", "probability", "libsvm" or "local", default="probability"
        Weight of a member's vote where its output is positive: one; its probability, by a sigmoid
        fitted on points held out; its probability as LIBSVM finds it, by a sigmoid fitted in a
        cross-validation of the member's own points (whose folds are drawn with a fixed seed); or
        less the farther its exemplar is.
    n_neighbors : int, default=None
        For local votes: so many nearest exemplars among the claimants vote, with one vote each.
        Else all do, with :math:`\rho_1^2/\rho^2` votes, where :math:`\rho_1` is the distance of
        the nearest of them.
    metric : str or callable, default="euclidean"
        A distance of `sklearn.metrics.pairwise_distances`, for first negatives and local votes.
    validation_fraction : float, default=0.25
        Share of each class that no member is trained on; with votes by probability only.
    random_state : int, RandomState or None, default=None
        Chooses the points held out.

    Attributes
    ----------
    prototypes_ : list of Prototype
        The members: ``coef``, ``intercept``, ``label``, ``exemplar``, ``positives``, ``negatives``;
        the last three are numbers of training points.
    coef_, intercept_ : ndarray of shapes (n_members, n_features) and (n_members,)
        Their hyperplanes.
    exemplars_ : ndarray of shape (n_members, n_features)
        Their exemplars.
    relative_gap_ : float
        Largest relative duality gap of a member: primal minus dual objective over the primal.
    converged_ : bool
        Whether it is at most 1e-4; where it is not, `fit` warns.
    n_rounds_ : int
        Rounds of mining.
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
        No member claims any training point; a member's duality gap is wide, or its sigmoid was
        not fitted.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    Notes
    -----
    About :math:`5n^2` numbers are held, distances and sets of negatives: with 10,000 points 4 GB.

    References
    ----------
    Malisiewicz, Gupta and Efros (2011), "Ensemble of exemplar-SVMs for object detection and
    beyond", ICCV, 89-96.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import ExemplarSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = ExemplarSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(machine.prototypes_), machine.score(X, y) > 0.9
    (114, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **LocalEnsemble._parameter_constraints,
        "mining": ["boolean"],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        positive_weight: float | str = "balanced",
        n_negatives: int = 7,
        mining: bool = True,
        voting: str = "probability",
        n_neighbors: int | None = None,
        metric: str | Callable = "euclidean",
        validation_fraction: float = 0.25,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.positive_weight = positive_weight
        self.n_negatives = n_negatives
        self.mining = mining
        self.voting = voting
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train one member a point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.

        Returns
        -------
        ExemplarSVM
            The fitted estimator.
        """
        X, classes, codes, rng = self._begin(X, y)
        numbers, out = np.arange(len(X)), np.zeros(0, dtype=int)
        if self.voting == "probability":
            numbers, out = validation_split(codes, float(self.validation_fraction), rng)
        D, d = X[numbers], codes[numbers]
        between = distances(D, D, self.metric)
        members = self._exemplars(D, d, between)
        self.n_rounds_ = 0
        while self.mining:
            harder = self._hard_negatives(members, D, d, int(self.n_negatives) * 2**self.n_rounds_)
            if not harder.any():
                break
            self.n_rounds_ += 1
            log.info("mining, round %d: %d negatives more", self.n_rounds_, harder.sum())
            members = self._retrained(members, D, d, members.positive, members.negative | harder)
        ensemble = self._ensemble(members, D, d, between, X[out], codes[out], len(classes))
        if not classified(D, *members.planes[:2])[1].any():
            warnings.warn(
                "no member claims any training point, so that the most frequent class is the only "
                "answer. Raise C or positive_weight.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._set_fitted(members, ensemble, classes, numbers)
        return self

    def _weights(self, codes, positive, negative):
        if self.positive_weight == "balanced":
            return len(codes) - np.bincount(codes)[codes[positive.argmax(axis=1)]]
        return super()._weights(codes, positive, negative)

    def _hard_negatives(self, members, X, codes, most):
        """Return the negatives of largest slack that are not yet among those of each member."""
        F = members.planes.coef @ X.T + members.planes.intercept[:, None]
        others = (members.codes[:, None] != codes) & ~members.negative
        F = np.where(others, F, -np.inf)
        return smallest_per_row(-F.round(SLACK_DECIMALS), most) & (F > HARD_OUTPUT)
