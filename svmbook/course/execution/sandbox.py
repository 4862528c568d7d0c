"""Run the cells of a submission in a sandbox.

The processes of a submission run under bubblewrap without privileges, network or access to files of
the course or the user. The file system is read-only, except for small file systems in memory.
`confine` sets the limits of each process inside the sandbox; this module checks the total usage of
all processes from outside.
"""

import itertools
import json
import os
import selectors
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from .outcome import Limits, Outcome

__all__ = [
    "UNSAFE",
    "SandboxError",
    "bubblewrap_command",
    "confined_command",
    "find_bubblewrap",
    "run_cells",
]

UNSAFE = "unsafe"
# jsonschema would spend a second on parsing a grammar of URLs, which is not needed here.
IMPORT_MAIN = "import sys; sys.modules['rfc3987_syntax'] = None; "
IMPORT_MAIN += "from svmbook.course.execution import sandbox_main; "
PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
CONFINE_PATH = Path(__file__).resolve().with_name("confine.py")
# The fields of `Limits` that `confine` applies to each process.
PROCESS_LIMIT_NAMES = ("memory", "disk", "processes", "seconds")
# Working directories of the kernel and of the tests. A submission can write only in the first one,
# because the tests, or Matplotlib in them, may read settings from their working directory.
WORKING_FOLDERS = {"kernel": "/tmp", "tests": "/assignment"}
SANDBOX_COUNTER = itertools.count()
CHECK_INTERVAL = 0.1  # seconds between two measurements of the processes' memory and time
SANDBOX_USER_IDS = range(60_600, 61_180)  # user IDs that neither Debian nor systemd assigns


class SandboxError(OSError):
    """There is no sandbox, or it does not start."""


def python_executable():
    """Return the path of this Python with symbolic links in its folder resolved."""
    path = Path(sys.executable)
    return str(path.parent.resolve() / path.name)


def find_bubblewrap():
    """Return the path of bubblewrap after checking that it can make a sandbox.

    Returns
    -------
    str

    Raises
    ------
    SandboxError
        bubblewrap is not installed, or it cannot make a sandbox here.
    """
    path = shutil.which("bwrap")
    if not path:
        raise SandboxError(
            "bubblewrap is not installed, and without it submissions would run with all your "
            "permissions. Install it (Debian, Ubuntu, Fedora: the package bubblewrap), or, for "
            "submissions that you trust as much as your own code, use --unsafe."
        )
    command = [*bubblewrap_command(path), python_executable(), "-I", "-c", IMPORT_MAIN]
    result = subprocess.run(command, capture_output=True, text=True, env={})
    if result.returncode:
        message = (result.stderr.strip().splitlines() or ["no error message"])[-1]
        raise SandboxError(
            f"bubblewrap cannot make a sandbox here ({message}). Some systems and containers "
            "forbid user namespaces; allow them, or grade as root."
        )
    return path


