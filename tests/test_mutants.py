"""`tools/mutants`: each module has tests, and equivalent mutants are recognised after edits."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location(
    "assigned_tests", ROOT / "tools/mutants/assigned_tests.py"
)
assigned_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(assigned_tests)

SOURCE = """
LIMIT = 3


class Counter:
    def increase(
        self,
        step=1,
    ):
        if (step
                > 0):
            self.n += step
        return [
            self.n,
            LIMIT,
        ]
"""


def test_every_module_has_tests_that_exist():
    assert len(assigned_tests.module_paths()) > 100
    assert assigned_tests.assignment_errors() == []
    for file in assigned_tests.module_paths():
        names = assigned_tests.assigned_tests(file, ROOT)
        assert any("test_" in name for name in names[1:-1]), file


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ({"svmbook/[!t]*": "test_base.py"}, "svmbook/tables.py: no tests are assigned"),
        ({"*": "gone"}, "*: tests/gone does not exist"),
        ({"*": "svm", "svmbook/gone.py": "svm"}, "svmbook/gone.py: no module matches"),
    ],
)
def test_errors_in_the_assignment_of_tests_are_reported(tests, message, monkeypatch):
    monkeypatch.setattr(assigned_tests, "TESTS", tests)
    assert any(line.startswith(message) for line in assigned_tests.assignment_errors())


@pytest.mark.parametrize(
    ("line", "line_range"),
    [(2, None), (8, None), (11, (10, 12)), (12, (12, 12)), (14, (13, 16))],
)
def test_lines_of_a_statement_are_none_for_code_that_runs_on_import(line, line_range):
    assert assigned_tests.statement_lines(ast.parse(SOURCE), line) == line_range


def test_equivalent_mutant_is_recognised_after_its_file_has_changed():
    mutant = {
        "file": "svmbook/base.py",
        "place": assigned_tests.enclosing_name(ast.parse(SOURCE), 12),
        "diff": "@@ -11,3 +11,3 @@\n\n-    self.n += step\n+    self.n -= step\n\n",
    }
    equivalents = assigned_tests.parse_equivalents(
        "# The attribute n\n# is never read.\nsvmbook/base.py Counter.increase\n- self.n += step\n"
        "+ self.n -= step\n\n# Another.\nsvmbook/base.py module\n- a\n+ b\n"
    )
    assert equivalents[assigned_tests.identifying_lines(mutant)] == "The attribute n is never read."
    mutant["diff"] = mutant["diff"].replace("-= step", "+= 1")
    assert assigned_tests.identifying_lines(mutant) not in equivalents


def test_equivalent_mutants_have_reasons_and_existing_lines():
    path = ROOT / assigned_tests.EQUIVALENTS_PATH
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    equivalents = assigned_tests.parse_equivalents(text)
    for identifying_lines, reason in equivalents.items():
        head, *lines = identifying_lines.split("\n")
        source = (ROOT / head.split()[0]).read_text(encoding="utf-8")
        assert len(reason.split()) > 2, identifying_lines
        source_lines = {line.strip() for line in source.split("\n")}
        assert {line[2:] for line in lines if line.startswith("-")} <= source_lines, (
            identifying_lines
        )
