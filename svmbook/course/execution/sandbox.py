"""Run the cells of a submission where they can do no harm.

A process tree of its own under bubblewrap: no network, no file of the course or of the user, a
file system that is read-only but for a small one in memory, no privileges. What a process may use
is limited from inside (`confine`), and what all of them use together from here.
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
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from .outcome import Limits, Outcome

__all__ = ["UNSAFE", "SandboxError", "bubble", "confined", "find_sandbox", "run_cells"]

UNSAFE = "unsafe"
# The grammar of addresses that jsonschema would read takes a second, and no address is validated.
START = "import sys; sys.modules['rfc3987_syntax'] = None; "
START += "from svmbook.course.execution import inside; "
PACKAGE = Path(__file__).resolve().parents[2]
CONFINE = Path(__file__).resolve().with_name("confine.py")
BOUNDS = ("memory", "disk", "processes", "seconds")  # of `Limits`, set inside
# Where the kernel and the tests start. A submission can write in the first folder only, because the
# process of the tests, or Matplotlib in it, may read settings from its working directory.
FOLDERS = {"kernel": "/tmp", "tests": "/assignment"}
STARTED = itertools.count()  # sandboxes
PERIOD = 0.1  # seconds between two looks at what the processes use
USERS = range(60_600, 61_180)  # between those that Debian and systemd give to anybody


class SandboxError(OSError):
    """There is no sandbox, or it does not start."""


def python():
    """Return the path of this Python without links among its folders: the sandbox has none."""
    here = Path(sys.executable)
    return str(here.parent.resolve() / here.name)


def find_sandbox():
    """Return the path of bubblewrap.

    Returns
    -------
    str
        Its path.

    Raises
    ------
    SandboxError
        It is not installed, or may not make a sandbox here.
    """
    found = shutil.which("bwrap")
    if not found:
        raise SandboxError(
            "bubblewrap is not installed, and without it submissions would run with all that you "
            "may do. Install it (Debian, Ubuntu, Fedora: the package bubblewrap), or, for "
            "submissions that you trust as your own code, give --unsafe."
        )
    reads = [python(), "-I", "-c", START]
    tried = subprocess.run([*bubble(found), *reads], capture_output=True, text=True, env={})
    if tried.returncode:
        said = (tried.stderr.strip().splitlines() or ["no word"])[-1]
        raise SandboxError(
            f"bubblewrap cannot make a sandbox here ({said}). Some systems and containers forbid "
            "user namespaces; allow them, or grade as root."
        )
    return found


def run_cells(cells, limits=None, sandbox=None, stop=None, answers=(), files=None):
    """Run cells in a fresh kernel inside the sandbox, and tests beside it.

    Parameters
    ----------
    cells : list of dict
        The code cells. Each has its ``source`` and its ``kind``: ``"given"`` if it is as handed
        out, ``"test"``, or ``"own"``. A test also has the numbers of its ``hidden`` lines and the
        text that is ``shown`` to students.
    limits : Limits, optional
        What they may use.
    sandbox : str, optional
        Path of bubblewrap, by default looked for; `UNSAFE` for none.
    stop : threading.Event, optional
        Ends the run when it is set.
    answers : iterable of str
        Names that tests take from the kernel even where given cells define them.
    files : dict, optional
        The paths of data files by their names, as cells open them.

    Returns
    -------
    Outcome
        Outputs of the cells that were run, and why others were not.

    Raises
    ------
    SandboxError
        There is no bubblewrap, or the sandbox did not start.
    """
    limits = limits or Limits()
    sandbox = sandbox or find_sandbox()
    work = {"cells": cells, "answers": sorted(answers), "limits": vars(limits)}
    # Results leave by a file of their own: the first process of a sandbox keeps stdout open, and
    # under the same user's name a submission could write to it.
    results, told = os.pipe()
    command = [python(), "-I", "-c", START + "inside.main()", str(told)]
    if sandbox != UNSAFE:
        bounds = {name: getattr(limits, name) for name in BOUNDS}
        # Limits are counted by user, so that each sandbox of this run is another one.
        user = USERS[(os.getpid() + next(STARTED)) % len(USERS)] if os.geteuid() == 0 else None
        around = bubble(sandbox, limits.disk, files=files)
        command = [*around, *confined(command, user=user, **bounds)]
    outcome = Outcome()
    with (
        open(results, "rb", buffering=0) as results,
        _copies(files) if sandbox == UNSAFE else nullcontext(FOLDERS) as work["folders"],
    ):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(told,),
            start_new_session=True,
            env=None if sandbox == UNSAFE else {},
        )
        os.close(told)
        threading.Thread(target=_feed, args=(process, work), daemon=True).start()
        try:
            _watch(process, results, limits, outcome, stop or threading.Event())
        finally:
            _end(process)
    if not outcome.started:  # that is no fault of the submission
        raise SandboxError(f"the sandbox did not start: {outcome.reason}.")
    return outcome


def confined(command, *, memory, disk, processes, seconds, user=None):
    """Return the command that takes limits inside the sandbox before it becomes another.

    Parameters
    ----------
    command : list of str
        What to become; the first is a path.
    memory, disk, processes, seconds, user : int
        As `confine.confine` takes them.

    Returns
    -------
    list of str
    """
    limits = {"memory": memory, "disk": disk, "processes": processes, "seconds": seconds}
    return [python(), "-I", str(CONFINE), json.dumps(limits | {"user": user}), *command]


def bubble(path, disk=2**20, also=(), files=None):
    """Return the command that makes the sandbox, without what is to run in it.

    Parameters
    ----------
    path : str
        Path of bubblewrap.
    disk : int, default=2**20
        Bytes of each file system in memory.
    also : iterable of path-like
        Files and folders that can be read inside, besides Python and the package.
    files : dict, optional
        The paths of data files by their names in `FOLDERS`, where they can be read.

    Returns
    -------
    list of str
    """
    visible = [Path("/usr"), Path("/etc/ld.so.cache"), Path("/etc/fonts")]
    needed = (sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), PACKAGE)
    for folder in (*needed, *also):
        folder = Path(folder).resolve()
        if not any(folder.is_relative_to(other) for other in visible):
            visible.append(folder)
    # Another first process would keep the environment of who has started it, open to all inside.
    command = [path, "--unshare-ipc", "--unshare-pid", "--as-pid-1", "--unshare-net"]
    command += ["--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    command += ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # Another user's name is taken inside; the limit on processes does not bind root.
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    # Some kernels let root of any name space write what belongs to the whole machine.
    command += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm"):
        command += ["--perms", "1777", "--size", str(disk), "--tmpfs", folder]
    for folder in visible:  # after /tmp, where a project may lie as well
        command += [*_above(folder), "--ro-bind-try", str(folder), str(folder)]
    command += _readable(files or {})
    for name in ("bin", "lib", "lib64", "sbin"):
        if Path("/", name).is_symlink():
            command += ["--symlink", f"usr/{name}", f"/{name}"]
        else:
            command += ["--ro-bind-try", f"/{name}", f"/{name}"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    settings = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    settings |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    for name, value in settings.items():
        command += ["--setenv", name, value]
    return command


def _above(path):
    """Return the options that make the folders above a path."""
    above = reversed(path.parents[:-1])
    return [word for folder in above for word in ("--perms", "0755", "--dir", str(folder))]


def _readable(files):
    """Return the options that show data files to the tests, and to the kernel by links to these."""
    kernel, tests = (Path(FOLDERS[who]) for who in ("kernel", "tests"))
    options = ["--perms", "0755", "--dir", str(tests)]
    for name, path in files.items():
        options += [*_above(tests / name), "--ro-bind", str(path), str(tests / name)]
    for top in {Path(name).parts[0] for name in files}:
        options += ["--symlink", str(tests / top), str(kernel / top)]
    return options


@contextmanager
def _copies(files):
    """Make the folders of a run without a sandbox, where no data file can be read-only."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as root:
        folders = {who: str(Path(root, who)) for who in FOLDERS}
        for folder in folders.values():
            Path(folder).mkdir()
            for name, path in (files or {}).items():
                Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, Path(folder, name))
        yield folders