def run_cells(cells, limits=None, sandbox=None, stop_event=None, answer_names=(), data_files=None):
    """Run cells in a fresh kernel and tests in a second process, both inside the sandbox.

    Parameters
    ----------
    cells : list of dict
        The code cells. Each has its ``source`` and its ``kind``: ``"locked"`` for a locked cell as
        it was handed out, ``"test"``, or ``"student"`` for a cell that the student wrote. A test
        also has its ``hidden_line_numbers``, counted from 1, and the ``visible_source`` that was
        handed out.
    limits : Limits, optional
        Limits of the run.
    sandbox : str, optional
        Path of bubblewrap, found automatically by default; `UNSAFE` for no sandbox.
    stop_event : threading.Event, optional
        Ends the run when it is set.
    answer_names : iterable of str
        Names that tests look up in the kernel even if locked cells define them.
    data_files : dict, optional
        Maps the names by which cells open data files to their paths.

    Returns
    -------
    Outcome
        Outputs of the cells that were run, and the reason why others were not.

    Raises
    ------
    SandboxError
        There is no bubblewrap, or the sandbox did not start.
    """
    limits = limits or Limits()
    sandbox = sandbox or find_bubblewrap()
    run_request = {"cells": cells, "answer_names": sorted(answer_names), "limits": vars(limits)}
    # Results are written to a pipe instead of stdout: the first process of a sandbox keeps stdout
    # open, and a submission, which runs as the same user, could write to it.
    read_end, write_end = os.pipe()
    command = [python_executable(), "-I", "-c", IMPORT_MAIN + "sandbox_main.main()", str(write_end)]
    if sandbox != UNSAFE:
        user_id = None
        if os.geteuid() == 0:  # Linux counts processes per user, so each sandbox needs its own
            index = (os.getpid() + next(SANDBOX_COUNTER)) % len(SANDBOX_USER_IDS)
            user_id = SANDBOX_USER_IDS[index]
        process_limits = {name: getattr(limits, name) for name in PROCESS_LIMIT_NAMES}
        command = [
            *bubblewrap_command(sandbox, limits.disk, data_files=data_files),
            *confined_command(command, user_id=user_id, **process_limits),
        ]
    outcome = Outcome()
    with (
        open(read_end, "rb", buffering=0) as results,
        _working_folders(sandbox, data_files) as run_request["folders"],
    ):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write_end,),
            start_new_session=True,
            env=None if sandbox == UNSAFE else {},
        )
        os.close(write_end)
        threading.Thread(target=_send_request, args=(process, run_request), daemon=True).start()
        try:
            _collect_results(process, results, limits, outcome, stop_event or threading.Event())
        finally:
            _kill_tree(process)
    if not outcome.started:  # the submission is not the cause
        raise SandboxError(f"the sandbox did not start: {outcome.not_run_reason}.")
    return outcome


def confined_command(command, *, memory, disk, processes, seconds, user_id=None):
    """Return a command that applies limits and then runs another command, inside the sandbox.

    Parameters
    ----------
    command : list of str
        The other command, which begins with a path.
    memory, disk, processes, seconds : int
        Arguments of `confine.confine`.
    user_id : int, optional
        Argument of `confine.confine`.

    Returns
    -------
    list of str
    """
    limits = {"memory": memory, "disk": disk, "processes": processes, "seconds": seconds}
    return [
        python_executable(),
        "-I",
        str(CONFINE_PATH),
        json.dumps(limits | {"user_id": user_id}),
        *command,
    ]


