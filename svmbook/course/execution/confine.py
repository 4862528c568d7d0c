"""Apply limits to this process, then start another program: the first process of a sandbox.

Usage: python confine.py LIMITS PROGRAM [ARGUMENT ...]

LIMITS is JSON: bytes of ``memory`` (address space) and ``disk`` (of a file), ``processes``, the
``seconds`` of processor time, and the ``user`` ID to switch to where root starts this, or null.
The first process of a sandbox stays, collects processes that have lost their parents, and ends
with the program. This file is read without the package, which takes longer to import.
"""

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys

__all__ = ["FORBIDDEN", "KEYCTL", "PR_SET_DUMPABLE", "confine", "main"]

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 4, 38, 22
OPEN_FILES = 256
# System calls that give memory which no process is charged for, or the rights of a new namespace:
# memfd_create, memfd_secret, shmget, shmat, semget, msgget, mq_open, io_uring_setup, bpf, keyctl,
# add_key, request_key, unshare, setns; and the numbers of clone, which is forbidden with
# CLONE_NEWUSER, of socket, which is for families that have no network here, and of prlimit64, which
# is for the process itself alone.
FORBIDDEN = {
    "x86_64": (
        0xC000003E,
        (319, 447, 29, 30, 64, 68, 240, 425, 321, 250, 248, 249, 272, 308),
        (56, 41, 302, 73),
    ),
    "aarch64": (
        0xC00000B7,
        (279, 447, 194, 196, 190, 186, 180, 425, 280, 219, 217, 218, 97, 268),
        (220, 198, 261, 32),
    ),
}
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
CLONE3, CLONE_NEWUSER = 435, 0x10000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16


def main(arguments):
    """Apply limits, and start a program whose orphaned processes this one collects."""
    limits, *program = arguments
    confine(**json.loads(limits))
    libc = ctypes.CDLL(None)
    child = os.fork()
    if child == 0:
        os.execv(program[0], program)
    # Others of the sandbox can neither trace this process nor read its memory.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # was lost with root's name
    os.closerange(0, OPEN_FILES)
    while True:
        process, status = os.wait()
        if process == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def confine(memory, disk, processes, seconds, user):
    """Apply limits to this process and its children, and, as root, switch to another user.

    Parameters
    ----------
    memory, disk, processes, seconds : int
        Bytes of address space, bytes of a file, processes, and seconds of processor time.
    user : int or None
        The user ID to switch to.
    """
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory ends all the same, the system ends us and nobody else
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)  # from root to another: all capabilities go with it
    if platform.machine() in KEYCTL:  # the keys of who has started the sandbox stay outside
        keyctl = KEYCTL[platform.machine()]
        ctypes.CDLL(None).syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)
    _forbid()


def _forbid():
    """Let the system calls of `FORBIDDEN` fail, here and in all children.

    The program of the filter (man 2 seccomp) is a list of instructions: a code, how many lines to
    jump over if it is true and if not, and a number. It can read the number of the call, at 0, the
    architecture, at 4, and the first argument, at 16. clone3 hides its flags behind a pointer: it
    is said not to exist, and libraries take clone. Neither is there flock: a submission could keep
    others waiting for a data file.
    """
    if platform.machine() not in FORBIDDEN:
        return
    machine, calls, (clone, socket, prlimit, flock) = FORBIDDEN[platform.machine()]
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
        *((equal, 0, 1, flock), missing),
        *((equal, 0, 4, clone), (read, 0, 0, 16), (has, 0, 1, CLONE_NEWUSER), refused, allowed),
        *((equal, 0, 4, prlimit), (read, 0, 0, 16), (equal, 0, 1, 0), allowed, refused),
        *((equal, 0, 6, socket), (read, 0, 0, 16), (equal, 4, 0, AF_UNIX), (equal, 3, 0, AF_INET)),
        *((equal, 2, 0, AF_INET6), (equal, 1, 0, AF_NETLINK), refused, allowed),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = struct.pack("HP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(whole), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls can be set here")


if __name__ == "__main__":
    main(sys.argv[1:])
