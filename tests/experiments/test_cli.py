"""The command: what it prints, where, and the exit code it leaves."""

import contextlib
import csv
import io
import json
import os
import pty
import shlex
import sys

import pytest
from click.testing import CliRunner

import svmbook
from svmbook.experiments import load_records
from svmbook.experiments.cli import main
from svmbook.experiments.running.store import Store
from svmbook.experiments.suites import SUITES, find_suite

PART = ["reproduce", "exploring-parameters", "--datasets", "stdev2", "--methods", "linear"]


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert run(*PART, "--runs", 2, "--store", path).exit_code == 0
    return path


def test_reproduce_does_what_is_missing(store):
    assert len(Store(store)) == 2
    more = run(*PART, "--runs", 3, "--store", store)
    assert more.exit_code == 0 and more.stdout == ""
    first, second = more.stderr.splitlines()
    assert first.endswith("2 of 3 runs are there")
    assert second.startswith("3/3 stdev2, linear, run 2: error ")
    again = run(*PART, "--runs", 3, "--store", store)
    assert again.exit_code == 0
    assert again.stderr.splitlines() == [f"{store}: 3 of 3 runs are there"]


def test_one_run_alone(store):
    assert run(*PART, "--runs", "3-4", "--store", store).exit_code == 0
    assert [r["run"] for r in Store(store).records()] == [0, 1, 3, 4]


def test_table_shows_what_is_stored(store):
    shown = run("table", "exploring-parameters", "--store", store)
    assert shown.exit_code == 0
    assert "| stdev2 | linear | 0.01 |" in shown.stdout
    assert (
        "`svmbook reproduce exploring-parameters`, a part of it. Runs of each line: 2."
        in shown.stdout
    )


def test_table_gives_numbers_to_programs(store):
    pytest.importorskip("pandas")
    shown = run("table", "exploring-parameters", "--store", store, "--csv")
    (row,) = csv.DictReader(io.StringIO(shown.stdout))
    errors = [100 * r["error"] for r in Store(store).records()]
    assert float(row["reproduced"]) == pytest.approx(sum(errors) / 2)
    assert row["runs"] == "2"


def test_further_tables_of_a_suite_are_shown_by_name():
    shown = run("table", "shen2013", "--table", "sizes")
    assert shown.exit_code == 0 and "shifts, members" in shown.stdout
    shown = run("table", "shen2013", "--table", "size")
    assert shown.exit_code == 1 and "sampled-noise" in shown.stderr


