"""`tools/check.py` runs every test once, starts the longest jobs first and reports failures.

Further tests check the emulation of processors, and the budget of work and time.
"""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import budget
import check
import processors
import pytest
import scheduling
import stages

ROOT = Path(__file__).resolve().parent.parent
# Ten minutes and one minute on two cores, less a tenth because the load is not perfectly balanced.
MAX_TOTAL_SECONDS = {"test": 0.9 * 2 * 600, "quick": 0.9 * 2 * 60}


def python_job(name, code, **options):
    return scheduling.Job(name, options.pop("stage", name), (sys.executable, "-c", code), **options)


@pytest.fixture
def log_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduling, "LOGS", tmp_path)
    return tmp_path


def test_every_test_file_is_run_once():
    paths = [ROOT / path for group in stages.paths_by_group().values() for path in group]
    assert all(path.exists() for path in paths)
    file_counts = Counter(
        file for path in paths for file in ([path] if path.is_file() else path.rglob("test_*.py"))
    )
    assert set(file_counts) == {*(ROOT / "tests").rglob("test_*.py")}
    assert set(file_counts.values()) == {1}
    assert ROOT / "svmbook" in paths


def test_every_notebook_is_run_once():
    argument_counts = Counter(argument for job in stages.notebooks() for argument in job.command)
    patterns = ("*.ipynb", "assignments/*/*.ipynb", "questions/*.ipynb")
    paths = [path for pattern in patterns for path in (ROOT / "notebooks").glob(pattern)]
    assert all(argument_counts[path] == 1 for path in paths)


def test_longest_chain_of_jobs_starts_first():
    jobs = [
        python_job("short", ""),
        python_job("long", ""),
        python_job("page", "", required_stages=("html",)),
        python_job("html", ""),
        python_job("new", ""),
    ]
    seconds = {"short": 1, "long": 50, "html": 30, "page": 40}
    names = [job.name for job in scheduling.sort_by_priority(jobs, seconds)]
    assert names == ["new", "html", "long", "page", "short"]


def test_job_waits_for_its_required_stages(log_folder):
    written_path = log_folder / "written"
    waiting_job = python_job(
        "late", f"print(open({str(written_path)!r}).read())", required_stages=("early", "absent")
    )
    first_job = python_job("early", f"open({str(written_path)!r}, 'w').write('here')")
    results = scheduling.run_jobs([waiting_job, first_job], {"late": 9.0, "early": 1.0}, n_cores=2)
    assert [(result.job.name, result.code) for result in results] == [("early", 0), ("late", 0)]
    assert scheduling.log_path("late").read_text() == "here\n"


def test_job_that_needs_all_cores_runs_alone(log_folder):
    sleeping_code = "import time; time.sleep(0.2)"
    jobs = [
        python_job("one", sleeping_code),
        python_job("two (a)", sleeping_code, n_cores=2),
        python_job("three", sleeping_code, n_cores=9),
    ]
    results = scheduling.run_jobs(jobs, {"one": 3, "two": 2, "three": 1}, n_cores=2)
    assert [result.job.name for result in results] == ["one", "two (a)", "three"]
    for earlier, later in itertools.pairwise(results):
        assert earlier.end <= later.start


def test_jobs_with_two_threads_need_two_cores():
    two_thread_jobs = [job for job in stages.portability([]) if job.name.endswith("(two threads)")]
    assert two_thread_jobs and all(job.n_cores == 2 for job in two_thread_jobs)


