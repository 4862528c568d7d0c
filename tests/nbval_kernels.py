"""A pytest plugin that starts nbval's kernels as forks of a process with the libraries loaded.

This saves three seconds of imports per notebook. On systems other than Linux, where forking is not
safe, nbval starts the kernels as usual.
"""

import sys
from pathlib import Path

from jupyter_client.provisioning import local_provisioner

from tests.forks import Fork, ForkServer

SERVER_SCRIPT = Path(__file__).with_name("nbval_kernel_server.py")


class KernelProcess(Fork):
    """A forked Jupyter kernel with those members of `subprocess.Popen` that Jupyter uses."""

    stdin = stdout = stderr = None

    def poll(self):
        return self.returncode

    wait = poll  # Jupyter waits only for processes that have ended


def pytest_sessionstart(session):
    if sys.platform != "linux":
        return
    server = ForkServer(SERVER_SCRIPT)

    def launch_kernel(command, cwd=None, env=None, **_):
        return KernelProcess(server, command[command.index("-f") + 1], str(cwd), env)

    local_provisioner.launch_kernel = launch_kernel
    session.config.add_cleanup(server.close)
