import os
import platform
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from shell import SHELLS, run_here

from svmbook.course import sandbox as sandboxes
from svmbook.course.inside import FORBIDDEN
from svmbook.course.sandbox import UNSAFE, Limits, SandboxError, find_sandbox, run_cells

SHORT = Limits(seconds=60, cell_seconds=30, memory=2**30, output=300_000)


def run(sandbox, *sources, limits=SHORT, graded=frozenset(), given=frozenset()):
    cells = [
        {"source": text, "graded": k in graded, "given": k in graded | given}
        for k, text in enumerate(sources)
    ]
    return (run_here if sandbox == SHELLS else run_cells)(cells, limits, sandbox)


def texts(outcome, number):
    return "".join(output.get("text", "") for output in outcome.outputs[number])


def test_cells_share_a_kernel_and_an_error_does_not_end_it(sandbox):
    outcome = run(sandbox, "x = 6", "1 / 0", "print(7 * x)")
    assert outcome.reason is None and outcome.tampered is None
    assert texts(outcome, 2) == "42\n"
    assert outcome.outputs[1][0]["ename"] == "ZeroDivisionError"


def test_the_sandbox_shows_the_package_and_nothing_of_the_user(sandbox):
    outcome = run(
        sandbox,
        "import os, svmbook, sklearn\nprint(os.getuid() != 0)",
        f"print([p for p in ({os.getcwd()!r} + '/notebooks', '/etc/passwd', '/var') "
        "if os.path.exists(p)])",
        "print({k: v for k, v in os.environ.items() if 'SVMBOOK' in k or k == 'USER'})",
        "open('/tmp/file', 'w').write('x'); print('written')",
        "open('/file', 'w')",
    )
    assert "[]" in texts(outcome, 1)
    assert texts(outcome, 2) == "{}\n"
    assert texts(outcome, 3) == "written\n"
    assert outcome.outputs[4][-1]["ename"] in ("OSError", "PermissionError")
    assert texts(outcome, 0) == "True\n"


def test_no_more_output_is_taken_than_is_allowed(sandbox):
    outcome = run(sandbox, "print(1)", "for _ in range(1000): print('x' * 10_000)", "print(3)")
    assert outcome.reason == "more output than is allowed"
    assert texts(outcome, 0) == "1\n" and 2 not in outcome.outputs


def test_a_long_text_is_cut(sandbox):
    limits = Limits(seconds=60, output=2_000_000)
    assert len(texts(run(sandbox, "print('x' * 500_000)", limits=limits), 0)) < 250_000


def test_what_was_finished_before_the_end_is_kept(sandbox):
    outcome = run(sandbox, "print('here')", "import os\nos.kill(os.getpid(), 9)", "print('there')")
    assert outcome.reason == "the kernel died"
    assert texts(outcome, 0) == "here\n" and 2 not in outcome.outputs


def test_a_test_that_was_made_to_pass_is_noticed(shells):
    blind = "get_ipython().ast_transformers.append(type('T', (), {'visit': staticmethod(drop)})())"
    drop = "import ast\ndef drop(tree):\n  tree.body = []\n  return tree\n"
    assert run(shells, "x = 1", "assert x == 1", graded={1}).tampered is None
    assert run(shells, drop + blind, "assert 1 == 2", graded={1}).tampered == 1


def test_a_cell_that_takes_too_long_is_interrupted(sandbox):
    loop = "import time\nwhile True: time.sleep(0.01)"
    outcome = run(sandbox, loop, "print(2)", limits=replace(SHORT, cell_seconds=3))
    assert outcome.outputs[0][-1]["ename"] in ("CellTimeoutError", "KeyboardInterrupt")
    assert outcome.reason is None and texts(outcome, 1) == "2\n"


def test_a_notebook_that_takes_too_long_is_ended(sandbox, monkeypatch):
    """It ignores interrupts. Our clock leaps to the end once its first cell is done."""
    now, take = [0.0], sandboxes._take

    def leap(line, outcome):
        last = take(line, outcome)
        now[0] += 1e6 if 0 in outcome.outputs else 0.0
        return last

    monkeypatch.setattr(sandboxes, "_take", leap)
    monkeypatch.setattr(sandboxes, "time", SimpleNamespace(monotonic=lambda: now[0]))
    ignore = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    outcome = run(sandbox, "print(1)", ignore, "print(3)")
    assert outcome.reason == "the notebook took more than 60 seconds"
    assert texts(outcome, 0) == "1\n" and outcome.outputs.keys() == {0}


def test_no_more_processes_are_started_than_are_allowed(sandbox):
    fork = "import os, time\nfor _ in range(80):\n  if not os.fork(): time.sleep(60), os._exit(0)"
    outcome = run(sandbox, fork, limits=replace(SHORT, processes=60))
    refused = outcome.outputs.get(0, [{}])[-1].get("ename") == "BlockingIOError"
    assert refused or outcome.reason == "more than 60 processes"


def test_without_bubblewrap_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SandboxError, match=r"not installed.*package bubblewrap.*--unsafe"):
        find_sandbox()


def test_where_no_sandbox_can_be_made_it_is_said_why(monkeypatch):
    monkeypatch.setattr(sandboxes, "bubble", lambda path: ["false"])
    monkeypatch.setattr(shutil, "which", lambda name: "bwrap")
    with pytest.raises(SandboxError, match="cannot make a sandbox here"):
        find_sandbox()


