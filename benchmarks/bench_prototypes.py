"""Claims about exemplar and prototype ensembles: training, cross-validation, and prediction.

Training 720 members, each with one exemplar and seven negatives, is at least 20 times faster than a
loop over scikit-learn's `SVC`. It is at least 40 times faster than the method of Shen (2013), in
which LIBSVM also fits probabilities by cross-validation on each member's training set. The
active-set method is faster than an interior-point method on the same arrays. Ten-fold
cross-validation of `PrototypeSVM` on `isolated` is at least 8 times faster than that of
`LoopPrototypeSVM`, an implementation with loops. Prediction by matrix products is at least 10 times
faster than calling one `SVC` after another. An ensemble of initially 2,079 members, with seven
classes and 19 features, is trained within two minutes.
"""

import warnings

import numpy as np
from measure import main, measure_in_new_process, print_table, time_call
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from svmbook import PrototypeSVM
from svmbook.datasets import isolated
from svmbook.prototypes.ensemble import validation_split
from svmbook.prototypes.negatives import initial_negatives
from svmbook.solvers.batched.duals import solve_validated_batch
from svmbook.solvers.batched.members import fit_linear_members

C, N_NEGATIVES, N_SHIFTS, P_NEGATIVE = 1000.0, 7, 10, 0.005


