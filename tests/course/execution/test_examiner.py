"""Tests run in a process without code of the submission, and call its answers in the kernel."""

import pytest
from cells import examine, run_sources
from shell_client import run_cells_in_shell

CALLABLE_ANSWERS = {
    "a function": "def f(x): return 2 * x",
    "a partial function": "import functools\nf = functools.partial(lambda k, x: k * x, 2)",
    "a cached function": "import functools\n@functools.cache\ndef f(x): return 2 * x",
    "a bound method": "class A:\n    def g(self, x): return 2 * x\nf = A().g",
    "an object that can be called": "class A:\n    def __call__(self, x): return 2 * x\nf = A()",
    "a vectorised function": "import numpy as np\nf = np.vectorize(lambda x: 2 * x)",
}


@pytest.mark.parametrize("kind", CALLABLE_ANSWERS)
def test_any_callable_can_be_an_answer(shell_sandbox, kind):
    test = "assert callable(f) and f(3.0) == 6.0 != f(2.0)"
    assert examine(shell_sandbox, CALLABLE_ANSWERS[kind], test)[0] is None


def test_values_sent_to_an_answer_and_back_are_unchanged(shell_sandbox):
    test = """
values = [None, True, 3, 2.5, "é", (1, [2]), {"a": np.int8(3), 2: b"x"}, {1, 2}, range(3), 1j,
          np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]), np.zeros((0, 2)), np.bool_(True),
          float("inf"), slice(1, None)]
for value in values:
    for copy in (same(value), first(value, other=1), given(value)):
        assert type(copy) is type(value) and repr(copy) == repr(value), value
        assert getattr(copy, "dtype", 0) == getattr(value, "dtype", 0)
"""
    answer = "def same(x): return x\ndef first(x, *, other): return x"
    locked_source = "import numpy as np\ndef given(x): return same(x)"
    assert examine(shell_sandbox, answer, test, locked_source)[0] is None


def test_answer_cannot_modify_arrays_of_the_test(shell_sandbox):
    answer = "def f(X): X[:] = 0; return 0.0"
    for call in ("f(X)", "f(X=X)"):
        error, _ = examine(shell_sandbox, answer, f"X = np.ones(3)\nassert {call} == X.sum()")
        assert error == "AssertionError: "


def test_random_generator_continues_after_an_answer_used_it(shell_sandbox):
    test = """
rng, same_rng = np.random.default_rng(1), np.random.default_rng(1)
assert (np.append(draw(2, rng), draw(3, rng=rng)) == same_rng.normal(size=5)).all()
"""
    assert examine(shell_sandbox, "def draw(n, rng): return rng.normal(size=n)", test)[0] is None


def test_answer_calls_functions_and_uses_objects_of_the_test(shell_sandbox):
    answer = """
def fit_all(make, X, y):
    models = [make().fit(X, y) for _ in range(2)]
    return [model.predict(X) for model in models]
def apply(f, x): return f(f(x))
"""
    test = """
class Mean:
    sample_sizes = []
    def fit(self, X, y):
        Mean.sample_sizes.append(len(y))
        self.mean = y.mean()
        return self
    def predict(self, X):
        return np.full(len(X), self.mean)
from sklearn.dummy import DummyRegressor
X, y = np.zeros((3, 1)), np.array([1.0, 2.0, 6.0])
for make in (Mean, DummyRegressor, lambda: Mean()):
    for prediction in fit_all(make, X, y):
        assert prediction.tolist() == [3.0, 3.0, 3.0]
assert Mean.sample_sizes == [3] * 4
assert apply(lambda x: x + len(X), 1) == 7 and apply(abs, -2) == 2
"""
    assert examine(shell_sandbox, answer, test)[0] is None


def test_attributes_and_methods_of_an_answer_can_be_used(shell_sandbox):
    answer = "from sklearn.dummy import DummyRegressor\nmodel = DummyRegressor()"
    test = """
assert type(model).__name__ == "DummyRegressor" and not callable(model)
assert model.fit(np.zeros((2, 1)), np.array([1.0, 3.0])).predict(np.zeros((1, 1))) == [2.0]
assert model.constant_.tolist() == [[2.0]]
"""
    assert examine(shell_sandbox, answer, test)[0] is None
    error, _ = examine(shell_sandbox, answer, "len(model)")
    assert error.startswith("TypeError")


