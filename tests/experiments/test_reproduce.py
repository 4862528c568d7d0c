"""Records do not depend on the number of processes, on clusters or on interruptions."""

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import joblib
import pytest
from click.testing import CliRunner
from commands import FEW_RUNS, SUITE_NAME, command_arguments, jobs, worker_pids
from records import count_lines, records_without_times
from threadpoolctl import threadpool_info

from svmbook.experiments.cli import main
from svmbook.experiments.reproduce import dask_client, load_tables, reproduce
from svmbook.experiments.running.store import Store
from svmbook.experiments.running.suite import RunError
from svmbook.experiments.suites import find_suite
from svmbook.experiments.suites.exploring import parameters

TOTAL_RUNS = len(jobs())


def test_record_has_the_time_of_its_run():
    start = time.perf_counter()
    record = find_suite(SUITE_NAME).run_job(jobs()[0])
    assert 0 < record["seconds"] <= time.perf_counter() - start + 1e-4


# The stages differ in how much of a record is in the file. test_interruptions.py kills commands at
# random moments, also commands with two workers.
def test_command_killed_at_each_stage_of_writing_a_record_can_be_resumed(
    start_command, tmp_path, uninterrupted_records
):
    path, n_stored = tmp_path / "runs.jsonl", 0
    for stage, n_new in (("before", 1), ("half", 1), ("written", 2), ("synced", 2)):
        process = start_command(path, runs=FEW_RUNS, signal_at=(stage, 2, signal.SIGKILL))
        process.wait_and_read_stderr()
        assert process.returncode == -signal.SIGKILL
        n_stored += n_new
        assert count_lines(path) == n_stored
        assert path.read_bytes().endswith(b"\n") == (stage != "half")
    last_process = start_command(path, runs=FEW_RUNS)
    last_line = last_process.wait_and_read_stderr().splitlines()[-1]
    assert last_line.startswith(f"{TOTAL_RUNS}/{TOTAL_RUNS} ")
    assert last_process.returncode == 0
    assert records_without_times(Store(path).records()) == uninterrupted_records(FEW_RUNS)


# test_interruptions.py tests the same with Dask and at random moments. The case with two workers is
# slow, because each worker imports all modules.
@pytest.mark.parametrize(
    ("options", "signum"),
    [
        (["--jobs", "1"], signal.SIGINT),
        (["--jobs", "1"], signal.SIGTERM),
        pytest.param(["--jobs", "2"], signal.SIGINT, marks=pytest.mark.nightly),
    ],
)
def test_signal_leaves_complete_records_and_the_message_says_how_to_resume(
    start_command, tmp_path, uninterrupted_records, options, signum
):
    path = tmp_path / "runs.jsonl"
    process = start_command(path, *options, runs=FEW_RUNS, signal_at=("synced", 4, signum))
    stderr = process.wait_and_read_stderr()
    assert process.returncode == 128 + signum
    message = f"stopped: 4 of {TOTAL_RUNS} runs are in {path}; run the same command again to resume"
    assert message in stderr.splitlines()
    assert "Traceback" not in stderr
    second_process = start_command(path, runs=FEW_RUNS)
    assert f"{path}: 4 of {TOTAL_RUNS} runs are stored" in second_process.wait_and_read_stderr()
    assert records_without_times(Store(path).records()) == uninterrupted_records(FEW_RUNS)


# test_interruptions.py tests this with a real cluster.
def test_ctrl_c_while_a_cluster_starts_is_handled_once_it_has_started(monkeypatch):
    events = []

    class FakeClusterAndClient:
        def __init__(self, *args, **options):
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            assert options.get("threads_per_worker", 1) == 1  # runs are timed
            events.append("started")

        def __enter__(self):
            return self

        def __exit__(self, *error):
            events.append("closed")

        def run(self, function):
            events.append(function.__name__)

    fake_distributed = SimpleNamespace(
        LocalCluster=FakeClusterAndClient, Client=FakeClusterAndClient
    )
    monkeypatch.setitem(sys.modules, "distributed", fake_distributed)
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), dask_client("local", n_workers=1):
            events.append("worked")
    finally:
        signal.signal(signal.SIGINT, previous_handler)
    assert events == ["started", "started", "_ignore_interrupts_permanently", "closed"]


def test_at_most_one_process_is_started_per_run(tmp_path, monkeypatch):
    requested_n_jobs = []

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **options):
            requested_n_jobs.append(n_jobs)
            super().__init__(1, **options)

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    for n_jobs in (1, 100, -1):
        path = tmp_path / f"{n_jobs}.jsonl"
        list(reproduce(jobs()[:2], Store(path), n_jobs=n_jobs))
    assert requested_n_jobs == [1, 2, min(2, joblib.cpu_count())]
    assert list(reproduce(jobs()[:2], Store(path))) == []  # no run is missing


def test_record_is_stored_before_slower_runs_have_finished(tmp_path, monkeypatch):
    suite, first_is_stored = find_suite(SUITE_NAME), threading.Event()

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **options):
            super().__init__(n_jobs, backend="threading", **options)

    def carry_out_run(data_set, method, run):
        if run == 1:
            assert first_is_stored.wait(timeout=10)
        return suite.carry_out_run(data_set, method, 0)

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    monkeypatch.setattr(parameters, "SUITE", replace(suite, carry_out_run=carry_out_run))
    store, finished_runs = Store(tmp_path / "runs.jsonl"), []
    for progress in reproduce(suite.jobs(["stdev2"], ["linear"], 4), store, n_jobs=2):
        finished_runs.append(progress.record["run"])
        first_is_stored.set()
    assert sorted(finished_runs) == [*range(4)] and finished_runs[0] == 0


