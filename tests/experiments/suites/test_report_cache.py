"""Reports of a suite share cached rows until the file of records changes."""

import json

import pytest

from svmbook.experiments import report
from svmbook.experiments.running.records import results_folder
from svmbook.experiments.running.store import Store


@pytest.fixture
def store(tmp_path):
    """Return a store with a copy of the records of a small suite."""
    path = tmp_path / "exploring-parameters.jsonl"
    path.write_bytes((results_folder() / path.name).read_bytes())
    return Store(path)


def test_changing_the_returned_rows_does_not_change_the_cache(store):
    changed_report = report("exploring-parameters", store)
    original_rows = [dict(row) for row in changed_report.rows]
    for row in changed_report.rows:
        row.clear()
    assert list(report("exploring-parameters", store).rows) == original_rows


def test_cache_is_invalidated_when_the_file_of_records_changes(store):
    old_report = report("exploring-parameters", store)
    records = store.records()
    for record in records:
        record["versions"] += "; another"
    text = "".join(json.dumps(record) + "\n" for record in records)
    store.path.write_text(text, encoding="utf-8")
    new_report = report("exploring-parameters", Store(store.path))
    assert "another" in new_report.notes[1] and "another" not in old_report.notes[1]
