"""Inside the sandbox: run the cells that come in, and tell what each has put out.

Started as a program by `sandbox`. The cells come on stdin, and what they put out leaves by a file
of its own, one line of JSON per cell, so that what was finished before a limit was passed is not
lost. No file holds the notebook.
"""

import ctypes
import json
import os
import sys

from .confine import PR_SET_DUMPABLE
from .run import run

__all__ = ["main"]


def main():
    """Read what to run from stdin, run it, and tell what came out."""
    # Not dumpable: other processes of the sandbox can neither trace this one nor open its files.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    file = int(sys.argv[1])
    os.set_inheritable(file, False)  # the kernel does not get it
    out = os.fdopen(file, "w", encoding="utf-8")

    def tell(**line):
        out.write(json.dumps(line) + "\n")
        out.flush()

    work = json.load(sys.stdin)
    # Nothing that a submission writes configures the process of the tests.
    os.chdir(work["folders"]["tests"])
    run(work, tell, folder=work["folders"]["kernel"], settings={"HOME": "/"})
