"""`tools/mutants`: each module has tests, and equivalent mutants are recognised after edits."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("assigned", ROOT / "tools/mutants/assigned.py")
assigned = importlib.util.module_from_spec(spec)
spec.loader.exec_module(assigned)

SOURCE = """
LIMIT = 3


class Counter:
    def up(
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
    assert len(assigned.modules()) > 100
    assert assigned.table_errors() == []
    for file in assigned.modules():
        assert any("test_" in name for name in assigned.assigned_tests(file, ROOT)[1:-1]), file


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"svmbook/[!t]*": "test_base.py"}, "svmbook/tables.py: no tests are assigned"),
        ({"*": "gone"}, "*: tests/gone does not exist"),
        ({"*": "svm", "svmbook/gone.py": "svm"}, "svmbook/gone.py: no module matches"),
    ],
)
def test_errors_of_the_table_are_reported(table, message, monkeypatch):
    monkeypatch.setattr(assigned, "TESTS", table)
    assert any(line.startswith(message) for line in assigned.table_errors())


@pytest.mark.parametrize(
    ("line", "first_and_last"),
    [(2, None), (8, None), (11, (10, 12)), (12, (12, 12)), (14, (13, 16))],
)
def test_lines_of_a_statement_are_none_for_code_that_runs_on_import(line, first_and_last):
    assert assigned.statement_lines(ast.parse(SOURCE), line) == first_and_last


def test_equivalent_mutant_is_recognised_after_its_file_has_changed():
    mutant = {
        "file": "svmbook/base.py",
        "place": assigned.enclosing_name(ast.parse(SOURCE), 12),
        "diff": "@@ -11,3 +11,3 @@\n\n-    self.n += step\n+    self.n -= step\n\n",
    }
    reasons = assigned.parse_equivalents(
        "# Nobody reads n:\n# it is private.\nsvmbook/base.py Counter.up\n- self.n += step\n"
        "+ self.n -= step\n\n# Another.\nsvmbook/base.py module\n- a\n+ b\n"
    )
    assert reasons[assigned.changed_lines(mutant)] == "Nobody reads n: it is private."
    mutant["diff"] = mutant["diff"].replace("-= step", "+= 1")
    assert assigned.changed_lines(mutant) not in reasons


def test_equivalent_mutants_have_reasons_and_existing_lines():
    path = ROOT / assigned.EQUIVALENT
    reasons = assigned.parse_equivalents(path.read_text(encoding="utf-8")) if path.exists() else {}
    for mutant, reason in reasons.items():
        place, *lines = mutant.split("\n")
        source = (ROOT / place.split()[0]).read_text(encoding="utf-8")
        assert len(reason.split()) > 2, mutant
        source_lines = {line.strip() for line in source.split("\n")}
        assert {line[2:] for line in lines if line.startswith("-")} <= source_lines, mutant
