"""The suite shen2013-search: the settings of the synthetic sets of Shen (2013)."""

import itertools

import numpy as np
import pytest
from records import check_repeated_run, committed_record

from svmbook.experiments import report
from svmbook.experiments.suites.shen2013 import cross_validation, search
from svmbook.experiments.suites.shen2013.result_tables import _reported_accuracies


@pytest.mark.parametrize(
    ("setting", "method"),
    [("isolated, spread 0.07, unit 3", "tree"), ("isolated, spread 0.05, unit 1", "linear")],
)
def test_run_reproduces_its_committed_record(setting, method):
    tolerances = {"error": 0.01, "model_size": 0}
    check_repeated_run("shen2013-search", tolerances, data_set=setting, method=method, run=2)


@pytest.mark.parametrize("data_set", ["isolated", "striated"])
@pytest.mark.parametrize("method", ["linear", "quadratic"])
def test_search_has_the_svms_and_folds_of_shen2013(data_set, method):
    setting = cross_validation.GENERATOR_SETTINGS[data_set]
    shen2013_record = committed_record("shen2013", data_set=data_set, method=method, run=1)
    search_record = committed_record("shen2013-search", data_set=setting, method=method, run=1)
    assert search_record["error"] == pytest.approx(shen2013_record["error"], abs=1e-3)
    assert search.REPORTED[data_set][method] == _reported_accuracies(data_set)[method]


@pytest.mark.parametrize(("data_set", "difference"), [("isolated", 0.6), ("striated", -0.1)])
def test_accuracy_difference_between_unpruned_and_pruned_trees(data_set, difference):
    setting = cross_validation.GENERATOR_SETTINGS[data_set]
    check_repeated_run("shen2013-search", {"error": 0.004}, data_set=setting, method="tree", run=1)
    assert search.REPORTED[data_set]["tree"] == _reported_accuracies(data_set)["CART"]
    rows_by_setting = {row["data_set"]: row for row in report("shen2013-search").rows}
    [pruned_accuracy] = [
        row["reproduced"]
        for row in report("shen2013").rows
        if (row["data_set"], row["method"]) == (data_set, "CART")
    ]
    assert rows_by_setting[setting]["tree"] - pruned_accuracy == pytest.approx(difference, abs=0.05)


def test_table_lists_the_five_nearest_settings_of_each_data_set():
    result = report("shen2013-search")
    distance_by_setting = {row["data_set"]: row["distance"] for row in result.rows}
    table_rows = [*result.table.rows]
    for data_set, setting in cross_validation.GENERATOR_SETTINGS.items():
        (reported_row, *setting_rows), table_rows = table_rows[:6], table_rows[6:]
        assert reported_row[0] == f"{data_set}, reported"
        names = [f"{data_set}, {table_row[0]}" for table_row in setting_rows]
        distances = [distance_by_setting[name] for name in names]
        other_settings = {name for name in distance_by_setting if name.startswith(data_set)} - {
            *names
        }
        assert distances == sorted(distances)
        assert distances[-1] <= min(distance_by_setting[name] for name in other_settings)
        assert setting in names  # the setting that the other suites use
        assert [float(table_row[-1]) for table_row in setting_rows] == [
            round(value, 1) for value in distances
        ]
    assert not table_rows


def test_samples_are_centred_and_scaled_by_the_unit():
    X, y = search.draw_samples("striated, width 0.1, length 8, tilt 45, unit 1", seed=3)
    X_scaled, y_scaled = search.draw_samples(
        "striated, width 0.1, length 8, tilt 45, unit 3", seed=3
    )
    np.testing.assert_allclose(X_scaled, 3 * X)
    np.testing.assert_array_equal(y_scaled, y)
    np.testing.assert_allclose(X.max(axis=0), -X.min(axis=0))


@pytest.mark.parametrize("data_set", ["isolated", "striated"])
def test_nearest_setting_is_within_the_standard_deviations_of_the_thesis(data_set):
    rows = report("shen2013-search").rows
    nearest = search.rows_sorted_by_distance(rows, data_set)[0]
    reported = search.REPORTED[data_set]
    z = [(nearest[m] - value) / max(sd, 1.0) for m, (value, sd) in reported.items()]
    assert nearest["distance"] == pytest.approx(np.linalg.norm(z))
    assert np.abs(z).max() <= 1.0


def test_length_of_the_stripes_affects_only_the_tree():
    rows_by_setting = {row["data_set"]: row for row in report("shen2013-search").rows}
    length_rows = [
        rows_by_setting[f"striated, width 0.1, length {length}, tilt {tilt}, unit 3"]
        for length, tilt in itertools.product((8, 16, 24, 32), (22.5, 45))
    ]
    linear, tree, quadratic = ([row[method] for row in length_rows] for method in search.METHODS)
    assert np.ptp(linear) < 0.1 and np.ptp(quadratic) < 0.1
    assert 65 < min(tree) < 67 and 87 < max(tree) < 89
