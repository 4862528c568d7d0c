"""Run cells of a submission in a sandbox, as the grader does."""

from shell import SHELLS, run_here

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells

SHORT = Limits(seconds=60, cell_seconds=30, memory=2**30, output=300_000)


def run(sandbox, *sources, limits=SHORT, tests=frozenset(), given=frozenset(), **options):
    """Run cells; `given` and `tests` are the indices of given cells and tests, others are own."""
    cells = [{"source": text, "kind": "own"} for text in sources]
    for k in given:
        cells[k]["kind"] = "given"
    for k in tests:
        cells[k] = {
            "source": sources[k],
            "kind": "test",
            "visible_source": sources[k],
            "hidden_lines": [],
        }
    return (run_here if sandbox == SHELLS else run_cells)(cells, limits, sandbox, **options)


def examine(sandbox, answer, test, given="import numpy as np", **options):
    """Run one test of one answer; return the first error of the test or None, and its outputs."""
    outcome = run(sandbox, given, answer, test, given={0}, tests={2}, **options)
    outputs = outcome.outputs.get(2, [{"ename": "NotRun", "evalue": outcome.reason}])
    errors = [f"{output['ename']}: {output['evalue']}" for output in outputs if "ename" in output]
    return (errors or [None])[0], outputs
