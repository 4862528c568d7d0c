"""The command ``svmbook``: its output on stdout and stderr, and its exit codes."""

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
from records import REPRODUCE_ARGUMENTS

import svmbook
from svmbook.experiments import load_records
from svmbook.experiments.cli import main
from svmbook.experiments.running.store import Store
from svmbook.experiments.suites import SUITES, find_suite


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def store_path(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert invoke(*REPRODUCE_ARGUMENTS, "--runs", 2, "--store", path).exit_code == 0
    return path


def test_reproduce_carries_out_missing_runs(store_path):
    assert len(Store(store_path)) == 2
    resumed = invoke(*REPRODUCE_ARGUMENTS, "--runs", 3, "--store", store_path)
    assert resumed.exit_code == 0 and resumed.stdout == ""
    first, second = resumed.stderr.splitlines()
    assert first.endswith("2 of 3 runs are stored")
    assert second.startswith("3/3 stdev2, linear, run 2: error ")
    repeated = invoke(*REPRODUCE_ARGUMENTS, "--runs", 3, "--store", store_path)
    assert repeated.exit_code == 0
    assert repeated.stderr.splitlines() == [f"{store_path}: 3 of 3 runs are stored"]


def test_runs_may_be_a_range(store_path):
    assert invoke(*REPRODUCE_ARGUMENTS, "--runs", "3-4", "--store", store_path).exit_code == 0
    assert [r["run"] for r in Store(store_path).records()] == [0, 1, 3, 4]


def test_table_shows_stored_runs(store_path):
    result = invoke("table", "exploring-parameters", "--store", store_path)
    assert result.exit_code == 0
    assert "| stdev2 | linear | 0.01 |" in result.stdout
    assert (
        "some runs of `svmbook reproduce exploring-parameters`. Runs per row: 2;" in result.stdout
    )


def test_csv_table_has_the_mean_error_of_the_stored_runs(store_path):
    pytest.importorskip("pandas")
    result = invoke("table", "exploring-parameters", "--store", store_path, "--csv")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    errors = [100 * r["error"] for r in Store(store_path).records()]
    assert float(row["reproduced"]) == pytest.approx(sum(errors) / 2)
    assert row["n_runs"] == "2"


def test_further_tables_of_a_suite_are_shown_by_name():
    result = invoke("table", "shen2013", "--table", "sizes")
    assert result.exit_code == 0 and "shifts, members" in result.stdout
    result = invoke("table", "shen2013", "--table", "size")
    assert result.exit_code == 1 and "sampled-noise" in result.stderr


def test_terminal_shows_a_progress_bar(tmp_path, monkeypatch):
    pty_fd, tty_fd = pty.openpty()
    with os.fdopen(tty_fd, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        arguments = [*REPRODUCE_ARGUMENTS, "--runs", "2", "--store", str(tmp_path / "runs.jsonl")]
        main(arguments, standalone_mode=False)
    output = b""
    with contextlib.suppress(OSError):  # raised on Linux at the end of the output
        while chunk := os.read(pty_fd, 10_000):
            output += chunk
    os.close(pty_fd)
    assert b"####  2/2" in output.replace(b"]", b"") and b"run 0" not in output


def test_list_names_every_suite():
    result = invoke("list")
    assert result.exit_code == 0
    for name in SUITES:
        assert name in result.stdout and find_suite(name).title in result.stdout


def test_table_warns_of_an_incomplete_record(store_path):
    with store_path.open("ab") as file:
        file.write(b'{"suite": "expl')
    content_before = store_path.read_bytes()
    result = invoke("table", "exploring-parameters", "--store", store_path)
    assert result.exit_code == 0 and "ends in an incomplete record" in result.stderr
    assert store_path.read_bytes() == content_before


def test_only_tables_of_missing_runs_are_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("svmbook.datasets.tables.loaders.fetch_openml", None)
    arguments = ["reproduce", "lin2005-kernels", "--runs", "1", "--store", tmp_path / "runs.jsonl"]
    result = invoke(*arguments, "--datasets", "twonorm,sonar")
    assert result.exit_code == 1 and "no sonar.csv in" in result.stderr
    for record in load_records("lin2005-kernels"):
        if (record["data_set"], record["run"]) == ("sonar", 0):
            Store(tmp_path / "runs.jsonl").append(record)
    assert invoke(*arguments, "--datasets", "twonorm,sonar").exit_code == 0


def test_invalid_dask_address_is_reported(tmp_path):
    pytest.importorskip("distributed")
    result = invoke(*REPRODUCE_ARGUMENTS, "--dask", "nowhere", "--store", tmp_path / "runs.jsonl")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Error: missing port number in address 'nowhere'"


def test_list_continues_after_a_damaged_store(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path))
    (tmp_path / "exploring-forest.jsonl").write_text("damaged\n", encoding="utf-8")
    result = invoke("list")
    assert result.exit_code == 0
    assert "stored: not usable" in result.stdout and "stored: 0 of 6500" in result.stdout


def test_version_is_printed_by_the_option_and_the_command():
    assert invoke("--version").stdout == f"svmbook {svmbook.__version__}\n"
    assert f"svmbook {svmbook.__version__}" in invoke("version").stdout


def test_data_distinguishes_verified_absent_and_damaged_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    result = invoke("data")
    assert result.exit_code == 0 and result.stdout.count("absent") == 21
    assert "iris           verified  scikit-learn's own copy" in result.stdout
    assert invoke("data", "iris", "wdbc", "digits").exit_code == 0
    assert invoke("data", "sonar").exit_code == 1
    (tmp_path / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    result = invoke("data", "sonar", "heart")
    assert result.exit_code == 1
    sonar_line, heart_line = result.stdout.splitlines()
    assert sonar_line.startswith("sonar") and "not usable" in sonar_line
    assert heart_line.split() == ["heart", "absent"]


def test_fetched_table_is_verified(tmp_path, monkeypatch):
    table_path = tmp_path / "heart.csv"
    loaders = "svmbook.datasets.tables.loaders"
    monkeypatch.setattr(
        f"{loaders}.find_table_file", lambda name: table_path if table_path.exists() else None
    )
    monkeypatch.setattr(f"{loaders}.load_table", lambda name: table_path.touch())
    assert invoke("data", "heart", "--fetch").stdout.split() == [
        "heart",
        "verified",
        str(table_path),
    ]


def test_failed_fetch_is_reported_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("SVMBOOK_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))

    def fetch_offline(**options):
        raise OSError("no network\nhere")

    monkeypatch.setattr("svmbook.datasets.tables.loaders.fetch_openml", fetch_offline)
    result = invoke("data", "sonar", "--fetch")
    assert result.exit_code == 1
    (line,) = result.stdout.splitlines()
    assert "no network here" in line and "SVMBOOK_DATA" in line


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["nosuch"], 2, "No such command 'nosuch'. See"),
        (["--nosuch"], 2, "--nosuch"),
        ([*REPRODUCE_ARGUMENTS, "--dask", "tcp://here:1", "--jobs", "2"], 2, "leave --jobs out"),
        (["reproduce"], 2, "Missing argument 'SUITE'"),
        (["reproduce", "nosuch"], 2, "'nosuch' is not one of 'all-classifiers'"),
        (
            [*REPRODUCE_ARGUMENTS, "--runs", "0"],
            2,
            "'0' is neither a number of runs, such as 10, nor a range",
        ),
        ([*REPRODUCE_ARGUMENTS, "--runs", "5-3"], 2, "'5-3' is neither a number of runs"),
        ([*REPRODUCE_ARGUMENTS, "--runs", "many"], 2, "'many' is neither a number of runs"),
        (
            [*REPRODUCE_ARGUMENTS, "--jobs", "0", "--store", "x.jsonl"],
            2,
            "--jobs must be 1 or more, or -1",
        ),
        (["reproduce", "exploring-parameters", "--datasets", "iris"], 2, "no data set 'iris'"),
        ([*REPRODUCE_ARGUMENTS, "--store", "no/such/x.jsonl"], 1, "there is no folder no/such"),
        (["table", "exploring-forest", "--store", "no.jsonl"], 1, "svmbook reproduce exploring-fo"),
        (["data", "nosuch"], 2, "unknown table 'nosuch'; choose from"),
    ],
)
def test_error_is_one_line(tmp_path, monkeypatch, arguments, exit_code, message):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == exit_code
    assert message in result.stderr
    *status_lines, error_line = result.stderr.splitlines()
    assert error_line.startswith("Error: ")
    assert all(line.endswith("runs are stored") for line in status_lines)


