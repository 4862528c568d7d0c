"""Tables of one suite share what was computed, and follow their file."""

import json

import pytest

from svmbook.experiments import report
from svmbook.experiments.running.records import results_folder
from svmbook.experiments.running.store import Store


@pytest.fixture
def store(tmp_path):
    """A copy of the records of a small suite."""
    path = tmp_path / "exploring-parameters.jsonl"
    path.write_bytes((results_folder() / path.name).read_bytes())
    return Store(path)


def test_a_caller_may_change_the_rows(store):
    first = report("exploring-parameters", store)
    kept = [dict(row) for row in first.rows]
    for row in first.rows:
        row.clear()
    assert list(report("exploring-parameters", store).rows) == kept


def test_a_report_follows_its_file(store):
    before = report("exploring-parameters", store)
    lines = store.path.read_text(encoding="utf-8").splitlines()
    changed = [json.loads(line) for line in lines]
    for record in changed:
        record["versions"] += "; another"
    text = "".join(json.dumps(record) + "\n" for record in changed)
    store.path.write_text(text, encoding="utf-8")
    after = report("exploring-parameters", Store(store.path))
    assert "another" in after.notes[1] and "another" not in before.notes[1]