def test_first_failure_is_printed_and_ends_the_run(log_folder, capfd):
    pid_path = log_folder / "pid"
    sleeping_job = python_job(
        "sleeper",
        f"import os, time; open({str(pid_path)!r}, 'w').write(str(os.getpid())); time.sleep(60)",
    )
    waiting_code = (
        f"import os, sys, time\nwhile not os.path.exists({str(pid_path)!r}): time.sleep(0.01)\n"
    )
    failing_job = python_job("fails", f"{waiting_code}print('because'); sys.exit(3)")
    later_job = python_job("later", "")
    seconds = {"sleeper": 9.0, "fails": 8.0, "later": 1.0}
    results = scheduling.run_jobs([sleeping_job, failing_job, later_job], seconds, n_cores=2)
    assert [(result.job.name, result.code) for result in results] == [("fails", 3)]
    output = capfd.readouterr().out
    assert "because" in output and "FAILED (3)" in output
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_path.read_text()), 0)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_jobs_end_when_the_runner_is_terminated(log_folder, signum):
    pid_path = log_folder / "pid"
    job_code = (
        f"import os, time; open({str(pid_path)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    runner_code = (
        "import sys; sys.path.insert(0, 'tools'); import scheduling\n"
        f"scheduling.LOGS = __import__('pathlib').Path({str(log_folder)!r})\n"
        f"command = sys.executable, '-c', {job_code!r}\n"
        "scheduling.run_jobs([scheduling.Job('a', 'a', command)], {})"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", runner_code],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not (pid_path.exists() and pid_path.read_text()):
        time.sleep(0.02)
    runner.send_signal(signum)
    assert runner.wait(timeout=30)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_path.read_text()), 0)


@pytest.mark.parametrize("signum", scheduling.INTERRUPTING_SIGNALS)
def test_signal_while_a_job_starts_interrupts_after_its_registration(signum):
    handler, registered = signal.getsignal(signum), []
    with pytest.raises(KeyboardInterrupt), scheduling.postponed_interruption():
        os.kill(os.getpid(), signum)
        registered.append("job")
    assert registered and signal.getsignal(signum) == handler


def test_incomplete_stage_is_not_reported_as_ok(capsys):
    jobs = [
        python_job("one", "", stage="a"),
        python_job("two", "", stage="a"),
        python_job("three", ""),
    ]
    check.print_stages([scheduling.Result(jobs[0], 0, 0.0, 1.0, 1.0)], jobs)
    output = capsys.readouterr().out
    assert re.search(r"^a +1 of 2 ", output, re.M) and re.search(r"^three +not run$", output, re.M)


def test_keep_going_skips_only_jobs_that_depend_on_a_failure(log_folder):
    jobs = [
        python_job("fails", "raise SystemExit(1)"),
        python_job("needs", "", required_stages=("fails",)),
        python_job("other", ""),
    ]
    seconds = {"fails": 3.0, "needs": 2.0, "other": 1.0}
    results = scheduling.run_jobs(jobs, seconds, keep_going=True, n_cores=1)
    assert [(result.job.name, result.code) for result in results] == [("fails", 1), ("other", 0)]


def test_jobs_are_selected_by_the_name_of_their_stage():
    all_jobs, keep_going = check.select_jobs([])
    all_stages = {"lint", "fonts", "html", "slides", "pytest", "notebooks", "wheel"}
    assert {job.stage for job in all_jobs} == all_stages
    assert not keep_going
    assert {job.stage for job in check.select_jobs(["html", "wheel"])[0]} == {"html", "wheel"}
    assert {job.name for job in check.select_jobs(["quick"])[0]} < {job.name for job in all_jobs}
    for names in (["htlm"], ["portability", "Nehalam"]):
        with pytest.raises(SystemExit, match="no such"):
            check.select_jobs(names)


@pytest.mark.parametrize("name", processors.PROCESSORS)
def test_emulated_processor_disables_newer_features(name):
    dispatched_features = ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR")
    env = processors.emulation_variables(name, dispatched_features)
    disabled_features = set(env["NPY_DISABLE_CPU_FEATURES"].split())
    assert {"AVX512_ICL", "AVX512_SPR"} <= disabled_features < {*dispatched_features, "none"}
    assert (
        ("X86_V3" in disabled_features)
        == (name in ("Nehalem", "Sandybridge"))
        == ("GLIBC_TUNABLES" in env)
    )
    assert "NPY_DISABLE_CPU_FEATURES" not in processors.emulation_variables(name, ())


def test_work_over_the_budget_is_reported():
    recorded_work = {"tests/web": {"tests": 100, "processes": 10, "pages": 40}}
    work_within_budget = {"tests/web": Counter(tests=107, processes=12, pages=44)}
    assert not budget.excess_messages(work_within_budget, recorded_work)
    work_over_budget = {
        "tests/web": Counter(tests=107, processes=13, pages=90),
        "tests/new": Counter(tests=9),
    }
    assert budget.excess_messages(work_over_budget, recorded_work) == [
        "tests/new: 9 tests; the budget allows 2",
        "tests/web: 13 processes; the budget allows 12",
        "tests/web: 90 pages; the budget allows 44",
    ]


