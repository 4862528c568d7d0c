"""Ensembles of local linear SVMs: their members, training and voting."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import apply_in_blocks, row_blocks
from ..calibration import Sigmoid
from ..labels import encode_classes
from ..solvers.batched.l1_members import fit_l1_members
from ..solvers.batched.members import Hyperplanes, fit_linear_members
from ..ties import round_significand
from .gap_check import GapCheckedClassifier
from .negatives import distances, initial_negatives
from .sigmoids import cross_validated_sigmoids, validation_sigmoids

__all__ = [
    "Ensemble",
    "LocalEnsembleClassifier",
    "Member",
    "Members",
    "stratified_sample",
    "validation_split",
]

TRAINERS = {"l2": fit_linear_members, "l1": fit_l1_members}
OUTPUT_TOL = 1e-11  # relative to the terms of an output: smaller outputs are numerically zero
# Absolute rounding error of an intercept: it is computed as y_i - w'x_i with y_i = ±1, so it cannot
# be more accurate than the rounding error of 1.
INTERCEPT_ROUNDING = 64 * np.finfo(float).eps
FREQUENCY_WEIGHT = 1e-9  # weight of the class frequencies, which break ties between votes
VOTE_DECIMALS = 10  # sums of votes are rounded to this many decimals, so that ties are exact
MAX_BLOCK_OUTPUTS = 200_000  # outputs per block of points or members: few enough for the cache


class Member(NamedTuple):
    """A member of a fitted ensemble: its hyperplane and the indices of its training points."""

    coef: np.ndarray
    intercept: float
    label: object
    exemplar: int
    positives: np.ndarray
    negatives: np.ndarray


class Members(NamedTuple):
    """The members of an ensemble during training; each array has one entry or row per member."""

    exemplar_indices: np.ndarray
    codes: np.ndarray  # class of the exemplar
    positive: sparse.csr_array  # (n_members, n_samples): which points are positives
    negative: sparse.csr_array
    planes: Hyperplanes

    def select_rows(self, rows):
        """Return the members that an index array, a mask or a slice selects."""
        return Members(*(part[rows] for part in self[:4]), self.planes.select_rows(rows))

    def blocks(self, n_points):
        """Yield blocks of members that have `MAX_BLOCK_OUTPUTS` outputs at ``n_points`` points."""
        for rows in row_blocks(len(self.codes), n_points, MAX_BLOCK_OUTPUTS):
            yield self.select_rows(rows)

    def point_blocks(self, indices):
        """Yield blocks of points at which all members have `MAX_BLOCK_OUTPUTS` outputs."""
        for rows in row_blocks(len(indices), len(self.codes), MAX_BLOCK_OUTPUTS):
            yield indices[rows]

    def covers(self, X):
        """Return where the members' outputs are positive, of shape (n_samples, n_members)."""
        return evaluate_hyperplanes(X, *self.planes[:2])[1]


class Ensemble(NamedTuple):
    """The arrays that prediction needs, and the parameters of the vote as they were in `fit`."""

    coef: np.ndarray
    intercept: np.ndarray
    exemplars: np.ndarray  # (n_members, n_features)
    codes: np.ndarray
    sigmoids: Sigmoid | None  # for votes weighted by probability
    class_frequencies: np.ndarray  # fraction of training points per class
    min_distance: float  # smaller distances are numerically zero
    voting: str
    n_neighbors: int | None
    metric: object

    def predict_codes(self, X):
        """Return the index of the class with the most votes, algorithm 4 of Shen (2013).

        Ties go to the first class.
        """
        return self.votes(X).argmax(axis=1)

    def votes(self, X):
        """Return the votes for each class, of shape (n_samples, n_classes)."""
        return apply_in_blocks(self._votes_of_block, X, len(self.coef), MAX_BLOCK_OUTPUTS)

    def _votes_of_block(self, X):
        outputs, covers = evaluate_hyperplanes(X, self.coef, self.intercept)
        vote_weights = covers.astype(float)
        if self.sigmoids is not None:
            vote_weights *= self.sigmoids.probability(outputs)
        elif self.voting == "local":
            dist = distances(X, self.exemplars, self.metric)
            dist = np.where(covers, np.maximum(dist, self.min_distance), np.inf)
            vote_weights *= _local_weights(dist, self.n_neighbors)
        votes = vote_weights @ np.eye(len(self.class_frequencies))[self.codes]
        return votes.round(VOTE_DECIMALS) + FREQUENCY_WEIGHT * self.class_frequencies


def evaluate_hyperplanes(X, coef, intercept):
    """Return the outputs of hyperplanes, and where they are positive beyond rounding error.

    Both arrays have the shape (n_samples, n_members). The points that a member classifies as
    positive determine its next training set, so rounding must not decide on which side of its
    hyperplane a point lies.
    """
    outputs = X @ coef.T + intercept
    norm_products = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(coef, axis=1)
    rounding_error = OUTPUT_TOL * (norm_products + np.abs(intercept)) + INTERCEPT_ROUNDING
    return outputs, outputs > rounding_error


def _local_weights(dist, n_neighbors):
    """Return vote weights from distances to exemplars, infinite for members without a vote."""
    if n_neighbors is not None:
        n, dist = min(n_neighbors, dist.shape[1]), round_significand(dist)
        return dist <= np.partition(dist, n - 1, axis=1)[:, n - 1 : n]
    smallest_dist = dist.min(axis=1, keepdims=True)
    return (np.where(np.isfinite(smallest_dist), smallest_dist, 1.0) / dist) ** 2


