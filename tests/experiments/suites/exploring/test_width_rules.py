"""The suite on rules for the width: its samples, its runs, and its paired differences."""

import numpy as np
import pytest
from records import committed, committed_values, store_of
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring import width_rules


def values_of(data_set, method):
    """Return the committed errors in percent, in the order of the runs."""
    return committed_values("width-rules", unit=100)[data_set, method]


@pytest.mark.parametrize(
    ("data_set", "method"),
    [("stripes", "grid"), ("ringnorm", "median"), ("nonSep", "scale")],
)
def test_a_committed_run_can_be_done_again(data_set, method):
    stored = committed("width-rules", data_set=data_set, method=method, run=6)
    again = width_rules.work(data_set, method, 6)
    assert again["seed"] == stored["seed"] and again["parameters"] == stored["parameters"]
    assert again["error"] == pytest.approx(stored["error"], abs=0.004)


def test_the_three_parts_are_independent_samples():
    parts = [part for run in range(2) for part in width_rules.draw("stripes", run)]
    assert [len(y) for _, y in parts] == [400, 400, 4000] * 2
    assert len({X[0, 0] for X, _ in parts}) == 6
    again = width_rules.draw("stripes", 1)
    np.testing.assert_array_equal(again[0][0], parts[3][0])


def test_the_rules_are_those_of_the_text():
    X, y = width_rules.draw("ringnorm", 3)[0]
    squared = euclidean_distances(X, squared=True)[np.triu_indices(len(X), k=1)]
    assert 1.0 / width_rules.median_rule(X) == pytest.approx(np.median(squared))
    by_name = SVC(gamma="scale").fit(X, y)
    by_number = SVC(gamma=width_rules.scale_rule(X)).fit(X, y)
    np.testing.assert_allclose(
        by_number.decision_function(X), by_name.decision_function(X), atol=1e-9
    )
    stored = committed("width-rules", data_set="ringnorm", method="median", run=3)
    assert 1.0 / stored["parameters"]["gamma"] == pytest.approx(np.median(squared), rel=1e-3)


def test_the_grid_has_the_smallest_validation_error_of_its_own_pairs():
    train, validation, _ = width_rules.draw("threenorm", 2)
    stored = committed("width-rules", data_set="threenorm", method="grid", run=2)
    errors = [
        1 - SVC(C=C, gamma=gamma).fit(*train).score(*validation)
        for C in (0.1, 1.0, 10.0)
        for gamma in width_rules.IN_TWENTY
    ]
    assert stored["validation_error"] == pytest.approx(min(errors), abs=0.005)


def test_differences_are_paired_with_the_grid():
    rows = {(r["data_set"], r["method"]): r for r in report("width-rules").rows}
    assert len(rows) == 15
    for data_set, method in rows:
        row, ours = rows[data_set, method], values_of(data_set, method)
        assert row["error"] == pytest.approx(ours.mean())
        if method == "grid":
            assert "difference" not in row
            continue
        more = ours - values_of(data_set, "grid")
        assert row["difference"] == pytest.approx(more.mean())
        assert row["difference_se"] == pytest.approx(more.std(ddof=1) / 30**0.5)


def test_rules_fail_on_the_stripes_alone():
    for method in width_rules.RULES:
        for data_set in width_rules.DATA_SETS:
            more = values_of(data_set, method) - values_of(data_set, "grid")
            if data_set == "stripes":
                assert more.min() > 10
            else:
                assert more.mean() < 0.8
                assert (np.sum(more > 0) > 24) == (data_set == "ringnorm")


def test_a_part_of_the_runs_has_a_table(tmp_path):
    records = [r for r in load_records("width-rules") if r["run"] < 2 and r["method"] == "grid"]
    store = store_of(tmp_path / "runs.jsonl", [r for r in records if r["data_set"] == "stripes"])
    (line,) = report("width-rules", store).table.rows
    assert tuple(line[:2]) == ("stripes", "grid") and line[4] == ""
