"""What a submission may try in order to earn points for wrong answers, or to see the tests."""

import pytest
from cells import examine, run

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells

# Each is played by a submission whose f is wrong. The first of them once earned all points.
TRICKS = {
    "input": "get_ipython().input_transformers_post.append(\n"
    "  lambda lines: ['pass'] if 'check_' in ''.join(lines) else lines)",
    "do_execute": "kernel = getattr(get_ipython(), 'kernel', None)\n"
    "if kernel: kernel.do_execute = lambda *a, **k: {'status': 'ok'}",
    "run_cell": "type(get_ipython()).run_cell = lambda *a, **k: None",
    "syntax": "import ast\nclass Pass(ast.NodeTransformer):\n"
    "  def visit_Assert(self, node): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(Pass())",
    "events": "get_ipython().events.register('pre_run_cell', lambda i: globals().update("
    "check_close=lambda *a, **k: None))",
    "checks": "from svmbook.course import checks\nchecks.check_close = lambda *a, **k: None\n"
    "check_close = checks.check_close",
    "built-in": "import builtins\nbuiltins.abs = lambda x: 0.0\nbuiltins.exec = lambda *a: None",
    "shadows": "exec = compile = callable = abs = lambda *a, **k: 0",
    "numpy": "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None\n"
    "np.array = lambda *a, **k: 0",
    "frames": "import sys\ndef f(x):\n"
    "  frame, seen = sys._getframe(), []\n"
    "  while frame:\n    seen.append(frame.f_locals.get('right'))\n    frame = frame.f_back\n"
    "  return next((one for one in seen if one is not None), 4.0)",
    "garbage": "import gc\ndef f(x):\n"
    "  found = [o for o in gc.get_objects() if isinstance(o, dict) and 'right' in o]\n"
    "  return found[0]['right'] if found else 4.0",
    "trace": "import sys\nsys.settrace(lambda frame, *a: frame.f_locals.update(expected=4.0))",
    "message": "import svmbook.course.execution.answers as a\n"
    "a.Connection.send = lambda self, tree: self._socket.sendall(b'{\"end\": true}\\n')",
    "no names": "import svmbook.course.execution.answers as a\n"
    "def fail(self, *args): raise ValueError\na.Answers.perform = fail",
    "odd reply": "import svmbook.course.execution.answers as a\n"
    'a.Connection.send = lambda self, tree: self._socket.sendall(b\'{"value": {"kind": 1}}\\n\')',
    "names that were not asked for": "import svmbook.course.execution.answers as a\n"
    "old = a.Answers.perform\n"
    "def perform(self, message, args, kwargs):\n"
    "  found = old(self, message, args, kwargs)\n"
    "  if message['action'] == 'look':\n"
    "    found['check_close'] = lambda *a, **k: None\n"
    "    found['__builtins__'] = {'abs': lambda x: 0.0}\n"
    "  return found\n"
    "a.Answers.perform = perform",
    "end of a loop": "def f(x): raise StopIteration",
    "early end": "import svmbook.course.execution.answers as a\na.serve = lambda *a: None",
    "equal": "class Yes(float):\n  def __eq__(self, other): return True\n"
    "  def __sub__(self, other): return 0.0\n  __rsub__ = __sub__\n"
    "  def __float__(self): return 9.0\ndef f(x): return Yes(4.0)",
}


def check_trick(sandbox, trick):
    """Let a submission play a trick, and look that its wrong answer gets nothing for it."""
    error, _ = examine(
        sandbox,
        f"def f(x): return 4.0\n{TRICKS[trick]}",
        "right = 2.0**2\ncheck_close('f', f(2.0), right)\nright = 3.0**3\n"
        "assert abs(f(3.0) - right) < 1e-9",
        "from svmbook.course.checks import check_close",
    )
    assert error is not None


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_earns_points(shells, trick):
    check_trick(shells, trick)


@pytest.mark.nightly  # above in a forked IPython, without the messages of a kernel
@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_earns_points_in_a_kernel_either(sandbox, trick):
    check_trick(sandbox, trick)


REACHES = {
    "globals": "f.__globals__",
    "attribute": "f._peer.ask('get', of=f._number, name='__globals__')",
    "code": "f._peer.ask('get', of=f._number, name='__code__')",
    "class": "made._peer.ask('get', of=made._number, name='__class__')",
    "private": "made._peer.ask('get', of=made._number, name='_secret')",
    "module": "made.module",
    "frame": "made.generator.gi_frame",
    "other object": "f._peer.ask('call', of=-1)",
    "names": "f._peer.ask('look', args=['secret'])",
    "estimator": "f._peer._stand_in({'estimator': 'os.system', 'params': {}})",
}


@pytest.mark.parametrize("way", REACHES)
def test_an_answer_reaches_nothing_beside_what_it_was_given(shells, way):
    test = """
import os
secret = 1234
class Made:
    module = os
    _secret = 1234
    generator = (x for x in [1])
    def method(self): return 7
assert steal(lambda: secret, Made()) == 7
"""
    answer = f"def steal(f, made):\n    made.method()\n    return {REACHES[way]}"
    error, _ = examine(shells, answer, test)
    assert error is not None and "1234" not in error
    assert examine(shells, "def steal(f, made): return made.method()", test)[0] is None


@pytest.mark.nightly  # it waits for the end of a cell's time
def test_a_kernel_that_hangs_after_a_test_earns_nothing_by_it(sandbox):
    hook = "import time\nget_ipython().events.register('post_run_cell', lambda r: time.sleep(60))"
    cells = [
        {"source": f"def f(x): return 4.0\n{hook}", "kind": "own"},
        {
            "source": "assert f(2.0) == 4.0\nassert f(3.0) == 9.0",
            "kind": "test",
            **{"shown": "assert f(2.0) == 4.0", "hidden": [2]},
        },
    ]
    outcome = run_cells(cells, Limits(seconds=60, cell_seconds=2), sandbox)
    assert any("ename" in one for one in outcome.outputs.get(1, [{"ename": ""}]))


def test_a_test_that_could_not_ask_leaves_no_names_to_the_submission(shells):
    outcome = run(
        shells,
        "import svmbook.course.execution.answers as a\nold, a.serve = a.serve, lambda *args: None",
        "def check(x): assert x == 4\ncheck(f(2))",
        "a.serve = old\ndef check(*args): pass\ndef f(x): return 0",
        "check(f(2))",
        tests={1, 3},
    )
    assert [outcome.outputs[k][-1]["ename"] for k in (1, 3)] == ["NoAnswer", "AssertionError"]


def test_a_given_cell_that_fails_leaves_no_names_to_the_submission(shells):
    outcome = run(
        shells,
        "display(1)\nfrom svmbook.course.checks import check_close",
        "check_close = lambda *a: None\ndef f(x): return 0.0",
        "check_close('f', f(3.0), 9.0)",
        given={0},
        tests={2},
    )
    assert outcome.outputs[2][-1]["ename"] == "NameError" and 0 in outcome.failed


def test_numbers_of_tests_and_of_submissions_are_told_apart(shells):
    outcome = run(
        shells,
        *("n = 5\ndef f(n): return n * n\ndef g(k): return 2 * k", "n = 5\nassert f(n) == 25"),
        *("n = 0", "for k in range(n): assert g(k) == 2 * k\nassert n == 5"),
        tests={1, 3},
    )
    assert outcome.outputs[1] == [] and outcome.outputs[3] == []
