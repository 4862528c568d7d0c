"""The suite shen2013-beyond: excluded runs, folds, and statements in book/reproductions.md."""

import pytest

from svmbook.experiments import report
from svmbook.experiments.suites import find_suite
from svmbook.experiments.suites.shen2013 import further_classifiers
from svmbook.experiments.suites.shen2013.result_tables import NOISE_SUFFIX


def test_runs_that_take_minutes_are_excluded():
    jobs = find_suite("shen2013-beyond").jobs()
    excluded_data_sets = {job.data_set for job in jobs} - {
        job.data_set for job in jobs if job.method == "exemplars, hard negatives"
    }
    synthetic = ("isolated", "striated")
    assert excluded_data_sets == {
        *synthetic,
        *(name + NOISE_SUFFIX for name in synthetic),
        "segment",
    }


def test_statements_of_the_reproductions_page_on_the_data_set_messages():
    accuracies = {
        row["method"]: row["clean_accuracy"]
        for suite_name in ("shen2013", "shen2013-beyond")
        for row in report(suite_name).rows
        if row["data_set"] == "messages"
    }
    majority_class_accuracy = 100 * 314 / 600
    for method in ("exemplars, distance-weighted vote", "exemplars, hard negatives"):
        assert abs(accuracies[method] - majority_class_accuracy) < 0.5
    assert round(accuracies["nearest neighbours"] - majority_class_accuracy) == 1
    assert round(accuracies["Gaussian"] - majority_class_accuracy) == 4
    best_methods = sorted(further_classifiers.METHODS, key=accuracies.get)[-3:]
    assert best_methods == ["k-means and linear SVMs", "random forest", "stump ensemble"]
    assert round(accuracies["stump ensemble"], 1) == 67.8
    assert abs(accuracies["linear"] - 67.5) < 0.06 and abs(accuracies["network"] - 68.3) < 0.06


def test_inner_folds_are_shuffled():
    # Without shuffling, each fold is one ring of the spirals, and the wrong number of neighbours
    # is chosen.
    assert 1 - further_classifiers.carry_out_run("spirals", "nearest neighbours", 0)["error"] > 0.7


def test_choosing_only_excluded_runs_raises_an_error():
    with pytest.raises(ValueError, match=r"shen2013-beyond .*exemplars, hard negatives"):
        find_suite("shen2013-beyond").jobs(["isolated"], ["exemplars, hard negatives"])
