"""Inside the sandbox: run the cells that come in, and tell what each has put out.

Started as a program by `sandbox`. The cells come on stdin, and what they put out leaves by a file
of its own, a line of JSON a cell, so that what was finished before a limit struck is not lost. No
file holds the notebook: hidden tests are not in the kernel before they run.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import struct
import sys

from .run import run

__all__ = ["main"]

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 4, 38, 22
# System calls that give memory which no process is charged for, or the rights of a new namespace:
# memfd_create, memfd_secret, shmget, shmat, semget, msgget, mq_open, io_uring_setup, bpf, keyctl,
# add_key, request_key, unshare, setns; and the numbers of clone, which is forbidden with
# CLONE_NEWUSER, and of socket, which is for families that have no network here.
FORBIDDEN = {
    "x86_64": (
        0xC000003E,
        (319, 447, 29, 30, 64, 68, 240, 425, 321, 250, 248, 249, 272, 308),
        (56, 41),
    ),
    "aarch64": (
        0xC00000B7,
        (279, 447, 194, 196, 190, 186, 180, 425, 280, 219, 217, 218, 97, 268),
        (220, 198),
    ),
}
CLONE3, CLONE_NEWUSER = 435, 0x10000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16


def main():
    """Read what to run from stdin, run it, and tell what came out."""
    work = json.load(sys.stdin)
    if work["bounded"]:
        _limit(work["limits"], work["user"])
    tell = _teller(int(sys.argv[1]))
    run(work, tell)


def _teller(file):
    """Return a function that writes a line of JSON where the kernel cannot write."""
    # Not dumpable: other processes of the sandbox can neither trace this one nor open its files.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.set_inheritable(file, False)
    out = os.fdopen(file, "w", encoding="utf-8")

    def tell(**line):
        out.write(json.dumps(line) + "\n")
        out.flush()

    return tell


def _limit(limits, user):
    """Take limits upon this process and its children, and, as root, another user's name."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory ends all the same, the kernel ends us and nobody else
    for kind, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["disk"]),
        (resource.RLIMIT_CPU, limits["seconds"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)  # from root to another: all capabilities go with it
    _forbid()


def _forbid():
    """Let the system calls of `FORBIDDEN` fail, here and in all children.

    The program of the filter (man 2 seccomp) is a list of instructions: a code, how many lines to
    jump over if it is true and if not, and a number. It can read the number of the call, at 0, the
    architecture, at 4, and the first argument, at 16. clone3 hides its flags behind a pointer: it
    is said not to exist, and libraries take clone.
    """
    if platform.machine() not in FORBIDDEN:
        return
    machine, calls, (clone, socket) = FORBIDDEN[platform.machine()]
    read, equal, at_least, has, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    refused, missing, allowed = (
        (answer, 0, 0, value)
        for value in (0x50000 + errno.EPERM, 0x50000 + errno.ENOSYS, 0x7FFF0000)
    )
    program = [
        *((read, 0, 0, 4), (equal, 1, 0, machine), (answer, 0, 0, 0x80000000)),  # be killed
        *((read, 0, 0, 0), (at_least, 0, 1, 0x40000000), refused),  # of another convention
        *(line for call in calls for line in ((equal, 0, 1, call), refused)),
        *((equal, 0, 1, CLONE3), missing),
        *((equal, 0, 4, clone), (read, 0, 0, 16), (has, 0, 1, CLONE_NEWUSER), refused, allowed),
        *((equal, 0, 6, socket), (read, 0, 0, 16), (equal, 4, 0, AF_UNIX), (equal, 3, 0, AF_INET)),
        *((equal, 2, 0, AF_INET6), (equal, 1, 0, AF_NETLINK), refused, allowed),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = struct.pack("HP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(whole), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls can be set here")