def test_update_budget_sums_the_work_of_jobs_in_one_folder(log_folder, monkeypatch):
    monkeypatch.setattr(check, "BUDGET_PATH", log_folder / "budget.toml")
    jobs = [job for job in stages.pytest() if job.name in ("pytest web", "pytest live_and_print")]
    for job in jobs:
        log = "..\nwork of tests/web: 3 tests, 2 processes, 1 pages\n"
        scheduling.log_path(job.name).write_text(log)
    results = [scheduling.Result(job, 0, 5.0, 9.04, 3.0) for job in jobs]
    old_budget = {"seconds": {"html": 90, "gone": 1}, "work": {"tests/gone": {"tests": 1}}}
    check.update_budget(results, old_budget, slowdown=2.0)
    assert tomllib.loads(check.BUDGET_PATH.read_text()) == {
        "seconds": {"html": 90, "pytest web": 2.0, "pytest live_and_print": 2.0},
        "work": {"tests/web": {"tests": 6, "processes": 4, "pages": 2}},
    }


def test_slowdown_is_measured_while_jobs_run():
    with check.measure_slowdown() as slowdowns:
        time.sleep(1.5)
        assert not slowdowns  # the value is appended on exit
    assert 0.1 < slowdowns[0] < 10


@pytest.mark.parametrize("n_workers", [0, 2])
def test_work_of_all_workers_is_counted_and_fails_the_run_if_over_budget(
    tmp_path, n_workers, monkeypatch
):
    monkeypatch.delenv("SVMBOOK_BUDGET", raising=False)  # set by `--record`
    pytest.importorskip("xdist")
    folder = tmp_path / "tests" / "few"
    folder.mkdir(parents=True)
    shutil.copy(budget.__file__, tmp_path / "tests")
    (tmp_path / "tests" / "budget.toml").write_text(
        '[work]\n"tests/few" = { tests = 4, processes = 2, pages = 0 }\n'
    )
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\npythonpath = ['tests']\nmarkers = ['nightly']\n"
    )
    (tmp_path / "tests" / "conftest.py").write_text(
        "from budget import WorkCounter\n"
        "def pytest_configure(config):\n"
        "    config.pluginmanager.register(WorkCounter(config))\n"
    )
    (folder / "test_few.py").write_text(
        "import subprocess, pytest\n"
        "def start(): subprocess.run(['true'], check=True)\n"
        "@pytest.mark.parametrize('k', range(4))\n"
        "def test_starts(k): start()\n"
        "@pytest.mark.nightly\n"
        "def test_starts_many(): [start() for _ in range(20)]\n"
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:nbval", "-p", "no:hypothesispytest")

    def run_tests(*selection):
        return subprocess.run(
            (*command, "-n", str(n_workers), *selection),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    process = run_tests()
    assert "work of tests/few: 4 tests, 4 processes, 0 pages" in process.stdout
    assert process.returncode == 0, process.stdout
    with (folder / "test_few.py").open("a") as file:
        file.write("def test_too_much(): start()\n")
    process = run_tests()
    assert process.returncode == 1
    assert "tests/few: 5 processes; the budget allows 4" in process.stdout


@pytest.mark.skipif(os.environ.get("SVMBOOK_BUDGET") == "off", reason="the budget is off")
def test_budget_covers_every_folder_and_is_within_the_time_limits():
    recorded_budget = tomllib.loads(budget.BUDGET_PATH.read_text(encoding="utf-8"))
    file_names = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert set(recorded_budget["work"]) - {"svmbook"} >= {
        budget.folder_or_file(name) for name in file_names
    }
    assert all((ROOT / folder).exists() for folder in recorded_budget["work"])
    seconds = recorded_budget["seconds"]
    assert set(seconds) <= {job.name for job in check.select_jobs([])[0]}
    assert sum(seconds.values()) <= MAX_TOTAL_SECONDS["test"]
    quick_seconds = sum(seconds[job.name] for job in check.select_jobs(["quick"])[0])
    assert quick_seconds <= MAX_TOTAL_SECONDS["quick"]
