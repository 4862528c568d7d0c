"""Cells run in a sandbox without access to the user's files, and within limits."""

import os
import platform
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cells import DEFAULT_LIMITS, run_sources

from svmbook.course.execution import sandbox as sandbox_module
from svmbook.course.execution.confine import SYS_KEYCTL, SYSCALL_NUMBERS
from svmbook.course.execution.outcome import Limits, Outcome
from svmbook.course.execution.run import MAX_OUTPUT_LENGTH
from svmbook.course.execution.sandbox import UNSAFE, SandboxError, find_bubblewrap


def printed_text(outcome, cell_index):
    return "".join(output.get("text", "") for output in outcome.outputs[cell_index])


def test_cells_share_a_kernel_that_survives_errors(sandbox):
    outcome = run_sources(sandbox, "x = 6", "1 / 0", "print(7 * x)")
    assert outcome.not_run_reason is None
    assert printed_text(outcome, 2) == "42\n"
    assert outcome.outputs[1][0]["ename"] == "ZeroDivisionError"


def test_sandbox_shows_the_package_but_no_files_of_the_user(sandbox):
    outcome = run_sources(
        sandbox,
        "import os, svmbook, sklearn\nprint(os.getuid() != 0)",
        f"print([p for p in ({os.getcwd()!r} + '/notebooks', '/etc/passwd', '/var') "
        "if os.path.exists(p)])",
        "print({k: v for k, v in os.environ.items() if 'SVMBOOK' in k or k == 'USER'})",
        "open('/tmp/file', 'w').write('x'); print('written')",
        "open('/file', 'w')",
    )
    assert "[]" in printed_text(outcome, 1)
    assert printed_text(outcome, 2) == "{}\n"
    assert printed_text(outcome, 3) == "written\n"
    assert outcome.outputs[4][-1]["ename"] in ("OSError", "PermissionError")
    assert printed_text(outcome, 0) == "True\n"


def test_figures_are_kept_however_they_are_displayed(sandbox):
    draw_source = "figure, ax = plt.subplots(figsize=(1, 1))\nax.plot([0, 1])\n"
    outcome = run_sources(
        sandbox,
        "import matplotlib.pyplot as plt",
        draw_source + "plt.show()",
        draw_source,
        draw_source + "plt.close()\nfigure",
        draw_source + "plt.close()\nfrom IPython.display import display\ndisplay(figure)",
    )
    for k in range(1, 5):
        images = [output for output in outcome.outputs[k] if "image/png" in output.get("data", ())]
        assert len(images) == 1, k


def test_exit_quit_and_debugger_do_not_end_the_kernel(sandbox):
    outcome = run_sources(sandbox, "x = 1", "exit()", "quit", "%pdb on", "1 / 0", "print(x)")
    assert outcome.not_run_reason is None and printed_text(outcome, 5) == "1\n"
    assert "no effect" in printed_text(outcome, 1) and "no effect" in printed_text(outcome, 2)


def test_first_process_of_the_sandbox_cannot_be_read_traced_or_killed(sandbox, monkeypatch):
    """bubblewrap's own first process would have the grader's environment, and no limits."""
    monkeypatch.setenv("CANARY", "the grader's environment")
    keyctl_number = SYS_KEYCTL.get(platform.machine())
    outcome = run_sources(
        sandbox,
        "print(open('/proc/1/environ').read())",
        "open('/proc/1/mem', 'r+b')",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())",  # PTRACE_ATTACH
        f"print({keyctl_number} and libc.syscall({keyctl_number}, 0, -3, 0), ctypes.get_errno())",
        "import os, signal, subprocess, time, resource\n"
        "try: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (4, 256))\n"
        "except PermissionError: print('refused')\n"
        "subprocess.run(['/bin/sh', '-c', 'sleep 0.1 &'])\ntime.sleep(0.5)\n"
        "states = [open(f'/proc/{p}/stat').read().split()[2] for p in os.listdir('/proc')"
        " if p.isdigit()]\nprint('Z' in states)",
        "os.kill(1, signal.SIGKILL)",
        "print('alive')",
    )
    assert "CANARY" not in printed_text(outcome, 0)
    assert outcome.outputs[1][-1]["ename"] == "PermissionError"
    assert printed_text(outcome, 2) == "-1 1\n"
    if keyctl_number:
        assert printed_text(outcome, 3) == "-1 1\n"
    assert printed_text(outcome, 4) == "refused\nFalse\n"  # no zombie: orphans are reaped
    assert printed_text(outcome, 6) == "alive\n"


def test_output_beyond_the_limit_is_dropped_and_later_cells_run(sandbox):
    long_output_source = "for _ in range(1000): print('x' * 10_000)"
    outcome = run_sources(
        sandbox,
        "print(1)",
        long_output_source,
        "y = 3",
        "assert y == 4",
        "assert y == 3",
        test_indices={3, 4},
    )
    assert outcome.not_run_reason is None and outcome.truncated
    assert (
        printed_text(outcome, 0) == "1\n" and len(printed_text(outcome, 1)) < 2 * MAX_OUTPUT_LENGTH
    )
    assert [len(outcome.outputs[k]) for k in (3, 4)] == [1, 0]


