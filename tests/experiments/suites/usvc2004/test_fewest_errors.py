"""The suite usvc-fewest-errors: USVC against classifiers with the fewest training errors."""

import numpy as np
import pytest

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import fewest_errors


def test_usvc_is_within_one_error_of_the_minimum_on_at_least_80_percent_of_the_samples():
    for row in report("usvc-fewest-errors").rows:
        if row["method"] == "USVC, ten starts":
            assert row["n_runs"] == 150 and row["within_one"] >= 80


def test_no_classifier_has_fewer_errors_than_the_minimum():
    rows = report("usvc-fewest-errors").rows
    assert len(rows) == 2 * len(fewest_errors.METHODS)
    records = load_records("usvc-fewest-errors")
    minimum_records = {(r["data_set"], r["run"]): r for r in records if "bound" in r}
    assert all(
        r["n_errors"] == r["bound"] for r in minimum_records.values()
    )  # proved to be minimal
    excess_errors = {}
    for r in records:
        difference = r["n_errors"] - minimum_records[r["data_set"], r["run"]]["n_errors"]
        excess_errors.setdefault((r["data_set"], r["method"]), []).append(difference)
    assert min(map(min, excess_errors.values())) == 0
    for row in rows:
        differences = np.array(excess_errors[row["data_set"], row["method"]])
        assert row["reached"] == pytest.approx(100 * np.sum(differences == 0) / 150)
        assert row["within_one"] == pytest.approx(100 * np.sum(differences <= 1) / 150)
        assert row["mean_excess"] == pytest.approx(differences.mean())
        assert row["max_excess"] == differences.max()


def test_distant_clusters_lie_on_the_side_of_the_other_class():
    for seed in range(5):
        original, y = fewest_errors.clouds(seed)
        X, labels = fewest_errors.distant_cluster(seed)
        moved = (original != X).any(axis=1)
        np.testing.assert_array_equal(y, labels)
        assert moved.sum() == -(-(y > 0).sum() // 5) and (y[moved] > 0).all()
        assert (X[moved, 0] < -1.0).all()
