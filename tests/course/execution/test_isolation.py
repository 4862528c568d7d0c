"""Attempts of a submission to earn points for wrong answers, or to read the tests."""

import pytest
from cells import examine, run_sources

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells

# Code that a submission with a wrong f adds in order to pass the test. The first exploit earned all
# points in an earlier version.
EXPLOITS = {
    "input transformer": "get_ipython().input_transformers_post.append(\n"
    "  lambda lines: ['pass'] if 'check_' in ''.join(lines) else lines)",
    "do_execute": "kernel = getattr(get_ipython(), 'kernel', None)\n"
    "if kernel: kernel.do_execute = lambda *a, **k: {'status': 'ok'}",
    "run_cell": "type(get_ipython()).run_cell = lambda *a, **k: None",
    "AST transformer": "import ast\nclass Pass(ast.NodeTransformer):\n"
    "  def visit_Assert(self, node): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(Pass())",
    "events": "get_ipython().events.register('pre_run_cell', lambda i: globals().update("
    "check_close=lambda *a, **k: None))",
    "checks": "from svmbook.course import checks\nchecks.check_close = lambda *a, **k: None\n"
    "check_close = checks.check_close",
    "built-in": "import builtins\nbuiltins.abs = lambda x: 0.0\nbuiltins.exec = lambda *a: None",
    "shadowed built-ins": "exec = compile = callable = abs = lambda *a, **k: 0",
    "numpy": "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None\n"
    "np.array = lambda *a, **k: 0",
    "frames": "import sys\ndef f(x):\n"
    "  frame, values = sys._getframe(), []\n"
    "  while frame:\n    values.append(frame.f_locals.get('expected'))\n    frame = frame.f_back\n"
    "  return next((value for value in values if value is not None), 4.0)",
    "garbage": "import gc\ndef f(x):\n"
    "  namespaces = [o for o in gc.get_objects() if isinstance(o, dict) and 'expected' in o]\n"
    "  return namespaces[0]['expected'] if namespaces else 4.0",
    "trace": "import sys\nsys.settrace(lambda frame, *a: frame.f_locals.update(expected=4.0))",
    "reply without value": "import svmbook.course.execution.kernel_server as a\n"
    "a.Connection.send = lambda self, tree: self._socket.sendall(b'{\"end\": true}\\n')",
    "failing look-up": "import svmbook.course.execution.kernel_server as a\n"
    "def fail(self, *args): raise ValueError\na.SubmissionPeer.perform = fail",
    "invalid reply": "import svmbook.course.execution.kernel_server as a\n"
    'a.Connection.send = lambda self, tree: self._socket.sendall(b\'{"value": {"kind": 1}}\\n\')',
    "unrequested names": "import svmbook.course.execution.kernel_server as a\n"
    "old = a.SubmissionPeer.perform\n"
    "def perform(self, message, args, kwargs):\n"
    "  answers = old(self, message, args, kwargs)\n"
    "  if message['action'] == 'look_up':\n"
    "    answers['check_close'] = lambda *a, **k: None\n"
    "    answers['__builtins__'] = {'abs': lambda x: 0.0}\n"
    "  return answers\n"
    "a.SubmissionPeer.perform = perform",
    "StopIteration": "def f(x): raise StopIteration",
    "no server": "import svmbook.course.execution.kernel_server as a\na.serve = lambda *a: None",
    "always equal": "class Yes(float):\n  def __eq__(self, other): return True\n"
    "  def __sub__(self, other): return 0.0\n  __rsub__ = __sub__\n"
    "  def __float__(self): return 9.0\ndef f(x): return Yes(4.0)",
}


def check_exploit_fails(sandbox, exploit):
    """Check that a wrong answer fails although the submission uses an exploit."""
    error, _ = examine(
        sandbox,
        f"def f(x): return 4.0\n{EXPLOITS[exploit]}",
        "expected = 2.0**2\ncheck_close('f', f(2.0), expected)\nexpected = 3.0**3\n"
        "assert abs(f(3.0) - expected) < 1e-9",
        "from svmbook.course.checks import check_close",
    )
    assert error is not None


