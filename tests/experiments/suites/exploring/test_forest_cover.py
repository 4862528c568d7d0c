"""The forest cover study: agreement with scikit-learn on a small table, and its results."""

import itertools
import time

import numpy as np
import pytest
from records import committed_record, skip_without_table
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils import Bunch

from svmbook import DualSVC, KernelLogisticRegression
from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring import forest_cover
from svmbook.experiments.suites.exploring.parameters import C_GRID, GAMMA_GRID
from svmbook.kernels import gaussian


@pytest.mark.parametrize("standardise", [True, False])
def test_split_returns_three_disjoint_parts_centred_by_the_first_if_standardised(standardise):
    X = np.column_stack([np.arange(15120.0), np.arange(15120) % 7])
    parts = forest_cover.split(X, X[:, 1], 0, standardise=standardise)
    assert [len(y) for _, y in parts] == [5040, 5040, 5040]
    assert len({value for part, _ in parts for value in part[:, 0]}) == 15120
    largest_mean = np.abs(parts[0][0].mean(axis=0)).max()
    assert (largest_mean < 1e-12) == standardise


def test_gaussian_kernel_is_better_only_if_gamma_suits_the_scale_of_the_features():
    rows = {row["method"]: row for row in report("exploring-forest").rows}
    accuracy = {method: row["accuracy"] for method, row in rows.items()}
    assert accuracy["gaussian-raw"] + 20 < accuracy["linear-raw"]  # as the report found
    assert accuracy["gaussian-scaled"] > accuracy["linear-scaled"] + 10
    assert accuracy["gaussian-raw-wide"] > accuracy["gaussian-scaled"]
    assert accuracy["gaussian-raw"] == pytest.approx(100 / 7, abs=2)  # random guessing
    assert rows["linear-scaled"]["training_seconds"] < 1  # reported: a few hours


def test_gaussian_kernel_of_raw_features_is_nearly_the_identity_or_ignores_binary_ones():
    skip_without_table("covtype")
    X = load("covtype").data[:2000]
    off_diagonal = gaussian(X, gamma=min(GAMMA_GRID)) - np.eye(len(X))
    assert (off_diagonal > 0.01).mean() < 0.001  # nearly the identity matrix
    # With a small gamma only the ten features that are not binary matter.
    non_binary_kernel = gaussian(X[:, :10], gamma=1e-5)
    np.testing.assert_allclose(gaussian(X, gamma=1e-5), non_binary_kernel, atol=1e-4)


def test_settings_of_methods_agree_with_their_names():
    scheme_by_word = {"rest": "rest", "logistic": "softmax", "pairs": "pairs"}
    for name, method in forest_cover.METHODS.items():
        assert method.standardise == ("scaled" in name) == ("raw" not in name)
        assert method.kernel == ("rbf" if "gaussian" in name else "linear")
        assert method.loss == ("logistic" if "logistic" in name else "hinge")
        named_schemes = [scheme for word, scheme in scheme_by_word.items() if word in name]
        assert method.scheme == (named_schemes[0] if named_schemes else "rest")


def test_rows_have_mean_errors_in_percent():
    records = load_records("exploring-forest")
    for row in report("exploring-forest").rows:
        errors = [r["validation_errors"] for r in records if r["method"] == row["method"]]
        np.testing.assert_allclose(row["validation_errors"], 100 * np.mean(errors, axis=0))
        error = np.mean([r["error"] for r in records if r["method"] == row["method"]])
        assert row["accuracy"] == pytest.approx(100 * (1 - error))


def test_confusion_matrices_agree_with_the_test_errors():
    for record in load_records("exploring-forest"):
        counts = np.array(record["confusion"])
        assert counts.sum() == 5040
        assert 1 - np.trace(counts) / 5040 == pytest.approx(record["error"], abs=1e-6)


