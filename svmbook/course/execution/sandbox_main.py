"""Program inside the sandbox: run the cells that arrive on stdin, and report their outputs.

`sandbox` starts this program. The program writes its messages, one line of JSON each, to a separate
file descriptor as the cells end, so that the outputs of finished cells survive if a limit is
exceeded later. The notebook is not stored in a file.
"""

import ctypes
import json
import os
import sys

from .confine import PR_SET_DUMPABLE
from .run import run_notebook

__all__ = ["main"]


def main():
    """Read the cells from stdin, run them, and report their outputs."""
    # Other processes in the sandbox can neither trace this process nor open its files.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)  # the kernel does not inherit the file descriptor
    results = os.fdopen(descriptor, "w", encoding="utf-8")

    def report(**message):
        results.write(json.dumps(message) + "\n")
        results.flush()

    run_request = json.load(sys.stdin)
    # The tests run where no file of a submission can configure them.
    os.chdir(run_request["folders"]["tests"])
    kernel_folder = run_request["folders"]["kernel"]
    run_notebook(run_request, report, kernel_folder, test_environment={"HOME": "/"})
