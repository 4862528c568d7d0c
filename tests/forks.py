"""Processes that start at once: a server that has read the modules forks for each of them.

To read the modules takes longer than most of what is asked of a process. A server is a script that
imports what it needs and calls `serve`.
"""

import json
import os
import subprocess
import sys


def serve(work):
    """Fork for each list of arguments on stdin, and call a function with them in the fork.

    Each is a line of JSON, and so is the answer: the number of the process. A number asks how that
    process has ended.
    """
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            pid, status = os.waitpid(request, os.WNOHANG)
            told = os.waitstatus_to_exitcode(status) if pid else None
        elif told := os.fork():
            os.setpgid(told, told)  # here as well: who asks may signal the group at once
        else:
            os.setpgid(0, 0)  # so that all that the process starts can be signalled
            work(*request)
            sys.exit()
        print(json.dumps(told), flush=True)


class Server:
    """A server, for those who ask it."""

    def __init__(self, script):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, script], **pipes)

    def ask(self, request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        """End the server, and count the time it took."""
        self._process.communicate()


class Fork:
    """A process that a server has forked: its number, and its exit code once it has ended."""

    def __init__(self, server, *arguments):
        self._server, self._code = server, None
        self.pid = server.ask(arguments)

    @property
    def returncode(self):
        if self._code is None:
            self._code = self._server.ask(self.pid)
        return self._code