@pytest.mark.parametrize("method", ["linear-raw", "gaussian-scaled"])
def test_selection_agrees_with_libsvm_on_a_small_table(monkeypatch, method):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3], 60)
    # The class means form a triangle. With a small C the classifier ignores the first raw feature,
    # which separates one class from the others.
    X = rng.standard_normal((180, 2)) + 2.5 * np.column_stack([y == 2, y == 3])
    X[:, 0] /= 50.0
    monkeypatch.setattr(forest_cover, "PART_SIZE", 60)
    monkeypatch.setattr(forest_cover, "load", lambda name: Bunch(data=X, target=y))
    start = time.perf_counter()
    outcome = forest_cover.carry_out_run("covtype", method, 3)
    seconds = outcome["selection_seconds"] + outcome["training_seconds"]
    assert 0 < seconds <= time.perf_counter() - start + 0.001

    kernel, standardise, gammas = forest_cover.METHODS[method][:3]
    train, validation, test = forest_cover.split(X, y, 3, standardise=standardise)
    fits = {}
    for C, gamma in itertools.product(C_GRID, gammas):
        svm = SVC(C=C, kernel=kernel, gamma=gamma or "scale")
        fits[C, gamma] = OneVsRestClassifier(svm).fit(*train)
    errors = {params: 1 - fit.score(*validation) for params, fit in fits.items()}
    smallest_errors = [min(errors[C, gamma] for gamma in gammas) for C in C_GRID]
    np.testing.assert_allclose(outcome["validation_errors"], smallest_errors, atol=1 / 59)
    chosen = outcome["parameters"]["C"], outcome["parameters"].get("gamma")
    assert errors[chosen] <= min(errors.values()) + 1 / 59  # up to one point on the boundary
    assert outcome["error"] == pytest.approx(1 - fits[chosen].score(*test), abs=1 / 59)
    support_indices = {index for svm in fits[chosen].estimators_ for index in svm.support_}
    assert outcome["model_size"] == pytest.approx(len(support_indices), abs=2)
    assert np.sum(outcome["confusion"]) == 60
    assert np.sum(outcome["confusion"], axis=1).tolist() == [sum(test[1] == k) for k in (1, 2, 3)]


