"""A plugin for nbval: its kernels are forks of one process that has loaded the libraries.

To import them takes three seconds of the processor, for each notebook again. Where a process cannot
be forked safely, as on macOS, kernels start as nbval starts them.
"""

import sys
from pathlib import Path

from jupyter_client.provisioning import local_provisioner

from tests.forks import Fork, Server

SCRIPT = Path(__file__).with_name("kernel_server.py")


class Kernel(Fork):
    """A forked kernel with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def poll(self):
        return self.returncode

    wait = poll  # Jupyter waits only for what has ended


def pytest_sessionstart(session):
    if sys.platform != "linux":
        return
    server = Server(SCRIPT)

    def launch_kernel(command, cwd=None, env=None, **_):
        return Kernel(server, command[command.index("-f") + 1], str(cwd), env)

    local_provisioner.launch_kernel = launch_kernel
    session.config.add_cleanup(server.close)
