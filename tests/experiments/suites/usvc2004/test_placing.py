"""The placement of prototypes: shared points, a run done again, and what the records say."""

import numpy as np
import pytest
from records import committed, committed_values

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import placing as suite


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, one per run in order."""
    return committed_values("usvc-placing", unit=100)


@pytest.mark.parametrize("method", suite.METHODS)
def test_a_committed_run_can_be_done_again(method):
    stored = committed("usvc-placing", data_set="stripes-20", method=method, run=5)
    again = suite.work("stripes-20", method, 5)
    assert again["seed"] == stored["seed"] and again["model_size"] == 20
    assert again["error"] == pytest.approx(stored["error"], abs=0.005)
    assert again["distance"] == pytest.approx(stored["distance"], abs=0.005)


def test_random_prototypes_are_training_points_and_more_of_them_include_the_fewer():
    parts = suite.division(2)
    few, many = (suite.placed("random", n, parts).prototypes for n in (10, 80))
    np.testing.assert_array_equal(few, many[:10])
    assert len(np.unique(many, axis=0)) == 80
    assert {*map(tuple, many)} <= {*map(tuple, parts.X_train)}


def test_the_rows_are_means_and_paired_differences_of_the_records(errors):
    for row in report("usvc-placing").rows:
        ours = errors[row["data_set"], row["method"]]
        extra = ours - errors[row["data_set"], "random"]
        assert row["runs"] == len(ours) == 30
        assert row["error"] == pytest.approx(ours.mean())
        assert row["error_se"] == pytest.approx(ours.std(ddof=1) / 30**0.5)
        if row["method"] == "random":
            assert "difference" not in row
        else:
            assert row["difference"] == pytest.approx(extra.mean())
            assert row["difference_se"] == pytest.approx(extra.std(ddof=1) / 30**0.5)


@pytest.mark.parametrize("method", ["competitive", "k-means"])
def test_clusters_harm_where_prototypes_are_few_and_help_where_they_are_many(errors, method):
    for n in suite.DATA_SETS.values():
        worse = (errors[f"stripes-{n}", method] > errors[f"stripes-{n}", "random"]).sum()
        assert worse >= 25 if n < 30 else worse <= 10


def test_errors_with_pre_images_are_far_from_the_pre_images():
    for r in load_records("usvc-placing"):
        assert 0 <= r["near_errors"] <= r["near"] <= 4000
        if r["method"] == "pre-images" and r["data_set"] == "stripes-80":
            assert r["near_errors"] < 0.1 * 4000 * r["error"]
