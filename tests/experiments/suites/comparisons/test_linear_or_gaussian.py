"""The linear against the Gaussian kernel: divisions, and what search and confirmation say."""

import numpy as np
import pytest
from records import committed, needs_table, store_of

from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.comparisons import linear_or_gaussian as suite


@pytest.mark.parametrize("data_set", ["wdbc", "digits", "glass", "hepatitis"])
def test_a_division_is_disjoint_and_scaled_by_its_training_rows(data_set):
    if data_set in suite.TABLES:
        needs_table(data_set)
    X, y, X_test, y_test = suite.split(data_set, run=3)
    assert len(X) + len(X_test) <= suite.MOST
    assert len(X) == int(suite.TRAIN_SHARE * (len(X) + len(X_test)))
    assert np.isfinite(X).all() and np.isfinite(X_test).all()
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    spread = X.std(axis=0)
    np.testing.assert_allclose(spread[spread > 0], 1.0)
    assert set(y) == set(y_test)  # stratified


def test_rare_classes_and_empty_cells_are_left_out():
    needs_table("hepatitis")
    table = load("hepatitis")
    complete = np.isfinite(table.data).all(axis=1)
    X, _, X_test, _ = suite.split("hepatitis", run=0)
    assert len(X) + len(X_test) == complete.sum() < len(table.data)


def test_a_division_is_the_same_each_time_and_another_in_each_run():
    first, again = suite.split("wdbc", run=1), suite.split("wdbc", run=1)
    other = suite.split("wdbc", run=2)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[1] == other[1]).all()


def test_a_win_of_the_search_only_is_none_of_the_confirmation(tmp_path):
    # On one table chance alone, on the other fresh runs deny what the search has found.
    rng = np.random.default_rng(0)
    records = []
    for data_set in ("sonar", "cleveland"):
        for method in suite.METHODS:
            for run in range(20):
                gain = data_set == "sonar" and method == "gaussian" and run < suite.SEARCH
                error = 0.3 - 0.2 * gain + 0.01 * rng.standard_normal()
                record = committed("linear-or-gaussian", data_set=data_set, method=method, run=run)
                records.append(record | {"error": error})
    found = report("linear-or-gaussian", store_of(tmp_path / "runs.jsonl", records))
    rows = {row["data_set"]: row for row in found.rows}
    assert rows["sonar"]["p_holm"] < 0.001
    assert rows["sonar"]["search"] == pytest.approx(-20, abs=2)
    assert rows["sonar"]["fresh"] == pytest.approx(0, abs=2)
    assert rows["sonar"]["fresh_low"] < 0 < rows["sonar"]["fresh_high"]
    assert rows["cleveland"]["p_holm"] > 0.05
    printed = {line[0]: line[found.table.columns.index("$p$ (Holm)")] for line in found.table.rows}
    assert printed["sonar"] == "below 0.001"
    assert float(printed["cleveland"]) == pytest.approx(rows["cleveland"]["p_holm"], rel=0.05)


def test_runs_are_paired_by_number_and_few_of_them_are_no_row(tmp_path):
    records = [r for r in load_records("linear-or-gaussian") if r["data_set"] == "sonar"]
    some = [r for r in records if r["method"] == "linear" or r["run"] >= 5]
    (row,) = report("linear-or-gaussian", store_of(tmp_path / "some.jsonl", some)).rows
    both = [r for r in records if r["run"] >= 5]
    (same,) = report("linear-or-gaussian", store_of(tmp_path / "both.jsonl", both)).rows
    assert row == same and row["runs"] == 15
    few = [r for r in records if r["run"] < 3]
    with pytest.raises(ValueError, match=r"few\.jsonl holds too few runs of linear-or-gaussian"):
        report("linear-or-gaussian", store_of(tmp_path / "few.jsonl", few))


def test_a_kernel_wins_on_a_real_table():
    rows = report("linear-or-gaussian").rows
    assert len(rows) == 21
    found = [row for row in rows if row["p_holm"] < 0.05]
    assert [row["data_set"] for row in found] == ["sonar"]
    confirmed = {row["data_set"] for row in rows if row["fresh_high"] < 0}
    assert confirmed == {"sonar", "ionosphere", "vehicle"}
    verdicts = {row["data_set"]: suite.by_one_point(row) for row in rows}
    assert {name for name, verdict in verdicts.items() if verdict == "better"} == confirmed
    assert {name for name, verdict in verdicts.items() if verdict == "equivalent"} == {"breast"}
    assert not any(row["fresh_low"] > 0 for row in rows)


def test_no_choice_stands_at_the_edge_where_it_matters():
    # On the table that the book shows, a larger grid would have chosen the same.
    chosen = [
        r["parameters"]
        for r in load_records("linear-or-gaussian")
        if (r["data_set"], r["method"]) == ("sonar", "gaussian")
    ]
    largest = max(suite.WIDTHS) / 60
    assert sum(p["gamma"] >= largest for p in chosen) <= 2
