"""Commands and clusters that are killed at random moments and with all their processes.

Each property is also tested in test_reproduce.py, with a signal at a chosen place and, for most,
without a process to start: these are the same for moments that nobody thought of.
"""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from commands import MANY, jobs, workers_of
from records import lines, untimed

from svmbook.experiments.reproduce import cluster, reproduce
from svmbook.experiments.running.store import Store

pytestmark = pytest.mark.nightly


def wait_for_more(path, process, before):
    deadline = time.monotonic() + 120
    while lines(path) <= before and process.returncode is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_killed_ten_times_and_resumed(start, tmp_path, undisturbed):
    path = tmp_path / "runs.jsonl"
    moments, kills = random.Random(0), 0
    while kills < 10:
        process = start(path, "--jobs", "1" if kills % 5 else "2", runs=MANY)
        wait_for_more(path, process, lines(path))
        time.sleep(moments.uniform(0.0, 0.15))
        if process.returncode is None:
            process.kill(signal.SIGKILL)
            kills += 1
        else:
            assert lines(path) == len(undisturbed(MANY)), process.stderr
            path.unlink()  # it was too quick: all over again
        process.wait()
    last = start(path, runs=MANY)
    assert last.wait().splitlines()[-1].startswith("40/40 ")
    assert last.returncode == 0
    records = Store(path).records()
    assert len(records) == len(undisturbed(MANY))
    assert untimed(records) == undisturbed(MANY)


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
    process = start(path, *options, runs=MANY)
    wait_for_more(path, process, 3)
    process.kill(number)  # as a terminal does: to all of its processes
    message = process.wait()
    done = lines(path)
    assert process.returncode == 128 + number
    end = f"stopped: {done} of 40 runs are in {path}; the same command goes on from there"
    assert end in message.splitlines()
    assert "Traceback" not in message or "--dask" in options  # Dask logs what it likes
    again = start(path, runs=MANY)
    assert f"{path}: {done} of 40 runs are there" in again.wait()
    assert untimed(Store(path).records()) == undisturbed(MANY)


def test_ctrl_c_while_a_cluster_starts_is_not_lost(start, tmp_path):
    pytest.importorskip("distributed")
    call = ("--dask", "local", "--jobs", "1")
    process = start(tmp_path / "runs.jsonl", *call, runs=MANY)
    while not process.stderr.endswith("0 of 40 runs are there\n"):
        assert process.returncode is None
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    process.wait()
    assert process.returncode == 130
    assert lines(tmp_path / "runs.jsonl") < 40


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to find the workers in")
def test_a_worker_that_is_killed_is_told_in_one_line(start, tmp_path):
    path = tmp_path / "runs.jsonl"
    process = start(path, "--jobs", "2", runs=MANY)
    wait_for_more(path, process, 2)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    message = process.wait()
    assert process.returncode == 1
    assert message.splitlines()[-1].startswith("Error: a process died")
    assert message.splitlines()[-1].endswith(
        "once that is mended, the same command goes on from there"
    )
    assert "Traceback" not in message
    assert len(Store(path)) == lines(path) < 40


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
        for progress in reproduce(jobs(MANY), store, client=client):
            if progress.done == 20:
                os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert len(store) == len(undisturbed(MANY))
    assert untimed(store.records()) == undisturbed(MANY)


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
        for progress in reproduce(jobs(MANY), store, client=client):
            if progress.done == 2:
                local.close()
    assert 2 <= len(store) < 40