def test_long_text_is_truncated(sandbox):
    limits = Limits(seconds=60, output=2_000_000)
    outcome = run_sources(sandbox, "print('x' * 500_000)", limits=limits)
    assert len(printed_text(outcome, 0)) < 250_000


def test_outputs_before_the_death_of_the_kernel_are_kept(sandbox):
    outcome = run_sources(
        sandbox, "print('here')", "import os\nos.kill(os.getpid(), 9)", "print('there')"
    )
    assert outcome.not_run_reason == "the kernel died"
    assert printed_text(outcome, 0) == "here\n" and 2 not in outcome.outputs


def test_cell_that_takes_too_long_is_interrupted(sandbox):
    loop = "import time\nwhile True: time.sleep(0.01)"
    outcome = run_sources(sandbox, loop, "print(2)", limits=replace(DEFAULT_LIMITS, cell_seconds=3))
    assert outcome.outputs[0][-1]["ename"] in ("CellTimeoutError", "KeyboardInterrupt")
    assert outcome.not_run_reason is None and printed_text(outcome, 1) == "2\n"


def test_notebook_that_takes_too_long_is_killed(sandbox, monkeypatch):
    """The second cell ignores interrupts. The clock is advanced after the first cell."""
    now, update = [0.0], Outcome.update

    def update_and_advance(outcome, message):
        is_last = update(outcome, message)
        now[0] += 1e6 if 0 in outcome.outputs else 0.0
        return is_last

    monkeypatch.setattr(Outcome, "update", update_and_advance)
    monkeypatch.setattr(sandbox_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    ignore_interrupts = (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    )
    outcome = run_sources(sandbox, "print(1)", ignore_interrupts, "print(3)")
    assert outcome.not_run_reason == "the notebook took more than 60 seconds"
    assert printed_text(outcome, 0) == "1\n" and outcome.outputs.keys() == {0}


def test_number_of_processes_is_limited(sandbox):
    fork = "import os, time\nfor _ in range(80):\n  if not os.fork(): time.sleep(60), os._exit(0)"
    outcome = run_sources(sandbox, fork, limits=replace(DEFAULT_LIMITS, processes=60))
    is_refused = outcome.outputs.get(0, [{}])[-1].get("ename") == "BlockingIOError"
    assert is_refused or outcome.not_run_reason == "more than 60 processes"


def test_error_without_bubblewrap_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SandboxError, match=r"not installed.*package bubblewrap.*--unsafe"):
        find_bubblewrap()


def test_error_of_a_failing_bubblewrap_says_that_no_sandbox_can_be_made(monkeypatch):
    monkeypatch.setattr(sandbox_module, "bubblewrap_command", lambda path: ["false"])
    monkeypatch.setattr(shutil, "which", lambda name: "bwrap")
    with pytest.raises(SandboxError, match="cannot make a sandbox here"):
        find_bubblewrap()


def test_sandbox_that_does_not_start_raises_an_error(sandbox, monkeypatch):
    monkeypatch.setattr(sandbox_module, "bubblewrap_command", lambda *args, **kwargs: ["false"])
    with pytest.raises(SandboxError, match="did not start"):
        run_sources(sandbox, "print(1)")


def test_cells_run_without_a_sandbox():
    assert printed_text(run_sources(UNSAFE, "print(6 * 7)"), 0) == "42\n"


@pytest.mark.skipif(
    platform.machine() not in SYSCALL_NUMBERS, reason="no filter for this processor"
)
def test_forbidden_system_calls_are_refused(sandbox):
    clone_number = SYSCALL_NUMBERS[platform.machine()].clone
    outcome = run_sources(
        sandbox,
        "import os\nos.memfd_create('x')",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.shmget(0, 4096, 0o1600), ctypes.get_errno())",
        "print(libc.unshare(0x10000000), ctypes.get_errno())",
        f"print(libc.syscall({clone_number}, 0x10000000 | 17, 0, 0, 0, 0), ctypes.get_errno())",
        "import socket\nprint(socket.socketpair()[0].fileno() > 0)\nsocket.socket(40)",
        "import multiprocessing as m\nwith m.Pool(2) as pool: print(pool.map(abs, [-1, -2]))",
    )
    assert outcome.outputs[0][-1]["ename"] == "PermissionError"
    assert all(printed_text(outcome, k) == "-1 1\n" for k in (1, 2, 3))
    assert (
        printed_text(outcome, 4) == "True\n"
        and outcome.outputs[4][-1]["ename"] == "PermissionError"
    )
    assert printed_text(outcome, 5) == "[1, 2]\n"
