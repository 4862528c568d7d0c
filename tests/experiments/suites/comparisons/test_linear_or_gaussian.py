"""The linear and the Gaussian kernel: splits, and the results of search and confirmation."""

import numpy as np
import pytest
from records import committed_record, make_store, skip_without_table

from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.comparisons import linear_or_gaussian


@pytest.mark.parametrize("data_set", ["wdbc", "digits", "glass", "hepatitis"])
def test_splits_are_stratified_and_standardised_by_the_training_rows(data_set):
    if data_set in linear_or_gaussian.TABLES:
        skip_without_table(data_set)
    X, y, X_test, y_test = linear_or_gaussian.split(data_set, run=3)
    assert len(X) + len(X_test) <= linear_or_gaussian.MAX_ROWS
    assert len(X) == int(linear_or_gaussian.TRAIN_SHARE * (len(X) + len(X_test)))
    assert np.isfinite(X).all() and np.isfinite(X_test).all()
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    deviations = X.std(axis=0)
    np.testing.assert_allclose(deviations[deviations > 0], 1.0)
    assert set(y) == set(y_test)  # stratified


def test_rows_with_missing_values_are_left_out():
    skip_without_table("hepatitis")
    table = load("hepatitis")
    is_complete = np.isfinite(table.data).all(axis=1)
    X, _, X_test, _ = linear_or_gaussian.split("hepatitis", run=0)
    assert len(X) + len(X_test) == is_complete.sum() < len(table.data)


def test_splits_are_reproducible_and_differ_between_runs():
    first, repeated = (
        linear_or_gaussian.split("wdbc", run=1),
        linear_or_gaussian.split("wdbc", run=1),
    )
    other_run = linear_or_gaussian.split("wdbc", run=2)
    assert all((a == b).all() for a, b in zip(first, repeated, strict=True))
    assert not (first[1] == other_run[1]).all()


def test_difference_in_the_search_only_is_not_confirmed(tmp_path):
    # The methods differ only on sonar, and there only in the runs of the search.
    rng = np.random.default_rng(0)
    records = []
    for data_set in ("sonar", "cleveland"):
        for method in linear_or_gaussian.METHODS:
            for run in range(20):
                is_better = (
                    data_set == "sonar"
                    and method == "gaussian"
                    and run < linear_or_gaussian.N_SEARCH_RUNS
                )
                error = 0.3 - 0.2 * is_better + 0.01 * rng.standard_normal()
                record = committed_record(
                    "linear-or-gaussian", data_set=data_set, method=method, run=run
                )
                records.append(record | {"error": error})
    result = report("linear-or-gaussian", make_store(tmp_path / "runs.jsonl", records))
    rows = {row["data_set"]: row for row in result.rows}
    assert rows["sonar"]["p_holm"] < 0.001
    assert rows["sonar"]["search_difference"] == pytest.approx(-20, abs=2)
    assert rows["sonar"]["confirmation_difference"] == pytest.approx(0, abs=2)
    assert rows["sonar"]["confirmation_low"] < 0 < rows["sonar"]["confirmation_high"]
    assert rows["cleveland"]["p_holm"] > 0.05
    printed_p = {
        table_row[0]: table_row[result.table.columns.index("$p$ (Holm)")]
        for table_row in result.table.rows
    }
    assert printed_p["sonar"] == "below 0.001"
    assert float(printed_p["cleveland"]) == pytest.approx(rows["cleveland"]["p_holm"], rel=0.05)


def test_rows_use_common_runs_and_need_two_runs_each_for_search_and_confirmation(tmp_path):
    records = [r for r in load_records("linear-or-gaussian") if r["data_set"] == "sonar"]
    unpaired = [r for r in records if r["method"] == "linear" or r["run"] >= 5]
    (row,) = report("linear-or-gaussian", make_store(tmp_path / "unpaired.jsonl", unpaired)).rows
    common = [r for r in records if r["run"] >= 5]
    (expected,) = report("linear-or-gaussian", make_store(tmp_path / "common.jsonl", common)).rows
    assert row == expected and row["n_runs"] == 15
    few_records = [r for r in records if r["run"] < 3]
    with pytest.raises(ValueError, match=r"few\.jsonl has too few runs of linear-or-gaussian"):
        report("linear-or-gaussian", make_store(tmp_path / "few.jsonl", few_records))


def test_gaussian_kernel_is_better_on_three_tables():
    rows = report("linear-or-gaussian").rows
    assert len(rows) == 21
    significant = [row for row in rows if row["p_holm"] < 0.05]
    assert [row["data_set"] for row in significant] == ["sonar"]
    confirmed = {row["data_set"] for row in rows if row["confirmation_high"] < 0}
    assert confirmed == {"sonar", "ionosphere", "vehicle"}
    verdicts = {row["data_set"]: linear_or_gaussian.practical_verdict(row) for row in rows}
    assert {name for name, verdict in verdicts.items() if verdict == "better"} == confirmed
    assert {name for name, verdict in verdicts.items() if verdict == "equivalent"} == {"breast"}
    assert not any(row["confirmation_low"] > 0 for row in rows)


def test_chosen_gammas_on_sonar_are_rarely_the_largest():
    chosen_gammas = [
        r["parameters"]["gamma"]
        for r in load_records("linear-or-gaussian")
        if (r["data_set"], r["method"]) == ("sonar", "gaussian")
    ]
    largest_gamma = max(linear_or_gaussian.SCALED_GAMMAS) / 60  # sonar has 60 features
    assert sum(gamma >= largest_gamma for gamma in chosen_gammas) <= 2
