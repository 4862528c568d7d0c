"""Ensembles of local linear machines: what their members are, and how they vote."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import apply_in_blocks
from ..calibration import Sigmoid, fit_sigmoids
from ..labels import encode_classes
from ..solvers.batched.members import Hyperplanes, linear_members
from ..solvers.batched.sparse import sparse_members
from ..ties import rounded
from .inner import inner_sigmoids
from .negatives import DUPLICATE_TOL, distances, initial_negatives
from .voting import VotingEnsemble

__all__ = [
    "Ensemble",
    "LocalEnsemble",
    "Members",
    "Prototype",
    "sampled_by_class",
    "validation_split",
]

TRAINERS = {"l2": linear_members, "l1": sparse_members}
OUTPUT_TOL = 1e-11  # relative to the terms of an output: numerically zero
# Of an intercept, which is the difference of a label and an output.
INTERCEPT_ROUNDING = 64 * np.finfo(float).eps
SHARE_VOTES = 1e-9  # votes that the share of a class is worth: it decides between equal votes
VOTE_DECIMALS = 10  # to which votes are rounded, so that equal sums of votes are equal
BLOCK_OUTPUTS = 200_000  # outputs of ensemble members per block: they stay in the cache


class Prototype(NamedTuple):
    """A member of a fitted ensemble: a hyperplane, and the training points that made it."""

    coef: np.ndarray
    intercept: float
    label: object
    exemplar: int
    positives: np.ndarray
    negatives: np.ndarray


class Members(NamedTuple):
    """The members of an ensemble in training; all arrays have one row, or number, a member."""

    exemplars: np.ndarray  # number of the exemplar
    codes: np.ndarray  # number of its class
    positive: np.ndarray  # (n_members, n_samples): whether a point is one of the positives
    negative: np.ndarray
    planes: Hyperplanes

    def kept(self, rows):
        """Return some of the members."""
        return Members(*(part[rows] for part in self[:4]), self.planes.kept(rows))


class Rule(NamedTuple):
    """How members vote: the parameters of an ensemble at its fit."""

    voting: str
    n_neighbors: int | None
    metric: object


class Ensemble(NamedTuple):
    """What it takes to vote."""

    coef: np.ndarray
    intercept: np.ndarray
    exemplars: np.ndarray  # the points themselves
    codes: np.ndarray
    sigmoids: Sigmoid | None  # of votes by a probability
    shares: np.ndarray  # of the classes among the training points
    resolution: float  # smaller distances are numerically zero
    rule: Rule

    def labels(self, X):
        """Return the number of the class with most votes, of equal ones the first."""
        return self.votes(X).argmax(axis=1)

    def votes(self, X):
        """Return the votes for each class, of shape (n_samples, n_classes)."""
        return apply_in_blocks(self._votes, X, len(self.coef), BLOCK_OUTPUTS)

    def _votes(self, X):
        F, positive = classified(X, self.coef, self.intercept)
        weight = positive.astype(float)
        if self.sigmoids is not None:
            weight *= self.sigmoids.probability(F)
        elif self.rule.voting == "local":
            rho = distances(X, self.exemplars, self.rule.metric)
            rho = np.where(positive, np.maximum(rho, self.resolution), np.inf)
            weight *= _nearness(rho, self.rule.n_neighbors)
        votes = weight @ np.eye(len(self.shares))[self.codes]
        return votes.round(VOTE_DECIMALS) + SHARE_VOTES * self.shares


def classified(X, coef, intercept):
    """Return the outputs of hyperplanes, and where they are positive by more than rounding.

    Both arrays have the shape (n_samples, n_members). Which points a member classifies as positive
    decides which points it learns from, so a point on its plane must not be on either side by the
    last bit of a sum.
    """
    F = X @ coef.T + intercept
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(coef, axis=1)
    return F, OUTPUT_TOL * (lengths + np.abs(intercept)) + INTERCEPT_ROUNDING < F


def _nearness(rho, n_neighbors):
    """Return vote weights by the positive distances of exemplars, infinite for non-voters."""
    if n_neighbors is not None:
        n, rho = min(n_neighbors, rho.shape[1]), rounded(rho)
        return rho <= np.partition(rho, n - 1, axis=1)[:, n - 1 : n]
    nearest = rho.min(axis=1, keepdims=True)
    return (np.where(np.isfinite(nearest), nearest, 1.0) / rho) ** 2


class LocalEnsemble(VotingEnsemble):
    r"""Base of the ensembles: members are trained here, and vote.

    A member claims a point where :math:`w_m^\top x + b_m > 0`, and then votes for its class.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "penalty": [StrOptions({"l1", "l2"})],
        "positive_weight": [StrOptions({"balanced"}), Interval(Real, 0.0, None, closed="neither")],
        "n_negatives": [Interval(Integral, 1, None, closed="left")],
        "voting": [StrOptions({"count", "probability", "libsvm", "local"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [str, callable],
        "random_state": ["random_state"],
    }

    def _stored_numbers(self, n, d):
        return 5.1 * n * n

    def _begin(self, X, y):
        """Check training data; return points, labels, a number for each label, and a generator."""
        X, classes, codes, _, _ = self._training_data(X, y, None, encode_classes)
        return X, classes, codes, self._generator()

    def _train(self, X, codes, positive, negative):
        """Return a hyperplane for each row of two arrays of bool."""
        return self._hyperplanes(X, positive, negative, self._weights(codes, positive, negative))

    def _hyperplanes(self, X, positive, negative, weight):
        """Return them for given factors of C for the positives."""
        return TRAINERS[self.penalty](X, positive, negative, float(self.C), weight)

    def _weights(self, codes, positive, negative):
        """Return how many times a negative a positive of each member costs."""
        if self.positive_weight == "balanced":
            return negative.sum(axis=1) / positive.sum(axis=1)
        return np.full(len(positive), float(self.positive_weight))

    def _exemplars(self, X, codes, between):
        """Return one member a point, trained against its first negatives."""
        positive = np.eye(len(X), dtype=bool)
        negative = initial_negatives(between, codes, int(self.n_negatives))
        planes = self._train(X, codes, positive, negative)
        return Members(np.arange(len(X)), codes, positive, negative, planes)

    def _retrained(self, members, X, codes, positive, negative):
        """Return the members with other points, those trained anew whose points have changed."""
        changed = (positive != members.positive) | (negative != members.negative)
        again = changed.any(axis=1)
        planes = members.planes
        if again.any():
            fresh = self._train(X, codes, positive[again], negative[again])
            planes = planes.replaced(again, fresh)
        return Members(members.exemplars, members.codes, positive, negative, planes)

    def _ensemble(self, members, X, codes, between, held, held_codes, n_classes):
        """Return the voters that members make; X are the points they were trained on."""
        coef, intercept = members.planes[:2]
        sigmoids = None
        if self.voting == "probability":
            sigmoids = fit_sigmoids(held @ coef.T + intercept, held_codes[:, None] == members.codes)
        elif self.voting == "libsvm":
            weight = self._weights(codes, members.positive, members.negative)
            sigmoids = inner_sigmoids(
                X, members.positive, members.negative, weight, self._hyperplanes
            )
        shares = np.bincount(codes, minlength=n_classes) / len(codes)
        exemplars, rule = X[members.exemplars], Rule(self.voting, self.n_neighbors, self.metric)
        resolution = max(DUPLICATE_TOL * np.median(between), np.finfo(float).tiny)
        return Ensemble(
            coef, intercept, exemplars, members.codes, sigmoids, shares, resolution, rule
        )

    def _set_fitted(self, members, ensemble, classes, numbers):
        """Set the fitted attributes; ``numbers`` are those of the points in the data of `fit`."""
        self._committee_ = ensemble
        self.coef_, self.intercept_, self.exemplars_ = ensemble[:3]
        exemplars, codes, positive, negative, planes = members
        self.prototypes_ = [
            Prototype(w, b, label, i, numbers[P], numbers[N])
            for w, b, label, i, P, N in zip(
                *planes[:2], classes[codes], numbers[exemplars], positive, negative, strict=True
            )
        ]
        self.relative_gap_ = max(0.0, float(planes.gap.max()))
        self.classes_ = classes
        self._certify(self.relative_gap_, stacklevel=5)

    def _outputs(self, X):
        """Return votes: for two classes those for the second minus those for the first."""
        votes = self._committee_.votes(X)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes


def validation_split(codes, share, rng):
    """Return the numbers of points to train on, and of points to hold out.

    Of each class its share is held out, but never its last point; at least one point of the most
    frequent class is.
    """
    counts = np.bincount(codes)
    if counts.max() == 1:
        raise ValueError(
            f"validation_fraction={share:g} holds no point out, as each class has one point only; "
            "bring more, or a larger sample."
        )
    least = np.arange(len(counts)) == counts.argmax()
    sizes = np.minimum(np.maximum(np.round(share * counts), least), counts - 1)
    out = sampled_by_class(codes, sizes, rng)
    return np.setdiff1d(np.arange(len(codes)), out), out


def sampled_by_class(codes, sizes, rng):
    """Return the numbers, in their order, of so many points of each class."""
    parts = [
        rng.permutation(np.flatnonzero(codes == code))[: int(sizes[code])]
        for code in np.unique(codes)
    ]
    return np.sort(np.concatenate(parts))
