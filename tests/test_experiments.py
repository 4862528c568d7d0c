"""Committed results: found from anywhere inside, complete, repeatable, and resumed after a stop."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook.datasets import non_separable_bayes_error, stdev_bayes_error, three_parts
from svmbook.experiments import Table, load_records
from svmbook.experiments import __main__ as command
from svmbook.experiments.exploring import DATA_SETS, KERNELS, candidates, parameter_study

POINT = 1 / 400 + 1e-9  # one point of a part may change sides between two builds of BLAS
PAIRS = list(itertools.product(DATA_SETS, KERNELS))


def stored(data_set, kernel):
    """Return the committed records of a data set and a kernel, by seed."""
    records = load_records("exploring_parameters")
    return {r["seed"]: r for r in records if (r["data_set"], r["kernel"]) == (data_set, kernel)}


def errors_of(machine, parts):
    return [1 - machine.score(*part) for part in (parts.validation, parts.test)]


def test_the_parameter_study_is_complete():
    records = load_records("exploring_parameters")
    jobs = [(r["data_set"], r["kernel"], r["seed"]) for r in records]
    assert sorted(jobs) == sorted(itertools.product(DATA_SETS, KERNELS, range(50)))


@pytest.mark.parametrize(("data_set", "kernel"), PAIRS)
def test_a_committed_record_measures_its_machine(data_set, kernel):
    record = stored(data_set, kernel)[17]
    parts = three_parts(DATA_SETS[data_set], random_state=17)
    chosen = {(C, gamma): machine for C, gamma, machine in candidates(kernel)}
    machine = chosen[record["C"], record["gamma"]].fit(*parts.train)
    recorded = record["validation_error"], record["test_error"]
    assert errors_of(machine, parts) == pytest.approx(recorded, abs=POINT)
    # Which of the points on the margin count is a matter of rounding, but they are few.
    assert len(machine.support_) == pytest.approx(record["support_vectors"], abs=3)


@pytest.mark.parametrize(("data_set", "kernel"), PAIRS)
def test_the_smallest_validation_error_wins_then_the_smallest_parameters(data_set, kernel):
    record = parameter_study(data_set, kernel, seed=17)
    parts = three_parts(DATA_SETS[data_set], random_state=17)
    measured = [
        (*errors_of(machine.fit(*parts.train), parts), C, gamma, len(machine.support_))
        for C, gamma, machine in candidates(kernel)
    ]
    best, test, C, gamma, support_vectors = min(
        measured, key=lambda row: (row[0], row[2], row[3] or 0)
    )
    assert (record["C"], record["gamma"]) == (C, gamma)
    assert record["support_vectors"] == support_vectors
    assert (record["validation_error"], record["test_error"]) == pytest.approx((best, test))
    committed = stored(data_set, kernel)[17]
    assert record.keys() == committed.keys()
    assert best == pytest.approx(committed["validation_error"], abs=POINT)


def test_the_gaussian_machines_come_near_the_bayes_error_and_not_below():
    bayes = [stdev_bayes_error(sd) for sd in (1, 2, 4)] + [non_separable_bayes_error()]
    for data_set, best in zip(DATA_SETS, bayes, strict=True):
        errors = np.array([r["test_error"] for r in stored(data_set, "gaussian").values()])
        noise = errors.std(ddof=1) / np.sqrt(len(errors))
        assert best - 3 * noise < errors.mean() < best + 0.02


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("stdev3", "linear", 0), ValueError, "data_set is 'stdev3'; choose one of stdev1"),
        (("stdev1", "rbf", 0), ValueError, "kernel is 'rbf'; choose one of gaussian, linear"),
        (("stdev1", "linear", -1), ValueError, "seed == -1, must be >= 0"),
        (("stdev1", "linear", 0.5), TypeError, "seed must be an instance of int"),
    ],
)
def test_a_study_that_there_is_not(arguments, error, message):
    with pytest.raises(error, match=message):
        parameter_study(*arguments)


def test_missing_results_say_what_there_is(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="exploring_parameters"):
        load_records("no_such_study")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="SVMBOOK_RESULTS"):
        load_records("exploring_parameters")
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "tiny.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    assert load_records("tiny") == [{"a": 1}]
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"SVMBOOK_RESULTS names '.*nowhere'"):
        load_records("tiny")


@pytest.mark.parametrize("line", [b'{"a": 1', b"", b"3", b'{"a": "\xff"}'])
def test_a_damaged_line_is_named(tmp_path, monkeypatch, line):
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "tiny.jsonl").write_bytes(b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    with pytest.raises(ValueError, match=r"tiny\.jsonl, line 2 is damaged"):
        load_records("tiny")


@pytest.fixture
def counted(monkeypatch):
    """Let the command do one-line studies, and return the list of those it did."""
    made = []

    def study(data_set, kernel, seed):
        made.append((data_set, kernel, seed))
        return {"data_set": data_set, "kernel": kernel, "seed": seed, "error": seed / 8}

    monkeypatch.setattr(command, "parameter_study", study)
    return made


@pytest.mark.parametrize(("kept", "torn"), [(0, 0), (5, 0), (5, 20), (15, 1), (16, 0)])
def test_an_interrupted_experiment_goes_on_where_it_ended(tmp_path, counted, kept, torn):
    path = tmp_path / "records.jsonl"
    call = ["exploring", "--runs", "2", "--out", str(path)]
    command.main(call)
    whole = path.read_bytes()
    assert counted == list(itertools.product(DATA_SETS, KERNELS, range(2)))
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:kept]) + b"".join(lines[kept:])[:torn])
    done = counted.copy()
    counted.clear()
    command.main(call)
    assert counted == done[kept:]
    assert path.read_bytes() == whole


def test_the_command_resumes(tmp_path):
    path = tmp_path / "records.jsonl"
    call = [sys.executable, "-m", "svmbook.experiments", "exploring", "--runs", "1"]
    call += ["--out", str(path)]
    subprocess.run(call, check=True, timeout=300, capture_output=True)
    first = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(first[:5]) + first[5][:30])
    again = subprocess.run(call, check=True, timeout=300, capture_output=True, text=True)
    assert "3 runs made, 5 were there" in again.stdout
    second = path.read_bytes().splitlines(keepends=True)
    assert second[:5] == first[:5]
    jobs = [[json.loads(line)[key] for key in command.JOB] for line in second]
    assert jobs == [[*pair, 0] for pair in PAIRS]


@pytest.mark.parametrize(
    ("written", "options", "message"),
    [
        (b"", ["--runs", "0"], "--runs is 0; give at least 1"),
        (b'{"n": 500}\n', [], "holds records of another experiment"),
        (b"no record\n", [], "line 1 is damaged"),
    ],
)
def test_the_command_leaves_a_file_alone_that_it_cannot_go_on_with(
    tmp_path, counted, capsys, written, options, message
):
    path = tmp_path / "records.jsonl"
    path.write_bytes(written)
    with pytest.raises(SystemExit):
        command.main(["exploring", "--out", str(path), *options])
    assert message in capsys.readouterr().err
    assert path.read_bytes() == written
    assert not counted


def test_the_command_names_a_missing_folder(tmp_path, counted, capsys):
    with pytest.raises(SystemExit):
        command.main(["exploring", "--out", str(tmp_path / "no" / "records.jsonl")])
    assert "there is no folder" in capsys.readouterr().err
    assert not counted


def cells_shown(table):
    """Return the cells of each line as another program, markdown-it, reads them."""
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(table._repr_markdown_())
    assert tokens[0].type == "table_open" and tokens[-1].type == "table_close"
    text = [token.content for token in tokens if token.type == "inline"]
    width = len(table.columns)
    assert len(text) == width * (1 + len(table.rows))
    return [text[start : start + width] for start in range(0, len(text), width)]


@given(st.lists(st.text("a|\\$`\n\r\u2028 ", max_size=8), min_size=6, max_size=6))
def test_no_text_breaks_out_of_its_cell(texts):
    shown = cells_shown(Table(texts[:2], [texts[2:4], texts[4:]]))
    for cell, text in zip(itertools.chain(*shown), texts, strict=True):
        assert cell.count("a") == text.count("a")


def test_bars_and_line_breaks_stay_readable():
    table = Table(["$|x|$", "n"], [["a|b", 1], [r"a\|b", 2], ["two\nlines", r"$\|w\|$"]])
    assert cells_shown(table) == [
        [r"$\vert{}x\vert{}$", "n"],
        ["a|b", "1"],
        ["a|b", "2"],
        ["two lines", r"$\Vert{}w\Vert{}$"],
    ]


def test_a_table_keeps_rows_that_can_be_read_once_only():
    table = Table(iter(["n", "square"]), ((n, n * n) for n in range(2)))
    assert repr(table) == repr(table) == "| n | square |\n|---|---|\n| 0 | 0 |\n| 1 | 1 |"


@pytest.mark.parametrize(
    ("columns", "rows", "error", "message"),
    [
        (["n", "time"], [[1, 2], [3]], ValueError, r"row 1 has 1 cells for 2 columns: \(3,\)"),
        (["n"], [[1, 2]], ValueError, "row 0 has 2 cells for 1 columns"),
        ([], [], ValueError, "columns is empty"),
        ("n", [[1]], TypeError, "columns is 'n'; give a sequence"),
        (["n", "m"], ["12"], TypeError, "row 0 is '12'; give a sequence"),
        (["n"], [1], TypeError, "row 0 is 1; give a sequence"),
        (["n"], None, TypeError, "rows is None; give a sequence"),
    ],
)
def test_a_table_that_is_none(columns, rows, error, message):
    with pytest.raises(error, match=message):
        Table(columns, rows)
