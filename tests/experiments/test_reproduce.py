"""Whatever does the work, and however often it is stopped: the same records."""

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
from commands import FEW, SUITE, jobs, options, workers_of
from records import lines, untimed
from threadpoolctl import threadpool_info

from svmbook.experiments.cli import main
from svmbook.experiments.reproduce import check_tables, cluster, reproduce
from svmbook.experiments.running.store import Store
from svmbook.experiments.running.suite import RunError
from svmbook.experiments.suites import find_suite
from svmbook.experiments.suites.exploring import parameters

ALL = len(jobs())


def test_a_record_says_how_long_its_run_took():
    start = time.perf_counter()
    record = find_suite(SUITE).run_job(jobs()[0])
    assert 0 < record["seconds"] <= time.perf_counter() - start + 1e-4


# A process may be killed at any moment; what can differ is how much of a record is in the file. The
# moments are chosen here and random in test_kills.py, which also kills calls with two workers.
def test_killed_at_each_place_of_a_record_and_resumed(start, tmp_path, undisturbed):
    path, there = tmp_path / "runs.jsonl", 0
    for place, whole in (("before", 1), ("half", 1), ("written", 2), ("synced", 2)):
        process = start(path, runs=FEW, strike=(place, 2, signal.SIGKILL))
        process.wait()
        assert process.returncode == -signal.SIGKILL
        there += whole
        assert lines(path) == there
        assert path.read_bytes().endswith(b"\n") == (place != "half")
    last = start(path, runs=FEW)
    assert last.wait().splitlines()[-1].startswith(f"{ALL}/{ALL} ")
    assert last.returncode == 0
    assert untimed(Store(path).records()) == undisturbed(FEW)


# With Dask, and at random moments, in test_kills.py; two workers read the modules anew.
@pytest.mark.parametrize(
    ("options", "number"),
    [
        (["--jobs", "1"], signal.SIGINT),
        (["--jobs", "1"], signal.SIGTERM),
        pytest.param(["--jobs", "2"], signal.SIGINT, marks=pytest.mark.nightly),
    ],
)
def test_a_signal_leaves_the_store_whole_and_says_how_to_go_on(
    start, tmp_path, undisturbed, options, number
):
    path = tmp_path / "runs.jsonl"
    process = start(path, *options, runs=FEW, strike=("synced", 4, number))  # as a terminal does
    message = process.wait()
    assert process.returncode == 128 + number
    end = f"stopped: 4 of {ALL} runs are in {path}; the same command goes on from there"
    assert end in message.splitlines()
    assert "Traceback" not in message
    again = start(path, runs=FEW)
    assert f"{path}: 4 of {ALL} runs are there" in again.wait()
    assert untimed(Store(path).records()) == undisturbed(FEW)


# With a real cluster in test_kills.py.
def test_ctrl_c_while_a_cluster_starts_is_heard_when_it_stands(monkeypatch):
    happened = []

    class Cluster:
        def __init__(self, *args, **options):
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            assert options.get("threads_per_worker", 1) == 1  # runs are timed
            happened.append("started")

        def __enter__(self):
            return self

        def __exit__(self, *error):
            happened.append("closed")

        def run(self, work):
            happened.append(work.__name__)

    fake = SimpleNamespace(LocalCluster=Cluster, Client=Cluster)
    monkeypatch.setitem(sys.modules, "distributed", fake)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), cluster("local", workers=1):
            happened.append("worked")
    finally:
        signal.signal(signal.SIGINT, before)
    assert happened == ["started", "started", "_ignore_interrupts", "closed"]


def test_no_more_processes_are_started_than_there_are_runs(tmp_path, monkeypatch):
    asked = []

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **options):
            asked.append(n_jobs)
            super().__init__(1, **options)

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    for n_jobs in (1, 100, -1):
        path = tmp_path / f"{n_jobs}.jsonl"
        list(reproduce(jobs()[:2], Store(path), n_jobs=n_jobs))
    assert asked == [1, 2, min(2, joblib.cpu_count())]
    assert list(reproduce(jobs()[:2], Store(path))) == []  # nothing is missing any more


def test_a_record_waits_for_no_other_run(tmp_path, monkeypatch):
    suite, stored = find_suite(SUITE), threading.Event()

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **options):
            super().__init__(n_jobs, backend="threading", **options)

    def work(data_set, method, run):
        if run == 1:
            assert stored.wait(timeout=10)
        return suite.work(data_set, method, 0)

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    monkeypatch.setattr(parameters, "SUITE", replace(suite, work=work))
    store, done = Store(tmp_path / "runs.jsonl"), []
    for progress in reproduce(suite.jobs(["stdev2"], ["linear"], 4), store, n_jobs=2):
        done.append(progress.record["run"])
        stored.set()
    assert sorted(done) == [*range(4)] and done[0] == 0


def test_one_run_alone_is_the_one_among_many(tmp_path, undisturbed):
    store = Store(tmp_path / "runs.jsonl")
    wanted = jobs()[ALL - 2]
    list(reproduce([wanted], store))
    assert untimed(store.records()) == {tuple(wanted): undisturbed(FEW)[tuple(wanted)]}