def _feed(process, work):
    with suppress(BrokenPipeError, ValueError), process.stdin:
        process.stdin.write(json.dumps(work).encode())


def _watch(process, results, limits, outcome, stop):
    """Take what comes out until the end, or until a limit is passed."""
    end, buffer, left = time.monotonic() + limits.seconds, b"", 4 * limits.output
    root = psutil.Process(process.pid)
    with selectors.DefaultSelector() as selector:
        selector.register(results, selectors.EVENT_READ)
        while True:
            if selector.select(PERIOD):
                piece = results.read(2**16)
                if not piece:
                    outcome.reason = "the run ended early"
                    return
                left -= len(piece)
                *lines, buffer = (buffer + piece).split(b"\n")
                if any([outcome.take(json.loads(line)) for line in lines]):
                    return
            outcome.reason = _passed(root, limits, end, left)
            outcome.late |= time.monotonic() > end
            if stop.is_set():
                outcome.reason = "grading was stopped"
            if outcome.reason:
                return


def _passed(root, limits, end, left):
    """Return which limit the processes have passed together, if any."""
    if time.monotonic() > end:
        return f"the notebook took more than {limits.seconds} seconds"
    if left < 0:
        return "more output than is allowed"
    processes, memory = 0, 0
    with suppress(psutil.Error):
        family = root.children(recursive=True)
        for process in family:
            with suppress(psutil.Error):
                memory += process.memory_info().rss
                processes += 1
        if memory > limits.memory:  # what processes share was counted for each of them
            memory = sum(process.memory_full_info().pss for process in family)
    if processes > limits.processes:
        return f"more than {limits.processes} processes"
    if memory > limits.memory:
        return f"more than {limits.memory / 2**30:.1f} GiB of memory"
    return None


def _end(process):
    """End the process with all that it has started."""
    started = []
    with suppress(psutil.Error):
        started = psutil.Process(process.pid).children(recursive=True)
    process.kill()  # bubblewrap takes its tree with it
    for child in started:
        with suppress(psutil.Error):
            child.kill()
    process.wait()
