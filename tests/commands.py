"""The command in processes that start at once, for the tests that kill and interrupt it."""

import os
import sys
import time
from pathlib import Path

from forks import Fork

from svmbook.experiments.suites import find_suite

SCRIPT = Path(__file__).with_name("command_server.py")
SUITE = "exploring-parameters"
FEW, MANY = 6, 20  # runs of each of two data sets: for a signal at a chosen record, and at any


def jobs(runs=FEW):
    """Return the jobs of a cheap part of a suite."""
    return find_suite(SUITE).jobs(["stdev2", "stdev4"], ["linear"], runs)


def options(runs=FEW):
    """Return what asks the command for `jobs`."""
    return [SUITE, "--datasets", "stdev2,stdev4", "--methods", "linear", "--runs", str(runs)]


class Command(Fork):
    """One call: its process, its exit code once it has ended, and what it wrote to stderr.

    ``strike`` names a place in the writing of a record, "before", "half", "written" or "synced",
    which record, and the signal that all processes of the call get there.
    """

    def __init__(self, server, errors, *arguments, strike=None):
        self._errors = errors
        errors.write_bytes(b"")
        sys.audit("tests.process")  # for tests/budget.py: the server's process starts it
        super().__init__(server, str(errors), strike, *arguments)

    @property
    def stderr(self):
        return self._errors.read_text(encoding="utf-8")

    def kill(self, number):
        os.killpg(self.pid, number)

    def wait(self):
        deadline = time.monotonic() + 300
        while self.returncode is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self.stderr


def workers_of(pid):
    """Return the processes that joblib has started to work for a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid and b"LokyProcess" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return found
