"""Commands, workers and clusters that are interrupted or killed during the runs.

test_reproduce.py tests each property with a signal at a chosen stage, mostly without starting a
process. Here the moments of the signals are random or depend on the speed of the computer.
"""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from commands import MANY_RUNS, jobs, worker_pids
from records import count_lines, records_without_times

from svmbook.experiments.reproduce import dask_client, reproduce
from svmbook.experiments.running.store import Store

pytestmark = pytest.mark.nightly


def wait_for_more_lines(path, process, n_lines):
    """Wait until the store has more than ``n_lines`` lines, or the process has ended."""
    deadline = time.monotonic() + 120
    while count_lines(path) <= n_lines and process.returncode is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_command_killed_ten_times_can_be_resumed(start_command, tmp_path, uninterrupted_records):
    path = tmp_path / "runs.jsonl"
    rng, n_kills = random.Random(0), 0
    while n_kills < 10:
        process = start_command(path, "--jobs", "1" if n_kills % 5 else "2", runs=MANY_RUNS)
        wait_for_more_lines(path, process, count_lines(path))
        time.sleep(rng.uniform(0.0, 0.15))
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            n_kills += 1
        else:
            assert count_lines(path) == len(uninterrupted_records(MANY_RUNS)), process.stderr
            path.unlink()  # the command finished before the kill: start again
        process.wait_and_read_stderr()
    last_process = start_command(path, runs=MANY_RUNS)
    assert last_process.wait_and_read_stderr().splitlines()[-1].startswith("40/40 ")
    assert last_process.returncode == 0
    records = Store(path).records()
    assert len(records) == len(uninterrupted_records(MANY_RUNS))
    assert records_without_times(records) == uninterrupted_records(MANY_RUNS)


@pytest.mark.parametrize(
    ("options", "signum"),
    [
        (["--jobs", "2"], signal.SIGINT),
        (["--jobs", "1"], signal.SIGTERM),
        (["--dask", "local", "--jobs", "2"], signal.SIGINT),
    ],
)
def test_signal_leaves_complete_records_and_the_message_says_how_to_resume(
    start_command, tmp_path, uninterrupted_records, options, signum
):
    if "--dask" in options:
        pytest.importorskip("distributed")
    path = tmp_path / "runs.jsonl"
    process = start_command(path, *options, runs=MANY_RUNS)
    wait_for_more_lines(path, process, 3)
    process.send_signal(signum)  # to all processes of the command, as a terminal does
    stderr = process.wait_and_read_stderr()
    n_stored = count_lines(path)
    assert process.returncode == 128 + signum
    message = f"stopped: {n_stored} of 40 runs are in {path}; run the same command again to resume"
    assert message in stderr.splitlines()
    assert "Traceback" not in stderr or "--dask" in options  # Dask logs tracebacks of its own
    second_process = start_command(path, runs=MANY_RUNS)
    assert f"{path}: {n_stored} of 40 runs are stored" in second_process.wait_and_read_stderr()
    assert records_without_times(Store(path).records()) == uninterrupted_records(MANY_RUNS)


def test_ctrl_c_while_a_cluster_starts_ends_the_command(start_command, tmp_path):
    pytest.importorskip("distributed")
    options = ("--dask", "local", "--jobs", "1")
    process = start_command(tmp_path / "runs.jsonl", *options, runs=MANY_RUNS)
    while not process.stderr.endswith("0 of 40 runs are stored\n"):
        assert process.returncode is None
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    process.wait_and_read_stderr()
    assert process.returncode == 130
    assert count_lines(tmp_path / "runs.jsonl") < 40


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to find the workers in")
def test_killed_worker_is_reported_in_one_line(start_command, tmp_path):
    path = tmp_path / "runs.jsonl"
    process = start_command(path, "--jobs", "2", runs=MANY_RUNS)
    wait_for_more_lines(path, process, 2)
    os.kill(worker_pids(process.pid)[0], signal.SIGKILL)
    stderr = process.wait_and_read_stderr()
    assert process.returncode == 1
    last_line = stderr.splitlines()[-1]
    assert last_line.startswith("Error: a process died")
    assert last_line.endswith("once that is fixed, run the same command again to resume")
    assert "Traceback" not in stderr
    assert len(Store(path)) == count_lines(path) < 40


@pytest.mark.filterwarnings("default")  # Dask warns when it starts, and when it loses a worker
def test_cluster_that_loses_a_worker_makes_the_same_records(tmp_path, uninterrupted_records):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        dask_client(cluster.scheduler_address) as client,
    ):
        pids = client.run(os.getpid)
        assert len(set(pids.values()) - {os.getpid()}) == 2
        for progress in reproduce(jobs(MANY_RUNS), store, client=client):
            if progress.n_stored == 20:
                os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert len(store) == len(uninterrupted_records(MANY_RUNS))
    assert records_without_times(store.records()) == uninterrupted_records(MANY_RUNS)


@pytest.mark.filterwarnings("default")
def test_lost_cluster_is_reported_and_finished_runs_are_stored(tmp_path):
    distributed = pytest.importorskip("distributed")
    store = Store(tmp_path / "runs.jsonl")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    with (
        cluster,
        dask_client(cluster.scheduler_address) as client,
        pytest.raises(ChildProcessError, match="the connection to the cluster was lost"),
    ):
        for progress in reproduce(jobs(MANY_RUNS), store, client=client):
            if progress.n_stored == 2:
                cluster.close()
    assert 2 <= len(store) < 40
