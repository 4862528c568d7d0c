"""The placement of prototypes: samples, repeated runs, and rows computed from the records."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values

from svmbook.experiments import load_records
from svmbook.experiments.suites.usvc2004 import prototype_placement


@pytest.mark.parametrize("method", prototype_placement.METHODS)
def test_run_reproduces_its_committed_record(method):
    tolerances = {"model_size": 0, "error": 0.005, "mean_distance": 0.005}
    check_repeated_run("usvc-placing", tolerances, data_set="stripes-20", method=method, run=5)


def test_random_prototypes_are_nested_subsets_of_the_training_points():
    parts = prototype_placement.draw_samples(2)
    few_prototypes, many_prototypes = (
        prototype_placement.make_classifier("random", n, parts).prototypes for n in (10, 80)
    )
    np.testing.assert_array_equal(few_prototypes, many_prototypes[:10])
    assert len(np.unique(many_prototypes, axis=0)) == 80
    assert {*map(tuple, many_prototypes)} <= {*map(tuple, parts.X_train)}


@pytest.mark.parametrize("method", ["competitive", "k-means"])
def test_clustering_is_worse_than_random_for_few_prototypes_and_better_for_many(method):
    errors = committed_values("usvc-placing")
    for n in prototype_placement.DATA_SETS.values():
        n_worse = (errors[f"stripes-{n}", method] > errors[f"stripes-{n}", "random"]).sum()
        assert n_worse >= 25 if n < 30 else n_worse <= 10


def test_most_errors_with_pre_images_are_far_from_the_prototypes():
    for r in load_records("usvc-placing"):
        assert 0 <= r["n_near_errors"] <= r["n_near"] <= 4000
        if r["method"] == "pre-images" and r["data_set"] == "stripes-80":
            assert r["n_near_errors"] < 0.1 * 4000 * r["error"]
