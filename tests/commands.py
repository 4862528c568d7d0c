"""The command in processes that start at once, for the tests that kill and interrupt it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from svmbook.experiments.suites import find_suite

SUITE = "exploring-parameters"
FEW, MANY = 6, 20  # runs of each of two data sets: for a signal at a chosen record, and at any


def jobs(runs=FEW):
    """Return the jobs of a cheap part of a suite."""
    return find_suite(SUITE).jobs(["stdev2", "stdev4"], ["linear"], runs)


def options(runs=FEW):
    """Return what asks the command for `jobs`."""
    return [SUITE, "--datasets", "stdev2,stdev4", "--methods", "linear", "--runs", str(runs)]


# It has read the modules and forks for each call, as reading takes longer than the work. A call has
# a session of its own, so that all of it can be killed, and hears Ctrl-C where we do not.
SERVER = """
import contextlib, json, os, signal, sys
from svmbook.experiments.cli import main
from svmbook.experiments import reproduce
from svmbook.experiments.suites import exploring
with contextlib.suppress(ImportError):
    import distributed

def strike(place, count, number):
    # Signal all processes of this call at a place of the writing of one record.
    write, fsync, seen = os.write, os.fsync, 0

    def here(*places):
        if seen == count and place in places:
            os.killpg(0, number)

    def write_or_strike(file, data):
        nonlocal seen
        if bytes(data).startswith(b'{"suite"'):
            seen += 1
            here("before")
            if seen == count and place == "half":
                write(file, data[: len(data) // 2])
                here("half")
        return write(file, data)

    def fsync_or_strike(file):
        here("written")
        fsync(file)
        here("synced")

    os.write, os.fsync = write_or_strike, fsync_or_strike

for line in sys.stdin:
    errors, struck, *arguments = json.loads(line)
    if type(errors) is int:
        pid, status = os.waitpid(errors, os.WNOHANG)
        print(json.dumps(os.waitstatus_to_exitcode(status) if pid else None), flush=True)
        continue
    pid = os.fork()
    if not pid:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, name in enumerate((os.devnull, os.devnull, errors)):
            os.dup2(os.open(name, os.O_RDWR), number)
        if struck:
            strike(*struck)
        main(arguments)
    print(pid, flush=True)
"""


class Server:
    """Starts calls of ``svmbook``."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-c", SERVER], **pipes)

    def ask(self, *question):
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.communicate()


class Command:
    """One call: its process, its exit code once it has ended, and what it wrote to stderr.

    ``strike`` names a place in the writing of a record, "before", "half", "written" or "synced",
    which record, and the signal that all processes of the call get there.
    """

    def __init__(self, server, errors, *arguments, strike=None):
        self._server, self._errors, self._code = server, errors, None
        errors.write_bytes(b"")
        sys.audit("tests.process")  # for tests/budget.py: the server's process starts it
        self.pid = server.ask(str(errors), strike, *arguments)

    @property
    def returncode(self):
        if self._code is None:
            self._code = self._server.ask(self.pid, None)
        return self._code

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
