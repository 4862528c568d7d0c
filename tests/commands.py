"""Invocations of the ``svmbook`` command in forked processes, which tests kill and interrupt."""

import os
import sys
import time
from pathlib import Path

from forks import Fork

from svmbook.experiments.suites import find_suite

SERVER_SCRIPT = Path(__file__).with_name("command_server.py")
SUITE_NAME = "exploring-parameters"
# Numbers of runs on each of two data sets, for signals at a chosen stage and at a random moment.
FEW_RUNS, MANY_RUNS = 6, 20


def jobs(runs=FEW_RUNS):
    """Return jobs of a suite whose runs are fast: one method on two data sets."""
    return find_suite(SUITE_NAME).jobs(["stdev2", "stdev4"], ["linear"], runs)


def command_arguments(runs=FEW_RUNS):
    """Return the arguments with which ``svmbook reproduce`` carries out `jobs`."""
    return [SUITE_NAME, "--datasets", "stdev2,stdev4", "--methods", "linear", "--runs", str(runs)]


class Command(Fork):
    """An invocation of the ``svmbook`` command: its process, its exit code and its stderr.

    ``signal_at`` is a tuple of a stage of writing a record ("before", "half", "written" or
    "synced"), the number of the record, and the signal that is then sent to all processes of the
    invocation.
    """

    def __init__(self, server, stderr_path, *arguments, signal_at=None):
        self._stderr_path = stderr_path
        stderr_path.write_bytes(b"")
        # Counted by tests/budget.py, because its audit hook in this process cannot see forks in the
        # server.
        sys.audit("tests.process")
        super().__init__(server, str(stderr_path), signal_at, *arguments)

    @property
    def stderr(self):
        return self._stderr_path.read_text(encoding="utf-8")

    def send_signal(self, signum):
        """Send a signal to all processes of the invocation."""
        os.killpg(self.pid, signum)

    def wait_and_read_stderr(self):
        """Wait until the process has ended, and return its stderr."""
        deadline = time.monotonic() + 300
        while self.returncode is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self.stderr


def worker_pids(pid):
    """Return the process ids of the joblib workers of a process."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent_pid = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent_pid == pid and b"LokyProcess" in (folder / "cmdline").read_bytes():
                pids.append(int(folder.name))
        except OSError:  # the process has ended
            continue
    return pids
