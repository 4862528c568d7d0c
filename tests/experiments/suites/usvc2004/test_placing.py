"""The placement of prototypes: samples, repeated runs, and rows computed from the records."""

import numpy as np
import pytest
from records import committed, committed_values

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import placing as suite


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, in the order of the runs."""
    return committed_values("usvc-placing", unit=100)


@pytest.mark.parametrize("method", suite.METHODS)
def test_run_reproduces_its_committed_record(method):
    stored = committed("usvc-placing", data_set="stripes-20", method=method, run=5)
    new = suite.work("stripes-20", method, 5)
    assert new["seed"] == stored["seed"] and new["model_size"] == 20
    assert new["error"] == pytest.approx(stored["error"], abs=0.005)
    assert new["distance"] == pytest.approx(stored["distance"], abs=0.005)


def test_random_prototypes_are_nested_subsets_of_the_training_points():
    parts = suite.draw_samples(2)
    few, many = (suite.unfitted_model("random", n, parts).prototypes for n in (10, 80))
    np.testing.assert_array_equal(few, many[:10])
    assert len(np.unique(many, axis=0)) == 80
    assert {*map(tuple, many)} <= {*map(tuple, parts.X_train)}


def test_rows_are_means_and_paired_differences_of_the_records(errors):
    for row in report("usvc-placing").rows:
        ours = errors[row["data_set"], row["method"]]
        differences = ours - errors[row["data_set"], "random"]
        assert row["runs"] == len(ours) == 30
        assert row["error"] == pytest.approx(ours.mean())
        assert row["error_se"] == pytest.approx(ours.std(ddof=1) / 30**0.5)
        if row["method"] == "random":
            assert "difference" not in row
        else:
            assert row["difference"] == pytest.approx(differences.mean())
            assert row["difference_se"] == pytest.approx(differences.std(ddof=1) / 30**0.5)


@pytest.mark.parametrize("method", ["competitive", "k-means"])
def test_clustering_is_worse_for_few_prototypes_and_better_for_many(errors, method):
    for n in suite.DATA_SETS.values():
        n_worse = (errors[f"stripes-{n}", method] > errors[f"stripes-{n}", "random"]).sum()
        assert n_worse >= 25 if n < 30 else n_worse <= 10


def test_most_errors_with_pre_images_are_far_from_the_prototypes():
    for r in load_records("usvc-placing"):
        assert 0 <= r["near_errors"] <= r["near"] <= 4000
        if r["method"] == "pre-images" and r["data_set"] == "stripes-80":
            assert r["near_errors"] < 0.1 * 4000 * r["error"]
