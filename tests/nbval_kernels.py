"""A plugin for nbval: its kernels are forks of one process that has loaded the libraries.

To import them takes three seconds of the processor, for each notebook again. Where a process cannot
be forked safely, as on macOS, kernels start as nbval starts them.
"""

import json
import subprocess
import sys
from pathlib import Path

from jupyter_client.provisioning import local_provisioner

SERVER = Path(__file__).with_name("kernel_server.py")


class Forked:
    """A kernel with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = returncode = None

    def __init__(self, ask, command, cwd=None, env=None, **_):
        self._ask = ask
        self.pid = ask(start=command[command.index("-f") + 1], cwd=str(cwd), env=env)

    def poll(self):
        if self.returncode is None:
            self.returncode = self._ask(ended=self.pid)
        return self.returncode

    def wait(self):
        """Return the exit code; Jupyter calls this only when `poll` has returned one."""
        return self.poll()


def pytest_sessionstart(session):
    if sys.platform != "linux":
        return
    server = subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(**request):
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    def launch_kernel(command, **options):
        return Forked(ask, command, **options)

    local_provisioner.launch_kernel = launch_kernel
    session.config.add_cleanup(server.communicate)  # ends it, and counts the time it took