@pytest.mark.parametrize("n_jobs", ["-1", "1", "4096"])
def test_valid_numbers_of_processes_are_accepted(n_jobs):
    result = invoke(*REPRODUCE_ARGUMENTS, "--runs", "1", "--jobs", n_jobs)
    assert result.exit_code == 0 and "1 of 1 runs are stored" in result.stderr


@pytest.mark.parametrize("option", ["--runs", "--jobs"])
def test_number_that_is_too_large_is_a_usage_error(option):
    result = invoke(*REPRODUCE_ARGUMENTS, option, "9" * 20)
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1


def test_file_that_is_not_a_store_is_not_changed(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"n": 500}\n', encoding="utf-8")
    result = invoke(*REPRODUCE_ARGUMENTS, "--store", path)
    assert result.exit_code == 1 and "line 1 is not the record of a run" in result.stderr
    assert path.read_text(encoding="utf-8") == '{"n": 500}\n'


@pytest.mark.filterwarnings("default:.*incomplete record")
def test_incomplete_record_is_reported_in_one_line(store_path):
    with store_path.open("ab") as file:
        file.write(b'{"suite": "expl')
    result = invoke(*REPRODUCE_ARGUMENTS, "--runs", 3, "--store", store_path)
    assert result.exit_code == 0
    (line,) = (line for line in result.stderr.splitlines() if "incomplete record" in line)
    assert line.startswith("warning: ") and "runs.jsonl.torn" in line
    assert len(Store(store_path)) == 3


