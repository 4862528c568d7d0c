"""The experiments of the USVC paper: its divisions, its tables, and errors that agree with it."""

import numpy as np
import pytest
from records import committed, needs_table

from svmbook import USVC, DualSVC, LeastSquaresClassifier
from svmbook.datasets import load, non_separable
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import biomedical, cases, divisions, linear, oracle
from svmbook.experiments.suites.usvc2004 import gaussian as usvc_gaussian
from svmbook.kernels import gaussian


@pytest.mark.parametrize("data_set", ["diabetes", "thyroid"])
def test_four_fifths_of_the_rows_are_trained_on(data_set):
    needs_table(data_set)
    table = load(data_set, prepare="usvc2004")
    parts = divisions.division(data_set, 3, linear.TABLES)
    assert len(parts.X_train) == int(0.8 * len(table.data))
    together = np.vstack([parts.X_train, parts.X_test])
    assert sorted(map(tuple, together)) == sorted(map(tuple, table.data))


def test_another_class_may_be_the_positive_one():
    needs_table("dermatology")
    counts = {}
    for kind in range(1, 7):
        name = f"dermatology={kind}"
        parts = divisions.division(name, 0, biomedical.TABLES)
        labels = np.concatenate([parts.y_train, parts.y_test])
        counts[kind] = int((labels > 0).sum())
        assert set(labels) == {-1.0, 1.0}
    assert sum(counts.values()) == 358 and counts[6] == 20


def test_parameters_are_chosen_on_the_training_points_alone():
    parts = divisions.division("waveform", 0, {})
    grid = {"C": (0.01, 1.0)}
    found = divisions.chosen_run(USVC(), grid, parts, size=lambda m: m.coef_.size)
    spoilt = parts._replace(y_test=-parts.y_test)
    again = divisions.chosen_run(USVC(), grid, spoilt, size=lambda m: m.coef_.size)
    assert found["parameters"] == again["parameters"]
    assert found["error"] == pytest.approx(1 - again["error"], abs=1e-6)


@pytest.mark.parametrize("method", ["SVC", "USVC (s = 2)", "USVC (s = 4) from LS"])
def test_a_committed_run_on_the_line_can_be_done_again(method):
    stored = committed("usvc-cases", data_set="case-b", method=method, run=5)
    again = cases.work("case-b", method, 5)
    assert again["threshold"] == pytest.approx(stored["threshold"], abs=1e-3)
    assert again["error"] == pytest.approx(stored["error"], abs=0.004)


def test_the_first_table_comes_out():
    rows = {(row["data_set"], row["method"]): row for row in report("usvc-cases").rows}
    for method in ("USVC (s = 2)", "USVC (s = 4)"):
        row = rows["case-a", method]
        assert abs(row["threshold"] - row["reported_threshold"]) <= 0.06
        assert row["error"] <= row["reported_error"]
        row = rows["case-b", method]
        assert abs(row["threshold"] - row["reported_threshold"]) <= 0.02
        assert abs(row["error"] - 20.0) < 0.5  # what any threshold from 0.5 to 0.7 errs
    for case in ("case-a", "case-b"):
        assert rows[case, "SVC"]["threshold"] < rows[case, "USVC (s = 2)"]["threshold"] - 0.1


def test_errors_of_the_other_tables_are_near_the_printed_ones():
    for name in ("usvc-linear", "usvc-biomedical"):
        for row in report(name).rows:
            if "=" not in row["data_set"]:  # where the classes are the paper's
                assert abs(row["reproduced"] - row["reported"]) < 2 * row["reported_deviation"]


def test_the_fewest_errors_are_reached_or_nearly_on_four_sets_of_five():
    for row in report("usvc-oracle").rows:
        if row["method"] == "USVC, ten starts":
            assert row["runs"] == 150 and row["within_one"] >= 80


def test_no_machine_makes_fewer_errors_than_are_possible():
    rows = report("usvc-oracle").rows
    assert len(rows) == 2 * len(oracle.METHODS)
    records = load_records("usvc-oracle")
    fewest = {(r["data_set"], r["run"]): r for r in records if "bound" in r}
    assert all(r["errors"] == r["bound"] for r in fewest.values())  # all of them proved
    more = {}
    for r in records:
        missed = r["errors"] - fewest[r["data_set"], r["run"]]["errors"]
        more.setdefault((r["data_set"], r["method"]), []).append(missed)
    assert min(map(min, more.values())) == 0
    for row in rows:
        missed = more[row["data_set"], row["method"]]
        assert row["reached"] == pytest.approx(100 * missed.count(0) / 150)
        assert row["within_one"] == pytest.approx(100 * (missed.count(0) + missed.count(1)) / 150)
        assert (row["more"], row["most"]) == (pytest.approx(np.mean(missed)), max(missed))


def test_clumps_lie_where_the_other_class_is():
    for seed in range(5):
        plain, y = oracle.clouds(seed)
        X, same = oracle.clouds_and_a_clump(seed)
        moved = (plain != X).any(axis=1)
        np.testing.assert_array_equal(y, same)
        assert moved.sum() == -(-(y > 0).sum() // 5) and (y[moved] > 0).all()
        assert (X[moved, 0] < -1.0).all()


def test_small_machines_have_the_printed_sizes_or_less():
    for record in load_records("usvc-gaussian"):
        if record["method"] in ("USVC", "SVM on prototypes"):
            assert record["model_size"] <= usvc_gaussian.SIZES[record["data_set"]]["USVC"]


def test_features_of_prototypes_have_the_kernel_for_inner_product():
    X, y = non_separable(60, random_state=0)
    short = usvc_gaussian.OnPrototypes(DualSVC(), gamma=0.5, n_prototypes=9, random_state=0)
    features = short.fit(X, y)._features(short.prototypes_)
    K = gaussian(short.prototypes_, gamma=0.5)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-8)


def test_weights_draw_the_centres_of_a_network():
    X, y = non_separable(60, random_state=0)
    weights = np.where(X[:, 0] > 0, 1.0, 0.0)
    network = usvc_gaussian.OnPrototypes(
        LeastSquaresClassifier(), gamma=0.5, rule="drawn", random_state=0
    )
    assert (network.fit(X, y, sample_weight=weights + 1e-12).prototypes_[:, 0] > 0).all()


def test_most_lines_of_the_unbiased_machine_are_not_above_the_printed_ones():
    # Tables 2 to 4 have 19 lines. Of dermatology and postoperative the class that fits is counted.
    off = {}
    for name in ("usvc-linear", "usvc-gaussian", "usvc-biomedical"):
        for row in report(name).rows:
            if row["method"] == "USVC":
                line = name, row["data_set"].split("=")[0]
                off[line] = min(row["z_ten"], off.get(line, np.inf))
    above = {line for line, z in off.items() if z > 1}
    assert len(off) == 19 and len(above) <= 5
    # These are printed below what the best rule of all reaches on the same test points.
    beyond = [
        ("usvc-linear", "twonorm"),
        ("usvc-gaussian", "twonorm"),
        ("usvc-gaussian", "waveform"),
    ]
    assert above.issuperset(beyond)