def test_error_of_an_answer_has_its_type_and_traceback(shell_sandbox):
    answer = "def inner(x): return {}[x]\ndef f(x):\n    return inner(x)"
    error, outputs = examine(shell_sandbox, answer, "f('a')")
    assert error == "KeyError: 'a'"
    text = "".join(outputs[-1]["traceback"])
    assert "in f\n" in text and "in inner\n" in text and "peer.py" not in text
    assert examine(shell_sandbox, answer, "try: f('a')\nexcept KeyError: pass")[0] is None
    raising_answer = (
        "class CustomError(Exception): pass\n"
        "def f(): raise CustomError('message')\ndef g(): raise SystemExit"
    )
    assert examine(shell_sandbox, raising_answer, "f()")[0] == "CustomError: message"
    test = "try: np.linalg.inv\nexcept ValueError: pass\ntry: h()\nexcept ValueError: pass"
    singular_answer = "import numpy as np\ndef h(): return np.linalg.inv(np.zeros((2, 2)))"
    assert examine(shell_sandbox, singular_answer, test)[0] is None  # LinAlgError is a ValueError
    assert examine(shell_sandbox, raising_answer, "g()")[0] == "RemoteError: SystemExit"
    assert examine(shell_sandbox, "", "f()")[0] == "NameError: name 'f' is not defined"


def test_submission_cannot_redefine_protected_names_for_tests(shell_sandbox):
    locked_source = (
        "import numpy as np\ndef double(x): return 2 * x\ndef helper(x): return double(x)\nX = 1"
    )
    answer = "class np: pass\ndef helper(x): return 0\ndef double(x): return 0\nX, f = 2, len"
    test = "assert helper(3) == 6 and np.sum([1, 2]) == 3 and X == 1 and f([1]) == 1"
    assert examine(shell_sandbox, answer, test, locked_source)[0] is None
    assert (
        examine(shell_sandbox, answer, "assert X == 2", locked_source, answer_names={"X"})[0]
        is None
    )


def test_locked_cell_may_use_answers_or_fail(shell_sandbox):
    locked_source = "import numpy as np\n%matplotlib inline\ny = 1 / 0\nz = 4"
    error, _ = examine(shell_sandbox, "def f(): return y", "assert f() == 3", locked_source)
    assert error.startswith("NameError")
    outcome = run_sources(
        shell_sandbox,
        *("def f(x): return 2 * x", "table = f(21)", "assert table == 42 == f(21)"),
        locked_indices={1},
        test_indices={2},
    )
    assert outcome.outputs[2] == []


def test_submission_redefines_builtins_for_its_own_code_only(shell_sandbox):
    outcome = run_sources(
        shell_sandbox,
        "from numpy import *\ndef len(x): return 7\ndef rows(X): return sum(X, axis=1), len(X)",
        "assert len([1]) == 1 and rows([[1, 2]])[1] == 7 and sum([1, 2]) == 3",
        "print(len([1]))",
        test_indices={1},
    )
    assert outcome.outputs[1] == []
    assert outcome.outputs[2][0]["text"] == "7\n"


def test_statements_after_a_failed_assertion_define_names_for_later_tests(shell_sandbox):
    outcome = run_sources(
        shell_sandbox, "x = 1", "assert x == 2\ny = 2", "assert y == 2", test_indices={1, 2}
    )
    assert outcome.outputs[1][-1]["ename"] == "AssertionError" and outcome.outputs[2] == []


def test_number_on_the_last_line_of_a_test_is_its_score(shell_sandbox):
    _, (output,) = examine(shell_sandbox, "x = 3", "score = 0.5 * x\nscore")
    assert output["output_type"] == "execute_result" and output["data"] == {"text/plain": "1.5"}
    for last_line in ("None", "x == 3", "'3'", "[x]"):
        assert examine(shell_sandbox, "x = 3", last_line)[1] == []
    outputs = examine(shell_sandbox, "def f(): return np.float64(2)", "f()")[1]
    assert outputs[0]["data"] == {"text/plain": "2.0"}


def test_printed_text_is_an_output_of_the_test(shell_sandbox):
    _, outputs = examine(shell_sandbox, "def f(x): print('in f', x)", "f(1)\nprint('in the test')")
    assert "".join(output["text"] for output in outputs) == "in f 1\nin the test\n"


def test_error_names_the_object_that_cannot_be_sent(shell_sandbox):
    error, _ = examine(shell_sandbox, "def f(x): return x", "import os\nf(os)")
    assert "an object of type module cannot be sent to another process" in error
    test = "from sklearn.dummy import DummyRegressor\nf(DummyRegressor().fit([[0]], [1]))"
    error, _ = examine(shell_sandbox, "def f(x): return x", test)
    assert "DummyRegressor is fitted" in error and "let the answer fit it" in error