@pytest.mark.parametrize("exploit", EXPLOITS)
def test_exploit_earns_no_points(shell_sandbox, exploit):
    check_exploit_fails(shell_sandbox, exploit)


@pytest.mark.nightly  # the test above runs in a forked IPython, without the messages of a kernel
@pytest.mark.parametrize("exploit", EXPLOITS)
def test_exploit_earns_no_points_in_a_kernel(sandbox, exploit):
    check_exploit_fails(sandbox, exploit)


# Expressions by which an answer tries to access more than its arguments f and obj.
ACCESS_ATTEMPTS = {
    "globals": "f.__globals__",
    "attribute": "f._peer.request('get', target=f._number, name='__globals__')",
    "code": "f._peer.request('get', target=f._number, name='__code__')",
    "class": "obj._peer.request('get', target=obj._number, name='__class__')",
    "private": "obj._peer.request('get', target=obj._number, name='_secret')",
    "module": "obj.module",
    "frame": "obj.generator.gi_frame",
    "other object": "f._peer.request('call', target=-1)",
    "look-up": "f._peer.request('look_up', args=['secret'])",
    "estimator": "f._peer._decode_object({'estimator': 'os.system', 'params': {}})",
}


@pytest.mark.parametrize("attempt", ACCESS_ATTEMPTS)
def test_answer_cannot_access_more_than_its_arguments(shell_sandbox, attempt):
    test = """
import os
secret = 1234
class Given:
    module = os
    _secret = 1234
    generator = (x for x in [1])
    def method(self): return 7
assert steal(lambda: secret, Given()) == 7
"""
    answer = f"def steal(f, obj):\n    obj.method()\n    return {ACCESS_ATTEMPTS[attempt]}"
    error, _ = examine(shell_sandbox, answer, test)
    assert error is not None and "1234" not in error
    assert examine(shell_sandbox, "def steal(f, obj): return obj.method()", test)[0] is None


@pytest.mark.nightly  # it waits until a cell exceeds its time limit
def test_kernel_that_hangs_after_a_test_earns_no_points(sandbox):
    hook = "import time\nget_ipython().events.register('post_run_cell', lambda r: time.sleep(60))"
    cells = [
        {"source": f"def f(x): return 4.0\n{hook}", "kind": "student"},
        {
            "source": "assert f(2.0) == 4.0\nassert f(3.0) == 9.0",
            "kind": "test",
            **{"visible_source": "assert f(2.0) == 4.0", "hidden_line_numbers": [2]},
        },
    ]
    outcome = run_cells(cells, Limits(seconds=60, cell_seconds=2), sandbox)
    assert any("ename" in output for output in outcome.outputs.get(1, [{"ename": ""}]))


def test_names_of_a_test_that_lost_its_connection_cannot_be_replaced(shell_sandbox):
    outcome = run_sources(
        shell_sandbox,
        "import svmbook.course.execution.kernel_server as a\n"
        "old, a.serve = a.serve, lambda *args: None",
        "def check(x): assert x == 4\ncheck(f(2))",
        "a.serve = old\ndef check(*args): pass\ndef f(x): return 0",
        "check(f(2))",
        test_indices={1, 3},
    )
    assert [outcome.outputs[k][-1]["ename"] for k in (1, 3)] == ["ReplyError", "AssertionError"]


def test_names_of_a_failed_locked_cell_cannot_be_replaced(shell_sandbox):
    outcome = run_sources(
        shell_sandbox,
        "display(1)\nfrom svmbook.course.checks import check_close",
        "check_close = lambda *a: None\ndef f(x): return 0.0",
        "check_close('f', f(3.0), 9.0)",
        locked_indices={0},
        test_indices={2},
    )
    assert outcome.outputs[2][-1]["ename"] == "NameError" and 0 in outcome.locked_cell_errors


def test_variables_of_tests_and_of_submissions_are_separate(shell_sandbox):
    outcome = run_sources(
        shell_sandbox,
        *("n = 5\ndef f(n): return n * n\ndef g(k): return 2 * k", "n = 5\nassert f(n) == 25"),
        *("n = 0", "for k in range(n): assert g(k) == 2 * k\nassert n == 5"),
        test_indices={1, 3},
    )
    assert outcome.outputs[1] == [] and outcome.outputs[3] == []
