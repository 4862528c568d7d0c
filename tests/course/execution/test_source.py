from svmbook.course.execution.source import defined_names, free_names, split_test


def test_statements_are_shown_or_hidden_as_a_whole():
    source = "a = 1\nfor k in (1, 2):\n    f(k)\n    ### BEGIN\n    g(k)\n    ### END\nb = 2\n"
    parts = split_test(source, {4, 5, 6})
    assert [hidden for hidden, _ in parts] == [False, True, False]
    assert [text.strip().splitlines()[0] for _, text in parts] == [
        "a = 1",
        "for k in (1, 2):",
        "b = 2",
    ]
    assert parts[2][1].count("\n") == 6  # line numbers are preserved
    assert split_test("", set()) == []
    decorated_function = "@one\n@two\ndef f():\n    pass"
    assert split_test(decorated_function, {1}) == [(True, decorated_function)]


def test_global_names_are_found_in_all_scopes_and_local_names_in_none():
    source = """
import numpy as np
from a.b import c as d
def f(x, y=z):
    global counted
    counted = g(x)
    return [h(t) for t in x if local]
    local = 1
class A(base): w = v
%magic
total = 0
"""
    assert free_names(source) >= {"z", "g", "h", "base", "v", "counted"}
    assert not free_names(source) & {"x", "y", "t", "local", "c", "w"}
    assert defined_names(source) == {"np", "d", "f", "A", "total", "counted"}


def test_unparsable_code_has_no_names():
    assert free_names("def (") == defined_names("def (") == set()