def draw_clusters(n, d, n_classes, seed=0):
    """Return n points in d dimensions, with three slightly overlapping clusters per class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centres = 2.0 * rng.standard_normal((n_classes, 3, d))
    return centres[y, rng.integers(0, 3, n)] + rng.standard_normal((n, d)), y.astype(float)


def compare_training_methods(X, y):
    """Train all members of the first iteration by five methods, and time each method."""
    positive = sparse.eye_array(len(X), dtype=bool, format="csr")
    negative = initial_negatives(X, y.astype(int), N_NEGATIVES)
    # One training set per member: its exemplar, then its negatives.
    negative_indices = np.split(negative.indices, negative.indptr[1:-1])
    training_sets = [np.append(i, indices) for i, indices in enumerate(negative_indices)]

    def coef_by_loop(**options):
        model = SVC(kernel="linear", C=C, **options)
        return [
            model.fit(X[indices], np.where(np.arange(len(indices)) == 0, 1, -1)).coef_[0]
            for indices in training_sets
        ]

    batch, batch_seconds = time_call(
        lambda: fit_linear_members(X, positive, negative, C, np.ones(len(X))), repeats=9
    )
    loop_coef, loop_seconds = time_call(coef_by_loop, repeats=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn deprecates this option
        _, probability_seconds = time_call(lambda: coef_by_loop(probability=True, random_state=0))
    duals = padded_duals(X, training_sets)
    active_set, active_set_seconds = time_call(lambda: solve_validated_batch(*duals), repeats=9)
    interior_point_objectives, interior_point_seconds = time_call(
        lambda: solve_by_interior_point(*duals), repeats=9
    )
    objective_difference = 1.0 - interior_point_objectives / active_set.dual_objective
    coef_difference = np.abs(loop_coef - batch.coef).max(axis=1) / np.abs(batch.coef).max(axis=1)
    return {
        "members": len(X),
        "loop_over_batch": loop_seconds / batch_seconds,
        "probabilities_over_batch": probability_seconds / batch_seconds,
        "interior_point_over_active_set": interior_point_seconds / active_set_seconds,
        "coef_difference": float(np.median(coef_difference)),
        "objective_difference": float(np.max(objective_difference)),
        "max_relative_gap": float(batch.relative_gap.max()),
    }


def padded_duals(X, training_sets):
    """Return the arrays K, y and C of `solve_validated_batch`, one dual per training set.

    The first index of a training set is the exemplar, the others are its negatives. Shorter sets
    are padded by points with C = 0.
    """
    sizes = np.array([len(training_set) for training_set in training_sets])
    max_size = sizes.max()
    indices = np.array([np.resize(training_set, max_size) for training_set in training_sets])
    Z = X[indices] - X[indices[:, :1]]
    y = np.where(np.arange(max_size) == 0, 1.0, -1.0) * np.ones((len(training_sets), 1))
    bounds = np.where(np.arange(max_size) < sizes[:, None], C, 0.0)
    return Z @ Z.transpose(0, 2, 1), y, bounds


def solve_by_interior_point(K, y, C, tol=1e-9, max_iter=100):
    """Solve the duals by Mehrotra's predictor-corrector method; return their objectives.

    The unknowns a are the multipliers of the points. The multipliers z and u belong to a >= 0 and
    s = C - a >= 0, and b to the equality constraint.
    r is the dual residual, mu the duality measure (a'z + s'u) / 2n, and t the step length.
    Points with C = 0 get C = 1, and are taken out of Q and of the equality constraint.
    """
    is_included = C > 0
    y, C = np.where(is_included, y, 0.0), np.where(is_included, C, 1.0)
    linear_coef, diagonal = is_included.astype(float), np.arange(K.shape[1])
    Q = K * y[:, :, None] * y[:, None, :]
    a, z, u, b = 0.5 * C, np.ones_like(C), np.ones_like(C), np.zeros(len(C))
    objectives, unsolved = np.zeros(len(C)), np.arange(len(C))
    for _ in range(max_iter):
        Qa = np.matmul(Q, a[:, :, None])[:, :, 0]
        objective = (linear_coef * a).sum(axis=1) - 0.5 * (a * Qa).sum(axis=1)
        objectives[unsolved] = objective
        s = C - a
        r, mu = Qa - linear_coef + b[:, None] * y - z + u, (a * z + s * u).mean(axis=1) / 2
        gap = 2 * mu * a.shape[1]
        is_solved = (gap <= tol * np.abs(objective)) & (np.abs(r).max(axis=1) < 1e-6)
        if is_solved.all():
            break
        unsolved, Q, y, C = (array[~is_solved] for array in (unsolved, Q, y, C))
        linear_coef = linear_coef[~is_solved]
        a, z, u, b, s, r, mu = (array[~is_solved] for array in (a, z, u, b, s, r, mu))
        system = Q.copy()
        system[:, diagonal, diagonal] += z / a + u / s
        equality_residual = (y * a).sum(axis=1)

        def newton_step(
            ra, rs, system=system, r=r, y=y, a=a, z=z, u=u, s=s, equality_residual=equality_residual
        ):
            """Return the step whose first-order changes of a * z and s * u are -ra and -rs."""
            rhs = np.stack([-r - ra / a + rs / s, y], axis=2)
            p, q = np.moveaxis(np.linalg.solve(system, rhs), 2, 0)
            db = ((y * p).sum(axis=1) + equality_residual) / (y * q).sum(axis=1)
            da = p - q * db[:, None]
            return da, db, -(ra + z * da) / a, (u * da - rs) / s

        def max_step_length(da, dz, du, a=a, z=z, u=u, s=s):
            ratios = [
                np.where(d < 0, -v / np.where(d < 0, d, -1.0), np.inf)
                for v, d in ((a, da), (s, -da), (z, dz), (u, du))
            ]
            return np.minimum(1.0, np.min(ratios, axis=(0, 2)))[:, None]

        da, db, dz, du = newton_step(a * z, s * u)  # the predictor
        t = max_step_length(da, dz, du)
        mu_affine = (a + t * da) * (z + t * dz) + (s - t * da) * (u + t * du)
        mu_affine = mu_affine.mean(axis=1) / 2
        target = ((mu_affine / mu) ** 3 * mu)[:, None]
        da, db, dz, du = newton_step(a * z + da * dz - target, s * u - da * du - target)
        t = 0.99 * max_step_length(da, dz, du)
        a, z, u, b = a + t * da, z + t * dz, u + t * du, b + t[:, 0] * db
    return objectives


class LoopPrototypeSVM:
    """Algorithms 1 to 4 of Shen (2013) with loops: one `SVC` per member and iteration."""

    def fit(self, X, y):
        # The same random numbers as `PrototypeSVM(random_state=0)`.
        rng = np.random.default_rng(np.random.RandomState(0).randint(2**31))
        train, validation = validation_split((y > 0).astype(int), 0.25, rng)
        X_train, y_train = X[train], y[train]
        positives = [{i} for i in range(len(train))]
        negatives = [self.initial_negatives_of(X_train, y_train, i) for i in range(len(train))]
        exemplar_indices, best_accuracy = list(range(len(train))), -1.0
        for iteration in range(N_SHIFTS + 1):
            members = [fit_member(X_train, P, N) for P, N in zip(positives, negatives, strict=True)]
            labels = y_train[exemplar_indices]
            accuracy = (self.vote(members, labels, X[validation]) == y[validation]).mean()
            if accuracy >= best_accuracy:
                best_accuracy, self.members, self.labels = accuracy, members, labels
            if iteration < N_SHIFTS:
                positives, negatives, exemplar_indices = self.update_training_sets(
                    X_train, y_train, members, positives, negatives, exemplar_indices, rng
                )
        return self

    def initial_negatives_of(self, X, y, i):
        others = np.flatnonzero(y != y[i])
        others = others[np.argsort(np.linalg.norm(X[others] - X[i], axis=1), kind="stable")]
        normal = X[others[0]] - X[i]
        return set([j for j in others if normal @ (X[j] - X[i]) > 0][:N_NEGATIVES])

    def update_training_sets(self, X, y, members, positives, negatives, exemplar_indices, rng):
        """Make positive and negative updates, and remove members that cover no point."""
        is_covered = np.array([member.decision_function(X) > 0 for member in members])
        for j, x in enumerate(X):
            candidates = []
            for m in np.flatnonzero(is_covered[:, j]):
                if y[exemplar_indices[m]] == y[j]:
                    candidates.append((np.linalg.norm(x - X[exemplar_indices[m]]), m))
                elif rng.random() < P_NEGATIVE:
                    negatives[m].add(j)
            if candidates:
                positives[min(candidates)[1]].add(j)
        remaining = np.flatnonzero(is_covered.any(axis=1))
        parts = (positives, negatives, exemplar_indices)
        return tuple([part[m] for m in remaining] for part in parts)

    def vote(self, members, labels, X):
        votes = np.zeros(len(X))
        for member, label in zip(members, labels, strict=True):
            votes += label * (member.decision_function(X) > 0)
        return np.where(votes > 0, 1.0, -1.0)

    def predict(self, X):
        return self.vote(self.members, self.labels, X)


def fit_member(X, positives, negatives):
    labels = [1] * len(positives) + [-1] * len(negatives)
    return SVC(kernel="linear", C=C).fit(X[[*positives, *negatives]], labels)


def compare_cross_validation(X, y):
    """Time ten-fold cross-validation of both implementations, each with the majority vote."""

    def cross_validated_accuracy(model):
        scores = [
            (model.fit(X[train], y[train]).predict(X[test]) == y[test]).mean()
            for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        ]
        return round(float(np.mean(scores)), 4)

    model = PrototypeSVM(C, voting="majority", random_state=0)
    model_accuracy, model_seconds = time_call(lambda: cross_validated_accuracy(model))
    loop_accuracy, loop_seconds = time_call(lambda: cross_validated_accuracy(LoopPrototypeSVM()))
    return {
        "loop_over_prototype_svm": loop_seconds / model_seconds,
        "accuracy": model_accuracy,
        "loop_accuracy": loop_accuracy,
    }


def compare_predictions(X, y):
    """Time predictions by matrix products, and by calling one `SVC` after another.

    Both ensembles have the initial members, one per training point outside the validation set.
    """
    model = PrototypeSVM(C, voting="majority", n_shifts=0, random_state=0).fit(X, y)
    members = [fit_member(X, member.positives, member.negatives) for member in model.members_]
    labels = [member.label for member in model.members_]
    X_new = np.random.default_rng(7).random((4000, X.shape[1]))
    _, product_seconds = time_call(lambda: model.predict(X_new), repeats=5)
    _, loop_seconds = time_call(lambda: LoopPrototypeSVM().vote(members, labels, X_new))
    return {"members": len(members), "loop_over_products": loop_seconds / product_seconds}


def train_many_members(X, y):
    model = PrototypeSVM(10.0, random_state=0).fit(X, y)
    return {
        "initial_members": len(model.history_[0].exemplar_indices),
        "relative_gap": model.relative_gap_,
    }


METHODS = {
    "first iteration": compare_training_methods,
    "ten folds": compare_cross_validation,
    "prediction": compare_predictions,
    "many members": train_many_members,
}


def make_problem(row):
    if row["method"] == "many members":
        return *draw_clusters(row["n"], 19, 7), {}
    return *isolated(row["n"], random_state=0), {}


def run():
    rows = []
    for method, n in zip(METHODS, (720, 800, 800, 2772), strict=True):
        row = {"n": n, "method": method}
        X, y, _ = make_problem(row)
        row |= measure_in_new_process(__file__, method, X, y)
        rows.append(row)
        columns = [key for key in row if key not in ("method", "memory_over_data")]
        print_table(method, [row], columns)
    return rows


if __name__ == "__main__":
    main(METHODS, run)
