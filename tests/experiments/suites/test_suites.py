"""Suites, their committed results, and the reports made from them."""

import functools

import numpy as np
import pytest
from records import committed_record, committed_values, make_store

from svmbook.experiments import load_records, report
from svmbook.experiments.running.records import results_folder
from svmbook.experiments.running.store import Store
from svmbook.experiments.suites import SUITES, find_suite
from svmbook.experiments.suites.exploring.parameters import METHODS


@pytest.mark.parametrize("name", SUITES)
def test_committed_results_are_complete(name):
    store, jobs = Store(results_folder() / f"{name}.jsonl"), find_suite(name).jobs()
    assert len(store) == len(store.records(name)) == len(jobs)
    assert all(job in store for job in jobs)


def test_missing_results_raise_and_the_results_folder_can_be_set(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="exploring-parameters"):
        load_records("no_such_study")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="SVMBOOK_RESULTS"):
        load_records("exploring-parameters")
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "tiny.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    assert load_records("tiny") == [{"a": 1}]
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"SVMBOOK_RESULTS names '.*nowhere'"):
        load_records("tiny")


@pytest.mark.parametrize("line", [b'{"a": 1', b"", b"3", b'{"a": "\xff"}'])
def test_damaged_line_is_reported_with_its_number(tmp_path, monkeypatch, line):
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "tiny.jsonl").write_bytes(b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    with pytest.raises(ValueError, match=r"tiny\.jsonl, line 2 is damaged"):
        load_records("tiny")


@pytest.mark.parametrize("name", SUITES)
def test_tables_of_a_suite_are_complete_and_name_their_command(name):
    for table in (None, *find_suite(name).extra_tables):
        result = report(name, table=table)
        text = repr(result)
        assert f"svmbook reproduce {name}" in text and "scikit-learn" in text
        assert "nan" not in text
        headings = [row for row in result.table.rows if str(row[0]).startswith("**")]
        assert all(any(row[1:]) for row in result.table.rows if row not in headings)
        assert len(headings) < len(result.table.rows)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("lin2005-kernels", "reproduced"),
        ("lin2005-boosting", "reproduced"),
        ("lin2005-beyond", "error"),  # the thesis does not have these classifiers
        ("usvc-linear", "reproduced"),
        ("usvc-gaussian", "reproduced"),
        ("usvc-biomedical", "reproduced"),
    ],
)
def test_mean_error_of_a_row_is_the_mean_of_its_records(name, field):
    errors = committed_values(name, factor=100)
    rows = {(row["data_set"], row["method"]): row for row in report(name).rows}
    assert rows.keys() == errors.keys()
    for key, row in rows.items():
        assert row["n_runs"] == len(errors[key])
        assert row[field] == pytest.approx(errors[key].mean())


def columns_by_row(rows):
    """Map the texts that identify each row to its column names."""
    return {tuple(v for v in row.values() if isinstance(v, str)): row.keys() for row in rows}


@functools.cache
def two_runs(name):
    """Return the records of two runs; of linear-or-gaussian, two of each of its two phases."""
    runs = (0, 1, 10, 11) if name == "linear-or-gaussian" else (0, 1)
    return [record for record in load_records(name) if record["run"] in runs]


@pytest.mark.parametrize("name", SUITES)
def test_two_runs_of_each_row_suffice_for_all_columns(name):
    assert columns_by_row(find_suite(name).compare(two_runs(name))) == columns_by_row(
        report(name).rows
    )


@pytest.mark.parametrize("name", SUITES)
def test_row_with_too_few_runs_does_not_remove_other_rows(name):
    suite = find_suite(name)
    _, data_set, method, _ = suite.jobs(runs=1)[1]
    records = two_runs(name)
    remaining = [
        record
        for record in records
        if (record["data_set"], record["method"]) != (data_set, method) or record["run"] == 0
    ]
    assert len(remaining) < len(records)
    assert (
        len(
            columns_by_row(report(name).rows).keys()
            - columns_by_row(suite.compare(remaining)).keys()
        )
        <= 1
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_suite("nosuch"), "unknown suite 'nosuch'; choose from all-classifiers"),
        (
            lambda: find_suite("exploring-forest").jobs(["iris"]),
            "has no data set 'iris'; it has 'c",
        ),
        (lambda: find_suite("lin2005-kernels").jobs(methods=["x"]), "has no method 'x'; it has 'S"),
        (
            lambda: report("lin2005-kernels", table="x"),
            "has no table 'x'; it has selection, quarter",
        ),
        (lambda: report("usvc-cases", table="x"), "it has only its main table"),
        (lambda: find_suite("lin2005-kernels").jobs(runs=0), "runs must be at least 1.* found 0"),
        (lambda: find_suite("lin2005-kernels").jobs(runs=[3, -1]), r"found \[3, -1\]"),
    ],
)
def test_unknown_names_and_invalid_runs_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_report_of_missing_or_incomplete_records_raises(tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    with pytest.raises(ValueError, match="to carry them out, run: svmbook reproduce lin2005"):
        report("lin2005-kernels", store)
    record = committed_record("lin2005-kernels", data_set="sonar")
    store.append({key: value for key, value in record.items() if key != "selection_seconds"})
    with pytest.raises(ValueError, match="a record of lin2005-kernels lacks 'selection_seconds'"):
        report("lin2005-kernels", store)
    store.append(record | {"method": "unknown"})
    with pytest.raises(ValueError, match="lin2005-kernels has no method 'unknown'"):
        report("lin2005-kernels", store)


def test_report_does_not_depend_on_the_order_of_the_runs(tmp_path):
    records = load_records("exploring-parameters")
    shuffled = [records[i] for i in np.random.RandomState(0).permutation(len(records))]
    reordered_report = report("exploring-parameters", make_store(tmp_path / "runs.jsonl", shuffled))
    assert reordered_report == report("exploring-parameters")


def test_report_of_a_part_of_a_suite_is_marked(tmp_path):
    store = make_store(tmp_path / "runs.jsonl", load_records("exploring-parameters")[:1])
    text = repr(report("exploring-parameters", store))
    assert "from some runs of `svmbook reproduce exploring-parameters`. Runs per row: 1;" in text
    assert "nan" not in text


@pytest.mark.parametrize(("seconds", "total_time"), [(20.0, "60 seconds"), (100.0, "5 minutes")])
def test_notes_have_the_number_and_the_time_of_the_runs(tmp_path, seconds, total_time):
    records = [
        committed_record("exploring-parameters", data_set=data_set, method="linear", run=run)
        | {"seconds": seconds}
        for data_set, run in (("stdev1", 0), ("stdev1", 1), ("stdev2", 0))
    ]
    store = make_store(tmp_path / "runs.jsonl", records)
    notes = report("exploring-parameters", store).notes[0]
    assert notes.endswith(f"Runs per row: 1 to 2; total time on one core: {total_time}.")


def test_jobs_have_each_data_set_method_and_run_once():
    suite = find_suite("exploring-parameters")
    jobs = suite.jobs(["stdev1", "stdev1"], None, 2)
    assert [tuple(job) for job in jobs] == [
        (suite.name, "stdev1", kernel, run) for kernel in METHODS for run in (0, 1)
    ]
    assert len(suite.jobs()) == 4 * 2 * 50
