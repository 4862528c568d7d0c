"""First process of a sandbox: apply limits to itself, then start another program.

Usage: python confine.py LIMITS PROGRAM [ARGUMENT ...]

LIMITS is a JSON object with the keys ``memory`` (bytes of address space), ``disk`` (bytes of each
file), ``processes``, ``seconds`` (CPU time) and ``user_id`` (the user ID that root switches to,
or null). The process reaps orphaned processes and exits when the program does. This file imports
nothing from the package, because that would delay every start.
"""

import collections
import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys

__all__ = ["PR_SET_DUMPABLE", "SYSCALL_NUMBERS", "SYS_KEYCTL", "confine", "main"]

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 4, 38, 22
MAX_OPEN_FILES = 256
# Numbers of an architecture and of its system calls. The forbidden ones allocate memory that no
# process is charged for, or enter another namespace: memfd_create, memfd_secret, shmget, shmat,
# semget, msgget, mq_open, io_uring_setup, bpf, keyctl, add_key, request_key, unshare, setns. The
# others are allowed for some arguments only, except that flock is reported as missing (see
# `_install_syscall_filter`).
SyscallNumbers = collections.namedtuple(
    "SyscallNumbers", ("audit_arch", "forbidden_calls", "clone", "socket", "prlimit64", "flock")
)
SYSCALL_NUMBERS = {
    "x86_64": SyscallNumbers(
        0xC000003E,
        (319, 447, 29, 30, 64, 68, 240, 425, 321, 250, 248, 249, 272, 308),
        *(56, 41, 302, 73),
    ),
    "aarch64": SyscallNumbers(
        0xC00000B7,
        (279, 447, 194, 196, 190, 186, 180, 425, 280, 219, 217, 218, 97, 268),
        *(220, 198, 261, 32),
    ),
}
# Other system calls (clone3 has the same number on all architectures), and arguments of calls.
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
SYS_CLONE3 = 435
CLONE_NEWUSER = 0x10000000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
# Opcodes of a filter (linux/bpf_common.h), and the values that it returns (linux/seccomp.h).
LD_ABS, JEQ, JGE, JSET, RET = 0x20, 0x15, 0x35, 0x45, 0x06
RET_KILL_PROCESS, RET_ERRNO, RET_ALLOW = 0x80000000, 0x50000, 0x7FFF0000


def main(arguments):
    """Apply limits, start a program, and reap its orphaned processes until it exits."""
    limits, *command = arguments
    confine(**json.loads(limits))
    libc = ctypes.CDLL(None)
    child_pid = os.fork()
    if child_pid == 0:
        os.execv(command[0], command)
    # Other processes in the sandbox can neither trace this process nor read its memory.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after setuid, which clears it
    os.closerange(0, MAX_OPEN_FILES)
    while True:
        pid, status = os.wait()
        if pid == child_pid:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def confine(memory, disk, processes, seconds, user_id):
    """Apply limits to this process and its children, and switch to another user if this is root.

    Parameters
    ----------
    memory, disk, processes, seconds : int
        Bytes of address space, bytes of each file, number of processes, and seconds of CPU time.
    user_id : int or None
        The user ID to switch to.
    """
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # if memory runs out anyway, the OOM killer kills this process first
    for resource_id, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_id, (limit, limit))
    if user_id is not None:
        os.setgroups([])
        os.setgid(user_id)
        os.setuid(user_id)  # this also drops all capabilities of root
    if platform.machine() in SYS_KEYCTL:
        # Join a new keyring, so that the caller's keys are out of reach.
        keyctl = SYS_KEYCTL[platform.machine()]
        ctypes.CDLL(None).syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, None)
    _install_syscall_filter()


def _install_syscall_filter():
    """Install a system call filter (seccomp) for this process and all its children.

    The filter (man 2 seccomp) is a list of instructions: an opcode, the number of instructions to
    skip if its condition is true, the number to skip if it is false, and an operand. It reads the
    system call number at offset 0, the architecture at offset 4, the first argument at offset 16.
    prlimit64 is allowed for the process itself. socket is allowed for the address families that
    the network namespace isolates. clone3 hides its flags behind a pointer: it is reported as
    missing, so that libraries fall back to clone, which is allowed without CLONE_NEWUSER. flock is
    reported as missing, because a submission could lock a data file that others read.
    """
    if platform.machine() not in SYSCALL_NUMBERS:
        return
    numbers = SYSCALL_NUMBERS[platform.machine()]
    return_eperm, return_enosys, allow = (
        (RET, 0, 0, value)
        for value in (RET_ERRNO + errno.EPERM, RET_ERRNO + errno.ENOSYS, RET_ALLOW)
    )
    instructions = [
        *((LD_ABS, 0, 0, 4), (JEQ, 1, 0, numbers.audit_arch), (RET, 0, 0, RET_KILL_PROCESS)),
        *((LD_ABS, 0, 0, 0), (JGE, 0, 1, 0x40000000), return_eperm),  # the x32 calling convention
        *(
            instruction
            for call in numbers.forbidden_calls
            for instruction in ((JEQ, 0, 1, call), return_eperm)
        ),
        *((JEQ, 0, 1, SYS_CLONE3), return_enosys),
        *((JEQ, 0, 1, numbers.flock), return_enosys),
        *((JEQ, 0, 4, numbers.clone), (LD_ABS, 0, 0, 16), (JSET, 0, 1, CLONE_NEWUSER)),
        *(return_eperm, allow),
        *((JEQ, 0, 4, numbers.prlimit64), (LD_ABS, 0, 0, 16), (JEQ, 0, 1, 0), allow, return_eperm),
        *((JEQ, 0, 6, numbers.socket), (LD_ABS, 0, 0, 16), (JEQ, 4, 0, AF_UNIX)),
        *((JEQ, 3, 0, AF_INET), (JEQ, 2, 0, AF_INET6), (JEQ, 1, 0, AF_NETLINK)),
        *(return_eperm, allow),
    ]
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(packed)
    sock_fprog = struct.pack("HP", len(instructions), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(sock_fprog), 0, 0):
        raise OSError(ctypes.get_errno(), "the system call filter (seccomp) cannot be installed")


if __name__ == "__main__":
    main(sys.argv[1:])
