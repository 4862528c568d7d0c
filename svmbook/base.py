r"""What every estimator does before and after its solver.

A fitted kernel machine is :math:`F(x) = \sum_j A_j k(x_j, x) + b`, with one output for two classes
and, if it can tell more than two, one a class. The points with :math:`A_j \ne 0` are kept.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .kernels.checks import IndefiniteKernelError
from .kernels.choice import KernelChoice, choose_kernel, rows_of_kernel
from .kernels.names import KERNELS
from .labels import decode_labels, encode_classes, encode_labels
from .losses import logistic
from .multiclass import coupled, fit_pairs, pair_probabilities
from .weights import point_weights

__all__ = ["KernelMachine", "LogOdds", "Machine", "Problem", "in_blocks", "relative_gap"]

# What a fit sets beside attributes that end with an underscore.
OWN = ("_kernel", "_centred", "_one_vs_one")
BLOCK = 2_000_000  # numbers per block of a prediction: 16 MB per array


class Problem(NamedTuple):
    """Training data as a solver wants them: points that count, and numbers for labels."""

    X: np.ndarray  # all points, perhaps sparse, or for a precomputed kernel their Gram matrix
    classes: np.ndarray  # the labels, sorted
    targets: np.ndarray  # of all points: -1.0 and +1.0 for two classes, 0 to k - 1 for more
    present: np.ndarray  # indices of the points of positive weight, which the rest is about
    points: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    kernel: KernelChoice

    @property
    def n_classes(self):
        """Number of classes where a solver has to know it: more than two."""
        return len(self.classes) if len(self.classes) > 2 else None


def forget(machine):
    """Delete what an earlier fit has set, so that a failed one leaves nothing of it."""
    for name in [name for name in vars(machine) if name.endswith("_") or name in OWN]:
        delattr(machine, name)


def in_blocks(function, X, width, numbers=None):
    """Return ``function(X)``, computed on blocks of rows to bound its memory.

    The function needs arrays of ``width`` numbers per row; a block has at most ``numbers`` of them,
    `BLOCK` by default.
    """
    rows, outputs = max(1, (numbers or BLOCK) // max(1, width)), []
    for start in range(0, X.shape[0], rows):
        outputs.append(function(X[start : start + rows]))
    return np.concatenate(outputs)


def relative_gap(gap, objective):
    """Return the duality gap as a fraction of the primal objective; rounding can make it negative.

    An objective of zero is a minimum, as no loss and no penalty is negative.
    """
    return max(0.0, float(gap)) / float(objective) if objective > 0 else 0.0


class Machine(ClassifierMixin, BaseEstimator):
    """Base of all classifiers: checked training data, outputs, labels.

    An estimator has a `fit` that calls `_training_data` and sets ``classes_`` once it has solved
    its problem, and ``_outputs(X)`` for points that have been checked. An estimator that is trained
    on two classes first asks `several_classes`, and leaves more of them to `_fit_pairs`.
    """

    class_weight = None  # of estimators without that parameter
    _sparse = False  # whether X may be a sparse matrix

    def __sklearn_is_fitted__(self):
        return hasattr(self, "classes_")

    def decision_function(self, X):
        r"""Return the outputs :math:`F(x)`, whose signs are the answers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_train)
            Points; for a precomputed kernel their kernel values with all training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one value a point, positive where it speaks for ``classes_[1]``; for
            more, one a class.
        """
        check_is_fitted(self)
        X = self._new_points(X)
        return self._one_vs_one.decision_function(X) if self._in_pairs else self._outputs(X)

    def predict(self, X):
        """Return the label that the outputs speak for, of each point.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)  # raises NotFittedError before classes_ is read
        return decode_labels(self.classes_, scores)

    def _new_points(self, X):
        """Return checked points to predict."""
        return validate_data(self, X, dtype=np.float64, reset=False, **self._forms())

    def _forms(self):
        """Return what `validate_data` is told of sparse matrices."""
        return {"accept_sparse": "csr" if self._sparse else False}

    @property
    def _in_pairs(self):
        """Whether the fit has trained a classifier for each pair of classes."""
        return hasattr(self, "_one_vs_one")

    def _check_one_function(self, method):
        """Refuse a method of one decision function where there is one per pair of classes."""
        check_is_fitted(self)
        if self._in_pairs:
            raise ValueError(
                f"{method} belongs to one decision function; with {len(self.classes_)} classes "
                "there is one per pair. Call it on a classifier in estimators_."
            )

    def _fit_pairs(self, X, y, sample_weight):
        """Fit a copy of this classifier to each pair of classes."""
        X, classes, codes, weights, _ = self._training_data(X, y, sample_weight, encode_classes)
        self._one_vs_one = fit_pairs(self, X, codes, weights)
        self.estimators_ = list(self._one_vs_one.estimators_)
        for name, summary in (("n_iter_", np.array), ("converged_", all), ("relative_gap_", max)):
            if all(hasattr(binary, name) for binary in self.estimators_):
                setattr(self, name, summary([getattr(one, name) for one in self.estimators_]))
        self.classes_ = classes
        return self

    def _generator(self):
        """Return a generator of random numbers for the parameter ``random_state``."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _training_data(self, X, y, sample_weight, encode=encode_labels):
        """Forget an earlier fit, and check training data.

        Returns points, labels in their order, a number for each point's label (by ``encode``),
        weights, and the indices of the points of positive weight. A failed fit leaves what
        `validate_data` sets and nothing else.
        """
        forget(self)
        X, y = validate_data(self, X, y, dtype=np.float64, **self._forms())
        classes, targets = encode(y)
        weights = np.ones(X.shape[0])
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        weights = point_weights(self.class_weight, classes, y, weights)
        return X, classes, targets, weights, np.flatnonzero(weights > 0)


class LogOdds:
    """What the outputs of a machine say where they are log odds: probabilities."""

    def predict_proba(self, X):
        r"""Return the probability of each class, :math:`\sigma(F)` or the softmax of F.

        Where pairs of classes were trained, their probabilities are coupled, :eq:`eq-coupling`.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        if self._in_pairs:
            of_pairs = pair_probabilities(self._one_vs_one, self._new_points(X))
            return coupled(of_pairs, len(self.classes_))
        F = self.decision_function(X)
        return softmax(F, axis=1) if F.ndim > 1 else expit(np.column_stack([-F, F]))

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`, exact where a probability is below 1e-308.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        if self._in_pairs:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        F = self.decision_function(X)
        return log_softmax(F, axis=1) if F.ndim > 1 else -logistic(np.column_stack([-F, F]))


class KernelMachine(Machine):
    """Base of the kernel estimators: checks of the data, outputs, labels.

    An estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``class_weight``
    and ``tol``, and a `fit` that calls `_prepare`, one solver, and `_store`, or `_certify` where it
    keeps no kernel.
    """

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._sparse
        return tags

    def _outputs(self, X):
        """Return the outputs for points that have been checked."""
        if self._kernel.name == "linear":
            # Far from the origin X @ coef_ has fewer digits.
            origin, at_origin, coef, intercept = self._centred
            if issparse(X):
                F = X @ self.coef_.T + self.intercept_
            else:
                F = (X - origin) @ self.coef_.T + at_origin
                # Attributes that were replaced after the fit, for instance by pruning.
                F += self.intercept_ - intercept + (self.coef_ - coef) @ origin
        else:
            F = in_blocks(self._expansion, X, self.dual_coef_.shape[1]) + self.intercept_
        return F[:, 0] if len(self.intercept_) == 1 else F

    def _expansion(self, X):
        r"""Return :math:`\sum_j A_j k(x_j, x)` for points that have been checked."""
        return self._kernel.with_support(X, self) @ self.dual_coef_.T

    def _prepare(self, X, y, sample_weight, encode=encode_labels):
        """Check training data, and return the `Problem`."""
        X, classes, targets, weights, present = self._training_data(X, y, sample_weight, encode)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        points = rows_of_kernel(X, present, pairwise=pairwise)
        y, weights = targets[present], weights[present]
        kernel = self._choose_kernel(points, weights)
        return Problem(X, classes, targets, present, points, y, weights, kernel)

    def _choose_kernel(self, points, weights):
        """Return the kernel of the parameters for points with their weights."""
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return choose_kernel(self.kernel, points, weights, **params)

    def _with_definite_kernel(self, problem, attempt):
        """Return the problem and ``attempt(problem)``, with the kernel shifted if only that helps.

        This serves models whose coefficients sum to zero, as a free intercept demands: for them a
        conditionally definite kernel is as good as a definite one.
        """
        try:
            return problem, attempt(problem)
        except IndefiniteKernelError as indefinite:
            shifted = problem._replace(kernel=problem.kernel.shifted(problem.points))
            try:
                return shifted, attempt(shifted)
            except IndefiniteKernelError:
                raise indefinite from None

    def _store(self, problem, result, A, intercept, coef=None, origin=0.0, *, stacklevel=4):
        """Set the fitted attributes that all machines have; return coefficients of all points.

        ``A`` are those of the points that count, ``intercept`` belongs to points from which
        ``origin`` is taken, and ``coef`` are the weights of the features, for the linear kernel.
        A warning goes past `_store`, fit and its validating wrapper by its ``stacklevel``.
        """
        self._certify(problem, result, stacklevel=stacklevel + 1)
        A, intercept = problem.kernel.in_terms_of_kernel(A, intercept, problem.points)
        n = problem.X.shape[0]
        coefficients = np.zeros((n, *A.shape[1:]))
        coefficients[problem.present] = A
        columns = coefficients.reshape(n, -1)
        self.support_ = np.flatnonzero((columns != 0.0).any(axis=1))
        precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if precomputed else problem.X[self.support_]
        self.dual_coef_ = columns[self.support_].T
        self.intercept_ = np.array(intercept, dtype=float).reshape(-1)
        if coef is not None:
            self.coef_ = coef.reshape(len(coef), -1).T
            at_origin, origin = self.intercept_, np.broadcast_to(origin, len(coef))
            self.intercept_ = at_origin - self.coef_ @ origin
            self._centred = origin, at_origin, self.coef_.copy(), self.intercept_.copy()
        return coefficients

    def _certify(self, problem, result, *, stacklevel):
        """Set what every machine says of its fit, and warn where that is no certificate."""
        self._kernel, self.classes_ = problem.kernel.as_given(), problem.classes
        if "gamma" in self._kernel.params:
            self.gamma_ = self._kernel.params["gamma"]
        self.objective_, self.kkt_residual_ = result.objective, result.kkt_residual
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        gap = ""
        if result.gap is not None:  # None where the objective is not convex
            self.relative_gap_ = relative_gap(result.gap, result.objective)
            gap = f" and a relative duality gap of {self.relative_gap_:.1e}"
        if not result.converged:
            by = f" by {self.solver_}" if hasattr(self, "solver_") else ""
            warnings.warn(
                f"{type(self).__name__}{by} stopped after {result.n_iter} iterations at a KKT "
                f"residual of {result.kkt_residual:.1e}{gap} "
                f"(objective {result.objective:.1e}), not certified to tol={self.tol:g} "
                f"({result.message}). {self._remedy}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
