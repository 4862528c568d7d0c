"""Processes that start without delay, as forks of a server that has imported the modules.

Importing the modules takes longer than most tests' work in a process. A server is a script that
imports the modules and calls `serve`.
"""

import json
import os
import subprocess
import sys


def serve(function):
    """Serve requests on stdin: start a process for a list of arguments, or return its exit code.

    Requests and replies are lines of JSON. For a list of arguments, `function` is called with them
    in a fork, and the reply is the fork's process ID. For a process ID, the reply is the exit code
    of that process, or null while it runs.
    """
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            pid, status = os.waitpid(request, os.WNOHANG)
            reply = os.waitstatus_to_exitcode(status) if pid else None
        elif reply := os.fork():
            # Both processes set the group, so that it exists before the client gets the reply.
            os.setpgid(reply, reply)
        else:
            os.setpgid(0, 0)  # a group of its own, which can be signalled as a whole
            function(*request)
            sys.exit()
        print(json.dumps(reply), flush=True)


class ForkServer:
    """The client side of a fork server: it starts the server's script and sends it requests."""

    def __init__(self, script_path):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, script_path], **pipes)

    def ask(self, request):
        """Send a request, and return the server's reply."""
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        """End the server, and wait for it so that its CPU time is measured."""
        self._process.communicate()


class Fork:
    """A process that a server has forked: its process ID, and its exit code when it has ended."""

    def __init__(self, server, *arguments):
        self._server, self._returncode = server, None
        self.pid = server.ask(arguments)

    @property
    def returncode(self):
        if self._returncode is None:
            self._returncode = self._server.ask(self.pid)
        return self._returncode
