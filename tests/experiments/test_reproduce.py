"""Whatever does the work, and however often it is stopped: the same records."""

import os
import random
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import joblib
import pytest
from commands import Command, Server
from threadpoolctl import threadpool_info

from svmbook.experiments.reproduce import check_tables, cluster, reproduce
from svmbook.experiments.running.store import Store
from svmbook.experiments.running.suite import RunError
from svmbook.experiments.suites import exploring, find_suite

SUITE = "exploring-parameters"
PART = {"data_sets": ["stdev2", "stdev4"], "methods": ["linear"], "runs": 20}
OPTIONS = ["--datasets", "stdev2,stdev4", "--methods", "linear", "--runs", "20"]


def jobs():
    return find_suite(SUITE).jobs(**PART)


def untimed(records):
    """Return records by job, without the seconds."""
    return {
        (r["suite"], r["data_set"], r["method"], r["run"]): {
            key: value for key, value in r.items() if not key.endswith("seconds")
        }
        for r in records
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("undisturbed") / "runs.jsonl")
    assert [progress.done for progress in reproduce(jobs(), store)] == list(range(1, 41))
    return untimed(store.records())


@pytest.fixture(scope="module")
def start():
    server = Server()
    yield lambda path, *more: Command(
        server,
        path.with_name("errors.txt"),
        *("reproduce", SUITE, *OPTIONS, "--store", str(path), *more),
    )
    server.close()


def test_a_record_says_how_long_its_run_took():
    start = time.perf_counter()
    record = find_suite(SUITE).carry_out(jobs()[0])
    assert 0 < record["seconds"] <= time.perf_counter() - start + 1e-4


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_more(path, process, before):
    deadline = time.monotonic() + 120
    while lines(path) <= before and process.returncode is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_killed_ten_times_and_resumed(start, tmp_path, undisturbed):
    path = tmp_path / "runs.jsonl"
    moments, kills = random.Random(0), 0
    while kills < 10:
        process = start(path, "--jobs", "1" if kills % 5 else "2")
        wait_for_more(path, process, lines(path))
        time.sleep(moments.uniform(0.0, 0.15))
        if process.returncode is None:
            process.kill(signal.SIGKILL)
            kills += 1
        else:
            assert lines(path) == len(undisturbed), process.stderr
            path.unlink()  # it was too quick: all over again
        process.wait()
    last = start(path)
    assert last.wait().splitlines()[-1].startswith("40/40 ")
    assert last.returncode == 0
    records = Store(path).records()
    assert len(records) == len(undisturbed)
    assert untimed(records) == undisturbed


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (["--jobs", "2"], signal.SIGINT),
        (["--jobs", "1"], signal.SIGTERM),
        (["--dask", "local", "--jobs", "2"], signal.SIGINT),
    ],
)
def test_a_signal_leaves_the_store_whole_and_says_how_to_go_on(
    start, tmp_path, undisturbed, options, number
):
    if "--dask" in options:
        pytest.importorskip("distributed")
    path = tmp_path / "runs.jsonl"
    process = start(path, *options)
    wait_for_more(path, process, 3)
    process.kill(number)  # as a terminal does: to all of its processes
    message = process.wait()
    done = lines(path)
    assert process.returncode == 128 + number
    end = f"stopped: {done} of 40 runs are in {path}; the same command goes on from there"
    assert end in message.splitlines()
    assert "Traceback" not in message or "--dask" in options  # Dask logs what it likes
    again = start(path)
    assert f"{path}: {done} of 40 runs are there" in again.wait()
    assert untimed(Store(path).records()) == undisturbed


def test_ctrl_c_while_a_cluster_starts_is_not_lost(start, tmp_path):
    pytest.importorskip("distributed")
    process = start(tmp_path / "runs.jsonl", "--dask", "local", "--jobs", "1")
    while not process.stderr.endswith("0 of 40 runs are there\n"):
        assert process.returncode is None
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    process.wait()
    assert process.returncode == 130
    assert lines(tmp_path / "runs.jsonl") < 40


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


def test_many_processes_make_the_same_records(tmp_path, undisturbed):
    store = Store(tmp_path / "runs.jsonl")
    list(reproduce(jobs(), store, n_jobs=2))
    assert untimed(store.records()) == undisturbed


def test_one_run_alone_is_the_one_among_many(tmp_path, undisturbed):
    store = Store(tmp_path / "runs.jsonl")
    wanted = jobs()[37]
    list(reproduce([wanted], store))
    assert untimed(store.records())[tuple(wanted)] == undisturbed[tuple(wanted)]


# Dask itself warns while it starts and loses a worker.
@pytest.mark.filterwarnings("default")
def test_a_cluster_that_loses_a_worker_makes_the_same_records(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as local,
        cluster(local.scheduler_address) as client,
    ):
        pids = client.run(os.getpid)
        assert len(set(pids.values()) - {os.getpid()}) == 2
        for progress in reproduce(jobs(), store, client=client):
            if progress.done == 20:
                os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert len(store) == len(undisturbed)
    assert untimed(store.records()) == undisturbed


def workers_of(process):
    """Return the processes that a command has started to work for it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == process.pid and b"LokyProcess" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to find the workers in")
def test_a_worker_that_is_killed_is_told_in_one_line(start, tmp_path):
    path = tmp_path / "runs.jsonl"
    process = start(path, "--jobs", "2")
    wait_for_more(path, process, 2)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    message = process.wait()
    assert process.returncode == 1
    assert message.splitlines()[-1].startswith("Error: a process died")
    assert message.splitlines()[-1].endswith(
        "once that is mended, the same command goes on from there"
    )
    assert "Traceback" not in message
    assert len(Store(path)) == lines(path) < 40


@pytest.mark.filterwarnings("default")
def test_a_cluster_that_is_lost_is_told_and_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    local = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with (
        local,
        cluster(local.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="the cluster was lost"),
    ):
        for progress in reproduce(jobs(), store, client=client):
            if progress.done == 2:
                local.close()
    assert 2 <= len(store) < 40


@pytest.mark.filterwarnings("default")
def test_a_cluster_without_workers_is_told(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("svmbook.experiments.reproduce.SILENCE", 0.2)
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
        threading.Thread(target=overlapping.carry_out, args=(job,))
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

    monkeypatch.setattr(exploring, "SUITE", replace(suite, work=work))
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


def test_a_thread_may_start_a_cluster_too():
    pytest.importorskip("distributed")
    workers = []

    def count():
        with cluster("local", workers=1) as client:
            workers.append(len(client.ncores()))

    thread = threading.Thread(target=count)
    thread.start()
    thread.join(timeout=120)
    assert workers == [1]
