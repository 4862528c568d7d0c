"""Fork kernels on request; `nbval_kernels.py` starts this and writes requests as lines of JSON."""

import json
import os
import sys
from importlib import import_module

LOADED = "ipykernel.kernelapp matplotlib.pyplot pandas sklearn.svm sklearn.model_selection cvxopt"


def start(connection, cwd, env):
    """Fork; return the number of the process. The fork returns when its kernel has ended."""
    pid = os.fork()
    os.setpgid(pid, pid or os.getpid())  # Jupyter interrupts and ends a kernel's whole group
    if pid:
        return pid
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance(argv=["-f", connection])
    sys.exit()


def ended(pid):
    """Return the exit code of a process that has ended, else None."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def main():
    sys.path.pop(0)  # the folder of this script, which is not on a kernel's path
    # What a kernel sets before it imports Matplotlib.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in LOADED.split():
        import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            told = start(request["start"], request["cwd"], request["env"])
        else:
            told = ended(request["ended"])
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
