"""The server of the kernels that `nbval_kernels.py` asks for."""

import os
import sys
from importlib import import_module

from forks import serve

LOADED = "ipykernel.kernelapp matplotlib.pyplot pandas sklearn.svm sklearn.model_selection cvxopt"


def kernel(connection, cwd, env):
    """Become a kernel."""
    from ipykernel.kernelapp import IPKernelApp

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    IPKernelApp.launch_instance(argv=["-f", connection])


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script, which is not on a kernel's path
    # What a kernel sets before it imports Matplotlib.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in LOADED.split():
        import_module(name)
    serve(kernel)
