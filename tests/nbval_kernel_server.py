"""The server that forks Jupyter kernels for `nbval_kernels.py`."""

import os
import sys
from importlib import import_module

from forks import serve

PRELOADED_MODULES = (
    *("ipykernel.kernelapp", "matplotlib.pyplot", "pandas", "sklearn.svm"),
    *("sklearn.model_selection", "cvxopt"),
)


def run_kernel(connection_path, cwd, env):
    """Run a Jupyter kernel in this process, on the ports that its connection file lists."""
    from ipykernel.kernelapp import IPKernelApp

    null_descriptor = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_descriptor, descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    IPKernelApp.launch_instance(argv=["-f", connection_path])


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script, which a kernel does not have on its path
    # A kernel sets this variable before it imports Matplotlib.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for module_name in PRELOADED_MODULES:
        import_module(module_name)
    serve(run_kernel)
