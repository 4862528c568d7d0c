"""Whatever does the work, and however often it is stopped: the same records."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from svmbook.experiments import suites
from svmbook.experiments.reproduce import check_tables, cluster, reproduce
from svmbook.experiments.store import Store
from svmbook.experiments.suites import find_suite

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


def start(path, *more):
    """Start the command in a session of its own, so that all of it can be killed."""
    call = [sys.executable, "-c", "from svmbook.experiments.cli import main; main()", "reproduce"]
    call += [SUITE, *OPTIONS, "--store", str(path), *more]
    return subprocess.Popen(
        call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_more(path, process, before):
    deadline = time.monotonic() + 120
    while lines(path) <= before and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_killed_ten_times_and_resumed(tmp_path, undisturbed):
    path = tmp_path / "runs.jsonl"
    moments, kills = random.Random(0), 0
    while kills < 10:
        process = start(path, "--jobs", "1" if kills % 3 else "2")
        wait_for_more(path, process, lines(path))
        time.sleep(moments.uniform(0.0, 0.15))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        else:
            assert lines(path) == len(undisturbed), process.stderr.read()
            path.unlink()  # it was too quick: all over again
        process.communicate(timeout=120)
    last = start(path)
    assert last.communicate(timeout=300)[1].splitlines()[-1].startswith("40/40 ")
    assert last.returncode == 0
    records = Store(path).records()
    assert len(records) == len(undisturbed)
    assert untimed(records) == undisturbed


def test_ctrl_c_leaves_the_store_whole_and_says_how_to_go_on(tmp_path, undisturbed):
    path = tmp_path / "runs.jsonl"
    process = start(path, "--jobs", "2")
    wait_for_more(path, process, 3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
    message = process.communicate(timeout=120)[1]
    done = lines(path)
    assert process.returncode == 130
    assert message.splitlines()[-1] == (
        f"stopped: {done} of 40 runs are in {path}; the same command goes on from there"
    )
    assert "Traceback" not in message
    again = start(path, "--jobs", "2")
    assert f"{path}: {done} of 40 runs are there" in again.communicate(timeout=300)[1]
    assert untimed(Store(path).records()) == undisturbed


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

    monkeypatch.setitem(suites.SUITES, SUITE, replace(suite, work=work))
    store = Store(tmp_path / "runs.jsonl")
    with pytest.raises(ZeroDivisionError, match="beyond us"):
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