def test_large_arrays_are_sent_completely(shell_sandbox):
    locked_source = "import numpy as np\nX = np.arange(1e6)"
    test = "assert (f(X) == X[::-1]).all()"
    assert examine(shell_sandbox, "def f(X): return X[::-1]", test, locked_source)[0] is None


def test_failing_test_gives_no_points(shell_sandbox):
    _, outputs = examine(shell_sandbox, "def f(x): return 1", "assert f(2) == 4\n3")
    assert [output["output_type"] for output in outputs] == ["error"]


def test_answer_that_cannot_be_sent_affects_no_other_test(shell_sandbox):
    answer = "a = []\na.append(a)\nb = 2"
    assert examine(shell_sandbox, answer, "assert b == 2", answer_names={"a", "b"})[0] is None
    error, _ = examine(shell_sandbox, answer, "assert len(a) == 1", answer_names={"a", "b"})
    assert error is not None


def test_redefined_answer_lasts_until_the_end_of_the_test(shell_sandbox):
    test = "w = np.asarray(w)\n### BEGIN\nassert w.shape == (2,)\n### END"
    cells = [
        {"source": "import numpy as np", "kind": "locked"},
        {"source": "w = [1, 2]", "kind": "student"},
        {
            "source": test,
            "kind": "test",
            "visible_source": "w = np.asarray(w)",
            "hidden_line_numbers": [2, 3, 4],
        },
        {
            "source": "assert w == [1, 2]",
            "kind": "test",
            "visible_source": "",
            "hidden_line_numbers": [1],
        },
    ]
    outcome = run_cells_in_shell(cells, answer_names={"w"})
    assert outcome.outputs[2] == [] and outcome.outputs[3] == []


def test_locked_cells_use_each_other_and_leave_no_stale_names(shell_sandbox):
    outcome = run_sources(
        shell_sandbox,
        "t = {}\nw = 0",
        "t['a'] = 1",
        "def train(w): return w + 5",
        "w = train(w)",
        "assert t == {'a': 1} and w == 5",
        locked_indices={0, 1, 3},
        test_indices={4},
    )
    assert outcome.outputs[4] == []
    failing_outcome = run_sources(
        shell_sandbox,
        "w = 0",
        "w = train(w)",
        "w = 7",
        "assert w == 7",
        locked_indices={0, 1},
        test_indices={3},
    )
    assert failing_outcome.outputs[3][-1]["ename"] == "NameError"
    assert failing_outcome.locked_cell_errors == {1: "NameError: name 'train' is not defined"}


def test_ipython_commands_are_distinguished_from_python(shell_sandbox):
    locked_source = (
        "import numpy as np\ndef half(x):\n    return (\n        x\n        % 2\n    )\n"
    )
    answer, test = "def half(x): return 7", "assert half(5) == 1"
    assert examine(shell_sandbox, answer, test, locked_source)[0] is None
    locked_source = "%matplotlib inline\nfor k in range(2):\n    %time 1\ny = 3"
    assert examine(shell_sandbox, "", "assert y == 3", locked_source)[0] is None


def test_unused_objects_are_deleted(shell_sandbox):
    answer = """
class Big:
    references = []
    def __init__(self):
        import weakref
        Big.references.append(weakref.ref(self))
def make(): return Big()
def n_alive(): return sum(reference() is not None for reference in Big.references)
"""
    test = "for _ in range(20): make()\nassert n_alive() <= 2, n_alive()"
    assert examine(shell_sandbox, answer, test)[0] is None


def test_answer_may_call_a_function_of_the_test_from_several_threads(shell_sandbox):
    answer = """
from concurrent.futures import ThreadPoolExecutor
def squares(f):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(f, range(20)))
"""
    test = "assert squares(lambda x: x * x) == [x * x for x in range(20)]"
    assert examine(shell_sandbox, answer, test)[0] is None


def test_huge_integers_and_errors_without_message_are_sent(shell_sandbox):
    answer = """
def power(k): return 7 ** k
class CustomError(Exception):
    def __str__(self): raise ValueError
def fail(): raise CustomError
"""
    assert examine(shell_sandbox, answer, "assert power(9_000) == 7 ** 9_000")[0] is None
    assert examine(shell_sandbox, answer, "fail()")[0].startswith("CustomError")


def test_submission_may_set_a_socket_timeout_and_return_dict_views(shell_sandbox):
    answer = """
import socket
socket.setdefaulttimeout(0.01)
_answers = [1]
def keys(): return {"a": 1}.keys()
def first(): return _answers[0]
"""
    test = "import time\ntime.sleep(0.1)\nassert keys() == ['a'] and first() == 1"
    assert examine(shell_sandbox, answer, test)[0] is None