class LocalEnsembleClassifier(GapCheckedClassifier):
    r"""Base class of exemplar and prototype ensembles: trains the members and prepares their votes.

    A member votes for its class at the points where :math:`w_m^\top x + b_m > 0`.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "penalty": [StrOptions({"l1", "l2"})],
        "positive_weight": [StrOptions({"balanced"}), Interval(Real, 0.0, None, closed="neither")],
        "n_negatives": [Interval(Integral, 1, None, closed="left")],
        "voting": [StrOptions({"majority", "probability", "cv_probability", "local"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [str, callable],
        "random_state": ["random_state"],
    }

    def _n_stored_numbers(self, n, d):
        return (7.0 * d + 500.0) * n

    def _validate_training_data(self, X, y):
        """Reset the estimator and validate the training data.

        Return points, classes, class indices and a random number generator.
        """
        X, classes, codes, _, _ = self._begin_fit(X, y, None, encode_classes)
        return X, classes, codes, self._random_generator()

    def _train(self, X, codes, positive, negative):
        """Return one hyperplane per row of two sparse arrays, the sets of points."""
        positive_weights = self._positive_weights(codes, positive, negative)
        return self._train_weighted(X, positive, negative, positive_weights)

    def _train_weighted(self, X, positive, negative, positive_weights):
        """Return the hyperplanes for given factors of C for the positives."""
        return TRAINERS[self.penalty](X, positive, negative, float(self.C), positive_weights)

    def _positive_weights(self, codes, positive, negative):
        """Return the factor of C for each member's positives."""
        if self.positive_weight == "balanced":
            return negative.sum(axis=1) / positive.sum(axis=1)
        return np.full(positive.shape[0], float(self.positive_weight))

    def _train_exemplars(self, X, codes):
        """Return one member per point, trained against its initial negatives."""
        positive = sparse.eye_array(len(X), dtype=bool, format="csr")
        negative = initial_negatives(X, codes, int(self.n_negatives), self.metric)
        planes = self._train(X, codes, positive, negative)
        return Members(np.arange(len(X)), codes, positive, negative, planes)

    def _retrain(self, members, X, codes, positive, negative):
        """Return the members with new sets of points; retrain those whose points changed."""
        n_changed_points = (positive != members.positive).sum(axis=1)
        n_changed_points += (negative != members.negative).sum(axis=1)
        needs_training = n_changed_points > 0
        planes = members.planes
        if needs_training.any():
            new_planes = self._train(X, codes, positive[needs_training], negative[needs_training])
            planes = planes.replace_rows(needs_training, new_planes)
        return Members(members.exemplar_indices, members.codes, positive, negative, planes)

    def _build_ensemble(self, members, training, validation, n_classes):
        """Build the ensemble of trained members.

        ``training`` holds the points, their classes and the distance of duplicates; ``validation``
        the points and classes from which probabilities are calibrated.
        """
        X, codes, min_distance = training
        coef, intercept = members.planes[:2]
        sigmoids = None
        if self.voting == "probability":
            sigmoids = validation_sigmoids(members.planes, members.codes, *validation)
        elif self.voting == "cv_probability":
            sets = members.positive, members.negative
            positive_weights = self._positive_weights(codes, *sets)
            sigmoids = cross_validated_sigmoids(X, *sets, positive_weights, self._train_weighted)
        return Ensemble(
            coef,
            intercept,
            X[members.exemplar_indices],
            members.codes,
            sigmoids,
            class_frequencies=np.bincount(codes, minlength=n_classes) / len(codes),
            min_distance=min_distance,
            voting=self.voting,
            n_neighbors=self.n_neighbors,
            metric=self.metric,
        )

    def _set_fitted_attributes(self, members, ensemble, classes, train_indices):
        """Set the fitted attributes.

        ``train_indices`` maps indices of the points used for training to indices of the rows passed
        to `fit`.
        """
        self._ensemble_ = ensemble
        self.coef_, self.intercept_, self.exemplars_ = ensemble[:3]
        exemplar_indices, codes, positive, negative, planes = members
        self.members_ = [
            Member(*fields)
            for fields in zip(
                *planes[:2],
                classes[codes],
                train_indices[exemplar_indices],
                *(
                    np.split(train_indices[points.indices], points.indptr[1:-1])
                    for points in (positive, negative)
                ),
                strict=True,
            )
        ]
        self.relative_gap_ = float(np.maximum(0.0, planes.relative_gap.max()))
        self.classes_ = classes
        self._check_convergence(self.relative_gap_, stacklevel=5)

    def _decision_values(self, X):
        """Return votes per class, or for two classes the votes for the second minus the first."""
        votes = self._ensemble_.votes(X)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes


def validation_split(codes, fraction, rng):
    """Return the indices of training points and of validation points, stratified by class.

    Each class keeps at least one training point, and the most frequent class has at least one
    validation point.
    """
    counts = np.bincount(codes)
    if counts.max() == 1:
        raise ValueError(
            f"validation_fraction={fraction:g} leaves the validation set empty, because each class "
            "has only one point; use more points, or a larger sample."
        )
    min_sizes = np.arange(len(counts)) == counts.argmax()
    sizes = np.minimum(np.maximum(np.round(fraction * counts), min_sizes), counts - 1)
    val_indices = stratified_sample(codes, sizes, rng)
    return np.setdiff1d(np.arange(len(codes)), val_indices), val_indices


def stratified_sample(codes, sizes, rng):
    """Return the sorted indices of a random sample with ``sizes[c]`` points of class c."""
    parts = [
        rng.permutation(np.flatnonzero(codes == code))[: int(sizes[code])]
        for code in np.unique(codes)
    ]
    return np.sort(np.concatenate(parts))