@pytest.fixture
def small_covtype(monkeypatch):
    """Return the points and classes of a small table, which replaces forest cover in the suite."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, 2, 3], 60)
    X = np.column_stack([y + 0.9 * rng.standard_normal(180), rng.standard_normal(180)])
    monkeypatch.setattr(forest_cover, "PART_SIZE", 60)
    monkeypatch.setattr(forest_cover, "load", lambda name: Bunch(data=X, target=y))
    return X, y


def test_pairs_and_logistic_methods_agree_with_sklearn_on_a_small_table(small_covtype):
    train, validation, test = forest_cover.split(*small_covtype, 2, standardise=True)
    for method, make_classifier in {
        "linear-scaled-pairs": lambda C: SVC(C=C, kernel="linear", tol=1e-6),  # pairs by LIBSVM
        "logistic-scaled": lambda C: LogisticRegression(C=C, tol=1e-8),
        "logistic-scaled-rest": lambda C: OneVsRestClassifier(LogisticRegression(C=C, tol=1e-8)),
    }.items():
        outcome = forest_cover.carry_out_run("covtype", method, 2)
        fits = {C: make_classifier(C).fit(*train) for C in C_GRID}
        errors = [1 - fit.score(*validation) for fit in fits.values()]
        np.testing.assert_allclose(outcome["validation_errors"], errors, atol=1 / 59)
        chosen = fits[outcome["parameters"]["C"]]
        assert outcome["error"] == pytest.approx(1 - chosen.score(*test), abs=1 / 59)
        expected_size = len(chosen.support_) if "pairs" in method else 60
        assert outcome["model_size"] == pytest.approx(expected_size, abs=2)


def test_C_is_rescaled_if_chosen_on_a_subset_of_the_points(monkeypatch, small_covtype):
    method = forest_cover.METHODS["logistic-gaussian-scaled"]._replace(n_selection_points=30)
    monkeypatch.setitem(forest_cover.METHODS, "logistic-gaussian-scaled", method)
    outcome = forest_cover.carry_out_run("covtype", "logistic-gaussian-scaled", 2)
    (X, y), (X_validation, y_validation), test = forest_cover.split(
        *small_covtype, 2, standardise=True
    )
    errors = {}
    for C, gamma in itertools.product(C_GRID, GAMMA_GRID):
        model = KernelLogisticRegression(1 / (2 * C), gamma=gamma).fit(X[:30], y[:30])
        errors[C, gamma] = 1 - model.score(X_validation[:30], y_validation[:30])
    chosen = outcome["parameters"]["C"], outcome["parameters"]["gamma"]
    # Ties are broken by the smallest C, then by the smallest gamma.
    assert chosen == min(errors, key=lambda params: (round(errors[params], 9), *params))
    smallest_errors = [min(errors[C, gamma] for gamma in GAMMA_GRID) for C in C_GRID]
    np.testing.assert_allclose(outcome["validation_errors"], smallest_errors, atol=1e-6)
    model = KernelLogisticRegression(1 / chosen[0], gamma=chosen[1]).fit(X, y)
    assert outcome["error"] == pytest.approx(1 - model.score(*test), abs=1e-6)


def test_cover_types_at_extreme_elevations_have_the_best_recall():
    records = [r for r in load_records("exploring-forest") if r["method"] == "linear-scaled"]
    counts = sum(np.array(r["confusion"]) for r in records)
    recall = dict(zip(range(1, 8), np.diag(counts) / counts.sum(axis=1), strict=True))
    assert sorted(recall, key=recall.get)[-2:] == [7, 4]  # at the highest and the lowest elevation
    assert min(recall, key=recall.get) == 2
    # Plots of cover type 2 are most often predicted as 1, then as 5, then as 2.
    assert counts[1].argsort()[::-1][:3].tolist() == [0, 4, 1]
    skip_without_table("covtype")
    table = load("covtype")
    elevation = {
        cover_type: np.median(table.data[table.target == cover_type, 0])
        for cover_type in range(1, 8)
    }
    assert sorted(elevation, key=elevation.get) == [4, 3, 6, 5, 2, 1, 7]


def test_multiclass_scheme_matters_more_than_C():
    rows = {row["method"]: row for row in report("exploring-forest").rows}
    accuracy = {method: row["accuracy"] for method, row in rows.items()}
    assert accuracy["linear-scaled-pairs"] - accuracy["linear-scaled"] == pytest.approx(
        8.8, abs=0.3
    )
    assert accuracy["logistic-scaled"] - accuracy["linear-scaled"] == pytest.approx(7.8, abs=0.3)
    # The first step replaces the loss, the second one the multiclass scheme.
    methods = ("linear-scaled", "logistic-scaled-rest", "logistic-scaled")
    for before, after in itertools.pairwise(methods):
        assert 3 < accuracy[after] - accuracy[before] < 4.5
    assert np.ptp(rows["linear-scaled"]["validation_errors"]) < 3
    assert 0.5 < accuracy["linear-scaled-pairs"] - accuracy["logistic-scaled"] < 1.5
    assert round(accuracy["gaussian-scaled-pairs"]) == 78
    assert rows["logistic-gaussian-scaled"]["training_seconds"] > 30
    assert rows["gaussian-scaled-pairs"]["training_seconds"] < 3


def test_features_are_standardised_by_the_first_part():
    X = np.random.default_rng(0).standard_normal((15120, 2))
    for part, _ in forest_cover.split(X, X[:, 0], 0, standardise=True)[1:]:
        assert (np.abs(part.mean(axis=0)) > 1e-6).all()


def test_run_reproduces_its_committed_record():
    skip_without_table("covtype")
    record = committed_record("exploring-forest", method="linear-scaled", run=0)
    repeated = forest_cover.carry_out_run("covtype", "linear-scaled", 0)
    # The parameters are not compared, because two values of C are tied.
    assert repeated["seed"] == record["seed"]
    assert repeated["error"] == pytest.approx(record["error"], abs=0.001)
    assert repeated["tied_share"] == pytest.approx(record["tied_share"], abs=0.001)


def test_share_of_ties_correlates_with_the_error_of_linear_svms():
    records = [r for r in load_records("exploring-forest") if r["method"] == "linear-scaled"]
    tied_shares = np.array([r["tied_share"] for r in records])
    assert tied_shares.min() < 0.01 and 0.1 < tied_shares.max() < 1 / 7
    assert np.corrcoef(tied_shares, [r["error"] for r in records])[0, 1] > 0.5


def fit_svms_with_three_constant_outputs():
    """Fit one-vs-rest SVMs to five classes on a line; return them, new points and their classes.

    The outputs of the SVMs of the three inner classes are constant.
    """
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 60)
    X, X_new = (3.0 * y[:, None] + rng.uniform(-1, 1, (300, 1)) for _ in range(2))
    return OneVsRestClassifier(DualSVC()).fit(X, y), X_new, y


def test_only_ties_are_broken_at_random():
    model, X, y = fit_svms_with_three_constant_outputs()
    for run in range(3):
        labels, tied = forest_cover.predict_labels(model, X, run)
        assert not tied[(y == 0) | (y == 4)].any()
        assert np.isin(labels[tied], [1, 2, 3]).all()
        assert np.abs(np.bincount(labels[tied])[1:4] / tied.sum() - 1 / 3).max() < 0.1
        assert (labels[~tied] == model.predict(X)[~tied]).all()


def test_rounding_does_not_change_predicted_labels():
    model, X, _ = fit_svms_with_three_constant_outputs()
    old_labels, _ = forest_cover.predict_labels(model, X, 0)
    predictions = []
    for k, svm in enumerate(model.estimators_):
        predictions.append(model.predict(X))
        svm.intercept_ = svm.intercept_ + 1e-7 * (-2) ** k
    assert any((labels != predictions[0]).mean() > 0.1 for labels in predictions)
    assert (forest_cover.predict_labels(model, X, 0)[0] == old_labels).all()


@pytest.mark.usefixtures("small_covtype")
def test_pairs_and_softmax_have_no_ties():
    for method in ("linear-scaled-pairs", "logistic-scaled"):
        assert forest_cover.carry_out_run("covtype", method, 0)["tied_share"] == 0


def test_times_are_shown_with_at_least_two_digits():
    text = str(report("exploring-forest"))
    for row in report("exploring-forest").rows:
        (line,) = (line for line in text.splitlines() if line.startswith(f"| {row['method']} |"))
        printed_seconds = float(line.rstrip("| ").split("| ")[-1])
        assert printed_seconds == pytest.approx(row["training_seconds"], rel=0.051)
