"""Committed results: found from anywhere inside, complete, and repeatable."""

import itertools

import pytest

from svmbook.experiments import load_records
from svmbook.experiments.exploring import DATA_SETS, KERNELS, parameter_study


def test_the_parameter_study_is_complete():
    records = load_records("exploring_parameters")
    jobs = [(r["data_set"], r["kernel"], r["seed"]) for r in records]
    assert sorted(jobs) == sorted(itertools.product(DATA_SETS, KERNELS, range(50)))


@pytest.mark.parametrize(("data_set", "kernel"), list(itertools.product(DATA_SETS, KERNELS)))
def test_a_record_can_be_made_again(data_set, kernel):
    stored = next(
        r
        for r in load_records("exploring_parameters")
        if (r["data_set"], r["kernel"], r["seed"]) == (data_set, kernel, 17)
    )
    assert parameter_study(data_set, kernel, seed=17) == stored


def test_missing_results_say_what_there_is(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="exploring_parameters"):
        load_records("no_such_study")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="SVMBOOK_RESULTS"):
        load_records("exploring_parameters")
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "tiny.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    assert load_records("tiny") == [{"a": 1}]
