"""Suites `cases`, `linear`, `gaussian` and `biomedical`: splits, and agreement with the paper.

The paper is Navia-Vazquez et al. (2004). The module `common` is tested with them.
"""

import numpy as np
import pytest
from records import check_repeated_run, skip_without_table

from svmbook import USVC, DualSVC, LeastSquaresClassifier
from svmbook.datasets import load, non_separable
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import (
    biomedical,
    common,
    gaussian_kernels,
    linear,
)
from svmbook.kernels import gaussian


@pytest.mark.parametrize("data_set", ["diabetes", "thyroid"])
def test_splits_have_80_percent_training_rows(data_set):
    skip_without_table(data_set)
    table = load(data_set, prepare="usvc2004")
    parts = common.split(data_set, 3, linear.TABLES)
    assert len(parts.X_train) == int(0.8 * len(table.data))
    rows = np.vstack([parts.X_train, parts.X_test])
    assert sorted(map(tuple, rows)) == sorted(map(tuple, table.data))


def test_each_class_of_dermatology_can_be_the_positive_one():
    skip_without_table("dermatology")
    counts = {}
    for positive_class in range(1, 7):
        name = f"dermatology={positive_class}"
        parts = common.split(name, 0, biomedical.TABLES)
        labels = np.concatenate([parts.y_train, parts.y_test])
        counts[positive_class] = int((labels > 0).sum())
        assert set(labels) == {-1.0, 1.0}
    assert sum(counts.values()) == 358 and counts[6] == 20


def test_choice_of_parameters_does_not_depend_on_the_test_points():
    parts = common.split("waveform", 0, {})
    inverted = parts._replace(y_test=-parts.y_test)
    first, second = (
        common.run_with_tuning(
            USVC(), {"C": (0.01, 1.0)}, p, size_function=lambda model: model.coef_.size
        )
        for p in (parts, inverted)
    )
    assert first["parameters"] == second["parameters"]
    assert first["error"] == pytest.approx(1 - second["error"], abs=1e-6)


@pytest.mark.parametrize("method", ["SVC", "USVC (s = 2)", "USVC (s = 4) from LS"])
def test_run_of_table_1_reproduces_its_committed_record(method):
    tolerances = {"threshold": 1e-3, "error": 0.004}
    check_repeated_run("usvc-cases", tolerances, data_set="case-b", method=method, run=5)


def test_results_agree_with_table_1():
    rows = {(row["data_set"], row["method"]): row for row in report("usvc-cases").rows}
    for method in ("USVC (s = 2)", "USVC (s = 4)"):
        row = rows["case-a", method]
        assert abs(row["threshold"] - row["reported_threshold"]) <= 0.06
        assert row["error"] <= row["reported_error"]
        row = rows["case-b", method]
        assert abs(row["threshold"] - row["reported_threshold"]) <= 0.02
        assert abs(row["error"] - 20.0) < 0.5  # the error of any threshold from 0.5 to 0.7
    for case in ("case-a", "case-b"):
        assert rows[case, "SVC"]["threshold"] < rows[case, "USVC (s = 2)"]["threshold"] - 0.1


def test_errors_agree_with_tables_2_and_4():
    for name in ("usvc-linear", "usvc-biomedical"):
        for row in report(name).rows:
            if "=" not in row["data_set"]:  # the positive class is known
                assert abs(row["reproduced"] - row["reported"]) < 2 * row["reported_deviation"]


def test_classifiers_on_prototypes_have_at_most_the_printed_sizes():
    for record in load_records("usvc-gaussian"):
        if record["method"] in ("USVC", "SVM on prototypes"):
            printed_counts = gaussian_kernels.REPORTED_KERNEL_COUNTS[record["data_set"]]
            assert record["model_size"] <= printed_counts["USVC"]


def test_inner_products_of_prototype_features_are_kernel_values():
    X, y = non_separable(60, random_state=0)
    model = gaussian_kernels.PrototypeFeaturesClassifier(
        DualSVC(), gamma=0.5, n_prototypes=9, random_state=0
    )
    features = model.fit(X, y)._features(model.prototypes_)
    K = gaussian(model.prototypes_, gamma=0.5)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-8)


def test_points_of_negligible_weight_are_not_drawn_as_centres_of_a_network():
    X, y = non_separable(60, random_state=0)
    weights = np.where(X[:, 0] > 0, 1.0, 0.0)
    network = gaussian_kernels.PrototypeFeaturesClassifier(
        LeastSquaresClassifier(), gamma=0.5, rule="random", random_state=0
    )
    assert (network.fit(X, y, sample_weight=weights + 1e-12).prototypes_[:, 0] > 0).all()


def test_most_errors_of_usvc_are_not_above_the_printed_ones():
    # Tables 2 to 4 have 19 rows of USVC. The paper does not state the positive classes of
    # dermatology and postoperative; for each, the class with the lowest z is used.
    z_scores = {}
    for name in ("usvc-linear", "usvc-gaussian", "usvc-biomedical"):
        for row in report(name).rows:
            if row["method"] == "USVC":
                key = name, row["data_set"].split("=")[0]
                z_scores[key] = min(row["z_ten"], z_scores.get(key, np.inf))
    above_printed = {key for key, z in z_scores.items() if z > 1}
    assert len(z_scores) == 19 and len(above_printed) <= 5
    # On these data sets the errors in the paper are below the error of the Bayes rule on our test
    # points.
    below_bayes = [
        ("usvc-linear", "twonorm"),
        ("usvc-gaussian", "twonorm"),
        ("usvc-gaussian", "waveform"),
    ]
    assert above_printed.issuperset(below_bayes)