def bubblewrap_command(bubblewrap_path, disk=2**20, extra_paths=(), data_files=None):
    """Return the command that makes the sandbox; the program to run in it is to be appended.

    Parameters
    ----------
    bubblewrap_path : str
        Path of bubblewrap.
    disk : int, default=2**20
        Bytes of each file system in memory.
    extra_paths : iterable of path-like
        Files and folders that can be read inside, in addition to Python and the package.
    data_files : dict, optional
        Maps the names of data files in `WORKING_FOLDERS`, where they can be read, to their paths.

    Returns
    -------
    list of str
    """
    visible_paths = [Path("/usr"), Path("/etc/ld.so.cache"), Path("/etc/fonts")]
    required_paths = (sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), PACKAGE_FOLDER)
    for path in (*required_paths, *extra_paths):
        path = Path(path).resolve()
        if not any(path.is_relative_to(other) for other in visible_paths):
            visible_paths.append(path)
    # Without --as-pid-1, bubblewrap would be the first process. It keeps the environment of the
    # caller, which could be read inside.
    command = [bubblewrap_path, "--unshare-ipc", "--unshare-pid", "--as-pid-1"]
    command += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--die-with-parent", "--new-session"]
    command += ["--clearenv", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # `confine` switches to another user, because the limit on processes does not bind root.
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    # Some kernels let root in any namespace write to settings of the whole computer.
    command += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm"):
        command += ["--perms", "1777", "--size", str(disk), "--tmpfs", folder]
    for path in visible_paths:  # after /tmp, because a project may lie below /tmp
        command += [*_parent_folder_options(path), "--ro-bind-try", str(path), str(path)]
    command += _data_file_options(data_files or {})
    for name in ("bin", "lib", "lib64", "sbin"):
        if Path("/", name).is_symlink():
            command += ["--symlink", f"usr/{name}", f"/{name}"]
        else:
            command += ["--ro-bind-try", f"/{name}", f"/{name}"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    environment = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return command


def _parent_folder_options(path):
    """Return the options that make the parent folders of a path."""
    parents = reversed(path.parents[:-1])
    return [option for folder in parents for option in ("--perms", "0755", "--dir", str(folder))]


def _data_file_options(data_files):
    """Return the options that mount data files for the tests, and link to them for the kernel."""
    kernel_folder, test_folder = (Path(WORKING_FOLDERS[key]) for key in ("kernel", "tests"))
    options = ["--perms", "0755", "--dir", str(test_folder)]
    for name, path in data_files.items():
        options += _parent_folder_options(test_folder / name)
        options += ["--ro-bind", str(path), str(test_folder / name)]
    for name in {Path(name).parts[0] for name in data_files}:  # of top-level files and folders
        options += ["--symlink", str(test_folder / name), str(kernel_folder / name)]
    return options


@contextmanager
def _working_folders(sandbox, data_files):
    """Yield the working folders; without a sandbox, make them with copies of the data files."""
    if sandbox != UNSAFE:
        yield WORKING_FOLDERS
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folders = {key: str(Path(root, key)) for key in WORKING_FOLDERS}
        for folder in folders.values():
            Path(folder).mkdir()
            for name, path in (data_files or {}).items():
                Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, Path(folder, name))
        yield folders


def _send_request(process, run_request):
    with suppress(BrokenPipeError, ValueError), process.stdin:
        process.stdin.write(json.dumps(run_request).encode())


def _collect_results(process, results, limits, outcome, stop_event):
    """Add results to the outcome until the last one arrives, or until a limit is exceeded."""
    deadline, buffer = time.monotonic() + limits.seconds, b""
    remaining_output = 4 * limits.output
    root_process = psutil.Process(process.pid)
    with selectors.DefaultSelector() as selector:
        selector.register(results, selectors.EVENT_READ)
        while True:
            if selector.select(CHECK_INTERVAL):
                chunk = results.read(2**16)
                if not chunk:
                    outcome.not_run_reason = "the run ended early"
                    return
                remaining_output -= len(chunk)
                *lines, buffer = (buffer + chunk).split(b"\n")
                if any([outcome.update(json.loads(line)) for line in lines]):
                    return
            outcome.not_run_reason = _exceeded_limit(
                root_process, limits, deadline, remaining_output
            )
            outcome.timed_out |= time.monotonic() > deadline
            if stop_event.is_set():
                outcome.not_run_reason = "grading was stopped"
            if outcome.not_run_reason:
                return


def _exceeded_limit(root_process, limits, deadline, remaining_output):
    """Return a message about the limit that all processes together have exceeded, or None."""
    if time.monotonic() > deadline:
        return f"the notebook took more than {limits.seconds} seconds"
    if remaining_output < 0:
        return "more output than is allowed"
    n_processes, memory = 0, 0
    with suppress(psutil.Error):
        descendants = root_process.children(recursive=True)
        for process in descendants:
            with suppress(psutil.Error):
                memory += process.memory_info().rss
                n_processes += 1
        if memory > limits.memory:  # RSS counts shared memory once per process, PSS only once
            memory = sum(process.memory_full_info().pss for process in descendants)
    if n_processes > limits.processes:
        return f"more than {limits.processes} processes"
    if memory > limits.memory:
        return f"more than {limits.memory / 2**30:.1f} GiB of memory"
    return None


def _kill_tree(process):
    """Kill the process and all its descendants."""
    descendants = []
    with suppress(psutil.Error):
        descendants = psutil.Process(process.pid).children(recursive=True)
    process.kill()  # this also ends the processes inside bubblewrap
    for descendant in descendants:
        with suppress(psutil.Error):
            descendant.kill()
    process.wait()