def test_many_processes_make_the_same_records_and_lose_none_with_one_of_them(tmp_path, undisturbed):
    store = Store(tmp_path / "runs.jsonl")
    if not os.path.isdir("/proc/self"):
        pytest.skip("no /proc to find the workers in")
    with pytest.raises(ChildProcessError, match="a process died"):
        for progress in reproduce(jobs(40), store, n_jobs=2):
            if progress.done == 2 * FEW:
                os.kill(workers_of(os.getpid())[0], signal.SIGKILL)
    assert 2 * FEW <= len(store) == lines(store.path) < 80
    list(reproduce(jobs(), store))
    records = untimed(store.records())
    assert {tuple(job): records[tuple(job)] for job in jobs()} == undisturbed(FEW)


# With a worker that is really killed in test_kills.py.
def test_a_process_that_died_is_told_in_one_line(tmp_path, monkeypatch):
    def reproduce(*args, **options):
        raise ChildProcessError("a process died, of lack of memory perhaps")
        yield

    monkeypatch.setattr("svmbook.experiments.reproduce.reproduce", reproduce)
    path = tmp_path / "runs.jsonl"
    shown = CliRunner().invoke(main, ["reproduce", *options(), "--store", str(path)])
    assert shown.exit_code == 1
    last = shown.stderr.splitlines()[-1]
    assert last.startswith("Error: a process died, of lack of memory perhaps: 0 of 12 runs are in")
    assert last.endswith("once that is mended, the same command goes on from there")
    assert "Traceback" not in shown.stderr


# A cluster of threads; one of processes loses its worker, and all of them, in test_kills.py.
@pytest.mark.filterwarnings("default")
def test_a_cluster_that_is_lost_is_told_and_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    local = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with (
        local,
        cluster(local.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="the cluster was lost"),
    ):
        for progress in reproduce(jobs(), store, client=client):
            if progress.done == 2:
                local.close()
    assert 2 <= len(store) < ALL


@pytest.mark.filterwarnings("default")
def test_a_cluster_without_workers_is_told(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("svmbook.experiments.reproduce.SILENT_SECONDS", 0.2)
    store = Store(tmp_path / "runs.jsonl")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as local,
        cluster(local.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="no worker is left on the cluster"),
    ):
        list(reproduce(jobs(), store, client=client))


def test_runs_side_by_side_keep_blas_to_one_thread(monkeypatch):
    suite, meet, seen = find_suite(SUITE), threading.Barrier(2, timeout=60), {}

    def threads():
        pools = threadpool_info()
        return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}

    def work(data_set, method, run):
        meet.wait()
        if run == 1:
            time.sleep(0.3)  # the other run is over by now
        seen[run] = threads()
        return {}

    before = threads()
    overlapping = replace(suite, work=work)
    runners = [
        threading.Thread(target=overlapping.run_job, args=(job,))
        for job in suite.jobs(["stdev2"], ["linear"], 2)
    ]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join(timeout=60)
    assert seen == {0: {1}, 1: {1}}
    assert threads() == before


def test_nothing_answers(monkeypatch):
    pytest.importorskip("distributed")
    with pytest.raises(OSError, match="Timed out"), cluster("tcp://127.0.0.1:1", timeout=1):
        pass


def test_what_a_run_raises_ends_it_all_and_loses_nothing(tmp_path, monkeypatch):
    suite = find_suite(SUITE)

    def work(data_set, method, run):
        if run == 2:
            raise ZeroDivisionError("run 2 is beyond us")
        return suite.work(data_set, method, run)

    monkeypatch.setattr(parameters, "SUITE", replace(suite, work=work))
    store = Store(tmp_path / "runs.jsonl")
    message = r"stdev2, linear, run 2 failed \(ZeroDivisionError: run 2 is beyond us\)"
    with pytest.raises(RunError, match=message):
        list(reproduce(jobs(), store))
    assert [r["run"] for r in store.records()] == [0, 1]


def test_tables_are_looked_for_before_the_first_run(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    (tmp_path / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    check_tables(find_suite("lin2005-kernels").jobs(["twonorm"]))
    with pytest.raises(ValueError, match="sonar"):
        check_tables(find_suite("lin2005-kernels").jobs(["twonorm", "sonar"]))


# The only cluster of `make test` with a process of its own. It is started by a thread, where no
# signal can be set; the main thread starts the same in test_kills.py and test_cli.py.
def test_a_cluster_started_by_a_thread_makes_the_same_records(tmp_path, undisturbed):
    pytest.importorskip("distributed")
    store, workers = Store(tmp_path / "runs.jsonl"), []

    def work():
        with cluster("local", workers=1) as client:
            workers.append(len(client.ncores()))
            list(reproduce(jobs(), store, client=client))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(timeout=300)
    assert workers == [1]
    assert untimed(store.records()) == undisturbed(FEW)
