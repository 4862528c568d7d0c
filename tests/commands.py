"""The command in processes that start at once, for the tests that kill and interrupt it."""

import json
import os
import subprocess
import sys
import time

# It has read the modules and forks for each call, as reading takes longer than the work. A call has
# a session of its own, so that all of it can be killed, and hears Ctrl-C where we do not.
SERVER = """
import contextlib, json, os, signal, sys
from svmbook.experiments.cli import main
from svmbook.experiments import reproduce
from svmbook.experiments.suites import exploring
with contextlib.suppress(ImportError):
    import distributed

for line in sys.stdin:
    errors, *arguments = json.loads(line)
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
    """One call: its process, its exit code once it has ended, and what it wrote to stderr."""

    def __init__(self, server, errors, *arguments):
        self._server, self._errors, self._code = server, errors, None
        errors.write_bytes(b"")
        self.pid = server.ask(str(errors), *arguments)

    @property
    def returncode(self):
        if self._code is None:
            self._code = self._server.ask(self.pid)
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
