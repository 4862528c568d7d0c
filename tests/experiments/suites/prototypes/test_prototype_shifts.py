"""The suite prototype-shifts: repeated runs, samples, and statements on prototype SVMs."""

import numpy as np
import pytest
from records import check_repeated_run, committed_record, committed_values, make_store
from sklearn.neighbors import KNeighborsClassifier

from svmbook.experiments import load_records, report
from svmbook.experiments.methods.protocols import run_seed
from svmbook.experiments.suites.prototypes import prototype_shifts
from svmbook.experiments.suites.prototypes.data_sets import DATA_SETS
from svmbook.prototypes import PrototypeSVM

SUITE_NAME, DATA_SET_NAMES = "prototype-shifts", ("islands", "stripes", "wedge")
WEIGHTED_VOTE, BASELINE = "C = 100, distance-weighted vote", "5 neighbours, weighted"
LIBSVM_VOTE = "C = 100, LIBSVM's probability vote"


def values_of(data_set, method, field="error"):
    """Return the committed values of a field in the order of the runs."""
    return committed_values(SUITE_NAME, field)[data_set, method]


@pytest.mark.parametrize(
    ("method", "data_set"),
    [
        ("C = 10, majority vote, ten shifts", "wedge"),
        ("C = 10, distance-weighted vote, positive updates only", "islands"),
        ("C = 100, probability vote", "stripes"),
        (BASELINE, "islands"),
        ("C = 100, exemplars of all points", "wedge"),
        ("C = 100, majority vote, sampled", "islands"),
    ],
)
def test_run_reproduces_its_committed_record(method, data_set):
    tolerances = {
        "error": 0.005,
        "model_size": 3,
        "validation_error": 0.005,
        "n_added_points": 0.005,
    }
    check_repeated_run(SUITE_NAME, tolerances, data_set=data_set, method=method, run=11)


@pytest.mark.parametrize("data_set", DATA_SET_NAMES)
def test_error_is_measured_on_new_points(data_set):
    parts = prototype_shifts.draw_samples(data_set, 4)
    X, y = DATA_SETS[data_set](300, random_state=run_seed(0, 4))
    np.testing.assert_array_equal(parts.X_train, X)
    assert len(parts.y_test) == 2000 and not np.isin(parts.X_test[:, 0], X[:, 0]).any()
    accuracy = KNeighborsClassifier(1).fit(X, y).score(parts.X_test, parts.y_test)
    stored = committed_record(SUITE_NAME, data_set=data_set, method="nearest neighbour", run=4)
    assert stored["error"] == pytest.approx(1 - accuracy)
    assert stored["model_size"] == 300


def test_methods_have_the_settings_in_their_names():
    X, y = DATA_SETS["islands"](80, 0)
    for name, model in prototype_shifts.METHODS.items():
        if not isinstance(model, PrototypeSVM):
            continue
        model.set_params(random_state=0).fit(X, y)
        assert name.startswith(f"C = {model.C:g}, ")
        assert (len(model.history_) == 1) == name.endswith("no shifts")
        n_negative_updates = sum(len(state.new_negatives) for state in model.history_)
        assert not n_negative_updates or not name.endswith(("no shifts", "positive updates only"))
        assert (len(getattr(model, "samples_", ())) == 2) == name.endswith("sampled")


def test_means_and_paired_differences_follow_from_the_records():
    rows = report(SUITE_NAME).rows
    assert len(rows) == 3 * len(prototype_shifts.METHODS)
    for row in rows:
        data_set, method = row["data_set"], row["method"]
        reference = prototype_shifts.REFERENCES[method]
        assert reference in prototype_shifts.METHODS and row["n_runs"] == 30
        assert row["model_size"] == pytest.approx(values_of(data_set, method, "model_size").mean())
        for prefix in ("", "validation_"):
            if f"{prefix}error" not in row:
                assert prefix and not method.startswith("C = 10,")
                continue
            errors = 100 * values_of(data_set, method, f"{prefix}error")
            differences = errors - 100 * values_of(data_set, reference, f"{prefix}error")
            assert row[f"{prefix}error"] == pytest.approx(errors.mean())
            assert row[f"{prefix}difference"] == pytest.approx(differences.mean(), abs=1e-12)
            standard_error = differences.std(ddof=1) / np.sqrt(30)
            assert row[f"{prefix}difference_se"] == pytest.approx(standard_error, abs=1e-12)
        assert ("n_added_points" in row) == method.endswith("sampled")


def test_negative_updates_improve_the_majority_vote_and_positive_ones_do_not():
    for data_set in ("islands", "wedge"):
        errors = {
            shifts: 100 * values_of(data_set, f"C = 10, majority vote, {shifts}")
            for shifts in ("no shifts", "ten shifts", "positive updates only")
        }
        assert (errors["no shifts"] - errors["ten shifts"]).mean() > 10.0
        assert abs((errors["no shifts"] - errors["positive updates only"]).mean()) < 0.5


@pytest.mark.parametrize("data_set", DATA_SET_NAMES)
def test_prototypes_are_worse_than_weighted_neighbours_and_exemplars_only_on_islands(data_set):
    neighbour_errors = values_of(data_set, BASELINE)
    for method in (WEIGHTED_VOTE, "C = 10, distance-weighted vote, ten shifts"):
        assert (values_of(data_set, method) - neighbour_errors).mean() > 0
    exemplar_differences = values_of(data_set, prototype_shifts.EXEMPLAR_SVM) - neighbour_errors
    assert (exemplar_differences.mean() > 0) == (data_set == "islands")


@pytest.mark.parametrize("data_set", DATA_SET_NAMES)
def test_probability_votes_are_worse_than_the_majority_vote(data_set):
    majority_errors = values_of(data_set, "C = 100, majority vote")
    for method in (LIBSVM_VOTE, "C = 100, probability vote"):
        differences = values_of(data_set, method) - majority_errors
        assert differences.mean() > 2 * differences.std() / np.sqrt(29) > 0


@pytest.mark.parametrize("data_set", DATA_SET_NAMES)
def test_exemplars_of_all_points_have_a_lower_error_than_prototypes(data_set):
    differences = values_of(data_set, WEIGHTED_VOTE) - values_of(
        data_set, prototype_shifts.EXEMPLAR_SVM
    )
    assert 100 * differences.mean() > 0.2


def test_table_of_incomplete_records_has_empty_cells(tmp_path):
    methods = (WEIGHTED_VOTE, "nearest neighbour")
    records = [r for r in load_records(SUITE_NAME) if r["run"] < 2 and r["method"] in methods]
    store = make_store(tmp_path / "runs.jsonl", [r for r in records if r["data_set"] == "wedge"])
    table_rows = report(SUITE_NAME, store, table="votes").table.rows
    filled_cells = {table_row[0]: table_row[1:] for table_row in table_rows if any(table_row[1:])}
    assert set(filled_cells) == set(methods)
    assert all("±" in cells[2] and not cells[0] and not cells[1] for cells in filled_cells.values())