def test_default_store_outside_the_repository_is_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SVMBOOK_RESULTS", raising=False)
    assert invoke(*REPRODUCE_ARGUMENTS, "--runs", 1).exit_code == 0
    assert len(Store(tmp_path / "exploring-parameters.jsonl")) == 1
    monkeypatch.setenv("SVMBOOK_RESULTS", str(tmp_path / "nowhere"))
    assert "is not a folder" in invoke(*REPRODUCE_ARGUMENTS, "--runs", 1).stderr


@pytest.mark.parametrize("command", [[], *([name] for name in main.commands)])
def test_examples_in_help_are_valid_calls(command):
    help_text = invoke(*command, "--help").stdout
    examples = [line.strip() for line in help_text.splitlines() if line.startswith("    svmbook ")]
    assert examples
    for example in examples:
        _, name, *arguments = shlex.split(example)
        main.commands[name].make_context(name, arguments)  # parsed, not run


@pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="no /proc, where no file can be created"
)
def test_store_that_cannot_be_created_is_reported_without_delay(monkeypatch):
    monkeypatch.setattr("filelock.FileLock.acquire", lambda self: pytest.fail("waits for a lock"))
    result = invoke(*REPRODUCE_ARGUMENTS, "--runs", 1, "--store", "/proc/x.jsonl")
    assert result.exit_code == 1 and "No such file" in result.stderr.splitlines()[-1]


def test_parameter_that_is_not_a_number_is_reported(store_path):
    record = Store(store_path).records()[0]
    store_path.write_text(json.dumps(record | {"parameters": {"C": "x"}}) + "\n", encoding="utf-8")
    result = invoke("table", "exploring-parameters", "--store", store_path)
    assert result.exit_code == 1
    assert "line 1 is not the record of a run: parameters must be a dict of" in result.stderr


def test_suites_are_listed_under_their_own_names():
    assert [find_suite(name).name for name in SUITES] == list(SUITES)


def test_names_may_contain_commas(tmp_path):
    store_path = tmp_path / "runs.jsonl"
    selection = [
        "--datasets",
        "spirals, 10 % noise,spirals",
        "--methods",
        "CART,linear",
        "--runs",
        "1",
    ]
    assert invoke("reproduce", "shen2013", *selection, "--store", store_path).exit_code == 0
    records = [json.loads(line) for line in store_path.read_text().splitlines()]
    assert {(r["data_set"], r["method"]) for r in records} == {
        (name, method)
        for name in ("spirals", "spirals, 10 % noise")
        for method in ("CART", "linear")
    }