def test_a_terminal_gets_a_bar(tmp_path, monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        call = [*PART, "--runs", "2", "--store", str(tmp_path / "runs.jsonl")]
        main(call, standalone_mode=False)
    shown = b""
    with contextlib.suppress(OSError):  # in which a terminal that was closed ends on Linux
        while piece := os.read(ours, 10_000):  # it gives what it has, in pieces
            shown += piece
    os.close(ours)
    assert b"####  2/2" in shown.replace(b"]", b"") and b"run 0" not in shown


def test_list_names_every_suite():
    shown = run("list")
    assert shown.exit_code == 0
    for name in SUITES:
        assert name in shown.stdout and find_suite(name).title in shown.stdout


def test_a_table_of_a_torn_store_says_so(store):
    with store.open("ab") as file:
        file.write(b'{"suite": "expl')
    before = store.read_bytes()
    shown = run("table", "exploring-parameters", "--store", store)
    assert shown.exit_code == 0 and "ends in a torn record" in shown.stderr
    assert store.read_bytes() == before


def test_only_tables_that_are_still_needed_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("svmbook.datasets.tables.loaders.fetch_openml", None)
    call = ["reproduce", "lin2005-kernels", "--runs", "1", "--store", tmp_path / "runs.jsonl"]
    missing = run(*call, "--datasets", "twonorm,sonar")
    assert missing.exit_code == 1 and "no sonar.csv in" in missing.stderr
    for record in load_records("lin2005-kernels"):
        if (record["data_set"], record["run"]) == ("sonar", 0):
            Store(tmp_path / "runs.jsonl").append(record)
    assert run(*call, "--datasets", "twonorm,sonar").exit_code == 0


def test_an_address_that_is_none_is_named(tmp_path):
    pytest.importorskip("distributed")
    shown = run(*PART, "--dask", "nowhere", "--store", tmp_path / "runs.jsonl")
    assert shown.exit_code == 1
    assert shown.stderr.splitlines()[-1] == "Error: missing port number in address 'nowhere'"


def test_list_goes_on_after_a_damaged_store(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "exploring-forest.jsonl").write_text("damaged\n", encoding="utf-8")
    shown = run("list")
    assert shown.exit_code == 0
    assert "stored: not usable" in shown.stdout and "stored: 0 of 6500" in shown.stdout


def test_version():
    assert run("--version").stdout == f"svmbook {svmbook.__version__}\n"
    assert f"svmbook {svmbook.__version__}" in run("version").stdout


def test_data_tells_present_from_absent_from_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    shown = run("data")
    assert shown.exit_code == 0 and shown.stdout.count("absent") == 21
    assert "iris           verified  scikit-learn's own copy" in shown.stdout
    assert run("data", "iris", "wdbc", "digits").exit_code == 0
    assert run("data", "sonar").exit_code == 1
    (tmp_path / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    shown = run("data", "sonar", "heart")
    assert shown.exit_code == 1
    sonar, heart = shown.stdout.splitlines()
    assert sonar.startswith("sonar") and "not usable" in sonar
    assert heart.split() == ["heart", "absent"]


def test_what_was_fetched_is_found(tmp_path, monkeypatch):
    fetched = tmp_path / "heart.csv"
    loaders = "svmbook.datasets.tables.loaders"
    monkeypatch.setattr(f"{loaders}.find", lambda name: fetched if fetched.exists() else None)
    monkeypatch.setattr(f"{loaders}.load_table", lambda name: fetched.touch())
    assert run("data", "heart", "--fetch").stdout.split() == ["heart", "verified", str(fetched)]


def test_data_fetches(tmp_path, monkeypatch):
    monkeypatch.delenv("SVMBOOK_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))

    def offline(**options):
        raise OSError("no network\nhere")

    monkeypatch.setattr("svmbook.datasets.tables.loaders.fetch_openml", offline)
    shown = run("data", "sonar", "--fetch")
    assert shown.exit_code == 1
    (line,) = shown.stdout.splitlines()
    assert "no network here" in line and "SVMBOOK_DATA" in line


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nosuch"], 2, "No such command 'nosuch'. See"),
        (["--nosuch"], 2, "--nosuch"),
        ([*PART, "--dask", "tcp://here:1", "--jobs", "2"], 2, "leave --jobs out"),
        (["reproduce"], 2, "Missing argument 'SUITE'"),
        (["reproduce", "nosuch"], 2, "'nosuch' is not one of 'all-machines'"),
        ([*PART, "--runs", "0"], 2, "'0' is no number of runs, such as 10, nor some, such as"),
        ([*PART, "--runs", "5-3"], 2, "'5-3' is no number of runs"),
        ([*PART, "--runs", "many"], 2, "'many' is no number of runs"),
        ([*PART, "--jobs", "0", "--store", "x.jsonl"], 2, "give 1 or more, or -1"),
        (["reproduce", "exploring-parameters", "--datasets", "iris"], 2, "no data set 'iris'"),
        ([*PART, "--store", "no/such/x.jsonl"], 1, "there is no folder no/such"),
        (["table", "exploring-forest", "--store", "no.jsonl"], 1, "svmbook reproduce exploring-fo"),
        (["data", "nosuch"], 2, "there is no table 'nosuch'; there are"),
    ],
)
def test_an_error_is_one_line(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    shown = run(*arguments)
    assert shown.exit_code == code
    assert message in shown.stderr
    *before, error = shown.stderr.splitlines()
    assert error.startswith("Error: ")
    assert all(line.endswith("runs are there") for line in before)


@pytest.mark.parametrize("jobs", ["-1", "1", "4096"])
def test_any_number_of_processes_will_do_where_nothing_is_missing(jobs):
    shown = run(*PART, "--runs", "1", "--jobs", jobs)
    assert shown.exit_code == 0 and "1 of 1 runs are there" in shown.stderr


@pytest.mark.parametrize("what", ["--runs", "--jobs"])
def test_too_much_is_refused(what):
    shown = run(*PART, what, "9" * 20)
    assert shown.exit_code == 2 and len(shown.stderr.splitlines()) == 1


def test_a_store_that_is_none_is_left_alone(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"n": 500}\n', encoding="utf-8")
    shown = run(*PART, "--store", path)
    assert shown.exit_code == 1 and "line 1 is no record of a run" in shown.stderr
    assert path.read_text(encoding="utf-8") == '{"n": 500}\n'


@pytest.mark.filterwarnings("default:.*torn record")
def test_a_torn_line_is_told_in_one_line(store):
    with store.open("ab") as file:
        file.write(b'{"suite": "expl')
    shown = run(*PART, "--runs", 3, "--store", store)
    assert shown.exit_code == 0
    (line,) = (line for line in shown.stderr.splitlines() if "torn record" in line)
    assert line.startswith("warning: ") and "runs.jsonl.torn" in line
    assert len(Store(store)) == 3


def test_outside_of_the_book_a_store_is_made_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SVMBOOK_RESULTS", raising=False)
    assert run(*PART, "--runs", 1).exit_code == 0
    assert len(Store(tmp_path / "exploring-parameters.jsonl")) == 1
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path / "nowhere"))
    assert "is no folder" in run(*PART, "--runs", 1).stderr


@pytest.mark.parametrize("command", [[], *([name] for name in main.commands)])
def test_help_has_examples_a_reader_can_copy(command):
    shown = run(*command, "--help").stdout
    examples = [line.strip() for line in shown.splitlines() if line.startswith("    svmbook ")]
    assert examples
    for example in examples:
        _, name, *rest = shlex.split(example)
        main.commands[name].make_context(name, rest)  # parsed, not run


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc, where nobody can write")
def test_a_store_that_cannot_be_made_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("filelock.FileLock.acquire", lambda self: pytest.fail("waits for a lock"))
    shown = run(*PART, "--runs", 1, "--store", "/proc/x.jsonl")
    assert shown.exit_code == 1 and "No such file" in shown.stderr.splitlines()[-1]


def test_a_parameter_that_is_no_number_is_named(store):
    first = Store(store).records()[0]
    store.write_text(json.dumps(first | {"parameters": {"C": "x"}}) + "\n", encoding="utf-8")
    shown = run("table", "exploring-parameters", "--store", store)
    assert shown.exit_code == 1
    assert "line 1 is no record of a run: parameters is {'C': 'x'}; it has" in shown.stderr


def test_every_suite_has_the_name_it_is_found_by():
    assert [find_suite(name).name for name in SUITES] == list(SUITES)


def test_a_name_may_hold_a_comma(tmp_path):
    store = tmp_path / "runs.jsonl"
    part = ["--datasets", "spirals, 10 % noise,spirals", "--methods", "CART,linear", "--runs", "1"]
    assert run("reproduce", "shen2013", *part, "--store", store).exit_code == 0
    records = [json.loads(line) for line in store.read_text().splitlines()]
    assert {(r["data_set"], r["method"]) for r in records} == {
        (name, method)
        for name in ("spirals", "spirals, 10 % noise")
        for method in ("CART", "linear")
    }