def test_a_sandbox_that_does_not_start_is_no_fault_of_a_submission(sandbox, monkeypatch):
    monkeypatch.setattr(sandboxes, "bubble", lambda path, disk: ["false"])
    with pytest.raises(SandboxError, match="did not start"):
        run(sandbox, "print(1)")


def test_without_a_sandbox_cells_run_all_the_same():
    assert texts(run(UNSAFE, "print(6 * 7)"), 0) == "42\n"


def test_what_was_handed_out_is_in_tests_what_it_was(shells):
    outcome = run(
        shells,
        "import numpy as np\ndef double(x): return 2 * x\ndef helper(x): return double(x)\ny = 1",
        "class np: pass\ndef helper(x): return 0\ndef double(x): return 0\ny = 2",
        "assert helper(3) == 6 and np.sum([1, 2]) == 3 and y == 2",
        "print(helper(3))",
        graded={2},
        given={0},
    )
    assert outcome.checked == {2} and outcome.outputs[2] == []


def test_what_is_built_in_is_that_in_tests_and_elsewhere_what_a_student_made_of_it(shells):
    outcome = run(
        shells,
        "from numpy import *\ndef len(x): return 7\ndef rows(X): return sum(X, axis=1), len(X)",
        "assert len([1]) == 1 and rows([[1, 2]])[1] == 7 and sum([1, 2]) == 3\nseen = 5",
        "print(len([1]), seen)",
        graded={1},
    )
    assert outcome.checked == {1} and outcome.outputs[1] == []
    assert texts(outcome, 2) == "7 5\n"


def test_what_a_failing_test_had_defined_stands_for_the_next(shells):
    outcome = run(shells, "x = 1", "y = 2\nassert x == 2", "assert y == 2", graded={1, 2})
    assert outcome.outputs[1][-1]["ename"] == "AssertionError" and outcome.outputs[2] == []


@pytest.mark.parametrize("name", ["abs", "exec"])
def test_what_is_built_in_and_was_replaced_for_all_is_noticed(shells, name):
    code = f"import builtins\nbuiltins.{name} = lambda *a: 0.0"
    outcome = run(shells, code, "assert True", graded={1})
    assert outcome.tampered == 1 and outcome.checked == set()


@pytest.mark.skipif(platform.machine() not in FORBIDDEN, reason="no filter for this machine")
def test_memory_that_no_process_is_charged_for_is_not_to_be_had(sandbox):
    outcome = run(
        sandbox,
        "import os\nos.memfd_create('x')",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.shmget(0, 4096, 0o1600), ctypes.get_errno())",
        "print(libc.unshare(0x10000000), ctypes.get_errno())",
        f"print(libc.syscall({FORBIDDEN[platform.machine()][2][0]}, 0x10000000 | 17, 0, 0, 0, 0), "
        "ctypes.get_errno())",
        "import socket\nprint(socket.socketpair()[0].fileno() > 0)\nsocket.socket(40)",
        "import multiprocessing as m\nwith m.Pool(2) as pool: print(pool.map(abs, [-1, -2]))",
    )
    assert outcome.outputs[0][-1]["ename"] == "PermissionError"
    assert all(texts(outcome, k) == "-1 1\n" for k in (1, 2, 3))
    assert texts(outcome, 4) == "True\n" and outcome.outputs[4][-1]["ename"] == "PermissionError"
    assert texts(outcome, 5) == "[1, 2]\n"


def test_an_answer_cannot_change_what_the_test_goes_on_with(shells):
    outcome = run(
        shells,
        "import numpy as np",
        "def f(X): X[:] = 0; return 0.0",
        "X = np.ones(3)\nvalue = f(X)\nassert value == X.sum()",
        "X = np.ones(3)\nvalue = f(X=X)\nassert value == X.sum()",
        graded={2, 3},
        given={0},
    )
    assert all(outcome.outputs[k][-1]["ename"] == "AssertionError" for k in (2, 3))


TRICKS = {
    "events": "get_ipython().events.register('pre_run_cell', lambda i: globals().update("
    "check_close=lambda *a, **k: None))",
    "input": "get_ipython().input_transformers_cleanup.append("
    "lambda lines: [] if 'check_' in ''.join(lines) and 'canary' not in ''.join(lines) else lines)",
    "broken canary": "import svmbook.course.checks as c, sys\nc.zip = lambda *a, **k: ()\n"
    "sys.modules['numpy'] = None",
    "known canary": "from svmbook.course import checks\nfalse = checks.check_close\n"
    "def of(name, *a, **k):\n    if name == 'canary': raise AssertionError(name)\n"
    "checks.check_close = of",
    "while it is called": "def f(x):\n    global check_close\n    check_close = lambda *a: None\n"
    "    return 4.0",
}


def check_trick(sandbox, trick):
    """Let a submission play a trick, and look that its wrong answer gets nothing for it."""
    outcome = run(
        sandbox,
        "from svmbook.course.checks import check_close",
        f"def f(x): return 4.0\n{TRICKS[trick]}",
        "check_close('f', f(2.0), 4.0)\ncheck_close('f', f(3.0), 9.0)",
        graded={2},
        given={0},
    )
    failed = any(output["output_type"] == "error" for output in outcome.outputs[2])
    assert failed or outcome.tampered == 2 or 2 not in outcome.checked


@pytest.mark.parametrize("trick", TRICKS)
def test_a_test_that_passes_with_wrong_answers_is_no_test(shells, trick):
    check_trick(shells, trick)


@pytest.mark.nightly  # above in a forked IPython, without the messages of a kernel
@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_is_none_in_a_kernel_either(sandbox, trick):
    check_trick(sandbox, trick)