def test_record_of_a_run_does_not_depend_on_the_other_runs(tmp_path, uninterrupted_records):
    store = Store(tmp_path / "runs.jsonl")
    job = jobs()[TOTAL_RUNS - 2]
    list(reproduce([job], store))
    assert records_without_times(store.records()) == {
        tuple(job): uninterrupted_records(FEW_RUNS)[tuple(job)]
    }


def test_two_processes_make_the_same_records_even_if_one_is_killed(tmp_path, uninterrupted_records):
    store = Store(tmp_path / "runs.jsonl")
    if not os.path.isdir("/proc/self"):
        pytest.skip("no /proc to find the workers in")
    with pytest.raises(ChildProcessError, match="a process died"):
        for progress in reproduce(jobs(40), store, n_jobs=2):
            if progress.n_stored == 2 * FEW_RUNS:
                os.kill(worker_pids(os.getpid())[0], signal.SIGKILL)
    assert 2 * FEW_RUNS <= len(store) == count_lines(store.path) < 80
    list(reproduce(jobs(), store))
    records = records_without_times(store.records())
    assert {tuple(job): records[tuple(job)] for job in jobs()} == uninterrupted_records(FEW_RUNS)


# test_interruptions.py kills a real worker.
def test_dead_process_is_reported_in_one_line(tmp_path, monkeypatch):
    def failing_reproduce(*args, **options):
        raise ChildProcessError("a process died, perhaps because memory ran out")
        yield

    monkeypatch.setattr("svmbook.experiments.reproduce.reproduce", failing_reproduce)
    path = tmp_path / "runs.jsonl"
    result = CliRunner().invoke(main, ["reproduce", *command_arguments(), "--store", str(path)])
    assert result.exit_code == 1
    last_line = result.stderr.splitlines()[-1]
    assert last_line.startswith(
        "Error: a process died, perhaps because memory ran out: 0 of 12 runs are in"
    )
    assert last_line.endswith("once that is fixed, run the same command again to resume")
    assert "Traceback" not in result.stderr


# The workers of this cluster are threads. In test_interruptions.py, clusters whose workers are
# processes lose one worker or all workers.
@pytest.mark.filterwarnings("default")
def test_lost_cluster_is_reported_and_finished_runs_are_stored(tmp_path):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with (
        cluster,
        dask_client(cluster.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="the connection to the cluster was lost"),
    ):
        for progress in reproduce(jobs(), store, client=client):
            if progress.n_stored == 2:
                cluster.close()
    assert 2 <= len(store) < TOTAL_RUNS


@pytest.mark.filterwarnings("default")
def test_cluster_without_workers_is_reported(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("svmbook.experiments.reproduce.WORKER_CHECK_SECONDS", 0.2)
    store = Store(tmp_path / "runs.jsonl")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        dask_client(cluster.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="no worker is left on the cluster"),
    ):
        list(reproduce(jobs(), store, client=client))


def test_overlapping_runs_use_one_blas_thread(monkeypatch):
    suite, barrier, counts_by_run = find_suite(SUITE_NAME), threading.Barrier(2, timeout=60), {}

    def blas_thread_counts():
        pools = threadpool_info()
        return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}

    def carry_out_run(data_set, method, run):
        barrier.wait()
        if run == 1:
            time.sleep(0.3)  # until the other run has finished
        counts_by_run[run] = blas_thread_counts()
        return {}

    counts_before = blas_thread_counts()
    suite_with_barrier = replace(suite, carry_out_run=carry_out_run)
    threads = [
        threading.Thread(target=suite_with_barrier.run_job, args=(job,))
        for job in suite.jobs(["stdev2"], ["linear"], 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert counts_by_run == {0: {1}, 1: {1}}
    assert blas_thread_counts() == counts_before


def test_unreachable_cluster_raises():
    pytest.importorskip("distributed")
    with pytest.raises(OSError, match="Timed out"), dask_client("tcp://127.0.0.1:1", timeout=1):
        pass


def test_error_in_a_run_is_raised_and_finished_runs_are_stored(tmp_path, monkeypatch):
    suite = find_suite(SUITE_NAME)

    def carry_out_run(data_set, method, run):
        if run == 2:
            raise ZeroDivisionError("error in run 2")
        return suite.carry_out_run(data_set, method, run)

    monkeypatch.setattr(parameters, "SUITE", replace(suite, carry_out_run=carry_out_run))
    store = Store(tmp_path / "runs.jsonl")
    message = r"stdev2, linear, run 2 failed \(ZeroDivisionError: error in run 2\)"
    with pytest.raises(RunError, match=message):
        list(reproduce(jobs(), store))
    assert [r["run"] for r in store.records()] == [0, 1]


def test_load_tables_loads_only_the_tables_of_the_jobs(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    (tmp_path / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    load_tables(find_suite("lin2005-kernels").jobs(["twonorm"]))
    with pytest.raises(ValueError, match="sonar"):
        load_tables(find_suite("lin2005-kernels").jobs(["twonorm", "sonar"]))


# This is the only test in `make test` whose cluster starts a process. The cluster is started in a
# thread other than the main thread, which cannot set signal handlers. In test_interruptions.py and
# test_cli_processes.py the main thread starts the clusters.
def test_cluster_started_in_a_thread_makes_the_same_records(tmp_path, uninterrupted_records):
    pytest.importorskip("distributed")
    store, worker_counts = Store(tmp_path / "runs.jsonl"), []

    def reproduce_jobs():
        with dask_client("local", n_workers=1) as client:
            worker_counts.append(len(client.ncores()))
            list(reproduce(jobs(), store, client=client))

    thread = threading.Thread(target=reproduce_jobs)
    thread.start()
    thread.join(timeout=300)
    assert worker_counts == [1]
    assert records_without_times(store.records()) == uninterrupted_records(FEW_RUNS)
