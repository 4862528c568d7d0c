"""Exemplar SVMs: one linear SVM per training point."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from ..progress import logger
from .ensemble import LocalEnsembleClassifier, validation_split
from .negatives import duplicate_distance, smallest_per_row_mask

__all__ = ["ExemplarSVM"]

OUTPUT_DECIMALS = 10  # outputs are rounded, so that ties do not depend on rounding errors
MIN_HARD_OUTPUT = -1.0 + 1e-8  # a negative is hard (has positive slack) if its output is larger


class ExemplarSVM(LocalEnsembleClassifier):
    r"""One linear SVM per training point, the exemplar, against points of other classes.

    The ensemble member of exemplar e minimises

    .. math:: \tfrac12\|w\|^2 + C_+\max(0, 1 - w^\top x_e - b)
        + C\sum_{i \in N_e}\max(0, 1 + w^\top x_i + b).

    The initial negatives :math:`N_e` are chosen by algorithm 2 of Shen (2013): the nearest points
    of other classes that lie on the same side of the exemplar as the nearest of them. With
    ``mining``, each round adds the negatives of largest slack until no other negative has positive
    slack. Then the member equals the SVM of its exemplar against *all* points of other classes,
    trained on only a few of them. The maximum number of negatives added doubles in each round, so
    that few rounds suffice where the classes overlap.

    `fit` takes no ``sample_weight``, because neighbours and members have no weights.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of a negative's slack, positive and finite.
    penalty : "l2" or "l1", default="l2"
        The penalty on w: as above, or :math:`\|w\|_1`, which sets coefficients to zero.
    positive_weight : float or "balanced", default="balanced"
        :math:`C_+/C`. With "balanced" it is the number of training points of other classes, so
        that both sides of the full problem have the same total weight. With a smaller value, a
        member may misclassify an exemplar that is close to many points of other classes.
    n_negatives : int, default=7
        Maximum number of initial negatives, and of negatives added in the first round of mining.
    mining : bool, default=True
        Whether to add negatives that have positive slack.
    voting : "majority", "probability", "cv_probability" or "local", default="probability"
        Weight of a member's vote where its output is positive. "majority": one. "probability": its
        probability, from a sigmoid fitted on a validation set. "cv_probability": its probability
        from a sigmoid fitted by cross-validation on the member's own points, as in LIBSVM (with a
        fixed seed for the folds); used by Shen (2013). "local": a weight that decreases with the
        distance to its exemplar.
    n_neighbors : int or None, default=None
        For local votes: the number of members that vote, each with weight one. These are the
        members with the nearest exemplars among those whose output is positive. If None, all
        of these vote with weight :math:`\rho_1^2/\rho^2`, where :math:`\rho_1` is the distance to
        the nearest of their exemplars.
    metric : str or callable, default="euclidean"
        A metric of `sklearn.metrics.pairwise_distances`, for initial negatives and local votes.
    validation_fraction : float, default=0.25
        Fraction of the points of each class that is held out as the validation set; only used if
        ``voting="probability"``.
    random_state : int, RandomState or None, default=None
        Seed of the choice of the validation set.

    Attributes
    ----------
    members_ : list of Member
        The members: ``coef``, ``intercept``, ``label``, ``exemplar``, ``positives``, ``negatives``;
        the last three are indices of training points.
    coef_, intercept_ : ndarray of shapes (n_members, n_features) and (n_members,)
        Hyperplanes of the members.
    exemplars_ : ndarray of shape (n_members, n_features)
        Exemplars of the members.
    relative_gap_ : float
        Largest relative duality gap of a member: (primal - dual) / primal objective.
    converged_ : bool
        Whether ``relative_gap_`` is at most 1e-4; if not, `fit` warns.
    n_rounds_ : int
        Number of rounds of mining.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` had string column names.

    Raises
    ------
    ValueError
        `y` has one class only; each class has only one point, so that none is left for validation.

    Warns
    -----
    ConvergenceWarning
        No member classifies any training point as positive; a member's duality gap is too large,
        or the fit of a sigmoid did not converge.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    Notes
    -----
    Memory is proportional to n and to the total number of negatives, since distances and outputs
    are computed in blocks: 0.2 GB for 8,000 points of two slightly overlapping classes. The
    distances take time proportional to :math:`n^2`.

    References
    ----------
    Malisiewicz, Gupta and Efros (2011), "Ensemble of exemplar-SVMs for object detection and
    beyond", ICCV, 89-96.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import ExemplarSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExemplarSVM(C=10.0, random_state=0).fit(X, y)
    >>> len(model.members_), model.score(X, y) > 0.9
    (114, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **LocalEnsembleClassifier._parameter_constraints,
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
        """Train one member per point.

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
        X, classes, codes, rng = self._validate_training_data(X, y)
        train_indices, val_indices = np.arange(len(X)), np.zeros(0, dtype=int)
        if self.voting == "probability":
            fraction = float(self.validation_fraction)
            train_indices, val_indices = validation_split(codes, fraction, rng)
        X_val, codes_val = X[val_indices], codes[val_indices]
        X, codes = X[train_indices], codes[train_indices]
        members = self._train_exemplars(X, codes)
        self.n_rounds_ = 0
        while self.mining:
            n_largest = int(self.n_negatives) * 2**self.n_rounds_
            hard_negatives = self._hard_negatives(members, X, codes, n_largest)
            if not hard_negatives.nnz:
                break
            self.n_rounds_ += 1
            logger.info("mining round %d: %d negatives added", self.n_rounds_, hard_negatives.nnz)
            negative = members.negative + hard_negatives
            members = self._retrain(members, X, codes, members.positive, negative)
        training = X, codes, duplicate_distance(X, self.metric)
        ensemble = self._build_ensemble(members, training, (X_val, codes_val), len(classes))
        if not any(block.covers(X).any() for block in members.blocks(len(X))):
            warnings.warn(
                "no member classifies any training point as positive, so the most frequent class "
                "is predicted for all of them. Raise C or positive_weight.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._set_fitted_attributes(members, ensemble, classes, train_indices)
        return self

    def _positive_weights(self, codes, positive, negative):
        if self.positive_weight == "balanced":
            return len(codes) - np.bincount(codes)[codes[positive.indices]]  # the exemplars
        return super()._positive_weights(codes, positive, negative)

    def _hard_negatives(self, members, X, codes, n_largest):
        """Return each member's ``n_largest`` new negatives with the largest positive slacks."""

        def hard_negatives_of(block):
            F = block.planes.coef @ X.T + block.planes.intercept[:, None]
            candidates = (block.codes[:, None] != codes) & ~block.negative.toarray()
            F = np.where(candidates, F, -np.inf)
            is_largest = smallest_per_row_mask(-F.round(OUTPUT_DECIMALS), n_largest)
            return sparse.csr_array(is_largest & (F > MIN_HARD_OUTPUT))

        blocks = members.blocks(len(X))
        return sparse.vstack([hard_negatives_of(block) for block in blocks], format="csr")
